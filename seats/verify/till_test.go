package verify_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/till"
)

// plantedTills are told of two closed sessions with a sale each, and an open one.
var plantedTills = []struct{ name, promise, says, sql string }{
	{"a sale has another amount", "Z1", "by cash, and has", `UPDATE till_entry SET amount = amount + 1 WHERE kind = 'sale'`},
	{"a sale is paid another way", "Z1", "by terminal, and has", `UPDATE till_entry SET method = 'terminal' WHERE kind = 'sale'`},
	{"an order is sold twice", "Z1", "is in 2 sales", `DROP INDEX "a sale has one entry of a way to pay"; INSERT INTO till_entry (session_id, kind, method, amount, order_id, tickets) SELECT 3, kind, method, amount, order_id, tickets FROM till_entry WHERE session_id = 1 AND kind = 'sale'`},
	{"a gift card paid nothing of a sale", "Z1", "a gift card paid 0 of it", `INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT session_id, kind, 'credit', 1, order_id FROM till_entry WHERE session_id = 1 AND kind = 'sale'`},
	{"a sale has more than its order got", "Z1", "is in till sales with", `INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT session_id, kind, 'credit', 1, order_id FROM till_entry WHERE session_id = 1 AND kind = 'sale'`},
	{"a card reader took nothing of a sale", "Z1", "a reader took 0 for it", `INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT session_id, kind, 'card', 1, order_id FROM till_entry WHERE session_id = 1 AND kind = 'sale'`},
	{"what a card reader took is in no till", "Z1", "is in no till session", `INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state, captured)
		SELECT gen_random_uuid(), event_id, id, code, holder, hold_id, '{"seats": [], "till": {"reader": "tmr_1", "session": 1}}', 'card', currency, total, 'captured', total FROM orders LIMIT 1`},
	{"a session is of another team", "Z1", "another team's", `WITH t AS (INSERT INTO team (name) VALUES ('x') RETURNING id) UPDATE till_session SET team_id = t.id FROM t WHERE till_session.id = 3; INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT 3, 'payment', method, amount, order_id FROM till_entry WHERE session_id = 1 AND kind = 'sale'`},
	{"more is paid at a till than came", "Z1", "its receipts are 0", `INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT 3, 'payment', 'cash', 1, id FROM orders LIMIT 1`},
	{"a till pays out what no refund says", "Z1", "its refunds by hand are 0", `INSERT INTO till_entry (session_id, kind, method, amount, order_id) SELECT 3, 'refund', 'cash', 1, id FROM orders LIMIT 1`},
	{"an entry of a closed session is gone", "Z2", "its entries come to", `DELETE FROM till_entry WHERE session_id = 1 AND kind = 'out'`},
	{"a closed session got another entry", "Z2", "its entries come to", `INSERT INTO till_entry (session_id, kind, method, amount, reason) VALUES (2, 'in', 'cash', 1, 'x')`},
	{"a report is missing", "Z3", "their last number is 2", `DELETE FROM till_entry WHERE session_id = 1; DELETE FROM till_session WHERE id = 1`},
	{"numbers are in another order", "Z3", "closed before", `UPDATE till_session SET closed_at = closed_at - interval '1 day' WHERE number = 2`},
}

func TestVerifyFindsEachPlantedCorruptionOfTills(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	sold := orders.New(h.db)
	sold.Open(h.office, "")
	for id := range int64(3) {
		h.exec(t, `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES (first_team(), 1, 'Ann', 'EUR', 'UTC', 100)`)
		if id == 2 {
			break
		}
		if _, err := sold.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: string(rune('a' + id)), Seats: []int{int(id)}, Method: payments.Cash, Entry: till.OfSale(id+1, "")}, nil); err != nil {
			t.Fatal(err)
		}
		h.exec(t, `INSERT INTO till_entry (session_id, kind, method, amount, reason) SELECT max(id), 'out', 'cash', 40, 'x' FROM till_session`)
		h.exec(t, `UPDATE till_session s SET number = s.id, closed_at = clock_timestamp(), day = '2030-05-01', counted = 0, expected = 60 + sale.amount, taken = sale.amount
			FROM till_entry sale WHERE sale.session_id = s.id AND sale.kind = 'sale' AND closed_at IS NULL`)
	}
	h.exec(t, `DROP TRIGGER "an entry stands" ON till_entry; DROP TRIGGER "a session is closed once" ON till_session; DROP TRIGGER "a session stands" ON till_session`)
	for _, planted := range plantedTills {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
				}
			}
			t.Errorf("%s did not tell of it: %+v", planted.promise, r.Broken())
		})
	}
}
