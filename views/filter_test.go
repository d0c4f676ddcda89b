package views

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestAFilterIsReadFromTheAddressAndWrittenBack(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	for query, want := range map[string]string{
		"": "", "price=A": "?price=A", "price=B&price=A": "?price=A&price=B", "accessible=1&price=A": "?price=A&accessible=1",
		"price=nothing": "", "price=%00&accessible": "?accessible=1", "price=A&price=A": "?price=A",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		s.Filter = FilterOf(s.Plan, values)
		if got := s.query(s.Filter); got != want {
			t.Errorf("%q is read as %q, want %q", query, got, want)
		}
	}
	if f := FilterOf(&seats.Plan{}, url.Values{"accessible": {"1"}}); f.on() {
		t.Error("a house without places for wheelchairs is looked through for them")
	}
}

// Whoever has no scripts follows the links; each adds its price, or takes it away, and all else stays.
func TestALinkOfTheLegendLooksForItsPriceOrNoLonger(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	s.Filter = FilterOf(s.Plan, url.Values{"price": {"A"}, "accessible": {"1"}})
	s.From = s.SectionPath(0)
	links := map[string]string{}
	for _, tag := range read(render(t, Section(SectionPage{Sale: s, Section: 0}))).tags {
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

func TestWhatDoesNotFitIsDimmedAndWhatFitsIsCounted(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	for _, query := range []url.Values{{}, {"price": {"B"}}, {"price": {"A", "C"}}, {"accessible": {"1"}}, {"price": {"A"}, "accessible": {"1"}}} {
		s.Filter = FilterOf(s.Plan, query)
		want := 0
		for idx := range s.Plan.Seats {
			seat := s.Plan.Seats[idx]
			key := s.Plan.Categories[seat.Category].Key
			if s.Map.States[idx] == seats.Free && (len(query["price"]) == 0 || slices.Contains(query["price"], key)) && (!query.Has("accessible") || seat.Flags&seats.Accessible != 0) {
				want++
			}
		}
		page := render(t, Event(EventPage{Sale: s}))
		if said := strings.Contains(page, "<span data-found>"+fitWords(want, "")+"</span>"); said != s.Filter.on() {
			t.Errorf("%v: that %d fit is said: %v", query, want, said)
		}
		dim, fit := 0, 0
		for i := range s.Plan.Sections {
			for _, tag := range read(render(t, Rows(RowsModel{s, i}))).tags {
				if !slices.Contains(strings.Fields(tag.attr["class"]), "seat") {
					continue
				}
				if dim++; !slices.Contains(strings.Fields(tag.attr["class"]), "off") {
					dim--
					fit++
				}
			}
			if name := fmt.Sprintf(`href="%s"`, strings.ReplaceAll(string(s.section(i)), "&", "&amp;")); !strings.Contains(page, name) {
				t.Errorf("%v: no link leads to %s", query, name)
			}
		}
		taken := 0
		for idx := range s.Plan.Seats {
			if s.fits(idx) && s.Map.States[idx] != seats.Free {
				taken++
			}
		}
		if fit != want+taken || dim+fit != len(s.Plan.Seats) {
			t.Errorf("%v: %d seats stand out and %d are dim; %d are free and fit, and %d are taken", query, fit, dim, want, taken)
		}
	}
}

func TestTheDrawingShowsHowMuchOfASectionIsFree(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	at := s.Plan.Sections[0]
	look := func(free int) string {
		for i := range at.Count {
			s.Map.States[at.First+i] = seats.Sold
			if i < free {
				s.Map.States[at.First+i] = seats.Free
			}
		}
		_, rest, _ := strings.Cut(s.look(0), " ")
		return rest
	}
	for free, want := range map[int]string{0: "none", 1: "few", at.Count / 2: "some", at.Count: ""} {
		if got := look(free); got != want {
			t.Errorf("%d of %d free look %q, want %q", free, at.Count, got, want)
		}
	}
}
