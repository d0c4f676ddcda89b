package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
)

// hostile breaks out of whatever it stands in, if it is let.
const hostile = `x"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;{{1}}`

// named is a sale in which every text that comes from people is this one.
func named(t *testing.T, text string) (Page, Sale, *Message) {
	t.Helper()
	s := sale(t, "club", holds["a hold"])
	s.Event.Name, s.Event.Venue, s.Event.Currency, s.Event.TimeZone, s.Event.PlanHash = text, text, text, text, text
	s.Key, s.From, s.Event.Slug = text, text, text
	p := *s.Plan
	p.Name, p.Categories, p.Sections = text, slices.Clone(p.Categories), slices.Clone(p.Sections)
	p.Seats, p.Shapes = slices.Clone(p.Seats), slices.Clone(p.Shapes)
	for i := range p.Categories {
		p.Categories[i].Key, p.Categories[i].Name, p.Categories[i].Color = text, text, text
	}
	for i := range p.Sections {
		p.Sections[i].Name = text
	}
	for i := range p.Seats {
		p.Seats[i].ID, p.Seats[i].Number = text, text
		if p.Seats[i].Row != "" {
			p.Seats[i].Row = text
		}
	}
	for i := range p.Shapes {
		p.Shapes[i].Role, p.Shapes[i].Text = text, text
	}
	s.Plan = &p
	return Page{Title: text, Nonce: text, Notice: text}, s, &Message{Text: text, Nearest: []int{8}}
}

func withNames(t *testing.T, text string) (*testing.T, Page, Sale, *Message) {
	page, s, m := named(t, text)
	return t, page, s, m
}

func components(t *testing.T, page Page, s Sale, m *Message) map[string]templ.Component {
	all := map[string]templ.Component{
		"event": Event(EventPage{page, s, m}), "section": Section(SectionPage{page, s, 1, m}), "rows": Rows(RowsModel{s, 1}), "area": Rows(RowsModel{s, 0}),
		"tray": Tray(TrayModel{s}), "events": Events(EventsPage{page, []seats.Listing{{Event: s.Event, Free: 1, PriceFrom: 1}}}),
		"checkout": Checkout(typed(page, s)), "order": Order(ordered(page, s, s.Event.Name)), "door": Door(atDoor(page, s, s.Event.Name)),
		"live desk": DeskEvent(atLive(page, s, s.Event.Name)),
		"error":     Error(ErrorPage{Page: page, What: s.Event.Name, Holds: s.Event.Name, Next: s.Event.Name}),
	}
	for _, shown := range atDesk(t, s.Event.Name) {
		all["desk: "+shown.name] = shown.c
	}
	for _, shown := range append(waitPages(page, s, s.Event.Name), waitMails(s, s.Event.Name)...) {
		all[shown.name] = shown.c
	}
	return all
}

// skeleton is what a page is made of: its elements and their attributes without the values.
func skeleton(page string) string {
	var b strings.Builder
	for _, t := range read(page).tags {
		fmt.Fprintln(&b, t.name, slices.Sorted(maps.Keys(t.attr)))
	}
	return b.String()
}

func TestHostileNamesChangeNothingButTheText(t *testing.T) {
	t.Parallel()
	harmless := components(withNames(t, strings.Repeat("x", len(hostile))))
	for name, c := range components(withNames(t, hostile)) {
		got, want := render(t, c), render(t, harmless[name])
		if strings.Contains(got, "<script>alert") || strings.Contains(got, "<img") {
			t.Errorf("%s: a name stands in the page as it is", name)
		}
		if skeleton(got) != skeleton(want) {
			t.Errorf("%s: hostile names make other elements than harmless ones", name)
		}
	}
	if skeleton("<p>"+hostile+"</p>") == skeleton("<p>"+strings.Repeat("x", len(hostile))+"</p>") {
		t.Error("a name that is not escaped is not noticed")
	}
}

func TestAHostileSlugLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	_, s, _ := named(t, "x")
	s.Event.Slug, s.From = "javascript:alert(1)", "javascript:alert(1)"
	for _, tag := range read(render(t, Event(EventPage{Sale: s}))).tags {
		for _, key := range []string{"href", "action", "src"} {
			if v, ok := tag.attr[key]; ok && !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "data:image/svg+xml,") {
				t.Errorf("<%s %s=%q> leads elsewhere", tag.name, key, v)
			}
		}
	}
}
