package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// tillsSQL asks for everything that is against the promises of tills. What an order of the box office received is never changed, and a
// payment or a refund at the till is one of the order's receipts, or of its refunds by hand.
const tillsSQL = `
WITH at_reader AS ( /* what a reader and a gift card paid, and what of it the card */
    SELECT order_id, captured, coalesce((form->'till'->>'by_card')::bigint, 0) AS by_card
      FROM payment p WHERE method = 'card' AND form ? 'till' AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
     UNION ALL
    SELECT s.order_id, least(s.amount, p.captured), coalesce((SELECT (x->'form'->'till'->>'by_card')::bigint FROM jsonb_array_elements(p.form->'shares') x WHERE x->>'order' = s.order_id::text), 0)
      FROM payment_share s JOIN payment p ON p.id = s.payment_id WHERE p.method = 'card' AND p.form ? 'till'
), by_card AS (
    SELECT order_id, amount FROM payment p WHERE method = 'credit' AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
     UNION ALL
    SELECT s.order_id, s.amount FROM payment_share s JOIN payment p ON p.id = s.payment_id WHERE p.method = 'credit'
     UNION ALL
    SELECT order_id, by_card FROM at_reader WHERE by_card > 0 AND captured > 0
), by_reader AS (
    SELECT order_id, captured - CASE WHEN captured > 0 THEN by_card ELSE 0 END AS amount FROM at_reader WHERE by_card = 0 OR captured > by_card
)
SELECT 1, format('order %s… is in till session %s with %s by %s, and has %s by %s', left(o.code, 6), t.session_id, t.amount, t.method, o.received, o.method)
  FROM till_entry t JOIN orders o ON o.id = t.order_id
 WHERE t.kind = 'sale' AND t.method NOT IN ('credit', 'card') AND (t.amount <> o.received OR t.method <> o.method OR NOT o.at_office)
 UNION ALL
SELECT 1, format('order %s… is in till session %s with %s by gift card, and a gift card paid %s of it', left(o.code, 6), t.session_id, t.amount, coalesce(c.amount, 0))
  FROM till_entry t JOIN orders o ON o.id = t.order_id LEFT JOIN by_card c ON c.order_id = o.id
 WHERE t.kind = 'sale' AND t.method = 'credit' AND (t.amount IS DISTINCT FROM c.amount OR NOT o.at_office)
 UNION ALL
SELECT 1, format('order %s… is in till session %s with %s by card reader, and a reader took %s for it', left(o.code, 6), t.session_id, t.amount, coalesce(r.amount, 0))
  FROM till_entry t JOIN orders o ON o.id = t.order_id LEFT JOIN by_reader r ON r.order_id = o.id
 WHERE t.kind = 'sale' AND t.method = 'card' AND (t.amount IS DISTINCT FROM r.amount OR NOT o.at_office)
 UNION ALL
SELECT 1, format('order %s… was paid at a card reader, and is in no till session', left(o.code, 6)) FROM by_reader r JOIN orders o ON o.id = r.order_id
 WHERE NOT EXISTS (SELECT FROM till_entry t WHERE t.order_id = o.id AND t.kind = 'sale' AND t.method = 'card')
 UNION ALL
SELECT 1, format('order %s… is in till sales with %s, and got %s', left(o.code, 6), sum(t.amount), o.received + coalesce(c.amount, 0) + coalesce(r.amount, 0))
  FROM till_entry t JOIN orders o ON o.id = t.order_id LEFT JOIN by_card c ON c.order_id = o.id LEFT JOIN by_reader r ON r.order_id = o.id
 WHERE t.kind = 'sale' GROUP BY o.id, o.code, o.received, c.amount, r.amount HAVING sum(t.amount) <> o.received + coalesce(c.amount, 0) + coalesce(r.amount, 0)
 UNION ALL
SELECT 1, format('order %s… is in %s sales of tills', left(o.code, 6), count(*)) FROM till_entry t JOIN orders o ON o.id = t.order_id WHERE t.kind = 'sale' GROUP BY o.id, o.code
HAVING count(*) > count(DISTINCT t.method) OR count(DISTINCT session_id) > 1
 UNION ALL
SELECT 1, format('order %s… is in another team''s till session %s', left(o.code, 6), s.id)
  FROM till_entry t JOIN till_session s ON s.id = t.session_id JOIN orders o ON o.id = t.order_id JOIN event e ON e.id = o.event_id
 WHERE e.team_id <> s.team_id OR o.currency <> s.currency
 UNION ALL
SELECT 1, format('order %s… got %s at tills, and its receipts are %s', left(o.code, 6), sum(t.amount), (SELECT coalesce(sum(amount), 0) FROM receipt WHERE order_id = o.id AND entry_id IS NULL AND deposit_id IS NULL))
  FROM till_entry t JOIN orders o ON o.id = t.order_id WHERE t.kind = 'payment'
 GROUP BY o.id, o.code HAVING sum(t.amount) > (SELECT coalesce(sum(amount), 0) FROM receipt WHERE order_id = o.id AND entry_id IS NULL AND deposit_id IS NULL)
 UNION ALL
SELECT 1, format('tills paid %s out for order %s…, and its refunds by hand are %s', sum(t.amount), left(o.code, 6), (SELECT coalesce(sum(amount), 0) FROM refund WHERE order_id = o.id AND by_hand))
  FROM till_entry t JOIN orders o ON o.id = t.order_id WHERE t.kind = 'refund'
 GROUP BY o.id, o.code HAVING sum(t.amount) > (SELECT coalesce(sum(amount), 0) FROM refund WHERE order_id = o.id AND by_hand AND done_at IS NOT NULL)
 UNION ALL
SELECT 1, format('the deposit of booking %s… is in till session %s as %s with %s by %s, and it is of %s by %s', left(t.deposit_id::text, 6), t.session_id, t.kind, t.amount, t.method, d.amount, CASE t.kind WHEN 'deposit' THEN d.method ELSE d.back END)
  FROM till_entry t JOIN till_session s ON s.id = t.session_id JOIN deposit d ON d.booking_id = t.deposit_id JOIN event e ON e.id = d.event_id
 WHERE t.amount <> d.amount OR t.method <> CASE t.kind WHEN 'deposit' THEN d.method ELSE d.back END OR e.team_id <> s.team_id OR e.currency <> s.currency
 UNION ALL
SELECT 2, format('report %s of team %s expects %s in the drawer and says that %s was taken, and its entries come to %s and %s', s.number, s.team_id, s.expected, s.taken, s.opening + coalesce(t.cash, 0), coalesce(t.taken, 0))
  FROM till_session s LEFT JOIN LATERAL (
       SELECT sum(CASE WHEN kind IN ('refund', 'out', 'deposit back') THEN -amount ELSE amount END) FILTER (WHERE method = 'cash') AS cash,
              sum(CASE WHEN kind = 'refund' THEN -amount ELSE amount END) FILTER (WHERE kind IN ('sale', 'payment', 'refund')) AS taken
         FROM till_entry WHERE session_id = s.id) t ON true
 WHERE s.closed_at IS NOT NULL AND (s.expected <> s.opening + coalesce(t.cash, 0) OR s.taken <> coalesce(t.taken, 0))
 UNION ALL
SELECT 3, format('the reports of team %s are %s, and their last number is %s', team_id, count(*), max(number)) FROM till_session WHERE closed_at IS NOT NULL
 GROUP BY team_id HAVING count(*) <> max(number)
 UNION ALL
SELECT 3, format('report %s of team %s was closed before the one with the number before', number, team_id)
  FROM (SELECT team_id, number, closed_at, lag(closed_at) OVER (PARTITION BY team_id ORDER BY number) AS before FROM till_session WHERE closed_at IS NOT NULL) s WHERE closed_at < before`

// checkTills looks at sessions of tills, which belong to no event.
func checkTills(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, tillsSQL)
	if err != nil {
		return fmt.Errorf("tills: %w", err)
	}
	b := &books{report: r}
	var promise int
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(z1+promise-1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("tills: %w", err)
	}
	return nil
}
