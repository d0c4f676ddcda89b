package crash_test

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats/verify"
)

// rest waits until nothing is under way.
func (p *program) rest(bug string) bool {
	return p.until(bug, func() bool {
		return p.count(`intention WHERE done_at IS NULL`)+p.count(`inbox WHERE done_at IS NULL`) == 0
	})
}

const moneySQL = `
SELECT coalesce((SELECT paid FROM orders o WHERE o.id = p.order_id AND o.state = 'confirmed'), 0),
       EXISTS (SELECT FROM orders o WHERE o.id = p.order_id AND o.state = 'confirmed'),
       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id), 0)::bigint,
       coalesce((SELECT sum(amount) FROM refund WHERE payment_id = p.id AND done_at IS NOT NULL), 0)::bigint
  FROM payment p WHERE p.id::text = $1`

// wrong holds the bank's books against ours: each captured cent is in exactly one of a confirmed order and a refund,
// money is taken once and only for seats that were sold, and no promised money stays without an order.
func (p *program) wrong() (found []string) {
	if !p.rest("") {
		found = append(found, "it does not come to rest")
	}
	found = append(found, p.wrongBooks()...)
	for _, s := range p.bank.Sessions() {
		var paid, back, done int64
		var ordered bool
		if err := p.db.QueryRow(context.Background(), moneySQL, s.Payment).Scan(&paid, &ordered, &back, &done); err != nil {
			found = append(found, fmt.Sprintf("no payment for the bank's %s, in state %s: %v", s.ID, s.Intent, err))
			continue
		}
		if s.Captured != paid+back || s.Refunded != done {
			found = append(found, fmt.Sprintf("the bank has %d and gave back %d; an order has %d, refunds are %d, done %d", s.Captured, s.Refunded, paid, back, done))
		}
		if s.Intent == "requires_capture" {
			found = append(found, fmt.Sprintf("the bank keeps %d without an order", s.Amount))
		}
		if s.Captures > 1 || s.Captures > 0 && !ordered && s.Captured == s.Amount && !s.ByItself {
			found = append(found, fmt.Sprintf("%d was taken %d times, and an order is there: %t", s.Amount, s.Captures, ordered))
		}
	}
	return found
}

// creditOfBuyer is the credit of a visitor at the beginning, in cents.
const creditOfBuyer = 100000

// wrongBooks holds our books against themselves and those of credit: what was granted is in an account or an order.
func (p *program) wrongBooks() (found []string) {
	report, err := verify.Look(context.Background(), p.db, "")
	if err != nil {
		return []string{err.Error()}
	}
	for _, promise := range report.Promises {
		for _, f := range promise.Findings {
			found = append(found, promise.Name+": "+f.String())
		}
	}
	var granted, left, spent int64
	err = p.db.QueryRow(context.Background(), `
		SELECT (SELECT count(*) FROM credit_transfer WHERE kind = 'grant') * $1, (SELECT coalesce(sum(balance), 0)::bigint FROM credit_account WHERE kind = 'attendee'),
		       (SELECT coalesce(sum(paid), 0)::bigint FROM orders WHERE method = 'credit')`, creditOfBuyer).Scan(&granted, &left, &spent)
	if err != nil || granted != left+spent {
		found = append(found, fmt.Sprintf("of credit of %d cents %d are left and orders have %d, %v", granted, left, spent, err))
	}
	return found
}

// patience is how long to wait for a program that may have died and starts again.
const patience = 20 * time.Second

// pause is a moment for what runs by itself.
func pause() { time.Sleep(20 * time.Millisecond) }
