package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/desk"
	shophandlers "github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// withTypes is an evening with a fee and tax on top, adults, children and members, and an early phase of three seats.
func withTypes(t *testing.T) *site {
	t.Helper()
	s := newSiteFor(t, events.Settings{Fees: seats.Fees{Ticket: 150}})
	s.exec(t, `UPDATE event SET price_rules = '{"tax": {"rate": 10000, "fee_rate": 20000, "on_top": true}}'`)
	s.does(t, s.owner(t), "/desk/events/evening/prices", family("price.0.1.C", "9.00", "type.2.name", "Member", "type.2.sold_to", "code", "price.0.2.A", "1",
		"phase.1.name", "Early bird", "phase.1.sells", "3", "price.1.1.A", "5", "price.1.1.B", "5", "price.1.1.C", "5"))
	var err error
	if s.sale, err = s.office.Sale(t.Context(), "evening"); err != nil || len(s.sale.Prices.Types) != 3 {
		t.Fatalf("the list is %+v, %v", s.sale.Prices, err)
	}
	return s
}

// inRows returns the first seats in rows.
func (s *site) inRows(t *testing.T, n int) (idxs []int) {
	t.Helper()
	for idx := range s.sale.Plan.Seats {
		if !s.sale.Plan.Sections[s.sale.Plan.Seats[idx].Section].Area && len(idxs) < n {
			idxs = append(idxs, idx)
		}
	}
	return idxs
}

// asForms posts a form of a page.
func (s *site) asForms(t *testing.T, who *http.Client, path string, f url.Values) *http.Response {
	t.Helper()
	a, _ := send(t, who, "POST", s.url+path, f.Encode(), "Content-Type", asForm, "Accept", asPage)
	return a
}

// The price that a page shows first is the one that the receipt shows last: for a child, in the cheaper phase, with a fee and
// tax on top. Without scripts.
func TestAChildPaysTheChildPriceForTheSameSeat(t *testing.T) {
	t.Parallel()
	s, who := withTypes(t), person(t)
	const child, later = "€7.30", "then €11.70" // (5 + 10 %) + (1.50 + 20 %), and (9 + 10 %) + (1.50 + 20 %)
	idx := s.inRows(t, 2)
	section := fmt.Sprintf("/events/evening/sections/%d?type=child", s.sale.Plan.Seats[idx[0]].Section)
	for path, wants := range map[string][]string{
		"/events":                    {"from " + child},
		"/events/evening?type=child": {child, later, "Early bird", `<span data-places>3</span> left at this price`, `aria-current="true">Child`, `name="tickets.child"`},
		section:                      {"€7.30", `name="type" value="child"`},
	} {
		if _, page := s.page(t, who, path); slices.ContainsFunc(wants, func(w string) bool { return !strings.Contains(page, w) }) {
			t.Errorf("%s lacks one of %q", path, wants)
		}
	}
	label := s.sale.Plan.Label
	if a := s.asForms(t, who, "/events/evening/claims", url.Values{"seat": {label(idx[0])}, "type": {"child"}, "from": {section}}); a.Header.Get("Location") != section {
		t.Fatalf("the claim leads to %q", a.Header.Get("Location"))
	}
	if a := s.asForms(t, who, "/events/evening/claims", url.Values{"seat": {label(idx[1])}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the claim of an adult: %d", a.StatusCode)
	}
	_, before := send(t, who, "GET", s.url+"/events/evening/hold", "")
	adult := holdOf(t, before)
	_, page := s.page(t, who, section)
	chosen := func(idx int) string {
		return between(between(page, `<select name="`+shop.TypeField(idx)+`"`, "</select>"), "selected>", ",")
	}
	if adult.Total <= 2*730 || chosen(idx[0]) != "Child" || chosen(idx[1]) != "Adult" {
		t.Fatalf("the tray has %q and %q for %d", chosen(idx[0]), chosen(idx[1]), adult.Total)
	}
	if a := s.asForms(t, who, "/events/evening/hold/types", url.Values{shop.TypeField(idx[1]): {"child"}, "types": {"k"}, "from": {section}}); a.Header.Get("Location") != section {
		t.Fatalf("the ticket type leads to %q", a.Header.Get("Location"))
	}
	_, after := send(t, who, "GET", s.url+"/events/evening/hold", "")
	hold := holdOf(t, after)
	if hold.Total != 2*730 || !slices.Equal(hold.Idx, adult.Idx) || !hold.ExpiresAt.Equal(adult.ExpiresAt) || hold.Lines[1].Type != "child" || len(hold.Lines[1].Choices) != 2 {
		t.Fatalf("two children cost %d: %+v", hold.Total, hold.Lines)
	}
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, `name="total" value="1460"`) {
		t.Error("the checkout has another total")
	}
	form := fill(hold, "Ann", "ann@example.org")
	form.Set("total", "1460")
	a, _ := s.post(t, who, form)
	at := a.Header.Get("Location")
	if order := s.orderAt(t, s.url+at); order.Total != 1460 || order.Tickets[0].Type != "Child" || order.Tickets[0].Proof != "Passport" {
		t.Errorf("the order is %+v", order)
	}
	if _, page := s.page(t, who, at); !strings.Contains(page, child) || !strings.Contains(page, "Child, to be shown at the door: Passport") {
		t.Error("the receipt lacks the price or the ticket type")
	}
	s.saysTypes(t, who, at)
	s.wantBooks(t)
}

func TestCheckout_ATypeThatCostsNothingNeedsNoPayment(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Fees: seats.Fees{Ticket: 150}}), person(t)
	s.does(t, s.owner(t), "/desk/events/evening/prices", family("price.0.1.A", "0", "price.0.1.B", "0", "price.0.1.C", "0"))
	a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"seats": ["`+s.sale.Plan.Label(s.inRows(t, 1)[0])+`"], "type": "child"}`)
	if a.StatusCode >= 300 || holdOf(t, body).Total != 0 {
		t.Fatalf("the claim of a free ticket: %d, %s", a.StatusCode, body)
	}
	if _, page := s.page(t, who, "/events/evening/checkout"); strings.Contains(page, `name="method"`) || !strings.Contains(page, `name="total" value="0"`) {
		t.Error("the checkout asks how to pay, or has a total")
	}
	form := fill(holdOf(t, body), "Ann", "ann@example.org")
	form.Set("total", "0")
	a, _ = s.post(t, who, form)
	if order := s.orderAt(t, s.url+a.Header.Get("Location")); order.Total != 0 || order.Fee != 0 || order.Tickets[0].Type != "Child" {
		t.Errorf("the order is %+v", order)
	}
	s.wantBooks(t)
}

// A category is shown at the price that a claim gets, or as not on sale where a claim is refused.
func TestTypes_CategoryWithoutAPriceIsNotOnSale(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	s.does(t, s.owner(t), "/desk/events/evening/prices", family("price.0.0.B", "", "price.0.1.B", ""))
	var err error
	if s.sale, err = s.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	asked := map[int]bool{}
	in := func(category string) int { // a seat that was not asked for before
		for idx, seat := range s.sale.Plan.Seats {
			if !asked[idx] && seat.Category == s.sale.Plan.CategoryKeyed(category) {
				asked[idx] = true
				return idx
			}
		}
		return -1
	}
	claim := func(idx int, kind string) (status int, body string) {
		a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", fmt.Sprintf(`{"seats": [%q], "type": %q}`, s.sale.Plan.Label(idx), kind))
		return a.StatusCode, body
	}
	for _, c := range []struct {
		category, kind, shown string
		total                 int64 // 0: refused
	}{{"A", "", "€30", 3000}, {"A", "child", "€9", 900}, {"B", "", "not on sale", 0}, {"B", "child", "not as Child", 0}, {"C", "", "€36", 3600}, {"C", "child", "not as Child", 0}} {
		_, page := s.page(t, person(t), "/events/evening?type="+c.kind)
		if got := between(between(page, `data-category="`+c.category+`"`, "</li>"), `data-fare="price`, "</span>"); !strings.HasSuffix(got, ">"+c.shown) {
			t.Errorf("category %s for %q is shown as %q, want %q", c.category, c.kind, got, c.shown)
		}
		switch status, body := claim(in(c.category), c.kind); {
		case c.total == 0 && (status != http.StatusConflict || !strings.Contains(body, `"type"`)):
			t.Errorf("a claim in %s for %q is answered %d %s", c.category, c.kind, status, body)
		case c.total > 0 && (status != http.StatusCreated || holdOf(t, body).Total != c.total):
			t.Errorf("a claim in %s for %q costs %d, want %d: %d", c.category, c.kind, holdOf(t, body).Total, c.total, status)
		}
	}
	if _, body := send(t, person(t), "GET", s.url+"/events/evening", "", "Accept", "application/json"); strings.Contains(between(body, `"key":"B"`, "}"), `"price"`) || !strings.Contains(between(body, `"key":"C"`, "}"), `"price":3600`) {
		t.Errorf("programs are told %s", body)
	}
	s.wantBooks(t)
}

// saysTypes looks for the ticket type in what goes to the buyer and to the door.
func (s *site) saysTypes(t *testing.T, who *http.Client, at string) {
	t.Helper()
	const words = "Child, to be shown at the door: Passport"
	letters := Letters{Inventory: s.office, Orders: orders.New(s.db), URL: "https://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: strings.TrimPrefix(at, "/orders/"), Kind: orders.MailConfirmation})
	if err != nil || !strings.Contains(l.Text, words) || !strings.Contains(l.HTML, words) {
		t.Errorf("the mail lacks the ticket type: %v\n%s", err, l.Text)
	}
	if _, calendar := send(t, who, "GET", s.url+at+"/calendar.ics", ""); !strings.Contains(strings.ReplaceAll(calendar, "\r\n ", ""), "(Child") {
		t.Errorf("the calendar lacks the ticket type: %s", calendar)
	}
	var list struct{ Tickets []desk.ExpectedBody }
	if _, body := send(t, who, "GET", s.door(t)+"/tickets", ""); json.Unmarshal([]byte(body), &list) != nil || len(list.Tickets) != 2 || list.Tickets[0].Type != "Child" || list.Tickets[0].Proof != "Passport" {
		t.Errorf("the list of the door is %+v", list)
	}
}

func TestClaim_FormsAskForTicketsOfSeveralTypes(t *testing.T) {
	t.Parallel()
	s := withTypes(t)
	for what, f := range map[string]url.Values{
		"best": {"tickets.standard": {"2"}, "tickets.child": {"1"}, "category": {""}}, "area": {"area": {"Floor"}, "tickets.standard": {"2"}, "tickets.child": {"1"}},
	} {
		who := person(t)
		a, body := send(t, who, "POST", s.url+"/events/evening/claims", f.Encode(), "Content-Type", asForm)
		if a.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s", what, a.StatusCode, body)
		}
		kinds := map[string]int{}
		for _, line := range holdOf(t, body).Lines {
			kinds[line.Type]++
		}
		if kinds["standard"] != 2 || kinds["child"] != 1 {
			t.Errorf("%s: %v", what, kinds)
		}
	}
	for _, bad := range []struct {
		f    url.Values
		want int
	}{
		{url.Values{"tickets.standard": {"0"}, "tickets.child": {"0"}}, 422},
		{url.Values{"tickets.standard": {"x"}}, 422},
		{url.Values{"tickets.standard": {"-1"}}, 422},
		{url.Values{"tickets.dog": {"1"}}, 404},
		{url.Values{"tickets.member": {"1"}}, 409},
		{url.Values{"seat": {s.sale.Plan.Label(0)}, "type": {"member"}}, 409},
		{url.Values{"seat": {s.sale.Plan.Label(0)}, "type": {"dog"}}, 404},
		{url.Values{"seat": {s.sale.Plan.Label(0)}, "tickets.child": {"2"}}, 422},
	} {
		if a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", bad.f.Encode(), "Content-Type", asForm); a.StatusCode != bad.want {
			t.Errorf("%v: %d %s", bad.f, a.StatusCode, body)
		}
	}
	s.wantBooks(t)
}

func TestSetTypes_RefusesBadInput(t *testing.T) {
	t.Parallel()
	s, who := withTypes(t), person(t)
	hold := s.held(t, who, 1)
	at := s.url + "/events/evening/hold/types"
	for body, want := range map[string]int{
		`{"types":{"` + hold.Seats[0] + `":"member"}}`: 409, `{"types":{"` + hold.Seats[0] + `":"dog"}}`: 404, `{"types":{"Moon/1":"child"}}`: 404,
		`{"types":{}}`: 422, `{"kinds":{}}`: 422, `{"types":{"` + s.sale.Plan.Label(s.inRows(t, 1)[0]) + `":"child"}}`: 409,
	} {
		if a, answer := send(t, who, "POST", at, body); a.StatusCode != want {
			t.Errorf("%s: %d %s", body, a.StatusCode, answer)
		}
	}
	if a, body := send(t, person(t), "POST", at, `{"types":{"`+hold.Seats[0]+`":"child"}}`); a.StatusCode != 404 {
		t.Errorf("without a hold: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, who, "POST", at, `{"types":{"`+hold.Seats[0]+`":"child"}}`); a.StatusCode != 200 || holdOf(t, body).Lines[0].Type != "child" {
		t.Errorf("as JSON: %d %s", a.StatusCode, body)
	}
	s.wantBooks(t)
}

func TestCheckout_OtherTypesAreAskedAndNotCharged(t *testing.T) {
	t.Parallel()
	s, who := withTypes(t), person(t)
	hold := s.held(t, who, 1)
	form := fill(hold, "Ann", "ann@example.org")
	form.Set(shop.TypeField(hold.Idx[0]), "child")
	form.Set("total", jsonNumber(int(hold.Total)))
	form.Set("key", "k")
	a, _ := s.post(t, who, form)
	if at := a.Header.Get("Location"); !strings.Contains(at, "/checkout?told") {
		t.Fatalf("another ticket type leads to %q", at)
	}
	_, page := s.page(t, who, "/events/evening/checkout?told")
	if !strings.Contains(page, "Check the new total") || !strings.Contains(page, `name="total" value="730"`) || s.count(t, "orders") != 0 {
		t.Error("the checkout does not ask about the new total")
	}
	form.Set("total", "730")
	if a, _ := s.post(t, who, form); !strings.HasPrefix(a.Header.Get("Location"), "/orders/") {
		t.Errorf("the order leads to %q", a.Header.Get("Location"))
	}
}

// The rules of a ticket type hold for orders and for payments: nothing is sold or paid, and the seats stay held. The shop says them
// beside the name.
func TestTypes_RulesHoldForOrdersAndPayments(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true})
	s.does(t, s.owner(t), "/desk/events/evening/prices", family("price.0.1.C", "9", "type.1.with", "standard", "type.1.with_each", "2", "type.1.most", "4"))
	var err error
	if s.sale, err = s.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	who, idx := person(t), s.inRows(t, 2)
	if _, page := s.page(t, who, "/events/evening?type=child"); strings.Count(page, "Only with Adult, up to 2 for each · Up to 4 · Proof at the door: Passport") < 2 {
		t.Error("the page does not say the rule of the type")
	}
	claim := func(idx int, kind string) shophandlers.HoldBody {
		t.Helper()
		a, body := send(t, who, "POST", s.url+"/events/evening/claims", fmt.Sprintf(`{"seats":[%q],"type":%q}`, s.sale.Plan.Label(idx), kind))
		if a.StatusCode/100 != 2 {
			t.Fatalf("the claim: %d %s", a.StatusCode, body)
		}
		return holdOf(t, body)
	}
	hold := claim(idx[0], "child")
	for _, method := range []string{"door", "demo"} {
		form := fill(hold, "Ann", "ann@example.org")
		form.Set("method", method)
		if a, body := send(t, who, "POST", s.url+"/events/evening/orders", form.Encode(), "Content-Type", asForm); a.StatusCode != http.StatusConflict || !strings.Contains(body, "only with tickets of the type Adult") {
			t.Errorf("a child alone, by %s: %d %s", method, a.StatusCode, body)
		}
	}
	var orders, payments int
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM payment)`).Scan(&orders, &payments); err != nil || orders+payments != 0 {
		t.Errorf("there are %d orders and %d payments, %v", orders, payments, err)
	}
	if hold = claim(idx[1], "standard"); len(hold.Seats) != 2 {
		t.Fatalf("the visitor holds %v", hold.Seats)
	}
	s.pays(t, who, hold)
	s.wantBooks(t)
}
