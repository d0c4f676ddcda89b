package views_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// hostile breaks out of whatever it stands in, if it is let.
const hostile = `x"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;{{1}}`

// named is a sale in which every text that comes from people is this one.
func named(t *testing.T, text string) (views.Page, shop.Sale, *shop.Message) {
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
	return views.Page{Title: text, Nonce: text, Notice: text}, s, &shop.Message{Text: text, Nearest: []int{8}}
}

func withNames(t *testing.T, text string) (*testing.T, views.Page, shop.Sale, *shop.Message) {
	page, s, m := named(t, text)
	return t, page, s, m
}

func components(t *testing.T, page views.Page, s shop.Sale, m *shop.Message) map[string]templ.Component {
	all := map[string]templ.Component{
		"event": shop.Event(shop.EventPage{Page: page, Sale: s, Message: m}), "section": shop.Section(shop.SectionPage{Page: page, Sale: s, Section: 1, Message: m}), "rows": shop.Rows(shop.RowsModel{Sale: s, Section: 1}), "area": shop.Rows(shop.RowsModel{Sale: s, Section: 0}),
		"tray": shop.Tray(shop.TrayModel{Sale: s}), "events": shop.Events(shop.EventsPage{Page: page, Found: programme.Page{Cards: []programme.Card{{Event: s.Event, Free: 1, Price: 1}}}}),
		"checkout": shop.Checkout(typed(page, s)), "order": shop.Order(ordered(page, s, s.Event.Name)), "door": desk.Door(atDoor(page, s, s.Event.Name)),
		"live desk": desk.Event(atLive(page, s, s.Event.Name)),
		"error":     views.Error(views.ErrorPage{Page: page, What: s.Event.Name, Holds: s.Event.Name, Next: s.Event.Name}),
	}
	for _, shown := range atDesk(t, s.Event.Name) {
		all["desk: "+shown.name] = shown.c
	}
	for _, shown := range append(waitPages(page, s, s.Event.Name), waitMails(s, s.Event.Name)...) {
		all[shown.name] = shown.c
	}
	return all
}

// poster is a drawing that is another one for another name.
var poster = regexp.MustCompile(`<svg class="poster".*?</svg>`)

// skeleton is what a page is made of: its elements and their attributes without the values.
func skeleton(page string) string {
	var b strings.Builder
	for _, t := range read(poster.ReplaceAllString(page, "")).tags {
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
	for _, tag := range read(render(t, shop.Event(shop.EventPage{Sale: s}))).tags {
		for _, key := range []string{"href", "action", "src"} {
			if v, ok := tag.attr[key]; ok && !strings.HasPrefix(v, "/") {
				t.Errorf("<%s %s=%q> leads elsewhere", tag.name, key, v)
			}
		}
	}
}
