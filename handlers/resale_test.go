package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// resalable is an order with tickets that may be offered back.
func (w *wall) resalable(t *testing.T) orders.Order {
	t.Helper()
	_, o := w.ordered(t)
	w.exec(t, `UPDATE event SET resale_until = '0'`)
	w.exec(t, `UPDATE orders SET at_office = false, method = 'card' WHERE code = '`+o.Code+`'`) // what was paid at the box office is not offered
	return w.found(t, o.Code)
}

// offersBack offers all tickets of an order back.
func (s *site) offersBack(t *testing.T, o orders.Order) {
	t.Helper()
	if err := s.sold.OfferBack(t.Context(), s.sale, o, seats.NewID().String(), []seats.ID{o.Tickets[0].ID, o.Tickets[1].ID}); err != nil {
		t.Fatal(err)
	}
}

// paid has a visitor buy seats with the demo card, and returns the address of the order.
func (s *site) paid(t *testing.T, who *http.Client, n int) string {
	t.Helper()
	at := s.untilState(t, who, s.answers(t, who, s.pays(t, who, s.held(t, who, n)), "pay"), "done").Order
	until(t, "the order is charged", func() bool { return s.orderAt(t, s.url+at).Due == 0 })
	return at
}

func TestResale_PagesFromTheSellerToTheNextBuyer(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Resale, policy.ResaleFee = true, 100
	s := newSiteFor(t, events.Settings{Demo: true, Policy: &policy})
	ann, bea := person(t), person(t)
	at := s.paid(t, ann, 2)
	_, page := s.page(t, ann, at)
	if !strings.Contains(page, "Offer tickets back") || !strings.Contains(page, "back once it is sold") || !strings.Contains(page, "We keep €1 for each ticket that is sold again") {
		t.Fatalf("the order does not say how to offer tickets back, and what goes back: %s", page[strings.Index(page, "<main"):])
	}
	order := s.orderAt(t, s.url+at)
	ticket := url.Values{"ticket": {order.Tickets[0].ID}}
	s.does(t, ann, at+"/resales", ticket)
	if _, page = s.page(t, ann, at); !strings.Contains(page, "Offered back: valid until the seat is sold") || !strings.Contains(page, "Keep this ticket") || strings.Count(page, `class="qr"`) != 2 {
		t.Error("the page does not say that a ticket is offered back, or lost its code")
	}
	s.does(t, ann, at+"/resales/withdrawals", ticket)
	ask := func(want int, path, body string) (o web.OrderBody) {
		t.Helper()
		a, answer := send(t, bea, "POST", s.url+path, body)
		if a.StatusCode != want {
			t.Fatalf("%s: %d %s, want %d", path, a.StatusCode, answer, want)
		}
		var got web.OrderAnswer
		_ = json.Unmarshal([]byte(answer), &got)
		return got.Order
	}
	tickets := `"tickets":["` + order.Tickets[0].ID + `"]`
	if o := ask(http.StatusCreated, at+"/resales", `{"key":"a",`+tickets+`}`); !o.Tickets[0].OfferedBack || o.Tickets[0].Code == "" {
		t.Errorf("the ticket is %+v", o.Tickets[0])
	}
	ask(http.StatusConflict, at+"/resales", `{"key":"b",`+tickets+`}`)
	ask(http.StatusUnprocessableEntity, at+"/resales", `{"key":"b","tickets":[]}`)
	rest := slices.DeleteFunc(s.sale.FreeSeats(), func(idx int) bool { return idx == order.Tickets[0].Idx })
	if _, err := s.sale.Block(t.Context(), seats.BlockRequest{Seats: rest}); err != nil {
		t.Fatal(err)
	}
	bought := s.paid(t, bea, 1)
	now := s.orderAt(t, s.url+at)
	if !now.Tickets[0].Resold || now.Tickets[1].Revoked || now.Back != order.Tickets[0].Price+order.Tickets[0].Fee-100 {
		t.Errorf("the order is %+v", now)
	}
	if _, page = s.page(t, ann, at); !strings.Contains(page, "Your seat was sold again") || strings.Count(page, `class="qr"`) != 1 {
		t.Error("the page does not say that the seat was sold again")
	}
	if _, page = s.page(t, bea, bought); strings.Count(page, `class="qr"`) != 1 {
		t.Error("the next buyer has no ticket")
	}
	ask(http.StatusConflict, at+"/resales/withdrawals", `{"key":"c",`+tickets+`}`)
	if o, err := s.sold.Find(t.Context(), strings.TrimPrefix(at, shop.OrderPath(""))); err != nil || o.State != orders.Confirmed {
		t.Error(o.State, err)
	}
}
