package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
)

// code makes a discount code of the evening.
func (s *site) code(t *testing.T, c pricing.Code, code string) {
	t.Helper()
	if err := pgx.BeginFunc(t.Context(), s.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, s.sale.Event.ID, c, []string{code})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestCheckout_SaysWhatACodeSavesAndOrdersForThat(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{}), person(t)
	hold := s.held(t, who, 2)
	if _, page := s.page(t, who, "/events/evening/checkout"); strings.Contains(page, `name="apply"`) {
		t.Error("an event without codes asks for one")
	}
	s.code(t, pricing.Code{Discount: pricing.Discount{Percent: 50_00}, Most: 1}, "HALF")
	form := fill(hold, "Ann", "ann@example.org")
	apply := func(code string) string {
		form.Set("code", code)
		form.Set("apply", "1")
		defer form.Del("apply")
		a, _ := s.post(t, who, form)
		if a.StatusCode != http.StatusSeeOther {
			t.Fatalf("applying %q: %d", code, a.StatusCode)
		}
		_, page := s.page(t, who, a.Header.Get("Location"))
		return page
	}
	if page := apply("NOSUCH"); !strings.Contains(page, "There is no such code for this event.") {
		t.Error("a code that is not there is not named")
	}
	page := apply("ha-lf")
	if !strings.Contains(page, "You save ") || !strings.Contains(page, "Discount: code HALF") || !strings.Contains(page, `value="Ann"`) {
		t.Error("the checkout lacks what the code saves")
	}
	shown := between(page, `name="total" value="`, `"`)
	form.Set("total", "1")
	if a, _ := s.post(t, who, form); !strings.Contains(a.Header.Get("Location"), "/checkout?told") {
		t.Errorf("another total leads to %q", a.Header.Get("Location"))
	}
	if _, page := s.page(t, who, "/events/evening/checkout?told"); !strings.Contains(page, "which is not what the page showed") {
		t.Error("the checkout does not say that the price changed")
	}
	form.Set("total", shown)
	a, _ := s.post(t, who, form)
	at := a.Header.Get("Location")
	order := s.orderAt(t, s.url+at)
	if order.Discount != order.Total || order.Total == 0 || jsonNumber(int(order.Total)) != shown {
		t.Errorf("the order is %+v, shown was %s", order, shown)
	}
	if _, page := s.page(t, who, at); !strings.Contains(page, "Discount: code HALF") {
		t.Error("the page of the order does not name the code")
	}
	eve := person(t)
	form = fill(s.held(t, eve, 1), "Eve", "eve@example.org")
	form.Set("code", "HALF")
	if _, page := s.leads(t, eve, form); !strings.Contains(page, "This code has been used up") {
		t.Error("a used code is not named")
	}
}

func TestCheckout_LimitsGuessesOfCodes(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.code(t, pricing.Code{Discount: pricing.Discount{Percent: 50_00}}, "HALF")
	form := fill(s.held(t, who, 1), "Ann", "ann@example.org")
	form.Set("apply", "1")
	last := 0
	for range 30 {
		form.Set("code", "GUESS")
		a, _ := s.post(t, who, form)
		last = a.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 30th guess: %d", last)
	}
}

func TestPrices_ContainFeesFromTheListToTheOrder(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Fees: seats.Fees{Ticket: 150, Percent: 2_50}}), person(t)
	hold := s.held(t, who, 1)
	category := s.sale.Plan.Seats[hold.Idx[0]].Category
	price := pricing.AllIn(pricing.Line{Category: category, Price: s.sale.Plan.Categories[category].Price}, pricing.TermsOf(&s.sale.Event))
	words := views.Money(price.Cost(), "EUR")
	if price.Fee == 0 || hold.Total != price.Cost() {
		t.Fatalf("the tray says %d, and the price is %+v", hold.Total, price)
	}
	low := price.Cost()
	for _, c := range s.sale.Plan.Categories {
		low = min(low, pricing.AllIn(pricing.Line{Price: c.Price}, pricing.TermsOf(&s.sale.Event)).Cost())
	}
	for path, want := range map[string]string{
		"/events": "from " + views.Money(low, "EUR"), "/events/evening": words, "/events/evening/checkout": `name="total" value="` + jsonNumber(int(price.Cost())) + `"`,
	} {
		if _, page := s.page(t, who, path); !strings.Contains(page, want) {
			t.Errorf("%s does not say %q", path, want)
		}
	}
	var event struct{ Categories []struct{ Price, Fee int64 } }
	if _, body := send(t, who, "GET", s.url+"/events/evening", ""); json.Unmarshal([]byte(body), &event) != nil || event.Categories[category].Price != price.Cost() || event.Categories[category].Fee != price.Fee {
		t.Errorf("the event as JSON says %+v", event)
	}
	a, _ := s.post(t, who, fill(hold, "Ann", "ann@example.org"))
	order := s.orderAt(t, s.url+a.Header.Get("Location"))
	if order.Total != price.Cost() || order.Fee != price.Fee {
		t.Errorf("the order is %+v, the price was %+v", order, price)
	}
	if _, page := s.page(t, who, a.Header.Get("Location")); !strings.Contains(page, words) || !strings.Contains(page, "Fees included: "+views.Money(price.Fee, "EUR")) {
		t.Error("the page of the order lacks the price and what it consists of")
	}
}

// between is the text between two others.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}
