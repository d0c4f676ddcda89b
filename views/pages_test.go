package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// shown is a component in one state, by name.
type shown struct {
	name string
	page bool // a whole page, not a part of one
	c    templ.Component
}

// sale is an event in a shipped plan: a seat held by another visitor, one sold, one blocked, and mine as the hold says.
func sale(t *testing.T, name string, hold *seats.Hold) shop.Sale {
	t.Helper()
	p, ok := plan.Named(name)
	if !ok {
		t.Fatalf("there is no plan %s", name)
	}
	s := shop.Sale{
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
	"nothing":         nil,
	"a hold":          {Seats: []int{3, 5}, ExpiresAt: time.Unix(2e9, 0), Now: time.Unix(2e9-300, 0), ExtensionsLeft: 3},
	"an expired hold": {Seats: []int{3, 5}, ExpiresAt: time.Unix(2e9, 0), Now: time.Unix(2e9+1, 0), Expired: true},
}

// all is every component in every state worth a look.
func all(t *testing.T) (list []shown) {
	t.Helper()
	page := views.Page{Title: "Evening", Nonce: "nonce", Notice: "Done."}
	list = append(attendees(t, page), atDesk(t, "Ann")...)
	list = append(list, liveDesks(t, page)...)
	list = append(list, waitPages(page, sale(t, "club", nil), "Ann")...)
	for name, hold := range holds {
		for _, p := range plans {
			s := sale(t, p, hold)
			list = append(
				list,
				shown{p + " fragment with " + name, false, shop.Rows(shop.RowsModel{Sale: s, Section: 0})},
				shown{p + " tray with " + name, false, shop.Tray(shop.TrayModel{Sale: s})},
				shown{p + " door with " + name, true, desk.Door(atDoor(page, s, "Ann"))},
			)
		}
	}
	return list
}

var plans = []string{"theatre", "club", "conference"}

// attendees is every page of those who buy, in every state worth a look.
func attendees(t *testing.T, page views.Page) (list []shown) {
	t.Helper()
	list = append(
		aside(t, page),
		shown{"no events", true, shop.Events(shop.EventsPage{Page: page})},
		shown{"an error", true, views.Error(views.ErrorPage{Page: page, Status: 404, What: "Nothing here.", Holds: "All is well.", Next: "Go on."})},
		shown{"a draw", true, shop.RoomDraw(proof(page, sale(t, "theatre", nil)))},
		shown{"promised times", true, shop.RoomWaits(shop.WaitsPage{RoomPage: waiting(page, sale(t, "theatre", nil), shop.RoomWaiting), Held: waitingroom.Calibration{Said: 1204, Right: 1141, Early: 21, Late: 42, Pending: 312, Width: 300, Wait: 1260}})},
		shown{"an arena", true, shop.Arena(inArena(page))},
		shown{"a fairness report", true, shop.RoomFairness(fair(page, sale(t, "theatre", nil)))},
	)
	for _, state := range roomStates {
		list = append(list, shown{"a waiting room: " + state, true, shop.Room(waiting(page, sale(t, "theatre", nil), state))})
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
			m := &shop.Message{Text: "Gone.", Nearest: []int{8, 9}}
			last := len(s.Plan.Sections) - 1
			list = append(
				list,
				shown{p + " with " + name, true, shop.Event(shop.EventPage{Page: page, Sale: s, Message: nil})},
				shown{p + " refused with " + name, true, shop.Event(shop.EventPage{Page: page, Sale: s, Message: m})},
				shown{p + " rows with " + name, true, shop.Section(shop.SectionPage{Page: page, Sale: s, Section: 0, Message: m})},
				shown{p + " last rows with " + name, true, shop.Section(shop.SectionPage{Page: page, Sale: s, Section: last, Message: nil})},
				shown{p + " checkout with " + name, true, shop.Checkout(typed(page, s))},
				shown{p + " order with " + name, true, shop.Order(ordered(page, s, "Ann"))},
				shown{"events with " + p, true, shop.Events(shop.EventsPage{Page: page, Found: programme.Page{Cards: []programme.Card{{Event: s.Event, Free: 3, Price: 100}, {Event: s.Event}}}})},
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
	text := render(t, shop.Rows(shop.RowsModel{Sale: sale(t, "theatre", holds["a hold"]), Section: 0}))
	for _, want := range []string{
		`<legend>Row A</legend>`,
		`data-state="held" aria-label="Seat 1, €95, restricted view, in someone’s basket" disabled>`,
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
	text = render(t, shop.Rows(shop.RowsModel{Sale: sale(t, "theatre", holds["an expired hold"]), Section: 0}))
	if want := `data-state="lapsed" aria-label="Seat 4, €95, your hold expired, still available">`; !strings.Contains(text, want) {
		t.Errorf("the rows of an expired hold lack %s", want)
	}
}
