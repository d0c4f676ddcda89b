package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Alert is a payment to look at, money to pay out, or a card that its provider does not delete.
type Alert struct {
	Kind      string
	Key       string // equal for the same alert
	Code      string // of the order, which may not exist; empty for a deposit, and for a card, as are Event and Currency
	Event     string // slug
	Method    string
	Reference string // the provider's name of the payment or of the page for the card; may be empty
	Amount    int64  // minor units
	Currency  string // ISO 4217
	State     string
	Why       string
	At        time.Time
}

// The kinds of alerts.
const (
	AlertPayment = "payment" // something was noted about a payment
	AlertStep    = "step"    // a call to a provider failed repeatedly
	AlertPayout  = "payout"  // money goes back by hand
	AlertCard    = "card"    // a card is not needed any more, and its provider stores it
	AlertDeposit = "deposit" // a group paid a deposit and gets no order: it is paid back or retained
)

// ToPayOut is the State of an AlertPayout or AlertDeposit.
const ToPayOut = "to pay out"

// Each part uses an index.
const alertsSQL = `
(SELECT 'payment', 'payment:' || p.id, p.code, e.slug, p.method, p.reference, p.amount, p.currency, p.state, p.attention, p.created_at AS at
   FROM payment p JOIN event e ON e.id = p.event_id
  WHERE p.attention <> '' AND ($1::bigint = 0 OR p.event_id = $1) ORDER BY p.created_at DESC LIMIT nullif($2::bigint, 0))
UNION ALL
(SELECT 'step', 'step:' || i.id, p.code, e.slug, p.method, p.reference, p.amount, p.currency, p.state,
        'Tried to ' || CASE i.step WHEN 'look' THEN 'look it up' ELSE i.step || ' it' END || ' ' || i.tries || ' times: ' || i.error, i.created_at
   FROM intention i JOIN payment p ON p.id = i.payment_id JOIN event e ON e.id = p.event_id
  WHERE i.done_at IS NULL AND i.tries >= 5 AND i.error <> '' AND ($1 = 0 OR p.event_id = $1) ORDER BY i.created_at DESC LIMIT nullif($2, 0))
UNION ALL
(SELECT 'payout', 'payout:' || r.id, coalesce(o.code, p.code), e.slug, coalesce(o.method, p.method), coalesce(p.reference, ''), r.amount - r.by_credit,
        coalesce(o.currency, p.currency), 'to pay out', CASE r.failed WHEN '' THEN r.reason ELSE r.failed END, r.created_at
   FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
        JOIN event e ON e.id = coalesce(o.event_id, p.event_id)
  WHERE r.by_hand AND r.done_at IS NULL AND ($1 = 0 OR e.id = $1) ORDER BY r.created_at DESC LIMIT nullif($2, 0))
UNION ALL
(SELECT 'deposit', 'deposit:' || d.booking_id, '', e.slug, d.method, '', d.amount, e.currency, 'to pay out', 'The booking has ended, or its event was cancelled.', d.paid_at
   FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = d.event_id
  WHERE d.paid_at IS NOT NULL AND d.ended_at IS NULL AND ($1 = 0 OR d.event_id = $1)
    AND (b.order_id IS NOT NULL OR b.cancelled_at IS NOT NULL OR k.ended_at IS NOT NULL OR k.ends_at <= clock_timestamp() OR e.status = 'cancelled')
  ORDER BY d.paid_at DESC LIMIT nullif($2, 0))
UNION ALL
(SELECT 'step', 'deposit-payment:' || p.id, '', e.slug, p.method, p.reference, p.amount, p.currency, p.state,
        CASE p.state WHEN 'open' THEN 'Tried to take a deposit for more than two hours: ' ELSE 'Tried to pay a deposit back ' || p.tries || ' times: ' END || p.error, p.created_at
   FROM deposit_payment p JOIN event e ON e.id = p.event_id
  WHERE p.error <> '' AND (p.state = 'refunding' AND p.tries >= 5 OR p.state = 'open' AND p.created_at < clock_timestamp() - interval '2 hours') AND ($1 = 0 OR p.event_id = $1) ORDER BY p.created_at DESC LIMIT nullif($2, 0))
 ORDER BY at DESC`

// QueueAlerts queues the query for alerts, the latest first: of one event, or with 0 of all; at most so many of each kind,
// or with 0 all.
func QueueAlerts(q *pgx.Batch, event int64, most int, visit func(Alert)) {
	q.Queue(alertsSQL, event, most).Query(visitAlerts(visit))
}

func visitAlerts(visit func(Alert)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Alert])
		for _, a := range list {
			visit(a)
		}
		return err
	}
}

// Cards are an alert for the operator, not for organizers, who may not read which attendee saved one. An index finds those
// that end.
const cardAlertsSQL = `
SELECT 'card', 'card:' || id, '', '', method, reference, 0::bigint, '', state,
       'A saved card is of no use any more. It was tried ' || tries || ' times to have the provider delete it: ' || error, created_at
  FROM mandate WHERE state = 'ending' AND tries >= 5 AND error <> '' ORDER BY created_at DESC`

// Alerts lists all alerts, the latest first, and then those of cards.
func (ps *Payments) Alerts(ctx context.Context) (list []Alert, err error) {
	var q pgx.Batch
	add := func(a Alert) { list = append(list, a) }
	QueueAlerts(&q, 0, 0, add)
	q.Queue(cardAlertsSQL).Query(visitAlerts(add))
	if err := ps.db.SendBatch(ctx, &q).Close(); err != nil {
		return nil, fmt.Errorf("payments: list alerts: %w", err)
	}
	return list, nil
}

// Movement is money that came or went.
type Movement struct {
	At        time.Time
	Order     string // code; empty for a deposit that is in no order
	Name      string
	Kind      string // payment, received, refund, deposit of a group, or exchange: from or to an order of another event
	Method    string
	Reference string // the provider's name of the payment; may be empty
	Amount    int64  // minor units; negative if it went back
	Currency  string // ISO 4217
	State     string // of the payment; or done, on its way, by hand
}

const movementsSQL = `
SELECT p.created_at, p.code, coalesce(o.name, p.form->>'name', ''), 'payment', p.method, p.reference, p.captured, p.currency, p.state
  FROM payment p LEFT JOIN orders o ON o.id = p.order_id
 WHERE p.event_id = $1 AND p.method NOT IN ('free', 'door', 'invoice') AND (p.captured > 0 OR p.state IN ('authorized', 'sold')) AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
 UNION ALL
SELECT p.created_at, o.code, o.name, 'payment', p.method, p.reference, least(p.captured, s.amount), p.currency, p.state
  FROM orders o JOIN payment_share s ON s.order_id = o.id JOIN payment p ON p.id = s.payment_id
 WHERE o.event_id = $1 AND p.method NOT IN ('free', 'door', 'invoice') AND (p.captured > 0 OR p.state = 'sold')
 UNION ALL
SELECT o.created_at, o.code, o.name, 'received', o.method, '', o.received - coalesce(d.amount, 0), o.currency, 'done'
  FROM orders o LEFT JOIN deposit d ON d.order_id = o.id WHERE o.event_id = $1 AND o.received > coalesce(d.amount, 0)
 UNION ALL
SELECT m.at, coalesce(o.code, ''), coalesce(o.name, b.name), 'deposit', m.method, '', m.amount, e.currency, m.state
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN event e ON e.id = d.event_id LEFT JOIN orders o ON o.id = d.order_id LEFT JOIN deposit_payment p ON p.id = d.payment_id,
       LATERAL (SELECT d.paid_at AS at, d.method, d.amount, 'done' AS state
                 UNION ALL SELECT d.ended_at, d.back, -d.amount, CASE p.state WHEN 'refunding' THEN 'on its way' ELSE 'done' END WHERE d.outcome = 'refunded') m
 WHERE d.event_id = $1 AND d.paid_at IS NOT NULL
 UNION ALL
SELECT m.at, '', b.name, 'deposit', p.method, p.reference, m.amount, p.currency, m.state
  FROM deposit_payment p JOIN booking b ON b.id = p.booking_id,
       LATERAL (SELECT p.captured_at AS at, p.amount, 'done' AS state
                 UNION ALL SELECT coalesce(p.refunded_at, p.captured_at), -p.amount, CASE WHEN p.refunded_at IS NULL THEN 'on its way' ELSE 'done' END) m
 WHERE p.event_id = $1 AND p.captured_at IS NOT NULL AND NOT EXISTS (SELECT FROM deposit d WHERE d.payment_id = p.id)
 UNION ALL
SELECT r.created_at, coalesce(o.code, p.code), coalesce(o.name, p.form->>'name', ''), 'refund', coalesce(o.method, p.method), coalesce(p.reference, ''), -r.amount,
       coalesce(o.currency, p.currency), CASE WHEN r.done_at IS NOT NULL THEN 'done' WHEN r.by_hand THEN 'by hand' ELSE 'on its way' END
  FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
 WHERE o.event_id = $1 OR o.id IS NULL AND p.event_id = $1
 UNION ALL
SELECT x.at, o.code, o.name, 'exchange', o.method, '', CASE o.id WHEN x.from_order THEN -x.amount ELSE x.amount END, o.currency, 'done'
  FROM orders o JOIN exchange x ON o.id IN (x.from_order, x.to_order) WHERE o.event_id = $1 AND x.amount > 0
 ORDER BY 1, 2`

// Movements passes the money that came and went for an event to visit, the oldest first.
func (ps *Payments) Movements(ctx context.Context, event int64, visit func(Movement) error) error {
	rows, err := ps.db.Query(ctx, movementsSQL, event)
	if err != nil {
		return fmt.Errorf("payments: list movements: %w", err)
	}
	var m Movement
	_, err = pgx.ForEachRow(rows, []any{&m.At, &m.Order, &m.Name, &m.Kind, &m.Method, &m.Reference, &m.Amount, &m.Currency, &m.State}, func() error { return visit(m) })
	if err != nil {
		return fmt.Errorf("payments: list movements: %w", err)
	}
	return nil
}
