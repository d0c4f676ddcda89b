package payments_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

var threeForTwo = seats.PriceRules{Offers: []seats.PriceOffer{{Number: 1, Name: "3 for 2", Kind: seats.OfferMulti, Count: 3, Pay: 2}}, LastOffer: 1}

// paidAndFree are the tickets that were paid, and one that an offer made free.
func paidAndFree(t testing.TB, o orders.Order) (paid []orders.Ticket, free orders.Ticket) {
	t.Helper()
	for _, one := range o.Tickets {
		if one.Cost() == 0 {
			free = one
		} else {
			paid = append(paid, one)
		}
	}
	if len(paid) != 2 || free.ID == (seats.ID{}) {
		t.Fatalf("the tickets are %+v", o.Tickets)
	}
	return paid, free
}

func TestCancel_TheRestCostsWhatItCostsWithoutTheOffer(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		h := openShop(t, events.Settings{})
		h.rules(t, threeForTwo)
		if late { // the money is taken after tickets were cancelled
			h.bank.set(func(b *bank) { b.stuck = "capture" })
		}
		order := h.buys(t, 3)
		paid, free := paidAndFree(t, order)
		h.rules(t, seats.PriceRules{LastOffer: 1}) // what was agreed to holds
		one := paid[0].Cost()
		if back := order.GoesBack(paid[0].ID, paid[1].ID); back != one {
			t.Errorf("%d goes back of two tickets of %d, want what one costs: the third was free with them", back, one)
		}
		if back := order.GoesBack(free.ID); back != 0 {
			t.Errorf("%d goes back of a free ticket", back)
		}
		h.cancels(t, order, "k1", paid[0].ID, paid[1].ID)
		if !late {
			if now := h.untilBack(t, order, one); now.Paid != one || now.Kept != one || now.Due() != 0 {
				t.Errorf("the order has %d and keeps %d, want %d", now.Paid, now.Kept, one)
			}
			h.wantMoney(t)
		}
		if back := h.again(t, order).GoesBack(free.ID); !late && back != one {
			t.Errorf("%d goes back of the last ticket, want %d", back, one)
		}
		if late {
			h.bank.set(func(b *bank) { b.stuck = "" })
			h.nudge(t, order)
			h.untilBack(t, order, one)
		}
		h.cancels(t, h.again(t, order), "k2", free.ID)
		if now := h.untilBack(t, order, order.Total); now.Paid != 0 || now.Kept != 0 || now.State != orders.Cancelled {
			t.Errorf("in the end the order is %s, has %d and keeps %d", now.State, now.Paid, now.Kept)
		}
		h.wantMoney(t)
	}
}

func TestCancel_TwoAtOnceDoNotOutwitAnOffer(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 50})
	h.rules(t, threeForTwo)
	for range 8 {
		order := h.buys(t, 3)
		h.notesCaptures(t) // an order says what it has once its money is noted
		paid, _ := paidAndFree(t, order)
		var both sync.WaitGroup
		for _, ticket := range paid {
			both.Go(func() {
				var refusal *seats.Conflict
				if err := h.orders.Cancel(t.Context(), h.sale, order, ticket.ID.String(), ticket.ID); err != nil && (!errors.As(err, &refusal) || refusal.Code != seats.CodeChanged) {
					t.Error(err)
				}
			})
		}
		both.Wait()
		now := h.again(t, order)
		live := 0
		for _, ticket := range now.Tickets {
			if !ticket.Revoked {
				live++
			}
		}
		if want := int64(live) * paid[0].Cost(); now.Paid != min(want, order.Total) {
			t.Errorf("%d tickets are left for %d, want %d", live, now.Paid, want)
		}
	}
	h.wantMoney(t)
}

func TestCancel_AnUnpaidOrderKeepsItsOffer(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	h.rules(t, threeForTwo)
	who := seats.NewID()
	form := h.claims(t, who, 3)
	form.Method = payments.Invoice
	code, err := h.orders.Place(t.Context(), h.sale, who, form)
	if err != nil {
		t.Fatal(err)
	}
	order := h.again(t, orders.Order{Code: code})
	paid, _ := paidAndFree(t, order)
	wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, order, "k", paid[0].ID), orders.CodeOffer)
	h.cancels(t, order, "k2")
	h.wantBooks(t)
}

// companions gives the event a type that is free, one for each ticket of the usual type.
func (h *shop) companions(t testing.TB) {
	t.Helper()
	if _, err := h.office.ChangeEvent(t.Context(), "evening", nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		plan, err := seats.LoadPlan(t.Context(), tx, e.ID)
		if err != nil {
			return false, err
		}
		list, err := seats.LoadPrices(t.Context(), tx, e.ID, plan)
		if err != nil {
			return false, err
		}
		adult := 0
		list.Types = append(list.Types, seats.TicketType{Key: "companion", Name: "Companion", Position: 1, SoldTo: seats.SoldToEveryone, With: seats.With{Type: &adult, Each: 1}})
		for category := range plan.Categories {
			list.Amounts = append(list.Amounts, seats.Amount{Type: 1, Category: category, Amount: 0})
		}
		return true, pricing.Save(t.Context(), tx, e.ID, list)
	}); err != nil {
		t.Fatal(err)
	}
	var err error
	if h.sale, err = h.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
}

func TestOrder_KeepsTheRulesOfItsTypes(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{Invoices: true})
	h.companions(t)
	for _, tickets := range []map[string]int{{"companion": 1}, {"standard": 1, "companion": 2}} {
		who, n := seats.NewID(), 0
		for _, of := range tickets {
			n += of
		}
		hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Tickets: tickets, Best: n, Category: "A"})
		if err != nil {
			t.Fatal(err)
		}
		form := orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Card, Verified: "ann@example.org"}
		_, err = h.orders.Pay(t.Context(), h.sale, who, form)
		wantRefusal(t, err, pricing.CodeTypes)
		form.Method = payments.Invoice
		_, err = h.orders.Place(t.Context(), h.sale, who, form)
		wantRefusal(t, err, pricing.CodeTypes)
	}
	if n := h.count(t, "payment") + h.count(t, "orders"); n != 0 {
		t.Errorf("there are %d payments and orders", n)
	}
	h.wantBooks(t)
}

func TestCancel_TheRestKeepsTheRulesOfItsTypes(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.companions(t)
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Tickets: map[string]int{"standard": 1, "companion": 1}, Best: 2, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	p := h.pays(t, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Card, Verified: "ann@example.org"})
	order := h.again(t, orders.Order{Code: p.Code})
	adult, companion := order.Tickets[0], order.Tickets[1]
	if adult.Cost() == 0 {
		adult, companion = companion, adult
	}
	err = h.orders.Cancel(t.Context(), h.sale, order, "k1", adult.ID)
	wantRefusal(t, err, pricing.CodeTypes)
	if err == nil || !strings.Contains(err.Error(), "your tickets are still valid") {
		t.Errorf("it says %v", err)
	}
	if now := h.again(t, order); now.Paid != order.Total || now.Tickets[0].Revoked || now.Tickets[1].Revoked {
		t.Errorf("the order is %+v", now)
	}
	h.cancels(t, order, "k2", companion.ID)
	h.cancels(t, h.again(t, order), "k3", adult.ID)
	h.untilBack(t, order, order.Total)
	h.wantMoney(t)
}
