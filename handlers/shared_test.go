package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
)

const banquetPlan = `{"format": "usher-plan/1", "name": "Banquet", "categories": [{"key": "A", "name": "Dinner", "price": 100}],
 "sections": [{"name": "Hall", "category": "A", "tables": [
  {"table": "Table 1", "shared": {"least": 3, "most": 6}, "center": [200, 200], "radius": 40, "count": 8}]}]}`

func TestSharedTable_RepeatedTapGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r, err := plan.Read(strings.NewReader(banquetPlan))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: "Banquet", Slug: "banquet", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 12}, r.Plan); err != nil {
		t.Fatal(err)
	}
	at, ann := "/events/banquet", person(t)
	_, _ = s.page(t, ann, at+"/sections/0")
	for _, tap := range []url.Values{
		{"seat": {"Hall/Table 1/2"}, "key": {"k"}},
		{"seat": {"Hall/Table 1/2"}, "key": {"k"}},
		{"seat": {"Hall/Table 1/5"}, "key": {"l"}},
		{"seat": {"Hall/Table 1/2"}, "key": {"k"}},
	} {
		tap.Set("from", at+"/sections/0")
		if a, body := s.submit(t, ann, at+"/claims", tap); a.StatusCode != http.StatusSeeOther {
			t.Errorf("%v: %d %s", tap, a.StatusCode, body)
		}
	}
	_, body := send(t, ann, "GET", s.url+at+"/hold", "")
	if h := holdOf(t, body); len(h.Seats) != 4 {
		t.Errorf("held are %v, want a party of three and one more", h.Seats)
	}
	if a, body := s.submit(t, ann, at+"/claims", url.Values{"seat": {"Hall/Table 1/3"}, "key": {"k"}}); a.StatusCode != http.StatusConflict {
		t.Errorf("another seat with the key: %d %s", a.StatusCode, body)
	}
}
