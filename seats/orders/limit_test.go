package orders_test

import (
	"errors"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

func TestLimit_CountsHeldAndBoughtTickets(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 3})
	who := seats.NewID()
	f := h.form(t, who, 2)
	code, err := h.orders.Place(t.Context(), h.sale, who, f)
	if err != nil {
		t.Fatal(err)
	}
	h.wantLimit(t, who, 2, "You can book up to 3 tickets. You already have 2.")
	first, err := h.sale.Claim(t.Context(), who, "key", seats.ClaimRequest{Area: "Places", Quantity: 1})
	if err != nil {
		t.Fatal(err)
	}
	h.wantLimit(t, who, 1, "You can book up to 3 tickets. You already have 3.")
	again, err := h.sale.Claim(t.Context(), who, "key", seats.ClaimRequest{Area: "Places", Quantity: 1})
	if err != nil || again.ID != first.ID || len(again.Seats) != 1 {
		t.Errorf("the claim repeated with its key at the limit got %v, %v, want its first answer", again, err)
	}
	h.wantBooks(t)

	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Move(t.Context(), h.sale, order, orders.Moving{Key: "move", Tickets: []seats.ID{order.Tickets[0].ID}, To: []int{9}}, nil); err != nil {
		t.Fatal(err)
	}
	h.wantLimit(t, who, 1, "You can book up to 3 tickets. You already have 3.")
	h.wantBooks(t)
	if order, err = h.orders.Find(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, order, "cancel", order.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 1}); err != nil {
		t.Errorf("after a ticket was cancelled: %v, want a seat in its place", err)
	}
	h.wantLimit(t, who, 1, "You can book up to 3 tickets. You already have 3.")
	h.wantBooks(t)
}

func TestLimit_CountsNoTicketOfTheBoxOffice(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "office", Seats: []int{0, 1, 2}, Method: payments.Cash}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.wantBooks(t)
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Revoke(t.Context(), h.sale, order, false); err != nil {
		t.Fatal(err)
	}
	h.wantBooks(t)
}

// wantLimit expects a claim of so many places to be refused with a message.
func (h *fixture) wantLimit(t testing.TB, who seats.ID, n int, message string) {
	t.Helper()
	_, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: n})
	refusal, is := errors.AsType[*seats.Conflict](err)
	if !is || refusal.Code != seats.CodeLimit || refusal.Error() != message {
		t.Errorf("a claim beyond the limit: %v, want %q", err, message)
	}
}
