package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// plantedDeposits are told of four deposits of 500: one in an order, one paid back, one retained, and one that came into a till and is with
// its group.
var plantedDeposits = []struct{ name, promise, says, sql string }{
	{"an order has more of a deposit", "D1", "its order has 501 of it", `UPDATE receipt SET amount = 501 WHERE deposit_id IS NOT NULL`},
	{"an order has none", "D1", "its order has 0 of it", `UPDATE receipt SET deposit_id = NULL`},
	{"another booking's order has it", "D1", "does not have it", `UPDATE deposit SET outcome = '', order_id = NULL, ended_at = NULL WHERE outcome = 'order'`},
	{"it was paid back while the option lasts", "D1", "lasts or was confirmed", `UPDATE deposit SET outcome = 'refunded', back = 'cash', ended_at = now() WHERE outcome = ''`},
	{"its rates are of less", "D1", "its tax rates come to 499", `UPDATE deposit SET rates = '[{"rate": 0, "amount": 499, "tax": 0}]' WHERE outcome = ''`},
	{"it says that it was paid online", "D1", "is not there", `ALTER TABLE deposit DROP CONSTRAINT "only online a deposit has a payment"; UPDATE deposit SET method = 'card' WHERE outcome = ''`},
	{"money that came online is nowhere", "D1", "has another one", `INSERT INTO deposit_payment (id, booking_id, event_id, method, currency, amount, rates, language, state, captured_at) SELECT gen_random_uuid(), booking_id, event_id, 'card', 'EUR', 500, '[]', '', 'paid', now() FROM deposit WHERE outcome = ''`},
	{"its invoice is of more", "I2", "invoices less credit notes come to 501", `UPDATE invoice SET gross = gross + 1, net = net + 1 WHERE kind = 'deposit' AND booking_id = (SELECT booking_id FROM deposit WHERE outcome = 'order')`},
	{"it was retained though it was refundable", "D2", "was refundable until", `UPDATE deposit SET refundable_until = '2040-01-01' WHERE outcome = 'retained'`},
	{"it was retained though it came late", "D2", "was retained", `UPDATE deposit SET paid_at = now() + interval '1 day' WHERE outcome = 'retained'`},
	{"the books miss a deposit", "B3", "beside what orders took over", `UPDATE receipt SET deposit_id = NULL`},
	{"a till has more of it", "Z1", "as deposit with 600", `UPDATE till_entry SET amount = 600`},
	{"a till has it by card", "Z1", "by terminal, and it is of 500 by cash", `UPDATE till_entry SET method = 'terminal'`},
	{"an order on account received what no receipt says", "M6", "received 501, and its receipts are 500", `UPDATE orders SET received = 501`},
}

func TestVerifyFindsEachPlantedCorruptionOfDeposits(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	sold := orders.New(h.db)
	sold.Open(h.office, "")
	desk := organizers.New(h.db, func() {})
	groups := bookings.New(h.db, desk, sold, blocks.New(h.office, desk))
	ann := organizers.Member{Name: "Ann"}
	if err := h.db.QueryRow(t.Context(), `SELECT first_team()`).Scan(&ann.Team); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id) VALUES (first_team(), 'Theatre Ltd', 'Main Street 1', '1010', 'Vienna', 'AT', 'ATU12345675')`)
	numbered := invoices.New(h.db, nil)
	until := h.sale.Event.StartsAt.Add(-time.Hour)
	key := func() string { return seats.NewID().String() }
	h.exec(t, `INSERT INTO till_session (team_id, organizer_id, who, currency, zone, opening) VALUES (first_team(), 1, 'Ann', 'EUR', 'UTC', 100)`)
	for i, outcome := range []string{bookings.InOrder, bookings.Refunded, bookings.Retained, ""} {
		id, err := groups.Take(t.Context(), ann, key(), h.sale, bookings.Request{
			Contact: bookings.Contact{Name: "Eva"}, Seats: []int{10 * i}, Until: until, Deposit: &bookings.DepositTerms{Amount: 500, Due: until},
		})
		if err != nil {
			t.Fatal(err)
		}
		paid := bookings.DepositPayment{Method: payments.Cash}
		if outcome == "" {
			paid.Entry = func(q *pgx.Batch) {
				q.Queue(`INSERT INTO till_entry (session_id, kind, method, amount, deposit_id) SELECT 1, 'deposit', 'cash', 500, $1`, id)
			}
		}
		if _, err := numbered.OfDeposit(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err = groups.PayDeposit(t.Context(), ann, key(), h.sale, id, paid); err != nil {
			t.Fatal(err)
		}
		switch outcome {
		case bookings.InOrder:
			_, err = groups.Confirm(t.Context(), ann, key(), h.sale, id, bookings.Confirming{Due: until})
		case bookings.Refunded, bookings.Retained:
			if err = groups.Cancel(t.Context(), ann, key(), h.sale, id); err == nil {
				err = groups.EndDeposit(t.Context(), ann, key(), h.sale, id, bookings.DepositEnd{Outcome: outcome, Back: payments.Invoice})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	seatstest.Do(t.Context(), t, h.db, numbered.Job())
	h.exec(t, `DROP TRIGGER "an invoice is never changed" ON invoice; DROP TRIGGER "a deposit is to be invoiced" ON deposit; DROP TRIGGER "a paid deposit stands" ON deposit; DROP TRIGGER "an entry stands" ON till_entry`)
	for _, planted := range plantedDeposits {
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
			t.Errorf("nothing of %s says %q: %+v", planted.promise, planted.says, r)
		})
	}
}
