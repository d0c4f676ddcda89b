package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
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
	s.asks(t, owner, "GET", "/desk/till/sessions/"+strconv.FormatInt(session.ID, 10), "", http.StatusOK, &open)
	if open.Expected != 100_00+later.Total || open.Taken != later.Total || len(open.Lines) != 3 {
		t.Errorf("of an order of %d, the till has %+v", later.Total, open)
	}
	s.wantBooks(t)
}
