package verify_test

import (
	"strings"
	"testing"
)

// plantedAccounts are told of plantedPayments: one payment that was captured, and one that is open.
var plantedAccounts = []struct{ name, promise, says, sql string }{
	{"a cent of an order is not in the books", "B1", "and the books", `UPDATE orders SET paid = paid + 1`},
	{"a refund is not in its order", "B1", "and the books", `INSERT INTO refund (id, order_id, payment_id, amount, reason, done_at)
		SELECT gen_random_uuid(), order_id, id, 1, 'x', now() FROM payment WHERE state = 'captured'`},
	{"a ticket was cancelled by no row", "B1", "valid tickets", `UPDATE ticket SET revoked_at = now()`},
	{"the ledger of credit captured more than the books have", "B2", "by credit", `
		WITH a AS (INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', 'ann@example.org', 'EUR', 0) RETURNING id)
		INSERT INTO credit_hold (id, account_id, currency, order_id, amount, state, captured, expires_at)
		SELECT p.id, a.id, 'EUR', p.order_id, p.captured + 1, 'captured', p.captured + 1, now() FROM a, payment p WHERE p.captured > 0`},
	{"an order that waits for being counted waits no more", "B4", "is not what its postings are", `DELETE FROM book_touch`},
	{"an order is counted with a cent more", "B4", "is not what its postings are", `DELETE FROM book_touch; INSERT INTO book_order SELECT o.id, o.event_id, e.team_id, now(), 0, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 'EUR', '', 'web', 'demo', '' FROM orders o JOIN event e ON e.id = o.event_id`},
	{"a day has what no order has", "B4", "is not the sum of its orders", `INSERT INTO book_day SELECT id, now(), 'EUR', 'web', 'demo', 0, 1, 1, 0, 0, 0, 0, 0 FROM team`},
	{"a month has what no order has", "B4", "is not the sum of its orders", `INSERT INTO book_month SELECT id, '2030-05-01', 1, 0, 0, 'EUR', '', '', 1, 1, 0, 0, 0, 0, 0 FROM team`},
	{"a month has not what an order has", "B4", "of event", `INSERT INTO book_order SELECT o.id, o.event_id, e.team_id, now(), 0, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 'EUR', '', 'web', 'demo', '' FROM orders o JOIN event e ON e.id = o.event_id`},
	{"a day has not what an order has", "B4", "is not the sum of its orders", `INSERT INTO book_order SELECT o.id, o.event_id, e.team_id, now(), 0, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 'EUR', '', 'web', 'demo', '' FROM orders o JOIN event e ON e.id = o.event_id`},
	{"an order is counted that is not there", "B4", "and there is none", `INSERT INTO book_order SELECT gen_random_uuid(), e.id, NULL, now(), 0, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 'EUR', '', 'web', 'demo', '' FROM event e`},
}

func TestLook_TellsOfBooksThatDiffer(t *testing.T) {
	t.Parallel()
	h := plantedPayments(t)
	h.exec(t, dropWalls)
	for _, planted := range plantedAccounts {
		t.Run(planted.name, func(t *testing.T) {
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
					told = append(told, p.Name+": "+f.String())
				}
			}
			t.Errorf("it was not told of; told was %q", told)
		})
	}
}
