package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Lines of the lists, at one and the same time where their time is the order. $1 is where their numbers begin, $2 how many there are.
const (
	plantOrders = `
WITH first AS (SELECT * FROM orders WHERE event_id = 1 ORDER BY created_at LIMIT 1)
INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, at_office, received, paid)
SELECT gen_random_uuid(), event_id, 'EXTRA' || n, holder, gen_random_uuid(), wish, 'Person ' || n, 'person' || n || '@example.org', method, currency, total, true, received, paid
  FROM first, generate_series($1::integer, $1 + $2 - 1) n`
	plantDeeds  = `INSERT INTO deed (team_id, who, what) SELECT 1, 'Cleo', 'sold ' || n FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantHappen = `INSERT INTO security_event (team_id, kind, minute, detail, n) SELECT 1, 'sign_in_failed', now(), 'so ' || n, 1 FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantTold   = `INSERT INTO notice (hook_id, kind, data, sent_at) SELECT (SELECT min(id) FROM hook), 'test', '{}', now() FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantCodes  = `
INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person)
SELECT gen_random_uuid(), 1, 'CODE' || n, '', 1000, 0, false, '{}', '{}', 0, 0, 0 FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantEntries = `
INSERT INTO entry (event_id, code, email, quantity, together, fewer, state, rank, waits_since)
SELECT 1, 'wait' || n, 'wait' || n || '@example.org', 2, true, true, CASE WHEN n % 3 = 0 THEN 'new' ELSE 'waiting' END, 1000 + n / 3, now() FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantEvents = `
INSERT INTO event (slug, name, venue, starts_at, seats, plan_id, status)
SELECT 'more-' || n, 'More', '', timestamptz '2033-01-01 20:00Z' + n / 3 * interval '1 day', 10, plan_id, 'on sale' FROM event, generate_series($1::integer, $1 + $2 - 1) n WHERE slug = 'evening'`
	plantMembers = `
WITH k AS (INSERT INTO membership_kind (team_id, name, currency, price, months) SELECT 1, 'Kind ' || $1::integer, 'EUR', 4500, 12 RETURNING id)
INSERT INTO membership (id, team_id, kind_id, name, email, from_on, until_on, currency, price, given_by)
SELECT gen_random_uuid(), 1, k.id, '', 'member' || n || '@example.org', '2020-01-01', date '2099-12-31' + n / 3, 'EUR', 4500, 'x' FROM k, generate_series($1::integer, $1 + $2 - 1) n`
	plantRequests = `
WITH k AS (INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT 1, min(id), 'Kiosk', '{look}', ('x' || $1::integer)::bytea, 'x' FROM organizer RETURNING id)
INSERT INTO api_request (key_id, at, method, route, status, took, request_id) SELECT k.id, now(), 'GET', '/desk', 200, 1, '' FROM k, generate_series($1::integer, $1 + $2 - 1) n`
	plantCards = `
INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state) SELECT gen_random_uuid(), 1, 'GIFT' || n, 'EUR', 5000, 'ann@example.org', '', '', '', 'demo', 'closed' FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantGuests   = `INSERT INTO guest (id, event_id, name, places) SELECT gen_random_uuid(), 1, 'Guest ' || n, 1 FROM generate_series($1::integer, $1 + $2 - 1) n`
	plantBookings = `
WITH k AS (INSERT INTO block (id, event_id, seats, kind, ends_at, reason) SELECT gen_random_uuid(), 1, '{0}', 'group', now() + interval '1 day', 'Group ' || n FROM generate_series($1::integer, $1 + $2 - 1) n RETURNING id, reason)
INSERT INTO booking (id, event_id, name, places) SELECT id, 1, reason, 1 FROM k`
)

func TestPages_OfEveryListHaveEachLineOnceWhileLinesAreAdded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := s.submit(t, ann, "/desk/events/evening/sales", url.Values{"key": {"one"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Zoe"}, "email": {"zoe@example.org"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/hooks", `{"url":"https://example.org/usher","kinds":["order.paid"],"key":"hook"}`); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	for _, list := range []struct{ path, lines, id, plant, also string }{
		{"/desk/events/evening/orders?q=person", "orders", "code", plantOrders, ""},
		{"/desk/customers?", "customers", "email", plantOrders, ""},
		{"/desk/memberships?show=all", "memberships", "email", plantMembers, ""},
		{"/desk/log?what=sold", "deeds", "what", plantDeeds, ""},
		{"/desk/log?about=security", "events", "id", plantHappen, ""},
		{"/desk/keys/requests?", "requests", "id", plantRequests, ""},
		{"/desk/hooks/1?", "notices", "id", plantTold, ""},
		{"/desk/events/evening/codes?", "codes", "code", plantCodes, ""},
		{"/desk/events/evening/waitlist?", "entries", "email", plantEntries, ""},
		{"/desk/events?show=all", "events", "slug", plantEvents, `INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{4}', '{2}', '{3}', '{1}' FROM event e WHERE NOT EXISTS (SELECT FROM counter WHERE event_id = e.id)`},
		{"/desk/events?show=on-sale", "events", "slug", plantEvents, `INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{4}', '{2}', '{3}', '{1}' FROM event e WHERE NOT EXISTS (SELECT FROM counter WHERE event_id = e.id)`},
		{"/desk/gift-cards?", "cards", "id", plantCards, ""},
		{"/desk/events/evening/guests?", "guests", "name", plantGuests, ""},
		{"/desk/events/evening/bookings?", "bookings", "name", plantBookings, ""},
	} {
		plant := func(from, n int) {
			if strings.Contains(list.path, "on-sale") {
				from += 1000
			} else if strings.HasPrefix(list.path, "/desk/customers") {
				from += 2000
			}
			s.exec(t, list.plant, from, n)
			if list.also != "" {
				s.exec(t, list.also)
			}
		}
		plant(10, 11)
		all := s.linesOf(t, ann, list.path+"&limit=500", list.lines, list.id)
		if len(all.ids) < 11 || all.next != "" {
			t.Errorf("%s has %d lines, and goes on: %t", list.path, len(all.ids), all.next != "")
			continue
		}
		var seen []string
		next := "&limit=2"
		for pages := 0; next != "" && pages < 100; pages++ {
			page := s.linesOf(t, ann, list.path+next, list.lines, list.id)
			if len(page.ids) > 2 || len(page.ids) == 0 {
				t.Fatalf("%s: a page of two has %v", list.path, page.ids)
			}
			seen = append(seen, page.ids...)
			next = ""
			if page.next != "" {
				next = "&limit=2&cursor=" + page.next
			}
			plant(100+2*pages, 1)
			if pages == 2 && list.lines == "customers" { // a customer who is on a later page orders again
				s.exec(t, `UPDATE orders SET email = 'zoe@example.org' WHERE code = 'EXTRA2100'`)
			}
		}
		for i, id := range seen {
			if slices.Contains(seen[:i], id) {
				t.Errorf("%s: %s comes twice", list.path, id)
			}
		}
		for _, id := range all.ids {
			if !slices.Contains(seen, id) {
				t.Errorf("%s: %s is left out of %v", list.path, id, seen)
			}
		}
		for wrong, message := range map[string]string{"limit=0": "limit is a number", "limit=501": "limit is a number", "limit=x": "limit is a number", "cursor=x": "cursor is not", "cursor=e30": "cursor is not", "cursor=" + strangeCursor: "cursor is not"} {
			if a, body := send(t, ann, "GET", s.url+list.path+"&"+wrong, ""); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, message) {
				t.Errorf("%s: %s is answered %d %s", list.path, wrong, a.StatusCode, body)
			}
		}
	}
}

func TestOrders_ThatChangedAreListedForPrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const orders = "/desk/events/evening/orders"
	since := orders + "?updated_since=2020-01-01T00:00:00Z"
	none := s.linesOf(t, ann, since, "orders", "name")
	if len(none.ids) != 0 || none.next == "" {
		t.Fatalf("before the first order there are %v, and a cursor %q", none.ids, none.next)
	}
	for i, name := range []string{"Zoe", "Bob"} {
		if a, body := s.submit(t, ann, "/desk/events/evening/sales", url.Values{"key": {name}, "seat": {s.sale.Plan.Label(7 + i)}, "method": {"cash"}, "name": {name}, "email": {"zoe@example.org"}}); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, words(body))
		}
	}
	first := s.linesOf(t, ann, orders+"?cursor="+none.next, "orders", "name")
	if strings.Join(first.ids, " ") != "Zoe Bob" {
		t.Errorf("after two orders there are %v", first.ids)
	}
	s.exec(t, `UPDATE orders SET name = 'Zoe Z.' WHERE name = 'Zoe'`)
	second := s.linesOf(t, ann, orders+"?cursor="+first.next, "orders", "name")
	if strings.Join(second.ids, " ") != "Zoe Z." {
		t.Errorf("after a change there are %v", second.ids)
	}
	if last := s.linesOf(t, ann, orders+"?cursor="+second.next, "orders", "name"); len(last.ids) != 0 || last.next != second.next {
		t.Errorf("then there are %v", last.ids)
	}
	s.exec(t, `DELETE FROM order_change`)
	for query, message := range map[string]string{
		"updated_since=": "is not a time", "updated_since=now": "is not a time", "updated_since=2020-01-01T00:00:00Z&q=zoe": "do not go together",
		"cursor=" + second.next: "cursor is not", "cursor=" + first.next + "&limit=0": "limit is a number",
	} {
		if a, body := send(t, ann, "GET", s.url+orders+"?"+query, ""); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, message) {
			t.Errorf("%s is answered %d %s", query, a.StatusCode, body)
		}
	}
}

func TestEventsAndCustomers_ThatChangedAreListedForPrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const since = "updated_since=2020-01-01T00:00:00Z"
	for _, list := range []struct {
		path, lines, id, first, change, then, alone string
	}{
		{"/desk/events", "events", "name", "Evening", `UPDATE event SET name = 'Night' WHERE slug = 'evening'`, "Night", "show=all"},
		{"/desk/customers", "customers", "name", "Zoe", `UPDATE orders SET name = 'Zoe Z.' WHERE name = 'Zoe'`, "Zoe Z.", "q=zoe"},
	} {
		if list.lines == "customers" {
			if a, body := s.submit(t, ann, "/desk/events/evening/sales", url.Values{"key": {"one"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Zoe"}, "email": {"zoe@example.org"}}); a.StatusCode != http.StatusSeeOther {
				t.Fatal(a.StatusCode, words(body))
			}
		}
		first := s.linesOf(t, ann, list.path+"?"+since, list.lines, list.id)
		if strings.Join(first.ids, " ") != list.first || first.next == "" {
			t.Errorf("%s: at first %v changed, and the cursor is %q", list.path, first.ids, first.next)
		}
		s.exec(t, list.change)
		second := s.linesOf(t, ann, list.path+"?cursor="+first.next, list.lines, list.id)
		if strings.Join(second.ids, " ") != list.then {
			t.Errorf("%s: then %v changed", list.path, second.ids)
		}
		if last := s.linesOf(t, ann, list.path+"?cursor="+second.next, list.lines, list.id); len(last.ids) != 0 || last.next != second.next {
			t.Errorf("%s: without a change %v changed", list.path, last.ids)
		}
		s.exec(t, `DELETE FROM team_change`)
		for query, message := range map[string]string{
			"updated_since=": "is not a time", "updated_since=now": "is not a time", since + "&" + list.alone: "together",
			"cursor=" + second.next: "cursor is not", "cursor=" + first.next + "&limit=0": "limit is a number",
		} {
			if a, body := send(t, ann, "GET", s.url+list.path+"?"+query, ""); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, message) {
				t.Errorf("%s?%s is answered %d %s", list.path, query, a.StatusCode, body)
			}
		}
	}
}

// strangeCursor is a cursor of no list that there is.
const strangeCursor = "eyJsaXN0Ijoib3RoZXIiLCJuIjoxfQ"

type pageOfLines struct {
	ids  []string
	next string
}

// linesOf reads the ids of a page of a list.
func (s *site) linesOf(t *testing.T, who *http.Client, path, lines, id string) (p pageOfLines) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+path, "")
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s is answered %d %s", path, a.StatusCode, body)
	}
	var list []map[string]any
	if err := json.Unmarshal(answer[lines], &list); err != nil {
		t.Fatalf("%s: %v in %s", path, err, body)
	}
	for _, line := range list {
		p.ids = append(p.ids, fmt.Sprint(line[id]))
	}
	if next, has := answer["next_cursor"]; has {
		if err := json.Unmarshal(next, &p.next); err != nil {
			t.Fatal(path, err)
		}
	}
	return p
}
