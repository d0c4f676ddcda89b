package handlers

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pricing"
)

func TestCodes_AreCreatedUsedListedAndStoppedAtTheDesk(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner, at := s.owner(t), "/desk/events/evening/codes"
	s.does(t, owner, at, url.Values{"code": {"mem-bers"}, "off": {"10%"}, "most": {"50"}})
	s.does(t, owner, at, url.Values{"number": {"20"}, "off": {"5.00"}, "name": {"=Press"}, "most": {"1"}, "until": {"2031-01-01T00:00"}})

	ann := person(t)
	form := fill(s.held(t, ann, 1), "Ann", "ann@example.org")
	form.Set("code", "MEMBERS")
	if a, body := s.post(t, ann, form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	_, page := s.page(t, owner, at)
	for _, want := range []string{"MEMBERS", "10% off each ticket", "1 of 50", "€5 off each ticket", "20 codes", "0 of 20", "until 1 Jan 2031"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	if _, all := s.page(t, owner, "/desk/events/evening/exports/codes.csv"); !strings.Contains(all, `"MEMBERS","","10",0.00,"each ticket","","",50,1,`) {
		t.Errorf("the file lacks the use of a code: %s", all)
	}
	_, file := s.page(t, owner, "/desk/events/evening/exports/codes.csv?name=%3DPress")
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 21 {
		t.Fatalf("the file has %d rows, %v", len(rows), err)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		if len(row[0]) != 16 || seen[row[0]] || row[1] != "'=Press" || row[12] != "€5 off each ticket" {
			t.Errorf("a row is %q", row)
		}
		seen[row[0]] = true
	}
	for name, bad := range map[string]url.Values{
		"nothing off": {"code": {"A1B"}}, "negative": {"code": {"A1B"}, "off": {"-5"}}, "huge": {"code": {"A1B"}, "off": {"99999999999999999"}}, "more than all": {"code": {"A1B"}, "off": {"101%"}},
		"no code": {"off": {"5%"}}, "short": {"off": {"5%"}, "code": {"AB"}}, "letters": {"off": {"5%"}, "code": {"ÄÖÜ"}}, "both": {"off": {"5%"}, "code": {"ABC"}, "number": {"5"}},
		"too many": {"off": {"5%"}, "number": {"10001"}, "name": {"x"}}, "less than none": {"off": {"5%"}, "number": {"-1"}, "name": {"x"}}, "no name": {"off": {"5%"}, "number": {"2"}},
		"limit": {"off": {"5%"}, "code": {"ABC"}, "most": {"-1"}}, "backwards": {"off": {"5%"}, "code": {"ABC"}, "from": {"2030-01-02T00:00"}, "until": {"2030-01-01T00:00"}},
		"no time": {"off": {"5%"}, "code": {"ABC"}, "until": {"soon"}}, "no type": {"off": {"5%"}, "code": {"ABC"}, "types": {"dog"}}, "no category": {"off": {"5%"}, "code": {"ABC"}, "categories": {"Z"}},
	} {
		t.Log(name)
		s.refused(t, owner, at, bad, http.StatusUnprocessableEntity)
	}
	s.refused(t, owner, at, url.Values{"code": {"MEMBERS"}, "off": {"20%"}}, http.StatusConflict, "or had a code MEMBERS")

	s.does(t, owner, at, url.Values{"code": {"EARLY"}, "presale": {"on"}})
	s.refused(t, owner, at, url.Values{"code": {"EARLIER"}, "unlocks_blocks": {"x"}}, http.StatusUnprocessableEntity)
	s.refused(t, owner, at, url.Values{"code": {"EARLIER"}, "unlocks_blocks": {"00000000-0000-0000-0000-000000000001"}}, http.StatusUnprocessableEntity)
	if _, page := s.page(t, owner, at); !strings.Contains(page, "unlocks the time before the sale") {
		t.Error("the list lacks what a code unlocks")
	}
	s.does(t, owner, at+"/retirements", url.Values{"code": {"EARLY"}})

	s.does(t, owner, at+"/retirements", url.Values{"code": {rows[1][0]}})
	s.does(t, owner, at+"/retirements", url.Values{"code": {rows[2][0]}, "group": {"on"}})
	s.refused(t, owner, at+"/retirements", url.Values{"code": {rows[3][0]}}, http.StatusUnprocessableEntity)
	var left int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM code WHERE retired_at IS NULL`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d codes are left, %v", left, err)
	}
	s.wantBooks(t)
}

// The same codes work in other events of the team, each with limits of its own. What does not fit one of them is made in none.
func TestCodes_AreCreatedInOtherEventsOfTheTeam(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner, at := s.owner(t), "/desk/events/evening/codes"
	copied := func(name string) string {
		path := s.does(t, owner, "/desk/events/evening/copies", url.Values{"name": {name}})
		return strings.TrimSuffix(strings.TrimPrefix(path, "/desk/events/"), "/checklist")
	}
	second, third, swiss := copied("Second"), copied("Third"), copied("Swiss")
	s.exec(t, `UPDATE event SET currency = 'CHF' WHERE slug = '`+swiss+`'`)
	s.does(t, owner, "/desk/events/"+swiss+"/prices", url.Values{"tax.name": {"VAT"}, "tax.rate": {"10"}}) // the event is read anew
	s.does(t, owner, at, url.Values{"code": {"MEMBERS"}, "off": {"10%"}, "most": {"1"}, "per_person": {"1"}, "categories": {"A"}, "events": {second, second, "evening"}})
	s.does(t, owner, at, url.Values{"number": {"3"}, "name": {"Press"}, "off": {"5"}, "events": {second, third}})
	codes := func(slug string) (list []string) {
		t.Helper()
		rows, err := s.db.Query(t.Context(), `SELECT c.code FROM code c JOIN event e ON e.id = c.event_id WHERE e.slug = $1 ORDER BY c.code`, slug)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if here, there := codes("evening"), codes(second); len(here) != 4 || !slices.Equal(here, there) || len(codes(third)) != 3 {
		t.Errorf("the events have %q, %q and %q", here, there, codes(third))
	}
	sale, err := s.office.Sale(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := s.sold.FindCode(t.Context(), sale.Event.ID, "members"); err != nil || c.State != pricing.CodeGood || c.Most != 1 || len(c.Categories) != 1 || !sale.Prices.HasCodes {
		t.Errorf("the code there is %+v, %v", c, err)
	}
	if _, page := s.page(t, owner, at); !strings.Contains(page, `name="events" value="`+second+`"`) || strings.Contains(page, `name="events" value="evening"`) || !strings.Contains(page, "Limits count in each event") {
		t.Error("the page does not offer the other events")
	}
	for name, bad := range map[string]url.Values{
		"no such event": {"events": {second, "nowhere"}}, "another currency": {"off": {"5"}, "events": {second, swiss}},
		"no such category": {"categories": {"Z"}, "events": {second}}, "no such type": {"types": {"dog"}, "events": {second}},
	} {
		bad["code"] = []string{"FITSNOT"}
		if bad["off"] == nil {
			bad["off"] = []string{"5%"}
		}
		t.Log(name)
		s.refused(t, owner, at, bad, http.StatusUnprocessableEntity)
	}
	s.refused(t, owner, "/desk/events/"+third+"/codes", url.Values{"code": {"MEMBERS"}, "off": {"10%"}, "events": {"evening"}}, http.StatusConflict, "or had a code MEMBERS")
	if list := codes(third); len(list) != 3 || len(codes(second)) != 4 {
		t.Errorf("a code that was refused is there: %q", list)
	}
	s.wantBooks(t)
}

func TestCodes_AreCreatedForAllDatesOfASeries(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	owner, at := s.owner(t), "/desk/events/evening/codes"
	s.does(t, owner, "/desk/events/evening/copies", url.Values{"name": {"Another play"}})
	s.does(t, owner, "/desk/events/evening/series", url.Values{"dates": {"2040-12-02 19:30\n2040-12-03 19:30\n2040-12-04 19:30"}})
	if _, page := s.page(t, owner, at+"?presale=on&series=on"); !strings.Contains(page, "Also for 3 other performances") || !strings.Contains(page, `name="series" checked`) {
		t.Error("the page does not offer the other dates")
	}
	s.exec(t, `UPDATE event SET status = 'cancelled' WHERE starts_at::date = '2040-12-04'`)
	s.does(t, owner, at, url.Values{"code": {"MEMBERS"}, "presale": {"on"}, "series": {"on"}})
	rows, err := s.db.Query(t.Context(), `SELECT e.slug FROM code c JOIN event e ON e.id = c.event_id WHERE c.code = 'MEMBERS' AND c.presale ORDER BY e.starts_at`)
	if err != nil {
		t.Fatal(err)
	}
	slugs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(slugs) != 3 || slugs[0] != "evening" {
		t.Errorf("the code is in %q, %v", slugs, err)
	}
	s.refused(t, owner, at, url.Values{"number": {"10000"}, "name": {"Friends"}, "presale": {"on"}, "series": {"on"}, "events": {"nowhere"}}, http.StatusUnprocessableEntity, "has no event")
}
