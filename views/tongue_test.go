package views_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// written is what a German organizer wrote; each must stand in an element that says so (WCAG 3.1.2).
var written = []string{"Der Saal wird gelüftet", "Welches Gericht", "Fischsuppe", "Erste Reihe", "Gleich geht es weiter"}

// theirs are the names they gave: of the event, its place and a section. Where one stands by itself it is marked, too.
var theirs = []string{"Die Möwe", "Schauspielhaus", "Parkett"}

var alone = regexp.MustCompile(`<(\w+)([^<>]*)>\s*(` + strings.Join(theirs, "|") + `)\s*</`)

// unnamed lists the names that stand by themselves and are not marked, and which are. What is drawn is not read out.
func unnamed(page string) (found []string, marked map[string]int) {
	marked = map[string]int{}
	for _, m := range alone.FindAllStringSubmatch(page, -1) {
		switch {
		case !slices.Contains([]string{"h1", "h2", "a", "b", "span", "strong"}, m[1]):
		case strings.Contains(m[2], `lang="de"`):
			marked[m[3]]++
		default:
			found = append(found, m[0])
		}
	}
	return found, marked
}

// unmarked lists what an organizer wrote that a page does not mark, and how often it marks each.
func unmarked(page string) (found []string, marked map[string]int) {
	marked = map[string]int{}
	for _, words := range written {
		for _, m := range regexp.MustCompile(`<([^<>]*)>[^<>]*`+words).FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], `lang="de"`) {
				marked[words]++
			} else {
				found = append(found, m[0])
			}
		}
	}
	return found, marked
}

func TestPages_OrganizersTextsAreMarkedWithTheirLanguage(t *testing.T) {
	t.Parallel()
	page := views.Page{Title: "Evening", Nonce: "nonce"}
	s := sale(t, "theatre", holds["a hold"])
	s.Event.Language, s.Event.Reason, s.Event.Name, s.Event.Venue = "de", written[0], theirs[0], theirs[1]
	for i := range s.Plan.Sections {
		s.Plan.Sections[i].Name = theirs[2]
	}
	for i := range s.Plan.Categories {
		s.Plan.Categories[i].Name = written[3]
	}
	shut, closed := s, s
	shut.Event.Status, closed.Event.Status = seats.Paused, seats.Closed
	checkout := typed(page, s)
	for i := range checkout.Event.Questions {
		checkout.Event.Questions[i].Label = written[1]
	}
	checkout.Event.Questions[1].Choices = []string{written[2]}
	room := waiting(page, s, shop.RoomPaused)
	room.Shown.Note = written[4]
	seen := map[string]int{}
	stand := waitlist.Stand{Place: 2, Waiting: 3, Paused: true, Note: written[4]}
	for _, p := range []shown{
		{"an event", true, shop.Event(shop.EventPage{Page: page, Sale: s, Message: nil})},
		{"a section", true, shop.Section(shop.SectionPage{Page: page, Sale: s, Section: 0, Message: nil})},
		{"paused", true, shop.Shut(shop.ShutPage{Page: page, Sale: shut})},
		{"closed", true, shop.Shut(shop.ShutPage{Page: page, Sale: closed})},
		{"a checkout", true, shop.Checkout(checkout)},
		{"an order", true, shop.Order(ordered(page, s, "Ann"))},
		{"a waiting room", true, shop.Room(room)},
		{"a waiting list", true, shop.WaitJoin(shop.JoinPage{Page: page, Sale: s})},
		{"a place in it", true, shop.WaitPlace(shop.WaitPage{Page: page, Sale: s, Entry: aWaiter(waitlist.Waiting, "ann@example.org"), Stand: stand})},
		{"the list", true, shop.Events(shop.EventsPage{Page: page, Found: programme.Page{Cards: []programme.Card{{Event: shut.Event}, {Event: closed.Event}}}})},
	} {
		found, marked := unmarked(strings.ReplaceAll(render(t, p.c), ", in "+written[3], "")) // a name in a sentence of ours
		if len(found) > 0 {
			t.Errorf("%s does not mark %q", p.name, found)
		}
		for words, n := range marked {
			seen[words] += n
		}
		found, marked = unnamed(render(t, p.c))
		if len(found) > 0 {
			t.Errorf("%s does not mark the names %q", p.name, found)
		}
		for name, n := range marked {
			seen[name] += n
		}
	}
	for _, words := range append(written, theirs...) {
		if seen[words] == 0 {
			t.Errorf("%q stands nowhere: this test looks at too little", words)
		}
	}
	if found, _ := unnamed(`<h1>Die Möwe</h1>`); len(found) != 1 {
		t.Error("a name that is not marked is not noticed")
	}
	if found, _ := unmarked(`<p class="why">Der Saal wird gelüftet.</p>`); len(found) != 1 {
		t.Error("a reason that is not marked is not noticed")
	}
}
