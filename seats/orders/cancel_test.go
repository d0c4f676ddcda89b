package orders_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/orders"
)

func (h *fixture) again(t testing.TB, o orders.Order) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), o.Code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantRefusal(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *seats.Conflict
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want a refusal %q", err, code)
	}
}

func TestACancelledOrderFreesItsSeatsAndRevokesItsTickets(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order := h.ordered(t, 3)
	if err := h.orders.Cancel(t.Context(), h.sale, order, "k1", order.Tickets[1].ID); err != nil {
		t.Fatal(err)
	}
	some := h.again(t, order)
	if some.State != orders.Confirmed || !some.Tickets[1].Revoked || some.Tickets[1].Code != "" || some.Tickets[0].Revoked {
		t.Errorf("after one ticket the order is %+v", some)
	}
	if counts := h.sale.Snapshot().Counts; counts.Sold[0] != 2 || counts.Free[0] != 198 {
		t.Errorf("the counts are %+v, want 2 sold", counts)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, some, "k2"); err != nil {
		t.Fatal(err)
	}
	if all := h.again(t, order); all.State != orders.Cancelled || all.Due() != 0 {
		t.Errorf("in the end the order is %+v", all)
	}
	if found, _, err := h.orders.Check(t.Context(), order.Tickets[0].Code); err != nil || !found.Revoked {
		t.Errorf("its code gives %+v, %v", found, err)
	}
	if n := h.count(t, `mail WHERE kind = 'cancellation'`); n != 2 || h.count(t, "cancellation WHERE back = 0") != 2 {
		t.Errorf("%d mails tell of it, want 2", n)
	}
	h.ordered(t, 6) // by another visitor, over seats that were sold
	h.wantBooks(t)
}

func TestFiftyPostsOfOneCancellationCancelOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order := h.ordered(t, 2)
	var crowd sync.WaitGroup
	for range 50 {
		crowd.Go(func() {
			if err := h.orders.Cancel(t.Context(), h.sale, order, "k", order.Tickets[0].ID); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	if n := h.count(t, "cancellation"); n != 1 {
		t.Errorf("there are %d cancellations, want 1", n)
	}
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, h.again(t, order), "k", order.Tickets[1].ID), orders.CodeKey)
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, h.again(t, order), "other", order.Tickets[0].ID), orders.CodeCancelled)
	h.wantBooks(t)
}

func TestCancel_RefusalsSayWhy(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order, other := h.ordered(t, 1), h.ordered(t, 1)
	if err := h.orders.Cancel(t.Context(), h.sale, order, "k", other.Tickets[0].ID); !errors.Is(err, orders.ErrNoTicket) {
		t.Errorf("another order's ticket got %v", err)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, order, ""); !errors.Is(err, idempotency.ErrNoKey) {
		t.Errorf("a form without a key got %v", err)
	}
	h.exec(t, `UPDATE event SET starts_at = now() - interval '1 minute'`)
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, h.again(t, order), "k"), orders.CodeStarted)
	h.exec(t, `UPDATE event SET starts_at = now() + interval '1 minute'`)
	h.exec(t, `ALTER TABLE orders DROP CONSTRAINT "nobody pays more than the total"; UPDATE orders SET paid = 100`)
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, h.again(t, order), "k"), orders.CodePaid)
	if h.count(t, "cancellation") != 0 || h.sale.Snapshot().Counts.Sold[0] != 2 {
		t.Error("something was cancelled")
	}
}

func TestTheMailOfAnOrderIsSentAgainOnceForEachKeyAndNotForEver(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order := h.ordered(t, 1)
	for range 3 {
		if err := h.orders.Resend(t.Context(), order, "k"); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.count(t, "mail"); n != 2 {
		t.Errorf("there are %d mails, want 2", n)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, order, "c"); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, h.orders.Resend(t.Context(), order, "c"), orders.CodeKey)
	for i := range 4 {
		err := h.orders.Resend(t.Context(), order, string(rune('m'+i)))
		if i < 2 && err != nil {
			t.Error(err)
		}
		if i >= 2 {
			wantRefusal(t, err, orders.CodeOften)
		}
	}
}

// Of two cancellations at once the one that comes to nothing leaves the mark of the other: else a door lets the ticket in
// that is being cancelled, and the batch that cancels it fails with everybody in it.
func TestACancellationThatComesToNothingLeavesTheMarkOfAnother(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d := h.door(t)
	order := h.ordered(t, 2)
	marked := func() int { return h.count(t, `ticket WHERE leaving_until > now()`) }
	first := h.orders.Leave(t, order)
	second := h.orders.Leave(t, order, order.Tickets[0].ID)
	second()
	if n := marked(); n != 2 {
		t.Errorf("%d tickets are marked while the first cancellation goes on, want 2", n)
	}
	if v := h.scan(t, d, orders.Scan{Key: "k", Code: order.Tickets[0].Code}); v.Word != orders.ScanRevoked {
		t.Errorf("a ticket that is being cancelled is %q", v.Word)
	}
	first()
	if n := marked(); n != 1 { // that of both stays for its two minutes
		t.Errorf("%d tickets are marked in the end, want 1", n)
	}
	if v := h.scan(t, d, orders.Scan{Key: "k2", Code: order.Tickets[1].Code}); v.Word != orders.ScanIn {
		t.Errorf("a ticket with a cancellation that came to nothing is %q", v.Word)
	}
}
