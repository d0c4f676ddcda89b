package orders_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

func TestAFreeOrderSellsItsSeatsAndMakesTicketsAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{AsksBirth: true})
	order := h.ordered(t, 3)
	if order.State != orders.Confirmed || len(order.Tickets) != 3 || order.Due() != 0 || order.Name != "Ann Ørsted" || len(order.Code) != 26 ||
		order.Born.Format(time.DateOnly) != "1990-12-31" || order.Event != "evening" {
		t.Errorf("the order is %+v", order)
	}
	if counts := h.sale.Snapshot().Counts; counts.Sold[0] != 3 || counts.Held[0] != 0 {
		t.Errorf("the counts are %+v, want 3 sold", counts)
	}
	if n := h.count(t, `mail WHERE kind = 'confirmation' AND sent_at IS NULL`); n != 1 {
		t.Errorf("%d mails wait, want 1", n)
	}
	h.wantBooks(t)
}

// many sends one form 50 times at once, while its sender takes one place more each time, as in a second tab. It returns
// how many orders there are then, and the errors.
func many(t *testing.T, h *fixture) (placed int, errs []error) {
	t.Helper()
	const times = 50
	who := seats.NewID()
	form := h.form(t, who, 1)
	all := make(chan error, 2*times)
	var crowd sync.WaitGroup
	for i := range times {
		crowd.Go(func() {
			if i > 0 {
				_, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
				all <- err
			}
			_, err := h.orders.Place(t.Context(), h.sale, who, form)
			all <- err
		})
	}
	crowd.Wait()
	close(all)
	for err := range all {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return h.count(t, "orders"), errs
}

func TestFiftyPostsOfOneFormMakeOneOrder(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 150})
	who := seats.NewID()
	form := h.form(t, who, 2)
	codes := make(chan string, 50)
	var crowd sync.WaitGroup
	for range cap(codes) {
		crowd.Go(func() {
			code, err := h.orders.Place(t.Context(), h.sale, who, form)
			if err != nil {
				t.Error(err)
			}
			codes <- code
		})
	}
	crowd.Wait()
	first := <-codes
	for range cap(codes) - 1 {
		if code := <-codes; code != first {
			t.Errorf("one was told of order %s, another of %s", first, code)
		}
	}
	if n := h.count(t, "orders"); n != 1 {
		t.Errorf("there are %d orders, want 1", n)
	}
	h.wantBooks(t)
}

func TestARepeatedFormBuysNothingTakenSince(t *testing.T) {
	t.Parallel()
	t.Run("one by one", func(t *testing.T) {
		h := open(t, "conference", events.Settings{SeatsPerHolder: 150})
		who := seats.NewID()
		form := h.form(t, who, 2)
		code, err := h.orders.Place(t.Context(), h.sale, who, form)
		if err != nil {
			t.Fatal(err)
		}
		h.form(t, who, 1)
		if again, err := h.orders.Place(t.Context(), h.sale, who, form); err != nil || again != code || h.count(t, "orders") != 1 {
			t.Errorf("the form again, after another claim: order %q, %v; the first was %q", again, err, code)
		}
		h.wantBooks(t)
	})
	for range 10 { // it is a race
		t.Run("", func(t *testing.T) { // one database is open at a time
			h := open(t, "conference", events.Settings{SeatsPerHolder: 150})
			if n, _ := many(t, h); n > 1 {
				t.Fatalf("one form made %d orders", n)
			}
			h.wantBooks(t)
		})
	}
}

func TestOneHoldWithOtherDetailsIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	who := seats.NewID()
	form := h.form(t, who, 1)
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	form.Email = "eve@example.org"
	var refusal *seats.Conflict
	if _, err := h.orders.Place(t.Context(), h.sale, who, form); !errors.As(err, &refusal) || refusal.Code != orders.CodeKey {
		t.Errorf("other details got %v", err)
	}
	form.Email = " ann@example.org "
	if again, err := h.orders.Place(t.Context(), h.sale, who, form); err != nil || again != code {
		t.Errorf("the same details with a space more got %q, %v", again, err)
	}
	if _, err := h.orders.Place(t.Context(), h.sale, seats.NewID(), form); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("another visitor with this hold got %v", err)
	}
}

func TestPlace_RefusesSeatsThatThePageDidNotShow(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	who := seats.NewID()
	form := h.form(t, who, 1)
	more := h.form(t, who, 1)
	var refusal *seats.Conflict
	if _, err := h.orders.Place(t.Context(), h.sale, who, form); !errors.As(err, &refusal) || refusal.Code != seats.CodeChanged {
		t.Errorf("a form from before the second place got %v", err)
	}
	if _, err := h.sale.Release(t.Context(), who, more.Seats[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := h.orders.Place(t.Context(), h.sale, who, more); !errors.As(err, &refusal) || refusal.Code != seats.CodeTaken || !strings.Contains(refusal.Error(), "Places, place 1 is no longer yours") {
		t.Errorf("a form with a place given back got %v", err)
	}
	if n := h.count(t, "orders"); n != 0 {
		t.Errorf("%d orders were placed", n)
	}
	h.wantBooks(t)
}

func TestPlace_PricedSeatsAreDueAtTheDoorIfAllowed(t *testing.T) {
	t.Parallel()
	for _, ahead := range []bool{false, true} {
		h := open(t, "theatre", events.Settings{PaidAhead: ahead})
		who := seats.NewID()
		hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2, Category: "A"})
		if err != nil {
			t.Fatal(err)
		}
		code, err := h.orders.Place(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Door, Verified: "ann@example.org"})
		var mistakes orders.Mistakes
		if ahead && (!errors.As(err, &mistakes) || mistakes.About(orders.FieldMethod) == "") {
			t.Errorf("an event to be paid ahead took an order for the door: %v", err)
		}
		if ahead {
			continue
		}
		order, err := h.orders.Find(t.Context(), code)
		if total := pricing.Of(h.sale, hold.Seats).Total; err != nil || order.Due() != total || total == 0 || order.State != orders.Confirmed {
			t.Errorf("the order is %+v, %v; want %d due", order, err, total)
		}
		h.wantBooks(t)
	}
}
