package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// onTill is a form that is sent to an open session of the owner.
func (w *wall) onTill(to, currency string, form, other url.Values) func(*testing.T, *wall, string) sent {
	return func(t *testing.T, w *wall, _ string) sent {
		owner := w.people[string(organizers.Owner)]
		w.does(t, owner, "/desk/till/sessions", url.Values{"currency": {currency}, "zone": {"UTC"}, "float": {"10"}})
		return sent{who: owner, to: "/desk/till/sessions/" + w.id("SELECT max(id) AS id FROM till_session") + to, form: form, other: other}
	}
}

// asks sends JSON as a member at the desk, and reads the answer.
func (s *site) asks(t *testing.T, who *http.Client, method, path, body string, want int, into any) {
	t.Helper()
	a, answer := send(t, who, method, s.url+path, body)
	if a.StatusCode != want {
		t.Fatalf("%s %s %s: %d %s", method, path, body, a.StatusCode, answer)
	}
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
}

type tillAnswer struct {
	ID, Number, Expected, Difference, Taken int64
	Day                                     string
	Lines                                   []struct {
		Kind, Method, Name     string
		Count, Tickets, Amount int64
	}
}

func TestTill_CountsWhatItsPersonSellsOnce(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	dora := s.memberOf(t, "dora", organizers.Till, s.sale.Event.Team)
	s.does(t, owner, "/desk/events/evening/codes", url.Values{"code": {"FRIENDS"}, "off": {"10%"}})
	s.does(t, owner, "/desk/till", url.Values{"required": {"on"}, "methods": {"Twint"}})
	idx := s.inRows(t, 6)
	label := func(i int) string { return s.sale.Plan.Label(idx[i]) }
	const at = "/desk/events/evening/sales"

	var refusal struct{ Error struct{ Code string } }
	s.asks(t, dora, "POST", at, `{"key":"a","seat":["`+label(0)+`"],"method":"cash"}`, http.StatusConflict, &refusal)
	if refusal.Error.Code != "till_closed" {
		t.Errorf("a sale with a closed till: %+v", refusal)
	}
	var session, closed tillAnswer
	s.asks(t, dora, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"Europe/Vienna","float":"100.00"}`, http.StatusCreated, &session)

	// Enter is pressed four times at once.
	var presses sync.WaitGroup
	codes := make([]string, 4)
	for i := range codes {
		presses.Go(func() {
			var sold struct{ Order struct{ Code string } }
			a, answer := send(t, dora, "POST", s.url+at, `{"key":"b","seat":["`+label(0)+`","`+label(1)+`"],"method":"cash","code":"friends","total":5400}`)
			if err := json.Unmarshal([]byte(answer), &sold); err != nil || a.StatusCode != http.StatusCreated {
				t.Errorf("press %d: %d %s", i, a.StatusCode, answer)
			}
			codes[i] = sold.Order.Code
		})
	}
	presses.Wait()
	for _, code := range codes {
		if code != codes[0] {
			t.Errorf("the presses made %v", codes)
		}
	}
	var order struct{ Order struct{ Total int64 } }
	s.asks(t, dora, "POST", at, `{"key":"c","seat":["`+label(2)+`"],"method":"terminal","paid_by":"Twint"}`, http.StatusCreated, &order)
	s.asks(t, dora, "POST", at, `{"key":"d","seat":["`+label(3)+`"],"method":"terminal","paid_by":"Pebbles"}`, http.StatusUnprocessableEntity, &refusal)
	s.asks(t, dora, "POST", at, `{"key":"e","seat":["`+label(3)+`"],"method":"cash","code":"STRANGERS"}`, http.StatusUnprocessableEntity, &refusal)
	s.asks(t, dora, "POST", at, `{"key":"f","seat":["`+label(2)+`","`+label(3)+`"],"method":"cash"}`, http.StatusConflict, &refusal)
	if refusal.Error.Code != seats.CodeTaken {
		t.Errorf("a seat that is sold: %+v", refusal)
	}
	path := "/desk/till/sessions/" + strconv.FormatInt(session.ID, 10)
	s.asks(t, dora, "POST", path+"/entries", `{"key":"g","kind":"out","amount":"20","reason":"flowers"}`, http.StatusCreated, &session)
	s.asks(t, dora, "POST", path+"/closing", `{"key":"h","counted":"133.00"}`, http.StatusOK, &closed)
	if closed.Number != 1 || closed.Expected != 100_00+54_00-20_00 || closed.Difference != -1_00 || closed.Taken != 54_00+order.Order.Total || len(closed.Lines) != 3 {
		t.Errorf("the report is %+v", closed)
	}
	var days struct{ Days []tillAnswer }
	s.asks(t, owner, "GET", "/desk/till/days/"+closed.Day, "", http.StatusOK, &days)
	if len(days.Days) != 1 || days.Days[0].Taken != closed.Taken {
		t.Errorf("the day is %+v", days)
	}
	if _, csv := send(t, owner, "GET", s.url+path+".csv", ""); !strings.Contains(csv, "Twint") || !strings.Contains(csv, "-1.00") {
		t.Errorf("the table is %q", csv)
	}
	s.wantBooks(t)
}

func TestTill_PrintsTheTicketsOfItsEventAlone(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	idx := s.inRows(t, 2)
	at := s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(idx[0]), s.sale.Plan.Label(idx[1])}, "method": {"cash"}})
	code := at[strings.LastIndexByte(at, '/')+1:]
	a, page := s.page(t, owner, "/desk/events/evening/till/tickets/"+code+"?paper=a6")
	if a.StatusCode != http.StatusOK || strings.Count(page, "<article>") != 2 || strings.Count(page, `role="img"`) != 2 {
		t.Errorf("the tickets are %d %s", a.StatusCode, words(page))
	}
	if a, _ := s.page(t, owner, "/desk/events/evening/till/tickets/00000000000000000000000000"); a.StatusCode != http.StatusNotFound {
		t.Errorf("no order: %d", a.StatusCode)
	}
}

func TestTill_PrintsAReceiptOfASaleNowAndLater(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{Ticket: 100})
	if a, body := send(t, owner, "POST", s.url+"/desk/invoices", `{"key":"sender","name":"Haus GmbH","street":"Ring 1","postcode":"1010","city":"Wien","country":"AT","vat_id":"ATU13585627"}`); a.StatusCode >= 300 {
		t.Fatal(a.StatusCode, body)
	}
	idx := s.inRows(t, 2)
	at := s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(idx[0]), s.sale.Plan.Label(idx[1])}, "method": {"cash"}})
	code := at[strings.LastIndexByte(at, '/')+1:]
	order, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	paper := "/desk/events/evening/till/tickets/" + code
	_, page := s.page(t, owner, fmt.Sprintf("%s?receipt=only&given=%d", paper, order.Total+550))
	said := between(page, `<article class="receipt">`, "</article>")
	for _, want := range []string{"Haus GmbH", "ATU13585627", order.Number(), "Total", "Cash given", "Change given", "€5.50", "in cash"} {
		if !strings.Contains(said, want) {
			t.Errorf("the receipt lacks %q: %s", want, said)
		}
	}
	if strings.Count(page, "<article") != 1 {
		t.Error("the receipt alone has tickets, too")
	}
	if _, page := s.page(t, owner, paper+"?receipt=with"); strings.Count(page, "<article>") != 2 || strings.Count(page, `class="receipt"`) != 1 || strings.Contains(page, "Change given") {
		t.Errorf("later, behind the tickets: %s", words(page))
	}
	for _, given := range []string{"x", "-1", fmt.Sprint(order.Total - 1), "99999999999999999999", "9000000000000000000"} {
		if a, _ := s.page(t, owner, paper+"?receipt=only&given="+given); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("given=%s: %d", given, a.StatusCode)
		}
	}
	if _, page := s.page(t, owner, "/desk/events/evening/orders/"+code); !strings.Contains(page, paper+"?receipt=only") || !strings.Contains(page, "/orders/"+code+"/") {
		t.Error("the order at the desk links no receipt")
	}
	until(t, "the receipt has the number of the invoice", func() bool {
		_, page := s.page(t, owner, paper+"?receipt=only")
		return strings.Contains(between(page, `<article class="receipt">`, "</article>"), "Invoice ") && !strings.Contains(page, "not an invoice")
	})
	free := s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(s.inRows(t, 3)[2])}, "type": {"press"}, "method": {"free"}})
	free = free[strings.LastIndexByte(free, '/')+1:]
	if a, _ := s.page(t, owner, "/desk/events/evening/till/tickets/"+free+"?receipt=only"); a.StatusCode != http.StatusNotFound {
		t.Errorf("the receipt of an order without a price: %d", a.StatusCode)
	}
	if a, _ := s.page(t, owner, "/desk/events/evening/till/tickets/"+free+"?receipt=with"); a.StatusCode != http.StatusOK {
		t.Errorf("the tickets of an order without a receipt: %d", a.StatusCode)
	}
}

func TestTill_FindsTheBestSeats(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	var first, second struct{ Seats []string }
	s.asks(t, owner, "GET", "/desk/events/evening/till/best?n=2&category=B&type=child", "", http.StatusOK, &first)
	s.asks(t, owner, "GET", "/desk/events/evening/till/best?n=2&category=B&not="+url.QueryEscape(first.Seats[0])+"&not="+url.QueryEscape(first.Seats[1]), "", http.StatusOK, &second)
	if len(first.Seats) != 2 || len(second.Seats) != 2 || first.Seats[0] == second.Seats[0] {
		t.Errorf("found %v, then %v", first.Seats, second.Seats)
	}
	var refusal struct{ Error struct{ Code string } }
	for _, q := range []string{"", "?n=0", "?n=x", "?n=101", "?n=2&category=Z"} {
		s.asks(t, owner, "GET", "/desk/events/evening/till/best"+q, "", http.StatusUnprocessableEntity, &refusal)
	}
	s.asks(t, owner, "GET", "/desk/events/evening/till/best?n=2&type=member&category=C", "", http.StatusConflict, &refusal)
}

func TestTill_CountsOrdersThatArePaidAndRefundsThatArePaidOut(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	_, later := s.bought(t, person(t), 1)
	at := "/desk/events/evening/orders/" + later.Code
	s.refused(t, owner, at+"/payments", url.Values{"till": {"cash"}}, http.StatusConflict, "till is closed")
	var session, open tillAnswer
	s.asks(t, owner, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"UTC","float":"100"}`, http.StatusCreated, &session)
	s.refused(t, owner, at+"/payments", url.Values{"till": {"pebbles"}}, http.StatusUnprocessableEntity)
	s.does(t, owner, at+"/payments", url.Values{"till": {"cash"}})
	sold := s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(s.inRows(t, 2)[1])}, "method": {"cash"}})
	sold, _, _ = strings.Cut(sold, "?")
	s.does(t, owner, sold+"/cancellations", url.Values{"all": {"on"}})
	s.does(t, owner, sold+"/payouts", url.Values{"till": {"cash"}})
	sold = s.does(t, owner, "/desk/events/evening/sales", url.Values{"seat": {s.sale.Plan.Label(s.inRows(t, 2)[1])}, "method": {"terminal"}})
	sold, _, _ = strings.Cut(sold, "?")
	s.does(t, owner, sold+"/cancellations", url.Values{"all": {"on"}})
	s.does(t, owner, sold+"/payouts", url.Values{"till": {"terminal"}})
	s.asks(t, owner, "GET", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10), "", http.StatusOK, &open)
	if open.Expected != 100_00+later.Total || open.Taken != later.Total || len(open.Lines) != 5 {
		t.Errorf("of an order of %d, the till has %+v", later.Total, open)
	}
	s.wantBooks(t)
}

func TestTill_ItsRoleFindsAnOrderAndItsSessionCountsTheExchange(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	teller := s.memberOf(t, "tess", organizers.Till, s.sale.Event.Team)
	slug := s.matinee(t, owner)
	at := "/desk/events/" + slug
	s.does(t, owner, at+"/series", url.Values{"dates": {"2030-05-09 15:00"}})
	next := slug + "-2030-05-09"
	s.does(t, owner, "/desk/events/"+next+"/status", url.Values{"status": {"on sale"}, "anyway": {"on"}})
	sale, err := s.office.Sale(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	plan := sale.Plan
	seat := func(category int) string {
		return plan.Label(slices.IndexFunc(plan.Seats, func(s seats.Seat) bool { return s.Category == category }))
	}
	more := plan.Categories[0].Price - plan.Categories[1].Price
	sold, _, _ := strings.Cut(s.does(t, owner, at+"/sales", url.Values{"seat": {seat(1)}, "method": {"cash"}}), "?")
	exchange := url.Values{"ticket": {s.one(t, `SELECT id FROM ticket`)}, "event": {next}, "seats": {seat(0)}, "method": {"terminal"}}
	s.does(t, owner, "/desk/till", url.Values{"required": {"on"}})
	s.refused(t, teller, sold+"/exchanges", exchange, http.StatusConflict, "till is closed")
	var session, open tillAnswer
	s.asks(t, teller, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"UTC","float":"100"}`, http.StatusCreated, &session)
	for _, page := range []string{at + "/orders", "/desk/search?q=" + sold[strings.LastIndex(sold, "/")+1:]} {
		if _, body := s.page(t, teller, page); !strings.Contains(body, sold) {
			t.Errorf("%s does not lead to %s: %s", page, sold, words(body))
		}
	}
	if _, body := s.page(t, teller, sold); !strings.Contains(body, "/exchanges") || strings.Contains(body, "/refunds") || strings.Contains(body, "nofee") {
		t.Errorf("the page of the order for the till: %s", words(body))
	}
	s.refused(t, teller, sold+"/cancellations", url.Values{"all": {"on"}}, http.StatusForbidden)
	exchange.Set("nofee", "on")
	s.refused(t, teller, sold+"/exchanges", exchange, http.StatusUnprocessableEntity, "Only managers waive the fee")
	exchange.Del("nofee")
	s.does(t, teller, sold+"/exchanges", exchange)
	s.asks(t, teller, "GET", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10), "", http.StatusOK, &open)
	if open.Expected != 100_00 || open.Taken != more || len(open.Lines) != 1 || open.Lines[0].Method != "terminal" || open.Lines[0].Tickets != 0 {
		t.Errorf("after an exchange with %d to pay the till has %+v", more, open)
	}
	dearer := "/desk/events/" + next + "/orders/" + s.one(t, `SELECT code FROM orders ORDER BY created_at DESC LIMIT 1`)
	back := url.Values{"ticket": {s.one(t, `SELECT id FROM ticket WHERE revoked_at IS NULL`)}, "event": {slug}, "seats": {seat(1)}}
	s.refused(t, teller, dearer+"/exchanges", back, http.StatusConflict, "only managers pay money back")
	s.does(t, owner, dearer+"/exchanges", back)
	s.wantBooks(t)
}

// matinee is another event of the team of the site, on sale.
func (s *site) matinee(t *testing.T, owner *http.Client) string {
	t.Helper()
	at := s.does(t, owner, "/desk/events", url.Values{"name": {"Matinee"}, "starts": {"2030-05-02T15:00"}, "zone": {"Europe/Vienna"}, "currency": {"EUR"}, "plan": {"theatre"}, "price.A": {"60"}, "price.B": {"45"}, "price.C": {"30"}})
	at, _, _ = strings.Cut(at, "?")
	slug := strings.Split(at, "/")[3]
	s.does(t, owner, "/desk/events/"+slug+"/status", url.Values{"status": {"on sale"}, "anyway": {"on"}})
	return slug
}

func TestTill_SellsSeatsOfTwoEventsAsOneSale(t *testing.T) {
	t.Parallel()
	s, owner := withPress(t, seats.Fees{})
	slug := s.matinee(t, owner)
	dora := s.memberOf(t, "dora", organizers.Till, s.sale.Event.Team)
	var session, closed tillAnswer
	s.asks(t, dora, "POST", "/desk/till/sessions", `{"key":"o","currency":"EUR","zone":"Europe/Vienna","float":"100.00"}`, http.StatusCreated, &session)
	var page struct {
		Performances []struct {
			Slug string
			Free int
		}
	}
	s.asks(t, dora, "GET", "/desk/events/evening/till", "", http.StatusOK, &page)
	if len(page.Performances) != 2 || page.Performances[0].Slug != slug || page.Performances[0].Free == 0 {
		t.Errorf("the till offers %+v", page)
	}
	const at = "/desk/events/evening/sales"
	idx := s.inRows(t, 3)
	own := s.sale.Plan.Label(idx[0])
	sale := func(key, mine, other, more string) string {
		return `{"key":"` + key + `","method":"cash","seat":["` + mine + `"],"also":{"` + slug + `":{"seat":["` + other + `"]}}` + more + `}`
	}
	var quoted struct {
		Total int64
		Taken []string
		Also  map[string]struct {
			Total int64
			Taken []string
		}
	}
	s.asks(t, dora, "POST", at, sale("q", own, "Stalls/C/12", `,"update":true`), http.StatusOK, &quoted)
	total := quoted.Total + quoted.Also[slug].Total
	if quoted.Total == 0 || quoted.Also[slug].Total == 0 || quoted.Taken != nil || quoted.Also[slug].Taken != nil {
		t.Errorf("it would cost %+v", quoted)
	}

	// A visitor takes the seat of the other event: nothing is sold, and the total says so.
	if a, answer := send(t, person(t), "POST", s.url+"/events/"+slug+"/claims", `{"seats":["Stalls/C/12"]}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("the claim: %d %s", a.StatusCode, answer)
	}
	var refusal struct {
		Error struct {
			Code, Event string
			Seats       []string
		}
	}
	s.asks(t, dora, "POST", at, sale("a", own, "Stalls/C/12", ""), http.StatusConflict, &refusal)
	if e := refusal.Error; e.Code != seats.CodeTaken || e.Event != slug || len(e.Seats) != 1 || e.Seats[0] != "Stalls/C/12" {
		t.Errorf("a seat that a visitor holds: %+v", refusal)
	}
	s.asks(t, dora, "POST", at, sale("q", own, "Stalls/C/12", `,"update":true`), http.StatusOK, &quoted)
	if taken := quoted.Also[slug].Taken; len(taken) != 1 || taken[0] != "Stalls/C/12" {
		t.Errorf("the quote says that %v are taken", taken)
	}
	s.asks(t, dora, "POST", at, strings.Replace(sale("f", own, "Stalls/C/12", ""), slug, "elsewhere", 1), http.StatusNotFound, &refusal)

	// The page repeats a sale after its answer was lost.
	type sold struct {
		Order struct {
			Code, Event string
			Total       int64
		}
		Also []struct {
			Code, Event string
			Total       int64
		}
	}
	var first, again sold
	for _, into := range []*sold{&first, &again} {
		s.asks(t, dora, "POST", at, sale("b", own, "Stalls/C/14", ""), http.StatusCreated, into)
	}
	if len(first.Also) != 1 || first.Order != again.Order || first.Also[0] != again.Also[0] || first.Also[0].Event != slug || first.Order.Total+first.Also[0].Total != total {
		t.Errorf("the sale made %+v, its repeat %+v", first, again)
	}
	s.asks(t, dora, "POST", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10)+"/closing", `{"key":"h","counted":"100.00"}`, http.StatusOK, &closed)
	if closed.Taken != total || closed.Expected != 100_00+total || len(closed.Lines) != 1 || closed.Lines[0].Count != 2 || closed.Lines[0].Tickets != 2 {
		t.Errorf("of a sale of %d, the report has %+v", total, closed)
	}
	s.wantBooks(t)
}

func TestTill_SellsNoSeatOfAnotherTeam(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	owner := w.people[string(organizers.Owner)]
	var refusal struct{ Error struct{ Code string } }
	foreign := w.id("SELECT slug AS id FROM event WHERE team_id <> first_team() LIMIT 1")
	w.asks(t, owner, "POST", "/desk/events/evening/sales", `{"key":"x","method":"cash","seat":["`+w.label(t, 0)+`"],"also":{"`+foreign+`":{"seats":"1"}}}`, http.StatusNotFound, &refusal)
	w.asks(t, owner, "POST", "/desk/events/evening/sales", `{"key":"y","method":"cash","update":true,"seat":["`+w.label(t, 0)+`"],"also":{"`+foreign+`":{"seats":"1"}}}`, http.StatusNotFound, &refusal)
}
