package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/views/shop"
)

// offersExtras makes donations and postage part of the event's prices.
func (s *site) offersExtras(t *testing.T, owner *http.Client) {
	t.Helper()
	if a, body := send(t, owner, "POST", s.url+"/desk/events/evening/prices", `{"key":"extras","tax":{"rate":"10","by_total":true},"extras":{"donations":[500,200],"donation_for":"our youth theatre","postage":350,"postage_rate":"20"}}`); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
}

func TestExtras_AreChosenByTheBuyerAndStandOnEverything(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, ann := s.owner(t), person(t)
	s.offersExtras(t, owner)
	s.exec(t, sellerSQL)
	hold := s.held(t, ann, 2)
	if _, body := send(t, ann, "GET", s.url+"/events/evening", ""); !strings.Contains(body, `"extras":{"donations":[200,500],"donation_for":"our youth theatre","postage":350}`) {
		t.Errorf("programs are not told what they can add: %s", body)
	}
	_, page := s.page(t, ann, "/events/evening/checkout")
	for _, want := range []string{`<option value="">No donation</option>`, `<option value="500">€5</option>`, "Add a donation: our youth theatre", "Also send my tickets by post · €3.50", "Order with obligation to pay · €56"} {
		if !strings.Contains(page, want) {
			t.Errorf("the checkout lacks %q", want)
		}
	}
	if strings.Contains(page, `name="post" value="yes" checked`) {
		t.Error("postage is chosen from the beginning")
	}
	form := fill(hold, "Ann", "ann@example.org")
	form.Set("donation", "500")
	form.Set("post", "yes")
	chosen := url.Values{"types": {"again"}}
	for name, values := range form {
		chosen[name] = values
	}
	if a, _ := s.post(t, ann, chosen); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("a choice answers %d", a.StatusCode)
	}
	if _, page = s.page(t, ann, "/events/evening/checkout"); !strings.Contains(page, "Order with obligation to pay · €64.50") || !strings.Contains(page, `<option value="500" selected>`) || !strings.Contains(page, "<li><span>2 tickets</span> <span>€56</span></li><li><span>Donation</span> <span>€5</span></li>") || !strings.Contains(page, "<b>Total</b> <b>€64.50</b>") {
		t.Errorf("after the choice the checkout does not cost 56 + 5 + 3.50: %.1500s", words(page))
	}
	form.Set("total", "5600")
	if a, _ := s.post(t, ann, form); !strings.HasSuffix(a.Header.Get("Location"), "?told") {
		t.Errorf("an order without an address leads to %q", a.Header.Get("Location"))
	}
	if _, page = s.page(t, ann, "/events/evening/checkout?told"); !strings.Contains(page, "Enter street and house number.") {
		t.Error("the checkout does not ask for the street")
	}
	form["post_street"], form["post_city"], form["post_postcode"], form["post_country"] = []string{"Ring 1"}, []string{"Wien"}, []string{"1010"}, []string{"at"}
	if a, _ := s.post(t, ann, form); !strings.HasSuffix(a.Header.Get("Location"), "?told") {
		t.Errorf("an order for another total than was shown leads to %q", a.Header.Get("Location"))
	}
	if _, page = s.page(t, ann, "/events/evening/checkout?told"); !strings.Contains(page, "cost €64.50 now") {
		t.Errorf("the new total is not shown: %.900s", words(page))
	}
	form.Set("total", "6450")
	a, body := s.post(t, ann, form)
	code, placed := strings.CutPrefix(a.Header.Get("Location"), "/orders/")
	if !placed {
		t.Fatal(a.StatusCode, words(body))
	}
	o, _ := s.orderOf(t, code)
	if o.Total != 6450 || o.Due != 6450 || len(o.Extras) != 2 || o.Extras[0].Tax != 0 || o.Extras[1].Tax != 58 || o.Post == nil || o.Post.Country != "AT" {
		t.Errorf("the order is %+v", o)
	}
	_, page = s.page(t, ann, shop.OrderPath(code))
	for _, want := range []string{"Donation", "€5", "Postage", "€3.50", "Your tickets will also be posted to Ring 1, 1010 Wien, Austria."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the order lacks %q", want)
		}
	}
	list, err := s.config.Invoices.Of(t.Context(), code)
	if err != nil || len(list) != 1 || list[0].Gross != 6450 || len(list[0].Lines) != 4 || list[0].Lines[2].Kind != "donation" || list[0].Lines[3].Tax != 58 {
		t.Errorf("the invoice is %+v, %v", list, err)
	}
	if _, csv := send(t, owner, "GET", s.url+"/desk/events/evening/exports/orders.csv", ""); !strings.Contains(csv, `5.00,3.50,"Ring 1, 1010 Wien, Austria"`) {
		t.Errorf("the export: %s", csv)
	}
	s.wantBooks(t)
}

func TestExtras_AreKeptWhenTicketsAreCancelledAndGoBackWithTheEvent(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	owner := s.owner(t)
	s.offersExtras(t, owner)
	s.exec(t, sellerSQL)
	buys := func() (who *http.Client, code string) {
		who = person(t)
		hold := s.held(t, who, 2)
		form := fill(hold, "Ann", "ann@example.org")
		form.Set("method", "card")
		form.Set("donation", "200")
		a, body := s.post(t, who, form)
		code, began := strings.CutPrefix(strings.TrimSuffix(a.Header.Get("Location"), "?go"), "/payments/")
		if !began {
			t.Fatal(a.StatusCode, words(body))
		}
		all := bank.Sessions()
		if last := all[len(all)-1]; last.Amount != hold.Total+200 {
			t.Fatalf("the card pays %d for a hold of %d", last.Amount, hold.Total)
		}
		bank.Pays(all[len(all)-1].ID, false)
		s.tells(t, bank.Event(all[len(all)-1].ID, "checkout.session.completed"))
		return who, code
	}
	who, code := buys()
	o, _ := s.orderOf(t, code)
	for i, back := range []int64{o.Tickets[0].Price + o.Tickets[0].Fee, o.Total - 200} {
		if a, body := send(t, who, "POST", s.url+"/orders/"+code+"/cancellations", `{"key":"`+jsonNumber(i)+`","tickets":["`+o.Tickets[i].ID+`"]}`); a.StatusCode != http.StatusCreated {
			t.Fatal(a.StatusCode, body)
		}
		if after, _ := s.orderOf(t, code); after.Back != back || after.Due != 0 {
			t.Errorf("after %d tickets were cancelled, %d went back of %d, want %d", i+1, after.Back, o.Total, back)
		}
	}
	_, other := buys()
	if a, body := send(t, owner, "POST", s.url+"/desk/events/evening/status", `{"key":"off","status":"cancelled"}`); a.StatusCode >= 300 {
		t.Fatal(a.StatusCode, body)
	}
	eventually(t, "everything goes back", func() bool {
		o, _ := s.orderOf(t, other)
		return o.State == "cancelled" && o.Back == o.Total
	})
	s.wantBooks(t)
}

func TestExtras_OfAnUnpaidOrderStayDueWithTheRest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := person(t)
	s.offersExtras(t, s.owner(t))
	form := fill(s.held(t, ann, 2), "Ann", "ann@example.org")
	form.Set("donation", "200")
	a, _ := s.post(t, ann, form)
	code := strings.TrimPrefix(a.Header.Get("Location"), "/orders/")
	o, _ := s.orderOf(t, code)
	for i, due := range []int64{o.Tickets[1].Price + 200, 0} {
		if a, body := send(t, ann, "POST", s.url+"/orders/"+code+"/cancellations", `{"key":"`+jsonNumber(i)+`","tickets":["`+o.Tickets[i].ID+`"]}`); a.StatusCode != http.StatusCreated {
			t.Fatal(a.StatusCode, body)
		}
		if after, _ := s.orderOf(t, code); after.Due != due || after.Back != 0 {
			t.Errorf("after %d tickets were cancelled, %d is due, want %d", i+1, after.Due, due)
		}
	}
	s.wantBooks(t)
}

func TestPost_ListsTicketsAndNotesThemAsPosted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, ann := s.owner(t), person(t)
	s.offersExtras(t, owner)
	hold := s.held(t, ann, 1)
	a, _ := s.post(t, ann, url.Values{"hold": {hold.ID}, "seat": hold.Seats, "name": {"Ann"}, "email": {"ann@example.org"}, "method": {"door"}, "post": {"yes"}, "post_street": {"Ring 1"}, "post_city": {"Wien"}, "post_country": {"AT"}})
	code := strings.TrimPrefix(a.Header.Get("Location"), "/orders/")
	at := "/desk/events/evening/post"
	if _, page := s.page(t, owner, at); !strings.Contains(page, "Ring 1") || !strings.Contains(page, "Not paid") || !strings.Contains(page, "Mark as posted") {
		t.Errorf("the list of tickets to post: %.900s", words(page))
	}
	if a, body := send(t, owner, "POST", s.url+at, `{"key":"none","order":["NOTHING"]}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown order is posted: %d %s", a.StatusCode, body)
	}
	for range 2 {
		if a, body := send(t, owner, "POST", s.url+at, `{"key":"one","order":["`+code+`"]}`); a.StatusCode != http.StatusNoContent {
			t.Fatal(a.StatusCode, body)
		}
	}
	if o, _ := s.orderOf(t, code); o.PostedAt == nil {
		t.Error("the order does not say that its tickets were posted")
	}
	if _, body := send(t, owner, "GET", s.url+at, ""); !strings.Contains(body, `"posted_at"`) {
		t.Error(body)
	}
	if a, body := send(t, owner, "POST", s.url+at, `{"key":"back","order":["`+code+`"],"undo":"yes"}`); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	if o, _ := s.orderOf(t, code); o.PostedAt != nil {
		t.Error("the mark is not taken back")
	}
}
