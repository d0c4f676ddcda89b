package views

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// shown is a component in one state, by name.
type shown struct {
	name string
	page bool // a whole page, not a part of one
	c    templ.Component
}

// sale is an event in a shipped plan: a seat held by somebody, one sold, one blocked, and mine as the hold says.
func sale(t *testing.T, name string, hold *seats.Hold) Sale {
	t.Helper()
	p, ok := plan.Named(name)
	if !ok {
		t.Fatalf("there is no plan %s", name)
	}
	s := Sale{
		Event: seats.Event{
			Slug: "evening", Name: "Evening", Venue: "House", StartsAt: time.Unix(2e9, 0), TimeZone: "Europe/Vienna", Currency: "EUR",
			HoldLength: 8 * time.Minute, SeatsPerHolder: 6, Extensions: 10, Seats: len(p.Seats), PlanHash: "abc",
		},
		Plan: p, Map: seats.Snapshot{Epoch: 5, Version: 7, States: make([]seats.State, len(p.Seats)), Counts: seats.Counts{Free: make([]int, len(p.Categories))}},
		Hold: hold, Key: "key", From: "/events/evening",
	}
	s.Map.States[0], s.Map.States[1], s.Map.States[2], s.Map.States[3] = seats.Held, seats.Sold, seats.Blocked, seats.Held
	for _, seat := range p.Seats {
		s.Map.Counts.Free[seat.Category]++
	}
	return s
}

var holds = map[string]*seats.Hold{
	"nothing": nil,
	"a hold":  {Seats: []int{3, 5}, ExpiresAt: time.Unix(2e9, 0), Now: time.Unix(2e9-300, 0), ExtensionsLeft: 3},
	"a lapse": {Seats: []int{3, 5}, ExpiresAt: time.Unix(2e9, 0), Now: time.Unix(2e9+1, 0), Lapsed: true},
}

// all is every component in every state worth a look.
func all(t *testing.T) (list []shown) {
	t.Helper()
	page := Page{Title: "Evening", Nonce: "nonce", Notice: "Done."}
	list = append(attendees(t, page), atDesk(t, "Ann")...)
	list = append(list, liveDesks(t, page)...)
	list = append(list, waitPages(page, sale(t, "club", nil), "Ann")...)
	for name, hold := range holds {
		for _, p := range plans {
			s := sale(t, p, hold)
			list = append(
				list,
				shown{p + " fragment with " + name, false, Rows(RowsModel{s, 0})},
				shown{p + " tray with " + name, false, Tray(TrayModel{s})},
				shown{p + " door with " + name, true, Door(atDoor(page, s, "Ann"))},
			)
		}
	}
	return list
}

var plans = []string{"theatre", "club", "conference"}

// attendees is every page of those who buy, in every state worth a look.
func attendees(t *testing.T, page Page) (list []shown) {
	t.Helper()
	list = append(
		aside(t, page),
		shown{"no events", true, Events(EventsPage{Page: page})},
		shown{"an error", true, Error(ErrorPage{Page: page, Status: 404, What: "Nothing here.", Holds: "All is well.", Next: "Go on."})},
		shown{"a draw", true, RoomDraw(proof(page, sale(t, "theatre", nil)))},
	)
	for _, state := range roomStates {
		list = append(list, shown{"a waiting room: " + state, true, Room(waiting(page, sale(t, "theatre", nil), state))})
	}
	for _, s := range waitPages(page, sale(t, "club", nil), "Ann") {
		if !strings.HasSuffix(s.name, "at the desk") {
			list = append(list, s)
		}
	}
	for name, hold := range holds {
		for _, p := range plans {
			s := sale(t, p, hold)
			s.Plan.Shapes = append(s.Plan.Shapes, seats.Shape{Kind: "ellipse", RX: 3, RY: 4, Text: "Bar"})
			m := &Message{Text: "Gone.", Nearest: []int{8, 9}}
			last := len(s.Plan.Sections) - 1
			list = append(
				list,
				shown{p + " with " + name, true, Event(EventPage{page, s, nil})},
				shown{p + " refused with " + name, true, Event(EventPage{page, s, m})},
				shown{p + " rows with " + name, true, Section(SectionPage{page, s, 0, m})},
				shown{p + " last rows with " + name, true, Section(SectionPage{page, s, last, nil})},
				shown{p + " checkout with " + name, true, Checkout(typed(page, s))},
				shown{p + " order with " + name, true, Order(ordered(page, s, "Ann"))},
				shown{"events with " + p, true, Events(EventsPage{page, []seats.Listing{{Event: s.Event, Free: 3, PriceFrom: 100}, {Event: s.Event}}})},
			)
		}
	}
	return list
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryComponentIsValidHTMLWithLandmarksAndLabels(t *testing.T) {
	t.Parallel()
	for _, s := range all(t) {
		page := read(render(t, s.c))
		problems := append(page.problems, page.unnamed()...)
		if s.page {
			problems = append(problems, page.landmarks()...)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", s.name, p)
		}
	}
}

func TestASeatSaysWhatItIsWhatItCostsAndWhyItCannotBeHad(t *testing.T) {
	t.Parallel()
	text := render(t, Rows(RowsModel{sale(t, "theatre", holds["a hold"]), 0}))
	for _, want := range []string{
		`<legend>Row A</legend>`,
		`data-state="held" aria-label="Seat 1, €95, restricted view, held by somebody" disabled>`,
		`data-state="sold" aria-label="Seat 2, €95, restricted view, sold" disabled>`,
		`data-state="blocked" aria-label="Seat 3, €95, not for sale" disabled>`,
		`aria-label="Seat 4, €95, yours" checked>`,
		`data-state="free" aria-label="Seat 5, €95">`,
		`, wheelchair place">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the rows lack %s", want)
		}
	}
	text = render(t, Rows(RowsModel{sale(t, "theatre", holds["a lapse"]), 0}))
	if want := `data-state="lapsed" aria-label="Seat 4, €95, your time ran out, still free">`; !strings.Contains(text, want) {
		t.Errorf("the rows after a lapse lack %s", want)
	}
}
