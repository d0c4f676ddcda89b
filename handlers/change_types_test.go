package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/views/shop"
)

// newTypedSite sells three types of tickets, which their buyers may change.
func newTypedSite(t *testing.T) *site {
	t.Helper()
	policy := seats.DefaultPolicy
	policy.ChangingTypes, policy.TypesUntil = true, time.Hour
	list := seats.Prices{Types: []seats.TicketType{
		{Key: "standard", Name: "Standard", SoldTo: seats.SoldToEveryone},
		{Key: "premium", Name: "Premium", SoldTo: seats.SoldToEveryone, Position: 1},
		{Key: "student", Name: "Student", SoldTo: seats.SoldToEveryone, Position: 2, Proof: "student card"},
	}}
	for kind, amount := range []int64{5000, 8000, 3000} {
		for category := range categoriesOf(t) {
			list.Amounts = append(list.Amounts, seats.Amount{Type: kind, Category: category, Amount: amount})
		}
	}
	return newSiteFor(t, events.Settings{Demo: true, Policy: &policy, Prices: &list})
}

func TestChangeTypes_PagesUpAndDown(t *testing.T) {
	t.Parallel()
	s := newTypedSite(t)
	ann := person(t)
	at := s.paid(t, ann, 2)
	order := s.orderAt(t, s.url+at)
	if _, page := s.page(t, ann, at); !strings.Contains(page, at+"/types") {
		t.Fatal("the order does not lead to the change of types")
	}
	if _, page := s.page(t, ann, at+"/types"); !strings.Contains(page, "Premium · €80") || !strings.Contains(page, "Student · €30 · student card") {
		t.Errorf("the page does not show types and prices: %s", page[strings.Index(page, "<main"):])
	}
	up, down := order.Tickets[0].ID+":premium", order.Tickets[1].ID+":student"
	confirm := func(types ...string) string {
		t.Helper()
		_, page := s.page(t, ann, at+"/types?"+url.Values{"type": types}.Encode())
		return page
	}
	if page := confirm(down, ""); !strings.Contains(page, "€20 back") || !strings.Contains(page, `value="-2000"`) {
		t.Errorf("the difference is not shown: %s", page[strings.Index(page, "<main"):])
	}
	if page := confirm(up, down); !strings.Contains(page, "Pay €10 and change") {
		t.Errorf("the difference is not shown: %s", page[strings.Index(page, "<main"):])
	}
	both := url.Values{"type": {up, down}, "difference": {"1000"}, "method": {"demo"}, "key": {"one"}}
	submits := func() string {
		t.Helper()
		a, page := s.submit(t, ann, at+"/types", both)
		if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/demo-card/") {
			t.Fatalf("the difference is to be paid: %d %s", a.StatusCode, page)
		}
		return a.Header.Get("Location")
	}
	card := submits()
	if again := submits(); again != card {
		t.Errorf("a repeat leads to %s, not to %s", again, card)
	}
	payment := s.answers(t, ann, card, "decline")
	s.untilState(t, ann, payment, "over")
	_, page := s.page(t, ann, payment)
	if !strings.Contains(page, "No ticket was changed") || !strings.Contains(page, "Show the difference") {
		t.Errorf("after a declined payment: %s", page[strings.Index(page, "<main"):])
	}
	letters := Letters{Inventory: s.office, Orders: orders.New(s.db), URL: "https://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: payment[strings.LastIndex(payment, "/")+1:], Kind: orders.MailLost})
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"its subject": l.Subject == "Your tickets were not exchanged: Evening", "its link": strings.Contains(l.HTML, `href="https://tickets.example.org`+at+`"`) && strings.Contains(l.Text, "Your tickets:\nhttps://tickets.example.org"+at),
		"what holds": strings.Contains(l.Text, "This payment changed nothing about the tickets that you have.") && !strings.Contains(l.Text, "You have no order") && !strings.Contains(l.Text, "You had chosen"),
	} {
		if !ok {
			t.Errorf("the mail about the declined difference lacks %s: %s\n%s", what, l.Subject, l.Text)
		}
	}
	both.Set("key", "two")
	fresh := s.untilState(t, ann, s.answers(t, ann, submits(), "pay"), "done").Order
	if _, page = s.page(t, ann, fresh); !strings.Contains(page, "These tickets replace yours of another type.") || !strings.Contains(page, "Premium") || !strings.Contains(page, "Student") {
		t.Errorf("the new order: %s", page[strings.Index(page, "<main"):])
	}
	if _, page = s.page(t, ann, at); !strings.Contains(page, "Exchanged for tickets of another type.") || strings.Contains(page, `class="qr"`) {
		t.Error("the old order does not say what became of it")
	}
}

func TestChangeTypes_Programs(t *testing.T) {
	t.Parallel()
	s := newTypedSite(t)
	ann := person(t)
	at := s.paid(t, ann, 2)
	order := s.orderAt(t, s.url+at)
	ask := func(want int, method, path, body string) string {
		t.Helper()
		a, answer := send(t, ann, method, s.url+path, body)
		if a.StatusCode != want {
			t.Fatalf("%s: %d %s, want %d", path, a.StatusCode, answer, want)
		}
		return answer
	}
	first := order.Tickets[0].ID
	if answer := ask(http.StatusOK, "GET", at+"/types", ""); strings.Count(answer, `"type":"premium"`) != 2 {
		t.Error(answer)
	}
	if answer := ask(http.StatusOK, "GET", at+"/types?type="+first+":student", ""); !strings.Contains(answer, `"difference":-2000`) {
		t.Error(answer)
	}
	ask(http.StatusUnprocessableEntity, "GET", at+"/types?type="+first+":dog", "")
	ask(http.StatusNotFound, "GET", at+"/types?type=x:student", "")
	form := func(key, kind string, difference int) string {
		return fmt.Sprintf(`{"key":%q,"types":{%q:%q},"difference":%d,"method":"demo"}`, key, first, kind, difference)
	}
	ask(http.StatusUnprocessableEntity, "POST", at+"/types", `{"key":"a","types":{"`+first+`":"student"}}`)
	ask(http.StatusUnprocessableEntity, "POST", at+"/types", form("", "student", -2000))
	ask(http.StatusUnprocessableEntity, "POST", at+"/types", form("a", "standard", 0))
	ask(http.StatusConflict, "POST", at+"/types", form("a", "student", -1999))
	ask(http.StatusAccepted, "POST", at+"/types", form("b", "premium", 3000))
	var codes [2]string
	for i := range codes {
		var got web.OrderAnswer
		if err := json.Unmarshal([]byte(ask(http.StatusCreated, "POST", at+"/types", form("c", "student", -2000))), &got); err != nil {
			t.Fatal(err)
		}
		codes[i] = got.Order.Code
		if len(got.Order.Tickets) != 1 || got.Order.Tickets[0].Type != "Student" {
			t.Errorf("the new order is %+v", got.Order)
		}
	}
	if codes[0] != codes[1] {
		t.Errorf("a repeat made %v", codes)
	}
	ask(http.StatusConflict, "POST", at+"/types", form("c", "premium", 3000))
	ask(http.StatusConflict, "POST", at+"/types", form("d", "premium", 3000)) // that ticket is gone
	if o := s.orderAt(t, s.url+at); o.Back != 2000 || o.Tickets[1].Revoked {
		t.Errorf("the old order is %+v", o)
	}
	s.exec(t, `UPDATE event SET types_until = NULL`)
	ask(http.StatusConflict, "GET", shop.OrderPath(codes[0])+"/types", "")
	if a, page := s.page(t, ann, shop.OrderPath(codes[0])+"/types"); a.StatusCode != http.StatusConflict || !strings.Contains(page, "cannot be changed") {
		t.Errorf("%d %s", a.StatusCode, page)
	}
}

func categoriesOf(t *testing.T) []seats.Category {
	t.Helper()
	p, there := plan.Named("club")
	if !there {
		t.Fatal("there is no such plan")
	}
	return p.Categories
}
