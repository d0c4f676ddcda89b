package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// moneySQL asks for everything that is against the promises of payments (seats/orders).
const moneySQL = `
WITH back AS (
    SELECT order_id, sum(amount) AS amount FROM refund GROUP BY order_id
), taken AS (
    SELECT order_id AS id, sum(amount) AS amount FROM (SELECT order_id, amount FROM carried UNION ALL SELECT payer, -amount FROM carried) c GROUP BY order_id
), by_card AS ( /* at the box office a gift card pays, and cash or a card terminal the rest */
    SELECT order_id, amount FROM payment p WHERE method = 'credit' AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
     UNION ALL
    SELECT s.order_id, s.amount FROM payment_share s JOIN payment p ON p.id = s.payment_id WHERE p.method = 'credit'
), shared AS (
    SELECT s.payment_id, sum(s.amount) AS amount, sum(o.paid - o.received) AS paid, sum(coalesce(b.amount, 0) - coalesce(taken.amount, 0)) AS back
      FROM payment_share s JOIN orders o ON o.id = s.order_id LEFT JOIN back b ON b.order_id = s.order_id LEFT JOIN taken ON taken.id = s.order_id GROUP BY s.payment_id
), p AS (
    SELECT p.*, coalesce(s.back, coalesce(b.amount, 0) - coalesce((SELECT amount FROM taken WHERE taken.id = p.order_id), 0)) AS back, o.id AS ordered, coalesce(s.paid, o.paid - o.received, 0) AS paid,
           o.total, o.currency AS of_currency, o.method AS of_method, s.amount AS shares
      FROM payment p LEFT JOIN back b ON b.order_id = p.order_id LEFT JOIN orders o ON o.id = p.order_id LEFT JOIN shared s ON s.payment_id = p.id
)
SELECT 'M1', format('payment %s is of %s, and the shares of its orders are %s', id, amount, shares) FROM p WHERE shares <> amount
 UNION ALL
SELECT 'M1', format('payment %s captured %s, its order has %s and its refunds are %s', id, captured, paid, back)
  FROM p WHERE method IN ('card', 'demo', 'credit') AND captured IS DISTINCT FROM paid + back
 UNION ALL
SELECT 'M1', format('order %s has %s that no payment captured', o.id, o.paid)
  FROM orders o WHERE o.method IN ('card', 'demo', 'credit') AND o.paid > 0 AND NOT EXISTS (SELECT FROM payment WHERE order_id = o.id) AND NOT EXISTS (SELECT FROM payment_share WHERE order_id = o.id)
 UNION ALL
SELECT 'M1', format('order %s got %s by hand, it has %s and its refunds are %s', o.id, o.received, o.paid, coalesce(b.amount, 0))
  FROM orders o LEFT JOIN back b ON b.order_id = o.id LEFT JOIN taken ON taken.id = o.id
 LEFT JOIN by_card c ON c.order_id = o.id AND o.at_office
 WHERE o.method NOT IN ('card', 'demo', 'credit') AND o.received + coalesce(c.amount, 0) IS DISTINCT FROM o.paid + coalesce(b.amount, 0) - coalesce(taken.amount, 0)
 UNION ALL
SELECT 'M1', format('order %s has %s of other orders, and exchanges brought it %s', o.id, coalesce(taken.amount, 0), x.amount)
  FROM orders o LEFT JOIN taken ON taken.id = o.id, LATERAL (SELECT coalesce(sum(CASE o.id WHEN to_order THEN amount ELSE -amount END), 0) AS amount FROM exchange WHERE o.id IN (from_order, to_order)) x
 WHERE coalesce(taken.amount, 0) <> x.amount
 UNION ALL
SELECT 'M1', format('payment %s captured %s, and gave back %s', p.id, p.captured, r.amount)
  FROM p, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM refund WHERE payment_id = p.id) r WHERE r.amount > p.captured
 UNION ALL
SELECT 'M1', format('order %s keeps %s, and its live tickets cost %s', o.id, o.paid, t.cost)
  FROM orders o, LATERAL (SELECT coalesce(sum(price + fee) FILTER (WHERE revoked_at IS NULL), 0) AS cost FROM ticket WHERE order_id = o.id) t
 WHERE o.paid - o.kept > t.cost
 UNION ALL
SELECT 'M1', format('order %s keeps fees of %s of cancelled tickets or extras, and those that do not go back are %s', o.id, o.kept, o.extra + f.fee + c.fee)
  FROM orders o, LATERAL (SELECT coalesce(sum(fee), 0) AS fee FROM ticket WHERE order_id = o.id AND revoked_at IS NOT NULL AND moved_to IS NULL AND o.fee_kept) f,
       LATERAL (SELECT coalesce(sum(fee + difference), 0) AS fee FROM cancellation WHERE order_id = o.id) c
 WHERE o.kept > 0 AND o.kept > o.extra + f.fee + c.fee
 UNION ALL
SELECT 'M1', format('cancellation %s gives back %s, and its refunds are %s, with what went on to another order', c.id, c.back, r.amount)
  FROM cancellation c, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM (SELECT amount FROM refund WHERE cancellation_id = c.id UNION ALL SELECT amount FROM exchange WHERE cancellation_id = c.id) b) r
 WHERE c.back IS DISTINCT FROM r.amount
 UNION ALL
SELECT 'M2', format('payment %s is %s, and there is %s order', id, state, CASE WHEN ordered IS NULL THEN 'no' ELSE 'an' END)
  FROM p WHERE (state IN ('sold', 'captured') AND ordered IS NULL) OR (state IN ('open', 'authorized', 'lost') AND ordered IS NOT NULL)
 UNION ALL
SELECT 'M2', format('payment %s is of %s %s by %s, and its order of %s by %s', id, amount, currency, method, of_currency, of_method)
  FROM p WHERE ordered IS NOT NULL AND shares IS NULL AND (currency, method) IS DISTINCT FROM (of_currency, CASE WHEN method = 'credit' AND of_method IN ('cash', 'terminal') THEN 'credit' ELSE of_method END)
 UNION ALL
SELECT 'M2', format('order %s by %s has no payment', o.id, o.method)
  FROM orders o WHERE o.method IN ('card', 'demo', 'credit') AND NOT EXISTS (SELECT FROM payment WHERE order_id = o.id) AND NOT EXISTS (SELECT FROM payment_share WHERE order_id = o.id)
 UNION ALL
SELECT 'M3', format('payment %s is %s, and nothing is meant for it', id, state)
  FROM p WHERE state IN ('open', 'authorized', 'sold', 'lost') AND NOT EXISTS (SELECT FROM intention i WHERE i.payment_id = p.id AND i.done_at IS NULL)
 UNION ALL
SELECT 'M3', format('payment %s is awaited until %s, and its seats are held by another one', p.id, p.awaited_until)
  FROM p WHERE p.state = 'open' AND p.awaited_until > clock_timestamp()
   AND NOT EXISTS (SELECT FROM hold h WHERE h.event_id = p.event_id AND h.holder = p.id AND h.seats @> ARRAY(SELECT jsonb_array_elements_text(p.form->'seats')::integer))
 UNION ALL
SELECT 'M3', format('payment %s was never meant', id)
  FROM p WHERE NOT EXISTS (SELECT FROM intention i WHERE i.payment_id = p.id AND i.step = 'authorize')
 UNION ALL
SELECT 'M3', format('a refund of %s for order %s was never meant', r.amount, r.order_id)
  FROM refund r WHERE NOT r.by_hand AND NOT r.elsewhere AND NOT EXISTS (SELECT FROM intention i WHERE i.refund_id = r.id AND (i.done_at IS NULL) = (r.done_at IS NULL))
 UNION ALL
SELECT 'M3', format('mandate %s is %s, and no entry waits with it', m.id, m.state)
  FROM mandate m WHERE m.state IN ('asked', 'given') AND NOT EXISTS (SELECT FROM entry n WHERE n.mandate = m.id AND n.state IN ('new', 'waiting', 'offered'))
 UNION ALL
SELECT 'M3', format('payment %s is off-session, with the mandate of another address', p.id)
  FROM p JOIN mandate m ON m.id = p.mandate WHERE m.email <> '' AND m.email <> p.form->>'email'
 UNION ALL
SELECT 'M5', format('payment %s took %s and gave back %s, and its credit was taken by %s and got back %s', p.id, p.captured, r.done, coalesce(h.captured, 0), coalesce(h.refunded, 0))
  FROM payment p LEFT JOIN credit_hold h ON h.id = p.id,
       LATERAL (SELECT coalesce(sum(amount), 0) AS done FROM refund WHERE payment_id = p.id AND done_at IS NOT NULL AND NOT by_hand) r
 WHERE p.method = 'credit' AND (p.captured, r.done) IS DISTINCT FROM (coalesce(h.captured, 0), coalesce(h.refunded, 0))
   AND NOT EXISTS (SELECT FROM intention WHERE payment_id = p.id AND done_at IS NULL)
 UNION ALL
SELECT 'M5', format('payment %s of %s is %s and took %s, of which credit was to pay %s, and its credit is %s with %s taken and %s given back', p.id, p.amount, p.state, p.captured, p.form->>'credit', coalesce(h.state, 'not there'), coalesce(h.captured, 0), coalesce(h.refunded, 0))
  FROM payment p LEFT JOIN credit_hold h ON h.id = p.id
 WHERE p.method <> 'credit' AND coalesce((p.form->>'credit')::bigint, 0) > 0 AND NOT EXISTS (SELECT FROM intention WHERE payment_id = p.id AND done_at IS NULL)
   AND CASE WHEN p.captured >= p.amount THEN coalesce(h.captured, 0) <> (p.form->>'credit')::bigint
                 OR h.refunded > (SELECT coalesce(sum(CASE WHEN by_hand THEN by_credit ELSE amount END), 0) FROM refund WHERE payment_id = p.id AND (by_hand OR done_at IS NOT NULL) AND NOT elsewhere)
            ELSE h.state IS NOT NULL AND h.state <> 'voided' END
 UNION ALL
SELECT 'M4', format('hold %s has %s payments under way', hold_id, count(*))
  FROM payment WHERE state IN ('open', 'authorized') GROUP BY hold_id HAVING count(*) > 1
 UNION ALL
SELECT 'M4', format('%s payments are known as %s', count(*), reference)
  FROM payment WHERE reference <> '' GROUP BY method, reference HAVING count(*) > 1
 UNION ALL
SELECT 'M6', format('order %s received %s, and its receipts are %s', o.id, o.received, r.amount)
  FROM orders o, LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM receipt WHERE order_id = o.id) r
 WHERE (NOT o.at_office OR o.method IN ('door', 'invoice')) AND o.received IS DISTINCT FROM r.amount
 UNION ALL
SELECT 'M6', format('entry %s of a statement is %s with %s, and its receipts are %s', n.id, n.state, n.amount, coalesce(r.amount, 0))
  FROM statement_entry n LEFT JOIN (SELECT entry_id, sum(amount) AS amount, min(order_id::text)::uuid AS order_id, count(*) AS n FROM receipt GROUP BY entry_id) r ON r.entry_id = n.id
 WHERE CASE n.state WHEN 'applied' THEN (r.n = 1 AND r.amount = n.amount AND r.order_id = n.order_id) IS NOT TRUE ELSE r.n IS NOT NULL END`

const paymentsSQL = `
SELECT count(*), coalesce((SELECT max(id) + count(*) FILTER (WHERE done_at IS NULL) FROM intention), 0) + (SELECT count(*) FROM cancellation) + (SELECT count(*) FROM refund) + (SELECT count(*) FROM receipt)
  FROM payment`

// moneyBooks stands for payments where a Watch remembers events by number.
const moneyBooks = -2

// checkMoney looks at payments, of all events.
func (l *look) checkMoney(ctx context.Context, tx pgx.Tx, r *Report) error {
	var version int64
	if err := tx.QueryRow(ctx, paymentsSQL).Scan(&r.Payments, &version); err != nil {
		return err
	}
	if l.skip != nil && l.skip(moneyBooks, version) {
		r.Payments = 0
		return nil
	}
	rows, err := tx.Query(ctx, moneySQL)
	if err != nil {
		return err
	}
	b := books{report: r}
	var name, what string
	_, err = pgx.ForEachRow(rows, []any{&name, &what}, func() error {
		b.broken(m1+int(name[1]-'1'), none, "%s", what)
		return nil
	})
	if err != nil {
		return fmt.Errorf("payments: %w", err)
	}
	if l.done != nil {
		l.done(moneyBooks, version, b.findings)
	}
	return nil
}
