package orders

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Tickets of an event that ended a day ago are used or void.
const openOrdersSQL = `
SELECT o.code FROM orders o JOIN event e ON e.id = o.event_id
 WHERE o.event_id = ANY($1) AND (lower(o.email) = $2
       AND (EXISTS (SELECT FROM refund WHERE order_id = o.id AND done_at IS NULL)
         OR e.starts_at > clock_timestamp() - interval '1 day' AND EXISTS (SELECT FROM ticket WHERE order_id = o.id AND revoked_at IS NULL))
    OR e.starts_at > clock_timestamp() - interval '1 day' AND EXISTS (
       SELECT FROM ticket_transfer f JOIN ticket t ON t.id = f.ticket_id WHERE f.order_id = o.id AND lower(f.email) = $2 AND t.revoked_at IS NULL))
 ORDER BY o.created_at`

// Unfinished lists the codes of a person's orders in some events that are still needed: their event is to come, or a refund is on its way.
func Unfinished(ctx context.Context, tx pgx.Tx, events []int64, email string) ([]string, error) {
	codes, err := texts(ctx, tx, openOrdersSQL, events, email)
	if err != nil {
		return nil, fmt.Errorf("orders: find unfinished orders: %w", err)
	}
	return codes, nil
}

const exportOrdersSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'starts_at', e.starts_at, 'code', o.code, 'state', o.state, 'name', o.name, 'email', o.email, 'born', o.born,
       'answers', (SELECT json_object_agg(q.label, o.answers->>q.number::text) FROM question q WHERE q.event_id = o.event_id AND o.answers ? q.number::text),
       'paid_by', o.method, 'currency', o.currency, 'total_in_minor_units', o.total, 'paid_in_minor_units', o.paid, 'created_at', o.created_at, 'network', o.network, 'invoice_for', nullif(o.billing, '{}'), 'added', nullif(o.extras, '[]'), 'post_to', o.post_to, 'posted_at', o.posted_at,
       'accepted_terms', (SELECT json_build_object('version', version, 'at', at) FROM consent WHERE order_id = o.id),
       'tickets', (SELECT json_agg(json_build_object('section', c.name, 'row', s.row, 'seat', s.number, 'name', nullif(t.name, ''), 'price_in_minor_units', t.price, 'cancelled_at', t.revoked_at,
                                   'scans', (SELECT json_agg(json_build_object('at', n.scanned_at, 'entrance', n.place, 'admitted', n.admitted)) FROM scan n WHERE n.ticket_id = t.id AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))) ORDER BY t.idx)
                     FROM ticket t JOIN seat s ON s.event_id = t.event_id AND s.idx = t.idx JOIN section c ON c.event_id = s.event_id AND c.number = s.section WHERE t.order_id = o.id)) ORDER BY o.created_at), '[]')
  FROM orders o JOIN event e ON e.id = o.event_id
 WHERE o.event_id = ANY($1) AND lower(o.email) = $2`

const exportReceivedSQL = `
SELECT coalesce(json_agg(of.ticket ORDER BY of.at), '[]') FROM (
SELECT f.offered_at AS at, json_build_object('event', e.name, 'starts_at', e.starts_at, 'offered_to', CASE WHEN lower(f.sent_to) = $2 THEN f.sent_to END, 'offered_at', f.offered_at,
       'section', c.name, 'row', s.row, 'seat', s.number, 'accepted', CASE WHEN lower(f.email) = $2 THEN json_build_object('at', f.accepted_at, 'name', f.name, 'email', f.email, 'cancelled_at', t.revoked_at,
       'scans', (SELECT json_agg(json_build_object('at', n.scanned_at, 'entrance', n.place, 'admitted', n.admitted)) FROM scan n WHERE n.ticket_id = t.id)) END) AS ticket
  FROM ticket_transfer f JOIN event e ON e.id = f.event_id JOIN ticket t ON t.id = f.ticket_id
  JOIN seat s ON s.event_id = t.event_id AND s.idx = t.idx JOIN section c ON c.event_id = s.event_id AND c.number = s.section
 WHERE f.event_id = ANY($1) AND $2 IN (lower(f.email), lower(f.sent_to))
 UNION ALL
SELECT f.offered_at, json_build_object('event', e.name, 'starts_at', e.starts_at, 'offered_to', f.sent_to, 'offered_at', f.offered_at, 'to_buy_until', f.until)
  FROM resale_offer f JOIN event e ON e.id = f.event_id WHERE f.event_id = ANY($1) AND lower(f.sent_to) = $2) of`

// ExportReceived returns the tickets in some events that were sent to a person, or offered to them for sale.
func ExportReceived(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportReceivedSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("orders: export sent tickets: %w", err)
	}
	return list, nil
}

const exportEmailsSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'old_email', CASE WHEN lower(c.old_email) = $2 THEN c.old_email END, 'new_email', CASE WHEN lower(c.new_email) = $2 THEN c.new_email END,
       'asked_at', c.asked_at, 'changed_at', c.done_at) ORDER BY c.asked_at), '[]')
  FROM email_change c JOIN event e ON e.id = c.event_id WHERE c.event_id = ANY($1) AND $2 IN (lower(c.old_email), lower(c.new_email))`

// ExportEmailChanges returns the requests in some events to change the email of an order from or to that of a person.
func ExportEmailChanges(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportEmailsSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("orders: export changes of an email: %w", err)
	}
	return list, nil
}

// Export returns a person's orders in some events, with their tickets and scans.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportOrdersSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("orders: export: %w", err)
	}
	return list, nil
}

// Its text is searched: a form that no order would take may have characters that a JSON operator refuses.
const eraseTypedSQL = `DELETE FROM typed WHERE event_id = ANY($1) AND ($2 = '' OR strpos(lower(answer::text), $2) > 0)`

const toEraseSQL = `
SELECT id FROM orders o
 WHERE event_id = ANY($1) AND ($2 = '' OR lower(email) = $2) AND erased_at IS NULL
   AND NOT EXISTS (SELECT FROM refund WHERE order_id = o.id AND done_at IS NULL)
 ORDER BY id FOR NO KEY UPDATE`

// The tickets of erased orders count for no person any more. A key that no other order uses is replaced by a random one.
const eraseKeysSQL = `
WITH gone AS (
    SELECT o.event_id, k.key, sum(t.live)::integer AS n
      FROM orders o, unnest(o.keys) AS k(key), LATERAL (SELECT count(*) FILTER (WHERE revoked_at IS NULL) AS live FROM ticket WHERE order_id = o.id) t
     WHERE o.id = ANY($1) GROUP BY o.event_id, k.key
)
UPDATE purchase_key p SET tickets = p.tickets - g.n, key = CASE WHEN p.tickets = g.n THEN gen_random_uuid() ELSE p.key END
  FROM gone g WHERE p.event_id = g.event_id AND p.key = g.key`

// Tickets with an address are on paper, and stay so without it: they need no rotating code, posted or not.
const eraseOrdersSQL = `
UPDATE orders SET free_reason = '', posted_at = coalesce(posted_at, CASE WHEN post_to IS NOT NULL THEN clock_timestamp() END),
       name = '', email = '', born = NULL, answers = '{}', billing = '{}', network = '', language = '', keys = '{}', wish = '', post_to = NULL, erased_at = clock_timestamp() WHERE id = ANY($1)`

const eraseNamesSQL = `UPDATE ticket SET name = '' WHERE order_id = ANY($1) AND name <> ''`

const eraseReceivedSQL = `
UPDATE ticket_transfer
   SET sent_to = CASE WHEN $2 IN ('', lower(sent_to)) THEN '' ELSE sent_to END, name = CASE WHEN $2 IN ('', lower(email)) THEN '' ELSE name END,
       email = CASE WHEN $2 IN ('', lower(email)) THEN '' ELSE email END, language = CASE WHEN $2 IN ('', lower(email)) THEN '' ELSE language END
 WHERE event_id = ANY($1) AND ($2 = '' OR $2 IN (lower(email), lower(sent_to))) AND (name <> '' OR email <> '' OR sent_to <> '')`

const eraseResaleOffersSQL = `UPDATE resale_offer SET sent_to = '' WHERE event_id = ANY($1) AND sent_to <> '' AND $2 IN ('', lower(sent_to))`

// A request with an address that was erased is over. Of an order that was erased, all addresses that it had go.
const eraseEmailsSQL = `
UPDATE email_change c
   SET old_email = CASE WHEN o.erased_at IS NULL AND lower(c.old_email) <> $2 THEN c.old_email ELSE '' END, new_email = CASE WHEN o.erased_at IS NULL AND lower(c.new_email) <> $2 THEN c.new_email ELSE '' END,
       over_at = CASE WHEN c.done_at IS NULL THEN coalesce(c.over_at, clock_timestamp()) END
  FROM orders o WHERE o.id = c.order_id AND c.event_id = ANY($1) AND (o.erased_at IS NOT NULL OR $2 IN (lower(c.old_email), lower(c.new_email))) AND (c.old_email <> '' OR c.new_email <> '')`

// Erase takes names, emails, answers and networks out of a person's orders in some events, or out of all orders for an empty
// email, and what was typed at the checkout. Sums, tickets and scans stay. It returns how many orders it changed. Orders with
// a refund on its way are left.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) (int, error) {
	if _, err := tx.Exec(ctx, eraseTypedSQL, events, email); err != nil {
		return 0, fmt.Errorf("orders: erase what was typed: %w", err)
	}
	rows, err := tx.Query(ctx, toEraseSQL, events, email)
	if err != nil {
		return 0, fmt.Errorf("orders: erase: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return 0, fmt.Errorf("orders: erase: %w", err)
	}
	for _, sql := range []string{eraseKeysSQL, eraseOrdersSQL, eraseNamesSQL} {
		if _, err := tx.Exec(ctx, sql, ids); err != nil {
			return 0, fmt.Errorf("orders: erase: %w", err)
		}
	}
	if _, err := tx.Exec(ctx, eraseReceivedSQL, events, email); err != nil {
		return 0, fmt.Errorf("orders: erase sent tickets: %w", err)
	}
	if _, err := tx.Exec(ctx, eraseResaleOffersSQL, events, email); err != nil {
		return 0, fmt.Errorf("orders: erase offers to friends: %w", err)
	}
	if _, err := tx.Exec(ctx, eraseEmailsSQL, events, email); err != nil {
		return 0, fmt.Errorf("orders: erase changes of an email: %w", err)
	}
	return len(ids), nil
}
