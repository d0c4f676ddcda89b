package handlers

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
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
	_, file := s.page(t, owner, "/desk/events/evening/exports/codes.csv?name=%3DPress")
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 21 {
		t.Fatalf("the file has %d rows, %v", len(rows), err)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		if len(row[0]) != 16 || seen[row[0]] || row[1] != "'=Press" {
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
