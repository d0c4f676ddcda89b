package handlers

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/desk"
)

func TestFairness_ReportIsPublishedAtTheDeskAndReadByAll(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 500})
	ann, bob, at := s.owner(t), person(t), desk.RoomPath("evening")
	publish := url.Values{"key": {seats.NewID().String()}, "do": {"fairness"}}
	for _, address := range []string{"/rooms/evening/fairness", "/rooms/evening/fairness.csv"} {
		if a, _ := send(t, bob, "GET", s.url+address, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("before it is published %s is answered %d", address, a.StatusCode)
		}
	}
	if a, body := s.submit(t, ann, at, publish); a.StatusCode != http.StatusConflict && a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "once the waiting room has ended") {
		t.Errorf("during the sale it is answered %d %s", a.StatusCode, words(body))
	}
	for _, sql := range []string{
		`UPDATE room SET phase = 'ended', line = 100, serving = 60`,
		`INSERT INTO refusal (event_id, code, n) SELECT id, unnest('{limit,person_limit,taken}'::text[]), unnest('{2000,345,9}'::integer[]) FROM event`,
		`INSERT INTO called (room_id, epoch, serving) SELECT id, 1, 60 FROM room`,
		`INSERT INTO admission (room_id, epoch, number, holder, left_at, outcome, seats)
		 SELECT id, 1, n, gen_random_uuid(), clock_timestamp(), CASE WHEN n <= 45 THEN 'bought' ELSE 'gave up' END, CASE WHEN n <= 25 THEN 2 WHEN n <= 45 THEN 1 ELSE 0 END FROM room, generate_series(1, 50) n`,
	} {
		if _, err := s.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, page := s.page(t, ann, at); strings.Contains(page, `href="/rooms/evening/fairness"`) {
		t.Error("the desk leads to a report that is not there")
	}
	publish.Set("key", seats.NewID().String())
	for range 2 { // a repeat publishes once
		if a, body := s.submit(t, ann, at, publish); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("it is answered %d %s", a.StatusCode, words(body))
		}
	}
	var noted int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM deed WHERE what = 'published the fairness report'`).Scan(&noted); err != nil || noted != 1 {
		t.Errorf("%d entries are in the log, %v", noted, err)
	}
	_, body := send(t, bob, "GET", s.url+"/rooms/evening/fairness", "", "Accept", "application/json")
	var f waitingroom.Fairness
	if err := json.Unmarshal([]byte(body), &f); err != nil || f.People != 100 || f.Called != 60 || f.Came != 50 || f.Bought != 45 || f.Seats != 70 || f.Early != 0 || f.Run != nil || *f.Tickets != 0 || *f.Refunded != 0 || f.Refused["limit"] != 2000 || f.Refused["taken"] != 9 {
		t.Errorf("%s, %v", body, err)
	}
	_, page := send(t, bob, "GET", s.url+"/rooms/evening/fairness", "", "Accept", "text/html", "Accept-Language", "de")
	for _, want := range []string{"Fairnessbericht", "2.345", "Nach gekauften Plätzen", ">25</td><td>25</td><td>25</td><td>50</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, words(page))
		}
	}
	_, table := send(t, bob, "GET", s.url+"/rooms/evening/fairness.csv", "")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) < 10 || strings.Join(rows[1], ",") != "all,1,100,100,60,50,45,70," || !strings.Contains(table, "claims refused: limit,,,,,,,,2000\n") {
		t.Errorf("the table is %s, %v", table, err)
	}
	until(t, "the waiting room and the desk lead to it", func() bool {
		_, room := send(t, bob, "GET", s.url+"/rooms/evening", "", "Accept", "text/html")
		_, page := s.page(t, ann, at)
		return strings.Contains(room, `href="/rooms/evening/fairness"`) && strings.Contains(page, `href="/rooms/evening/fairness"`)
	})
}

func TestFairness_OfASaleWithoutAWaitingRoomIsPublishedOnceItIsOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, bob, at := s.owner(t), person(t), "/desk/events/evening"
	for i := range 21 {
		s.soldTo(t, ann, "Eve", "eve@example.org", i)
	}
	if _, err := s.db.Exec(t.Context(), `UPDATE orders SET created_at = created_at - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	s.publishLog(t)
	for _, address := range []string{"/events/evening/fairness", "/events/evening/fairness.csv"} {
		if a, _ := send(t, bob, "GET", s.url+address, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("before it is published %s is answered %d", address, a.StatusCode)
		}
	}
	publish := url.Values{"key": {seats.NewID().String()}}
	if a, body := s.submit(t, ann, at+"/fairness", publish); a.StatusCode != http.StatusConflict && a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "once the event has begun, or you closed its sale") {
		t.Errorf("during the sale it is answered %d %s", a.StatusCode, words(body))
	}
	if _, page := s.page(t, ann, at+"/log"); !strings.Contains(page, "once the event has begun, or you closed its sale") || strings.Contains(page, `action="/desk/events/evening/fairness"`) {
		t.Errorf("during the sale the desk says %s", words(page))
	}
	s.does(t, ann, at+"/status", url.Values{"status": {"closed"}})
	if to := s.does(t, ann, at+"/fairness", url.Values{}); to != at+"/log" {
		t.Errorf("it leads to %s", to)
	}
	_, body := send(t, bob, "GET", s.url+"/events/evening/fairness", "", "Accept", "application/json")
	var f fairness.Report
	if err := json.Unmarshal([]byte(body), &f); err != nil || *f.Orders != 21 || *f.Seats != 21 || len(f.Groups) != 2 || f.Groups[0].To != nil || *f.Shared != 0 || f.At.IsZero() || f.Until.After(f.At) || f.First != nil {
		t.Errorf("%s, %v", body, err)
	}
	_, page := send(t, bob, "GET", s.url+"/events/evening/fairness", "", "Accept", "text/html", "Accept-Language", "de")
	for _, want := range []string{"Fairnessbericht", "Theaterkasse</th><td>21</td><td>21</td>", `href="/events/evening/fairness.csv"`, `href="/events/evening/log"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, words(page))
		}
	}
	_, table := send(t, bob, "GET", s.url+"/events/evening/fairness.csv", "")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) < 7 || strings.Join(rows[1], ",") != "all,,,21,21," || !strings.Contains(table, "place,office,,21,21,\n") || !strings.Contains(table, "tickets returned,,,,,0\n") {
		t.Errorf("the table is %s, %v", table, err)
	}
	for _, address := range []string{"/events/evening/log", at + "/log"} {
		if _, page := s.page(t, ann, address); !strings.Contains(page, `href="/events/evening/fairness"`) {
			t.Errorf("%s does not lead to it: %s", address, words(page))
		}
	}
	if _, page := s.page(t, bob, "/events/evening"); !strings.Contains(page, `href="/events/evening/fairness"`) {
		t.Errorf("the event does not lead to it: %s", words(page))
	}
	// What is sold later is not in it, so that it cannot be told from the difference.
	s.does(t, ann, at+"/status", url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
	s.soldTo(t, ann, "Zoe", "zoe@example.org", 30)
	s.does(t, ann, at+"/status", url.Values{"status": {"closed"}})
	if a, body := send(t, ann, "POST", s.url+at+"/fairness", `{"key":"once more"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"orders":21`) {
		t.Errorf("a program is told %d %s", a.StatusCode, body)
	}
}

func TestFairness_AnEventWithAWaitingRoomHasNone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, at := s.owner(t), "/desk/events/evening"
	newRoom(t, s, waitingroom.NewRoom{Slots: 500})
	s.does(t, ann, at+"/status", url.Values{"status": {"closed"}})
	if a, body := s.submit(t, ann, at+"/fairness", url.Values{"key": {"k"}}); a.StatusCode < 400 || a.StatusCode >= 500 || !strings.Contains(body, "Publish the fairness report of the waiting room") {
		t.Errorf("it is answered %d %s", a.StatusCode, words(body))
	}
}

// Of eight tickets ann's three orders have four, spelled in three ways; one of hers is moved, and one is cancelled. The box office counts for no person.
func TestFairness_TicketsAreThoseOfTheOrders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	buys := func(n int, email string) string {
		t.Helper()
		who := person(t)
		a, body := s.post(t, who, fill(s.held(t, who, n), "Ann", email))
		code, ok := strings.CutPrefix(a.Header.Get("Location"), "/orders/")
		if !ok {
			t.Fatal(a.StatusCode, body)
		}
		return code
	}
	first := buys(2, "ann.lee@gmail.com")
	buys(1, "Ann.Lee+spring@gmail.com")
	buys(1, "annlee@googlemail.com")
	buys(2, "bob@example.org")
	owner := s.owner(t)
	eve := s.soldTo(t, owner, "Eve", "eve@example.org", 8)
	s.soldTo(t, owner, "Eve", "eve@example.org", 9)
	newRoom(t, s, waitingroom.NewRoom{Slots: 500})
	rules := func() (r waitingroom.Rules) {
		t.Helper()
		_, lines := s.page(t, owner, liveDesk+"/exports/room.jsonl")
		var e waitingroom.Evidence
		line, _, _ := strings.Cut(lines, "\n")
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Room == nil {
			t.Fatalf("%v: %s", err, lines)
		}
		return *e.Room
	}
	if r := rules(); r.Tickets != 8 || r.Shared != 4 || r.Returned != 0 || r.Refunded != 0 {
		t.Errorf("%d tickets, %d of people with several orders, %d returned, %d orders refunded", r.Tickets, r.Shared, r.Returned, r.Refunded)
	}
	order, err := s.sold.Find(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	at := "/desk/events/evening/orders/" + first
	s.does(t, owner, at+"/moves", url.Values{"ticket": {order.Tickets[0].ID.String()}, "to": {s.sale.Plan.Label(7)}})
	s.does(t, owner, at+"/cancellations", url.Values{"ticket": {order.Tickets[1].ID.String()}})
	s.does(t, owner, "/desk/events/evening/orders/"+eve+"/refunds", url.Values{"amount": {"1.00"}})
	if r := rules(); r.Tickets != 8 || r.Shared != 4 || r.Returned != 1 || r.Refunded != 1 {
		t.Errorf("after a move, a cancellation and a refund: %d tickets, %d of people with several orders, %d returned, %d orders refunded", r.Tickets, r.Shared, r.Returned, r.Refunded)
	}
}
