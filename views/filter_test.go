package views_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views/shop"
)

// Without scripts visitors follow the links; each adds its price, or takes it away, and all else stays.
func TestALinkOfTheLegendLooksForItsPriceOrNoLonger(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	s.Filter = shop.FilterOf(s.Plan, url.Values{"price": {"A"}, "accessible": {"1"}})
	s.From = s.SectionPath(0)
	links := map[string]string{}
	for _, tag := range read(render(t, shop.Section(shop.SectionPage{Sale: s, Section: 0}))).tags {
		if tag.name == "a" && strings.HasPrefix(tag.attr["href"], s.From) {
			links[tag.attr["href"]] = tag.attr["aria-current"]
		}
	}
	for query, current := range map[string]string{"?accessible=1": "true", "?price=A": "true", "?price=A&price=B&accessible=1": "", "": ""} {
		if got, ok := links[s.From+query]; !ok || got != current {
			t.Errorf("the link to %q is there: %v, and current: %q, want %q", query, ok, got, current)
		}
	}
	if s.Here() != "/events/evening/sections/0?price=A&accessible=1" {
		t.Errorf("forms come back to %s", s.Here())
	}
}

func TestFilter_DimsOtherSeatsAndCountsMatches(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	for _, query := range []url.Values{{}, {"price": {"B"}}, {"price": {"A", "C"}}, {"accessible": {"1"}}, {"price": {"A"}, "accessible": {"1"}}} {
		s.Filter = shop.FilterOf(s.Plan, query)
		fits := func(idx int) bool {
			seat := s.Plan.Seats[idx]
			key := s.Plan.Categories[seat.Category].Key
			return (len(query["price"]) == 0 || slices.Contains(query["price"], key)) && (!query.Has("accessible") || seat.Flags&seats.Accessible != 0)
		}
		want := 0
		for idx := range s.Plan.Seats {
			if s.Map.States[idx] == seats.Free && fits(idx) {
				want++
			}
		}
		words := fmt.Sprintf("%d seats match.", want)
		if want == 0 {
			words = "No seats match."
		}
		page := render(t, shop.Event(shop.EventPage{Sale: s}))
		if said := strings.Contains(page, "<span data-found>"+words+"</span>"); said != (len(query) > 0) {
			t.Errorf("%v: that %d fit is said: %v", query, want, said)
		}
		dim, fit := 0, 0
		for i := range s.Plan.Sections {
			for _, tag := range read(render(t, shop.Rows(shop.RowsModel{Sale: s, Section: i}))).tags {
				if !slices.Contains(strings.Fields(tag.attr["class"]), "seat") {
					continue
				}
				if dim++; !slices.Contains(strings.Fields(tag.attr["class"]), "off") {
					dim--
					fit++
				}
			}
			if name := fmt.Sprintf(`href="%s"`, strings.ReplaceAll(s.SectionPath(i)+strings.TrimPrefix(s.Here(), s.Path()), "&", "&amp;")); !strings.Contains(page, name) {
				t.Errorf("%v: no link leads to %s", query, name)
			}
		}
		taken := 0
		for idx := range s.Plan.Seats {
			if fits(idx) && s.Map.States[idx] != seats.Free {
				taken++
			}
		}
		if fit != want+taken || dim+fit != len(s.Plan.Seats) {
			t.Errorf("%v: %d seats stand out and %d are dim; %d are free and fit, and %d are taken", query, fit, dim, want, taken)
		}
	}
}
