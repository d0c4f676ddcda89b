package verify_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// plantedDoor is an evening of three orders: of the first, which was paid at the door, seat 3 came in, 4 was cancelled
// and 5 holds; of the second, all of it was cancelled; the third was paid with credit, and some of that went back.
func plantedDoor(t *testing.T) *fixture {
	t.Helper()
	h := open(t, "theatre", events.Settings{})
	o, ledger := orders.New(h.db), credit.New(h.db)
	o.Open(h.office, "")
	o.Payments.Accept(payments.Credit, credit.Payments{Ledger: ledger})
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	find := func(code string, err error) orders.Order {
		t.Helper()
		do(err)
		order, err := o.Find(t.Context(), code)
		do(err)
		return order
	}
	buys := func(idx ...int) orders.Order {
		who := seats.NewID()
		h.claim(t, who, "", idx...)
		return find(seatstest.Order(t.Context(), h.db, h.sale, who))
	}
	first := buys(3, 4, 5)
	_, _, err := o.MarkPaid(t.Context(), first.Code, nil)
	do(err)
	secret, err := o.OpenDoor(t.Context(), "evening", nil)
	do(err)
	door, err := o.Doorway(t.Context(), secret)
	do(err)
	_, err = o.Scan(t.Context(), door, orders.Scan{Key: "k", Code: first.Tickets[0].Code})
	do(err)
	do(o.Revoke(t.Context(), h.sale, find(first.Code, nil), false, first.Tickets[1].ID))
	do(o.Revoke(t.Context(), h.sale, buys(10, 11), false))
	do(ledger.Grant(t.Context(), "first", "ann@example.org", credit.Amount{Minor: 50000, Currency: "EUR"}, seats.ID{}))
	who := seats.NewID()
	hold := h.claim(t, who, "", 20)
	p, err := o.Pay(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Credit, Account: "ann@example.org"})
	do(err)
	do(o.Refund(t.Context(), find(p.Code, nil), "k", 100, "one Euro"))
	do(o.Payments.Ask(t.Context(), p))
	wantFine(t, h.look(t))
	return h
}

var plantedDoors = []struct{ name, promise, says, sql string }{
	{"two people came in with one ticket", "O7", "let 2 people in", `INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, door_id, ticket_id, 'x', '', now(), true FROM scan`},
	{"a ticket came in again without an exit", "O7", "came in again without an exit", `INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted, said) SELECT event_id, door_id, ticket_id, 'x', '', now(), false, 'in' FROM scan`},
	{"a cancelled ticket was let in", "O7", "after its ticket was cancelled", `UPDATE scan SET ticket_id = (SELECT id FROM ticket WHERE idx = 4), received_at = now() + interval '1 hour'`},
	{"a scan is of a ticket that is not there", "O7", "of another event, or of none", `UPDATE scan SET ticket_id = gen_random_uuid()`},
	{"a scan was of a door that is not there", "O7", "of a door of another event", `UPDATE scan SET door_id = 99`},
	{"a ticket was cancelled without a row", "O8", "was cancelled 0 times", `UPDATE ticket SET revoked_at = now() WHERE idx = 5`},
	{"a cancelled ticket holds", "O8", "was cancelled 1 times and holds", `UPDATE ticket SET revoked_at = NULL WHERE idx = 4`},
	{"a ticket was cancelled twice", "O8", "was cancelled 2 times", `INSERT INTO cancellation SELECT gen_random_uuid(), event_id, order_id, tickets, amount, 0, now() FROM cancellation`},
	{"a cancellation is of another amount", "O8", "and its tickets cost", `UPDATE cancellation SET amount = amount + 1`},
	{"an order is cancelled and has tickets", "O8", "is cancelled with 2 tickets", `UPDATE orders SET state = 'cancelled'`},
	{"an order has no tickets and holds", "O8", "is confirmed with 0 tickets", `UPDATE orders SET state = 'confirmed'`},
	{"a refund was lost on its way into credit", "M5", "and its credit was taken", `UPDATE credit_hold SET refunded = 0`},
	{"credit was never taken", "M5", "and its credit was taken", `UPDATE credit_hold SET captured = captured - 1`},
	{"a refund by hand is of nothing", "M1", "by hand", `DELETE FROM refund WHERE by_hand`},
	{"a refund was made of nothing", "M1", "its refunds are", `UPDATE refund SET amount = amount + 1 WHERE NOT by_hand`},
}

func TestVerifyFindsEachPlantedCorruptionOfDoorsCancellationsAndRefunds(t *testing.T) {
	t.Parallel()
	h := plantedDoor(t)
	h.exec(t, dropWalls)
	for _, name := range []string{"one live ticket is there for a seat", "a ticket lets one person in", "a cancellation is given back once"} {
		h.exec(t, `DROP INDEX "`+name+`"`)
	}
	for _, planted := range plantedDoors {
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
