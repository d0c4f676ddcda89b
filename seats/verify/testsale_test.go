package verify_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// plantedTestSales are told of a test sale with an order of the box office.
var plantedTestSales = []struct{ name, says, sql string }{
	{"a sale is in a till", "is in till session 1", `INSERT INTO till_entry (session_id, kind, method, amount, order_id, tickets) SELECT 1, 'sale', 'cash', received, id, 1 FROM orders`},
	{"a payment is by card", "is by card, with 0 of credit", `
		INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state) SELECT gen_random_uuid(), id, gen_random_uuid(), 'x', gen_random_uuid(), gen_random_uuid(), '{}', 'card', 'EUR', 1, 'closed' FROM event`},
	{"credit pays a part", "by demo, with 5 of credit", `
		INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state) SELECT gen_random_uuid(), id, gen_random_uuid(), 'x', gen_random_uuid(), gen_random_uuid(), '{"credit": 5}', 'demo', 'EUR', 9, 'closed' FROM event`},
	{"a gift card pays", "a gift card paid 5 of order", `
		WITH card AS (INSERT INTO credit_account (kind, email, currency, balance) VALUES ('card', 'card-1', 'EUR', 0) RETURNING id)
		INSERT INTO credit_hold (id, account_id, currency, order_id, amount, state, captured, expires_at) SELECT gen_random_uuid(), card.id, 'EUR', o.id, 5, 'captured', 5, now() FROM card, orders o`},
	{"a group is asked for a deposit", "a deposit of 700", `
		WITH k AS (INSERT INTO block (id, event_id, kind, seats, ends_at) SELECT gen_random_uuid(), id, 'group', '{9}', now() FROM event RETURNING id, event_id), b AS (
			INSERT INTO booking (id, event_id, name, places) SELECT id, event_id, 'Eva', 1 FROM k RETURNING id, event_id)
		INSERT INTO deposit (booking_id, event_id, code, amount, due_at) SELECT id, event_id, 'x', 700, now() FROM b`},
}

func TestVerifyFindsEachPlantedCorruptionOfTestSales(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	sold := orders.New(h.db)
	sold.Open(h.office, "")
	if _, err := sold.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "a", Seats: []int{0}, Method: payments.Cash}, nil); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES (first_team(), 1, 'Ann', 'EUR', 'UTC', 100)`)
	h.exec(t, `UPDATE event SET test_of = id, name = 'TEST · Evening', demo = true, pay_at_door = false, invoices = false`)
	for _, planted := range plantedTestSales {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == "T1" && strings.Contains(f.String(), planted.says) {
						return
					}
				}
			}
			t.Errorf("nothing says %q: %+v", planted.says, r)
		})
	}
}
