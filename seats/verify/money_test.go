package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/demo"
)

// plantedPayments has one payment that was captured and one that is open.
func plantedPayments(t *testing.T) *fixture {
	t.Helper()
	h := open(t, "theatre", events.Settings{Demo: true, Fees: seats.Fees{Ticket: 100, Percent: 250}})
	sold := orders.New(h.db)
	sold.Open(h.office, "")
	card := demo.New(h.db, sold.Payments.Record)
	sold.Payments.Accept(payments.Demo, card)
	pays := func(request seats.ClaimRequest) payments.Payment {
		who := seats.NewID()
		hold, err := h.sale.Claim(t.Context(), who, "", request)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sold.Pay(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Demo})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	paid := pays(seats.ClaimRequest{Best: 2, Category: "A"})
	if err := card.Answer(t.Context(), paid.Reference, demo.Pays); err != nil {
		t.Fatal(err)
	}
	if err := sold.Payments.Ask(context.Background(), paid); err != nil {
		t.Fatal(err)
	}
	pays(seats.ClaimRequest{Best: 1, Category: "A"})
	wantFine(t, h.look(t))
	return h
}

var plantedMoney = []struct{ name, promise, says, sql string }{
	{"a captured cent is nowhere", "M1", "its order has", `UPDATE orders SET paid = paid - 1`},
	{"a captured cent is in two places", "M1", "its refunds are", `INSERT INTO refund (id, order_id, payment_id, amount, reason, done_at)
		SELECT gen_random_uuid(), order_id, id, 1, 'x', now() FROM payment WHERE state = 'captured'`},
	{"a fee of a cancelled ticket stays that goes back", "M1", "fees of 1 of cancelled", `UPDATE orders SET kept = 1`},
	{"a share of the fees is lost", "O4", "its tickets cost", `UPDATE ticket SET fee = fee - 1`},
	{"an order names another fee", "O4", "with fees of", `UPDATE orders SET fee = fee + 1`},
	{"a tax loses a cent", "O4", "contains a tax of", `UPDATE ticket SET tax_rate = 10000, tax = round(price * 10000.0 / 110000) - 1`},
	{"a discount is not that of the tickets", "O4", "a discount of", `UPDATE orders SET discount = discount + 1`},
	{"a cancelled ticket's money stays", "M1", "its live tickets cost", `UPDATE ticket SET revoked_at = now()`},
	{"a cancellation gives nothing back", "M1", "its refunds are 0", `INSERT INTO cancellation (id, event_id, order_id, tickets, amount, back)
		SELECT gen_random_uuid(), event_id, id, ARRAY[id], 1, 1 FROM orders`},
	{"money that came at the door is nowhere", "M1", "by hand", `UPDATE orders SET method = 'door', received = 1`},
	{"money that came at the door went back without a row", "M1", "by hand, it has", `UPDATE orders SET method = 'door', received = paid; UPDATE orders SET paid = 0`},
	{"an order is paid with nothing", "M1", "no payment captured", `DELETE FROM intention; DELETE FROM payment`},
	{"money was captured for no order", "M2", "there is no order", `DELETE FROM mail; DELETE FROM ticket; DELETE FROM orders`},
	{"an order came without its money", "M2", "there is an order", `UPDATE payment SET state = 'lost' WHERE state = 'captured'`},
	{"another currency was paid", "M2", "and its order of", `UPDATE payment SET currency = 'JPY' WHERE state = 'captured'`},
	{"an order has no payment", "M2", "has no payment", `DELETE FROM intention; DELETE FROM payment`},
	{"an open payment is forgotten", "M3", "nothing is meant for it", `UPDATE intention SET done_at = now()`},
	{"a call was made without an intention", "M3", "was never meant", `DELETE FROM intention WHERE step = 'authorize'`},
	{"a refund was never meant", "M3", "a refund of 1", `INSERT INTO refund (id, order_id, payment_id, amount, reason) SELECT gen_random_uuid(), order_id, id, 1, 'x' FROM payment`},
	{"one hold is paid twice", "M4", "payments under way", `UPDATE payment SET state = 'open', hold_id = (SELECT hold_id FROM payment LIMIT 1)`},
	{"two payments have one reference", "M4", "are known as", `UPDATE payment SET reference = 'same'`},
}

func TestVerifyFindsEachPlantedCorruptionOfMoney(t *testing.T) {
	t.Parallel()
	h := plantedPayments(t)
	h.exec(t, dropWalls)
	h.exec(t, `DROP INDEX "one hold has one payment under way"; DROP INDEX "one reference is one payment"`)
	for _, planted := range plantedMoney {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
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
			t.Errorf("%s did not tell of it; told was %q", planted.promise, told)
		})
	}
}
