package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// giftCardsSQL asks for everything that is against the promises of gift cards. A voucher that has expired still is what its
// card was sold for.
const giftCardsSQL = `
SELECT 1, format('gift card %s of %s %s is %s and has a voucher of %s %s', c.id, c.amount, c.currency, c.state, coalesce(v.amount, 0), v.currency)
  FROM gift_card c LEFT JOIN credit_voucher v ON v.id = c.voucher_id
 WHERE CASE WHEN c.state IN ('issued', 'refunding', 'refunded') THEN (v.amount = c.amount AND v.currency = c.currency) IS NOT TRUE ELSE v.id IS NOT NULL END
 UNION ALL
SELECT 2, format('gift card %s is %s, and its voucher was %s', c.id, c.state, CASE WHEN v.voided_at IS NULL THEN 'not taken back' ELSE 'taken back' END)
  FROM gift_card c JOIN credit_voucher v ON v.id = c.voucher_id WHERE (c.state IN ('refunding', 'refunded')) <> (v.voided_at IS NOT NULL)
 UNION ALL
SELECT 2, format('gift cards were sold for %s %s, of which %s can be redeemed, %s were loaded and %s went back', sum(c.amount), c.currency, sum(w.waiting), sum(w.loaded), sum(w.back))
  FROM gift_card c LEFT JOIN credit_voucher v ON v.id = c.voucher_id LEFT JOIN credit_transfer t ON t.voucher_id = v.id,
       LATERAL (SELECT coalesce(CASE WHEN v.redeemed_at IS NULL AND v.voided_at IS NULL THEN v.amount END, 0) AS waiting, coalesce(CASE WHEN v.voided_at IS NULL THEN t.amount END, 0) AS loaded,
                       coalesce(CASE WHEN v.voided_at IS NOT NULL THEN v.amount END, 0) AS back) w
 WHERE c.state IN ('issued', 'refunding', 'refunded')
 GROUP BY c.currency HAVING sum(c.amount) <> sum(w.waiting + w.loaded + w.back)`

// checkGiftCards looks at gift cards, which belong to no event.
func checkGiftCards(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, giftCardsSQL)
	if err != nil {
		return fmt.Errorf("gift cards: %w", err)
	}
	b := &books{report: r}
	var promise int
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(g1+promise-1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("gift cards: %w", err)
	}
	return nil
}
