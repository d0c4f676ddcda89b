package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// payoutsSQL asks for everything that is against the promises of payouts. What credit paid of a payment, and got back of it, is not the card provider's: refunds
// go to the rest first.
const payoutsSQL = `
WITH p AS (
    SELECT p.id, p.currency, p.captured - least(p.captured, coalesce(h.captured, 0)) AS amount FROM payment p LEFT JOIN credit_hold h ON h.id = p.id
     WHERE EXISTS (SELECT FROM payout_line WHERE payment_id = p.id)
), upto AS (
    SELECT r.id, r.payment_id, r.amount, r.by_hand, r.by_credit, p.amount AS rest, p.currency,
           sum(CASE WHEN r.by_hand THEN r.by_credit ELSE r.amount END) OVER (PARTITION BY r.payment_id ORDER BY r.created_at, r.id) AS upto
      FROM refund r JOIN p ON p.id = r.payment_id
), r AS (
    SELECT id, payment_id, currency, CASE WHEN by_hand THEN amount - by_credit ELSE least(upto, rest) - least(upto - amount, rest) END AS amount FROM upto
)
SELECT 1, format('payout %s is of %s, and its lines come to %s', o.id, o.amount, coalesce(l.net, 0))
  FROM payout o LEFT JOIN (SELECT payout_id, sum(net) AS net FROM payout_line GROUP BY payout_id) l ON l.payout_id = o.id
 WHERE o.read_at IS NOT NULL AND o.amount <> coalesce(l.net, 0)
 UNION ALL
SELECT 1, format('payout %s was not read, and has lines', o.id) FROM payout o WHERE read_at IS NULL AND EXISTS (SELECT FROM payout_line WHERE payout_id = o.id)
 UNION ALL
SELECT 1, format('payout %s has a line of team %s, which does not see it', o.id, l.team_id) FROM payout o JOIN payout_line l ON l.payout_id = o.id WHERE l.team_id <> ALL (o.teams)
 UNION ALL
SELECT 2, format('line %s is a charge of %s %s, and payment %s took %s %s', l.id, l.charged, l.charged_currency, p.id, p.amount, p.currency)
  FROM payout_line l JOIN p ON p.id = l.payment_id WHERE l.kind = 'charge' AND (l.charged, l.charged_currency) <> (p.amount, p.currency)
 UNION ALL
SELECT 2, format('payment %s is in %s charges', payment_id, count(*)) FROM payout_line WHERE kind = 'charge' AND payment_id IS NOT NULL GROUP BY payment_id HAVING count(*) > 1
 UNION ALL
SELECT 2, format('line %s is a refund of %s %s, and refund %s gave back %s %s', l.id, l.charged, l.charged_currency, r.id, r.amount, r.currency)
  FROM payout_line l JOIN r ON r.id = l.refund_id WHERE (l.charged, l.charged_currency) <> (r.amount, r.currency)
 UNION ALL
SELECT 2, format('line %s is of refund %s, which is of another payment', l.id, l.refund_id) FROM payout_line l JOIN r ON r.id = l.refund_id WHERE r.payment_id <> l.payment_id
 UNION ALL
SELECT 2, format('refund %s is in %s refunds', refund_id, count(*)) FROM payout_line WHERE kind = 'refund' AND refund_id IS NOT NULL GROUP BY refund_id HAVING count(*) > 1
 UNION ALL
SELECT 2, format('line %s is of %s %s, and gift card %s is of %s %s', l.id, l.charged, l.charged_currency, g.id, g.amount, g.currency)
  FROM payout_line l JOIN gift_card g ON g.id = l.gift_card_id WHERE (l.charged, l.charged_currency) <> (g.amount, g.currency)
 UNION ALL
SELECT 2, format('line %s is of %s %s, and payment %s of a deposit is of %s %s', l.id, l.charged, l.charged_currency, d.id, d.amount, d.currency)
  FROM payout_line l JOIN deposit_payment d ON d.id = l.deposit_payment_id WHERE (l.charged, l.charged_currency) <> (d.amount, d.currency)
 UNION ALL
SELECT 2, format('line %s is of %s %s, and its amount is %s', l.id, l.charged, l.charged_currency, l.amount)
  FROM payout_line l JOIN payout o ON o.id = l.payout_id
 WHERE l.kind IN ('charge', 'refund', 'failed') AND l.team_id IS NOT NULL AND l.charged_currency = o.currency AND l.amount <> CASE l.kind WHEN 'refund' THEN -l.charged ELSE l.charged END
 UNION ALL
SELECT 2, format('line %s is of payment %s of another team', l.id, l.payment_id)
  FROM payout_line l JOIN payment p ON p.id = l.payment_id JOIN event e ON e.id = p.event_id WHERE e.team_id <> l.team_id`

// checkPayouts looks at what the card provider paid out, which belongs to no event.
func checkPayouts(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, payoutsSQL)
	if err != nil {
		return fmt.Errorf("payouts: %w", err)
	}
	b := &books{report: r}
	var promise int
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(s1+promise-1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("payouts: %w", err)
	}
	return nil
}
