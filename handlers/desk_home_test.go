package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// searched is what a member finds, as "kind title detail path" lines.
func (s *site) searched(t *testing.T, who *http.Client, typed string) (found []string) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+"/desk/search?q="+url.QueryEscape(typed), "")
	var answer struct {
		Groups []struct {
			Kind    string
			Results []struct{ Title, Detail, Path string }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != 200 {
		t.Fatalf("search %q: %d %.200s %v", typed, a.StatusCode, body, err)
	}
	for _, g := range answer.Groups {
		for _, r := range g.Results {
			found = append(found, g.Kind+" "+r.Title+" | "+r.Detail+" | "+r.Path)
		}
	}
	return found
}

// soldTo sells seats at the box office and returns the order's code.
func (s *site) soldTo(t *testing.T, who *http.Client, name, email string, idx ...int) (code string) {
	t.Helper()
	form := url.Values{"key": {seats.NewID().String()}, "method": {"cash"}, "name": {name}, "email": {email}}
	for _, i := range idx {
		form.Add("seat", s.sale.Plan.Label(i))
	}
	a, body := s.submit(t, who, "/desk/events/evening/sales", form)
	if a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	code, _, _ = strings.Cut(strings.TrimPrefix(a.Header.Get("Location"), "/desk/events/evening/orders/"), "?")
	return code
}

func TestHome_SearchFindsEachKind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	label := s.sale.Plan.Label(7)
	code := s.soldTo(t, ann, "Zoë van der Østergård", "zoe@example.org", 7, 8)
	s.soldTo(t, ann, "Claire Hamlin", "claire.h@example.net", 9)
	order, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE ticket SET name = 'Ingrid Sommer' WHERE order_id = $1 AND idx = 8`, order.ID)
	seat := s.sale.Plan.Seats[7]
	spoken := seat.Row + " " + seat.Number
	if seat.Row == "" {
		spoken = s.sale.Plan.Sections[seat.Section].Name + "/" + seat.Number
	}
	path := "/desk/events/evening/orders/" + code
	for what, typed := range map[string]string{
		"number": order.Number(), "number as said": strings.ToLower(strings.ReplaceAll(order.Number(), "-", " ")), "code": code, "its address": "https://tickets.example.org/orders/" + code,
		"ticket code": order.Tickets[0].Code, "name": "Zoë", "name without accents": "zoe VAN", "last word of a name": "osterg", "last words": "van der Øst", "email": "ZOE@exam", "attendee": "ingrid", "last name of an attendee": "Sommer", "label": label, "seat": spoken,
	} {
		if found := strings.Join(s.searched(t, ann, typed), "\n"); !strings.Contains(found, path) {
			t.Errorf("%s %q does not find the order:\n%s", what, typed, found)
		} else if strings.Contains(found, "Hamlin") {
			t.Errorf("%s %q finds another order:\n%s", what, typed, found)
		}
	}
	if found := strings.Join(s.searched(t, ann, "ham"), "\n"); !strings.Contains(found, "Claire Hamlin") {
		t.Errorf("ham: %s", found)
	}
	if found := strings.Join(s.searched(t, ann, "EVEN"), "\n"); !strings.Contains(found, "| /desk/events/evening\n") || !strings.Contains(found, "/desk/events/evening/settings") {
		t.Errorf("an event and what is done with it: %s", found)
	}
	if found := strings.Join(s.searched(t, ann, "brandi"), "\n"); found != "actions Branding |  | /desk/branding" {
		t.Errorf("a page: %s", found)
	}
	if _, page := s.page(t, ann, "/desk/search?q=hamlin"); !strings.Contains(page, "Claire Hamlin") {
		t.Errorf("the page without scripts has nothing of it")
	}
	s.exec(t, `INSERT INTO team (name) VALUES ('Others')`)
}

func TestHome_SearchFindsPeopleAndSeatsWithoutAnOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.soldTo(t, ann, "Anna van der Østergård", "zoe@example.org", 7)
	s.exec(t, `INSERT INTO guest (id, event_id, name, email, places) VALUES (gen_random_uuid(), 1, 'Carla O''Critic', 'carla@press.example', 2)`)
	s.exec(t, `INSERT INTO guest (id, event_id, name, places, struck_at) VALUES (gen_random_uuid(), 1, 'Carla Struck', 1, now())`)
	s.exec(t, `WITH k AS (INSERT INTO block (id, event_id, seats, kind, ends_at) VALUES (gen_random_uuid(), 1, '{0}', 'group', now() + interval '1 day') RETURNING id)
INSERT INTO booking (id, event_id, name, organisation, email, places) SELECT id, 1, 'Eva Roth', 'Rote Schule', 'eva@school.example', 12 FROM k`)
	if a, body := send(t, ann, "POST", s.url+"/desk/customers/imports", `{"key":"list","customers":"email,name\nida@example.net,Ida Lindgren"}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	free, sold := s.sale.Plan.Label(11), s.sale.Plan.Label(7)
	for typed, want := range map[string]string{
		"osterg": "customers Anna van der Østergård | zoe@example.org", "zoe@": "customers Anna van der Østergård |", "ida": "customers Ida Lindgren | ida@example.net", "lindg": "customers Ida Lindgren |",
		"o'crit": "guests Carla O'Critic | carla@press.example · 2 places · Evening", "carla@p": "guests Carla", "critic": "", "carl crit": "", `carl\`: "",
		"schule": "bookings Rote Schule | Eva Roth · eva@school.example · 12 seats", "roth": "bookings Rote Schule", "eva rote": "bookings Rote Schule",
		free: "seats " + free + " | Available · Evening",
	} {
		found := strings.Join(s.searched(t, ann, typed), "\n")
		if want != "" && strings.Count(found, want) != 1 || want == "" && found != "" || strings.Contains(found, "Struck") {
			t.Errorf("%q finds\n%s", typed, found)
		}
	}
	if found := strings.Join(s.searched(t, ann, sold), "\n"); strings.Contains(found, "seats ") || !strings.Contains(found, "orders ") {
		t.Errorf("a sold seat leads to\n%s", found)
	}
	for _, typed := range []string{free, "carla", "schule", "lindg"} {
		found := s.searched(t, ann, typed)
		path := found[0][strings.LastIndex(found[0], "| ")+2:]
		if a, page := s.page(t, ann, path); a.StatusCode != http.StatusOK || typed == free && !strings.Contains(page, "checked") {
			t.Errorf("%q leads to %s: %d", typed, path, a.StatusCode)
		}
	}
	team := s.sale.Event.Team
	for _, c := range []struct {
		role                          string
		who                           *http.Client
		customer, guest, booked, seat bool
	}{
		{"manager", s.memberOf(t, "max", organizers.Manager, team), true, true, true, true},
		{"viewer", s.memberOf(t, "vera", organizers.Viewer, team), false, false, false, false},
		{"till", s.memberOf(t, "tess", organizers.Till, team), false, true, true, true},
		{"door", s.memberOf(t, "dora", organizers.Door, team), false, false, false, false},
		{"owner of another team", s.memberOf(t, "bob", organizers.Owner, s.others(t, "matinee")), false, false, false, false},
	} {
		for typed, want := range map[string]bool{"lindg": c.customer, "carla": c.guest, "schule": c.booked} {
			if found := s.searched(t, c.who, typed); (len(found) > 0) != want {
				t.Errorf("%s finds by %q: %v", c.role, typed, found)
			}
		}
		if found := strings.Join(s.searched(t, c.who, free), "\n"); strings.Contains(found, "/desk/events/evening/seats") != c.seat {
			t.Errorf("%s finds by %q: %v", c.role, free, found)
		}
	}
}

func TestHome_SearchTakesWhatPeopleType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.soldTo(t, ann, "Zoë Østergård", "zoe@example.org", 7)
	for typed, status := range map[string]int{
		"": 200, "   ": 200, "%": 200, "_": 200, "%%%": 200, `\`: 200, "*": 200, "'; DROP TABLE orders": 200, "a": 200, "/": 200, "//": 200, "(": 200, "\U0010FFFF": 200, "١٢": 200,
		strings.Repeat("x ", 100): 200, strings.Repeat("y", 200): 200, strings.Repeat("x", 10_000): 422, "a\x00b": 404, "\xff": 404, // as at all addresses
	} {
		for _, path := range []string{"/desk/search?q=", "/desk/events?q="} {
			for _, kind := range []string{"application/json", "text/html"} {
				a, _ := send(t, ann, "GET", s.url+path+url.QueryEscape(typed), "", "Accept", kind)
				if a.StatusCode != status {
					t.Errorf("%s%.20q as %s: %d, want %d", path, typed, kind, a.StatusCode, status)
				}
			}
		}
		if status == 200 && strings.Contains(strings.Join(s.searched(t, ann, typed), "\n"), "orders ") {
			t.Errorf("%q finds an order", typed)
		}
	}
	for _, bad := range []string{"show=near", "show=x", "page=0", "page=x", "page=-1", "page=99999999999999999999", "series=" + strings.Repeat("x", 1000)} {
		if a, _ := send(t, ann, "GET", s.url+"/desk/events?"+bad, ""); a.StatusCode != 422 {
			t.Errorf("/desk/events?%s: %d", bad, a.StatusCode)
		}
	}
	if found := s.searched(t, ann, ""); len(found) == 0 || !strings.HasPrefix(found[0], "actions New event") {
		t.Errorf("nothing typed: %v", found)
	}
}

// soonSQL has the event begin within the hour, on a day that is not about to end where it is.
const soonSQL = `
UPDATE event SET starts_at = clock_timestamp() + interval '1 minute', time_zone = CASE WHEN extract(hour FROM clock_timestamp() AT TIME ZONE 'UTC') < 12 THEN 'UTC' ELSE 'Etc/GMT+12' END`

func TestHome_EachRoleSeesWhatItMay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	code := s.soldTo(t, ann, "Zoë Østergård", "zoe@example.org", 7)
	s.exec(t, soonSQL)
	s.exec(t, `INSERT INTO event (slug, name, starts_at, seats, plan_id, status) SELECT 'hidden', 'Evening in secret', clock_timestamp() + interval '3 days', 1, plan_id, 'draft' FROM event`)
	s.exec(t, `INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{1}', '{0}', '{0}', '{0}' FROM event WHERE slug = 'hidden'`)
	team := s.sale.Event.Team
	manager, viewer := s.memberOf(t, "max", organizers.Manager, team), s.memberOf(t, "vera", organizers.Viewer, team)
	teller, door := s.memberOf(t, "tess", organizers.Till, team), s.memberOf(t, "dora", organizers.Door, team)
	for _, c := range []struct {
		who                               *http.Client
		name                              string
		sales, needs, order, draft, makes bool
	}{
		{ann, "owner", true, true, true, true, true}, {manager, "manager", true, true, true, true, true}, {viewer, "viewer", true, true, true, true, false}, {teller, "till", false, false, true, false, false}, {door, "door", false, false, false, false, false},
	} {
		_, home := s.page(t, c.who, "/desk")
		for said, want := range map[string]bool{"Sales today": c.sales, "Needs attention": c.needs, "Starts soon and is a draft": c.makes, "New event": c.makes, "Starts at": true} {
			if strings.Contains(home, said) != want {
				t.Errorf("the home of a %s says %q: %t", c.name, said, !want)
			}
		}
		if _, page := s.page(t, c.who, "/desk/events"); strings.Contains(page, "Evening in secret") != c.draft {
			t.Errorf("the list of a %s has a draft: %t", c.name, !c.draft)
		}
		found := strings.Join(s.searched(t, c.who, "even"), "\n")
		if strings.Contains(found, "Evening in secret") != c.draft || !strings.Contains(found, "events Evening |") {
			t.Errorf("a %s finds %s", c.name, found)
		}
		for _, typed := range []string{"Zoë", "zoe@", code} {
			if found := strings.Join(s.searched(t, c.who, typed), "\n"); strings.Contains(found, code) != c.order {
				t.Errorf("a %s finds by %q: %s", c.name, typed, found)
			}
		}
	}
	if found := strings.Join(s.searched(t, door, "evening"), "\n"); strings.Contains(found, "/orders") || !strings.Contains(found, "| /desk/events/evening/doors") {
		t.Errorf("the door finds %s", found)
	}
	if found := strings.Join(s.searched(t, teller, "evening"), "\n"); !strings.Contains(found, "/orders") || !strings.Contains(found, "| /desk/events/evening/till") {
		t.Errorf("the till finds %s", found)
	}
}

func TestHome_OtherTeamsDoNotExist(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	code := s.soldTo(t, ann, "Zoë Østergård", "zoe@example.org", 7)
	order, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, soonSQL)
	bob := s.memberOf(t, "bob", organizers.Owner, s.others(t, "matinee"))
	for _, typed := range []string{"Zoë", "zoe@", code, order.Number(), order.Tickets[0].Code, s.sale.Plan.Label(7), "evening"} {
		if found := strings.Join(s.searched(t, bob, typed), "\n"); strings.Contains(found, "orders ") || strings.Contains(found, "evening") && typed != "evening" || strings.Contains(found, "events ") {
			t.Errorf("another team finds by %q: %s", typed, found)
		}
	}
	for _, path := range []string{"/desk", "/desk/events", "/desk/events?show=all"} {
		if _, body := send(t, bob, "GET", s.url+path, ""); strings.Contains(body, "evening") || strings.Contains(body, "Evening") {
			t.Errorf("%s tells another team: %s", path, body)
		}
	}
	if _, body := send(t, ann, "GET", s.url+"/desk", ""); !strings.Contains(body, `"slug":"evening"`) || !strings.Contains(body, `"orders":1,"tickets":1`) {
		t.Errorf("the team itself: %s", body)
	}
}

func TestEvents_OfASeriesAreChosenOnThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "Run")
	made := s.does(t, ann, at+"/series", url.Values{"dates": {"2033-05-19 20:00\n2033-05-20 20:00"}})
	slug := strings.TrimPrefix(made, "/desk/series/")
	if _, page := s.page(t, ann, "/desk/events"); !strings.Contains(page, `<select name="series">`) || !strings.Contains(page, `<option value="`+slug+`">Run · `) {
		t.Errorf("the list offers no series: %s", between(page, `<select name="series">`, "</form>"))
	}
	_, page := s.page(t, ann, "/desk/events?series="+slug)
	if form := between(page, `<select name="series"`, "</form>"); !strings.Contains(form, `<option value="`+slug+`" selected>`) || !strings.Contains(page, "3 events") || strings.Contains(page, "/desk/events/evening") {
		t.Errorf("the list of a series: %s", between(page, "<main", "</main>"))
	}
	door := s.memberOf(t, "dora", organizers.Door, s.sale.Event.Team)
	if _, page := s.page(t, door, "/desk/events"); strings.Contains(page, "Run") {
		t.Error("the door is offered a series of drafts")
	}
	bob := s.memberOf(t, "bob", organizers.Owner, s.others(t, "matinee"))
	if _, page := s.page(t, bob, "/desk/events"); strings.Contains(page, `value="`+slug) {
		t.Error("another team is offered the series")
	}
}

func TestComparison_OtherEventIsChosenOnThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.exec(t, `INSERT INTO event (slug, name, starts_at, seats, plan_id, status)
		SELECT 'earlier-' || n, 'Earlier', starts_at - n * interval '1 day', 1, plan_id, CASE WHEN n = 9 THEN 'draft' ELSE 'closed' END FROM event, generate_series(1, 9) n WHERE slug = 'evening'`)
	s.exec(t, `INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{1}', '{0}', '{0}', '{0}' FROM event WHERE slug LIKE 'earlier-%'`)
	_, page := s.page(t, ann, "/desk/events/evening/comparison")
	form := between(page, `<select name="with">`, "</form>")
	if strings.Count(form, "<option") != 9 || !strings.Contains(form, `value="earlier-3"`) || strings.Contains(form, `value="evening"`) || strings.Contains(form, `value="earlier-9"`) {
		t.Errorf("the page offers %s", form)
	}
	if _, page := s.page(t, ann, "/desk/events/evening/comparison?with=earlier-3"); !strings.Contains(page, `<option value="earlier-3" selected>`) || !strings.Contains(page, "<small>15 May 2033") {
		t.Errorf("with another event: %s", between(page, `<select name="with">`, "</form>"))
	}
	if a, _ := s.page(t, ann, "/desk/events/evening/comparison?with=nothing"); a.StatusCode != http.StatusNotFound {
		t.Errorf("with no event: %d", a.StatusCode)
	}
}

func TestHome_ListIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.exec(t, `INSERT INTO event (slug, name, venue, starts_at, seats, plan_id, status)
		SELECT 'more-' || n, CASE WHEN n % 2 = 0 THEN 'Hamlet' ELSE 'The Seagull' END || ' ' || n, CASE WHEN n % 3 = 0 THEN 'Großer Saal' ELSE '' END, clock_timestamp() + (n - 20) * interval '1 day', 10, plan_id,
		       CASE WHEN n % 10 = 0 THEN 'draft' ELSE 'on sale' END FROM event, generate_series(1, 99) n`)
	s.exec(t, `INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{4}', '{2}', '{3}', '{1}' FROM event WHERE slug LIKE 'more-%'`)
	for _, c := range []struct {
		query       string
		count, sold int
		first       string
		next        string
	}{
		{"", 81, 240, "more-20", "/desk/events?page=2"},
		{"?page=2", 81, 240, "more-70", ""},
		{"?show=past", 19, 57, "more-19", ""},
		{"?show=draft", 9, 27, "more-10", ""},
		{"?show=on-sale", 73, 216, "more-21", "/desk/events?page=2&show=on-sale"},
		{"?show=all&q=hamlet+gross", 16, 48, "more-96", ""},
		{"?q=nothing", 0, 0, "", ""},
		{"?show=all", 100, 297, "evening", "/desk/events?page=2&show=all"},
		{"?page=9", 81, 240, "", ""},
		{"?series=none", 0, 0, "", ""},
	} {
		_, body := send(t, ann, "GET", s.url+"/desk/events"+c.query, "")
		var got struct {
			Events []struct{ Slug string }
			Count  int
			Sold   int
			Next   string
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(c.query, err, body)
		}
		first := ""
		if len(got.Events) > 0 {
			first = got.Events[0].Slug
		}
		if got.Count != c.count || got.Sold != c.sold || first != c.first || got.Next != c.next {
			t.Errorf("%q: %d events, %d sold, first %q, next %q; want %d, %d, %q, %q", c.query, got.Count, got.Sold, first, got.Next, c.count, c.sold, c.first, c.next)
		}
		if a, page := s.page(t, ann, "/desk/events"+c.query); a.StatusCode != 200 || first != "" && !strings.Contains(page, "/desk/events/"+first+`"`) {
			t.Errorf("the page of %q: %d", c.query, a.StatusCode)
		}
	}
}

func TestHome_SaysWhatNeedsAPersonAndWhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	code := s.soldTo(t, ann, "Zoë Østergård", "zoe@example.org", 7)
	needs := func() (list []string) {
		t.Helper()
		_, body := send(t, ann, "GET", s.url+"/desk", "")
		var got struct {
			Needs []struct{ Kind, Path string }
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err, body)
		}
		for _, n := range got.Needs {
			list = append(list, n.Kind+" "+n.Path)
		}
		return list
	}
	at, order := "/desk/events/evening", "/desk/events/evening/orders/"+code
	for _, c := range []struct {
		want, sql, undo string
	}{
		{"room " + at, `INSERT INTO room (slug, name, mode, phase, slots) VALUES ('r', 'R', 'auto', 'paused', 5); UPDATE event SET room_id = (SELECT id FROM room)`, `UPDATE event SET room_id = NULL`},
		{"draft " + at + "/settings", `UPDATE event SET status = 'draft', starts_at = clock_timestamp() + interval '13 days'`, `UPDATE event SET status = 'on sale'`},
		{"paused " + at + "/settings", `UPDATE event SET status = 'paused'`, `UPDATE event SET status = 'on sale'`},
		{"prices " + at + "/prices", `UPDATE event SET lowest = 0`, `UPDATE event SET lowest = 2800`},
		{"method " + at + "/settings", `UPDATE event SET pay_at_door = false, invoices = false, demo = false`, `UPDATE event SET demo = true`},
		{"link " + at + "/settings", `UPDATE event SET online = true, starts_at = clock_timestamp() + interval '2 days'`, `UPDATE event SET online = false`},
		{"legal /desk/legal", `SELECT 1`, `INSERT INTO legal_text (team_id, kind, version, text, published, saved_by) SELECT 1, k, 1, 'x', true, 'Ann' FROM unnest('{imprint,terms,privacy}'::text[]) k`},
		{"mail " + order, `UPDATE mail SET sent_at = NULL, refused_at = clock_timestamp(), error = 'no such mailbox'`, `UPDATE mail SET refused_at = clock_timestamp() - interval '8 days'`},
		{"unpaid " + order, `UPDATE orders SET method = 'door', at_office = false, paid = 0, due_at = clock_timestamp() + interval '3 hours'`, `UPDATE orders SET due_at = clock_timestamp() + interval '3 days'`},
		{"hook /desk/hooks/1", `INSERT INTO hook (team_id, url, kinds, failures, failing_since) VALUES (1, 'https://hooks.example.org/x', '{order.confirmed}', 3, clock_timestamp() - interval '2 hours')`, `UPDATE hook SET removed_at = clock_timestamp()`},
		{"payout " + order, `INSERT INTO refund (id, order_id, amount, by_hand, reason) SELECT gen_random_uuid(), id, 100, true, 'x' FROM orders`, `UPDATE refund SET done_at = clock_timestamp()`},
	} {
		s.exec(t, strings.Split(c.sql, "; ")[0])
		for _, more := range strings.Split(c.sql, "; ")[1:] {
			s.exec(t, more)
		}
		if list := strings.Join(needs(), "\n"); !strings.Contains(list+"\n", c.want+"\n") {
			t.Errorf("%q is not said:\n%s", c.want, list)
		}
		if _, page := s.page(t, ann, "/desk"); !strings.Contains(page, `href="`+strings.Split(c.want, " ")[1]+`"`) {
			t.Errorf("the page has no link of %q", c.want)
		}
		s.exec(t, c.undo)
		if list := strings.Join(needs(), "\n"); strings.Contains(list+"\n", c.want+"\n") {
			t.Errorf("%q is said after it was mended:\n%s", c.want, list)
		}
	}
}

func TestHome_CountsTheSalesOfToday(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	zone := "Etc/GMT-6" // where it is day now
	if time.Now().UTC().Hour() >= 12 {
		zone = "Etc/GMT+6"
	}
	there, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '5 days', time_zone = $1`, zone)
	s.soldTo(t, ann, "Ann", "ann@example.org", 7, 8)
	code := s.soldTo(t, ann, "Ben", "ben@example.org", 9)
	s.soldTo(t, ann, "Lea", "lea@example.org", 10)
	s.exec(t, `UPDATE orders SET created_at = clock_timestamp() - interval '7 days 1 second' WHERE name = 'Lea'`)
	s.exec(t, `UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id = (SELECT id FROM orders WHERE code = $1)`, code)
	_, body := send(t, ann, "GET", s.url+"/desk", "")
	var got struct {
		Sales []struct {
			Orders, Tickets int
			Amount, Before  int64
			Hours           []int64
		}
		Selling []struct {
			Orders int
			Days   []int
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Sales) != 1 || len(got.Selling) != 1 {
		t.Fatal(err, body)
	}
	one, each := got.Sales[0], got.Sales[0].Before
	if one.Orders != 1 || one.Tickets != 2 || one.Amount != 2*each || each == 0 || one.Hours[time.Now().In(there).Hour()] != one.Amount && time.Now().Minute() > 0 {
		t.Errorf("sales: %+v", one)
	}
	if days := got.Selling[0].Days; days[13] != 2 || days[6] != 1 && days[5] != 1 {
		t.Errorf("orders by day: %v", days)
	}
}
