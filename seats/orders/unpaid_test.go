package orders_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// later is an order of n places that is to be paid at the door, in a theatre.
func (h *fixture) later(t testing.TB, email string, n int) orders.Order {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := h.orders.Place(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: payments.Door, Verified: email})
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, code)
}

// look does the background work of orders that is due.
func (h *fixture) look(t testing.TB) {
	t.Helper()
	seatstest.Do(t.Context(), t, h.db, h.orders.Jobs()...)
}

func TestDue_UnpaidOrderIsRemindedOfThenCancelled(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	order, paid, came := h.later(t, "ann@example.org", 2), h.later(t, "bob@example.org", 1), h.later(t, "eve@example.org", 1)
	if order.DueAt == nil || order.DueAt.Sub(order.CreatedAt).Round(time.Minute) != 72*time.Hour {
		t.Fatalf("it is due at %v, want three days after %v", order.DueAt, order.CreatedAt)
	}
	if _, _, err := h.orders.MarkPaid(t.Context(), paid.Code, nil); err != nil {
		t.Fatal(err)
	}
	h.scan(t, h.door(t), orders.Scan{Key: "k", Code: came.Tickets[0].Code})
	h.look(t)
	if n := h.number(t, `SELECT count(*) FROM mail WHERE kind = 'reminder'`); n != 0 {
		t.Errorf("%d reminders went out at once", n)
	}
	ahead := func(by string) {
		h.exec(t, `UPDATE orders SET due_at = due_at - $1::interval, remind_at = remind_at - $1::interval WHERE due_at IS NOT NULL`, by)
	}
	ahead("2 days")
	h.look(t)
	h.look(t)
	if n := h.number(t, `SELECT count(*) FROM mail WHERE kind = 'reminder' AND order_id = (SELECT id FROM orders WHERE email = 'ann@example.org')`); n != 1 {
		t.Errorf("%d reminders went out a day before, want one", n)
	}
	if now := h.find(t, order.Code); now.State != orders.Confirmed {
		t.Errorf("a day before it is due the order is %s", now.State)
	}
	ahead("1 day")
	h.look(t)
	if now := h.find(t, order.Code); now.State != orders.Cancelled || now.Back != 0 {
		t.Errorf("after its time the unpaid order is %s, %d went back", now.State, now.Back)
	}
	for _, o := range []orders.Order{paid, came} {
		if now := h.find(t, o.Code); now.State != orders.Confirmed || now.DueAt != nil {
			t.Errorf("the order of %s is %s and due at %v", o.Email, now.State, now.DueAt)
		}
	}
	if n := h.number(t, `SELECT count(*) FROM mail WHERE kind = 'cancellation'`); n != 1 {
		t.Errorf("%d mails tell of cancelled orders, want one", n)
	}
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state = 4`); n != 2 {
		t.Errorf("%d seats are sold, want the two of the others", n)
	}
	h.wantBooks(t)
}

func TestDue_EndsBeforeTheEventAndCanBeExtended(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '30 hours'`)
	order := h.later(t, "ann@example.org", 1)
	if left := time.Until(*order.DueAt).Round(time.Minute); left != 29*time.Hour {
		t.Errorf("it is due in %s, want an hour before the event", left)
	}
	if err := h.orders.ExtendDue(t.Context(), order.Code, time.Now().Add(-time.Hour), nil); !errors.Is(err, orders.ErrNotDue) {
		t.Errorf("a time that is over got %v", err)
	}
	h.exec(t, `UPDATE orders SET due_at = clock_timestamp() - interval '1 second', remind_at = NULL`)
	if err := h.orders.ExtendDue(t.Context(), order.Code, time.Now().Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	h.look(t)
	if now := h.find(t, order.Code); now.State != orders.Confirmed {
		t.Errorf("an extended order is %s", now.State)
	}
	e := h.sale.Event
	e.StartsAt = time.Now().Add(30 * time.Minute)
	if methods := h.orders.Methods(e, 100); len(methods) != 0 {
		t.Errorf("half an hour before the event one may pay by %v", methods)
	}
}

func TestDue_FreedSeatsAreClaimableAgain(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	order := h.later(t, "ann@example.org", 1)
	h.exec(t, `UPDATE orders SET due_at = clock_timestamp(), remind_at = NULL`)
	h.look(t)
	label := h.sale.Plan.Label(order.Tickets[0].Idx)
	if _, err := h.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{label}}); err != nil {
		t.Errorf("the seat of an unpaid order: %v, want it claimed", err)
	}
}

// The job for unpaid orders sees that an order is unpaid before it cancels it in a batch: it is not paid or extended in between.
func TestDue_NothingIsPaidOrExtendedWhileItIsCancelled(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	order := h.later(t, "ann@example.org", 2)
	stay := h.orders.Leave(t, order, order.Tickets[1].ID)
	_, _, err := h.orders.MarkPaid(t.Context(), order.Code, nil)
	wantRefusal(t, err, orders.CodeCancelled)
	wantRefusal(t, h.orders.ExtendDue(t.Context(), order.Code, time.Now().Add(time.Hour), nil), orders.CodeCancelled)
	stay()
	if err := h.orders.ExtendDue(t.Context(), order.Code, time.Now().Add(time.Hour), nil); err != nil {
		t.Error(err)
	}
	if _, _, err := h.orders.MarkPaid(t.Context(), order.Code, nil); err != nil {
		t.Error(err)
	}
	h.wantBooks(t)
}

func TestDue_AnOrderThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	refused, failing, last := h.later(t, "ann@example.org", 1), h.later(t, "bob@example.org", 1), h.later(t, "eve@example.org", 1)
	h.exec(t, `UPDATE seat_state SET holder = gen_random_uuid() WHERE idx = $1`, refused.Tickets[0].Idx)
	h.exec(t, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'it fails'; END $$`)
	h.exec(t, `CREATE TRIGGER fails BEFORE UPDATE ON ticket FOR EACH ROW WHEN (OLD.idx = `+strconv.Itoa(failing.Tickets[0].Idx)+`) EXECUTE FUNCTION fail()`)
	for i, order := range []orders.Order{refused, failing, last} {
		h.exec(t, `UPDATE orders SET due_at = clock_timestamp() - make_interval(mins => 10 - $2), remind_at = NULL WHERE id = $1`, order.ID, i)
	}
	seatstest.Run(t, h.db, h.orders.Jobs()...)
	cancelled := func(order orders.Order) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); h.find(t, order.Code).State != orders.Cancelled; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the order of %s is not cancelled", order.Email)
			}
		}
	}
	cancelled(last)
	h.exec(t, `DROP TRIGGER fails ON ticket`)
	cancelled(failing)
}
