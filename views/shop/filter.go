package shop

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Filter is what the attendee looks for: some categories, wheelchair places, or both; empty for every seat.
// What does not fit is dimmed, never hidden.
type Filter struct {
	Prices     []int // positions in Plan.Categories, in their order
	Accessible bool
	Type       string // key of the ticket type that prices are shown of; empty: the usual one of each seat
	Floor      int    // that the map shows, counted from 1; 0: all, or the plan has none
}

// FilterOf reads the filter of a page's address, such as "?price=A&accessible=1". What the plan does not have is left out.
func FilterOf(p *seats.Plan, q url.Values) (f Filter) {
	for i, c := range p.Categories {
		if slices.Contains(q["price"], c.Key) {
			f.Prices = append(f.Prices, i)
		}
	}
	f.Accessible = q.Has("accessible") && accessible(p)
	if len(p.Floors) > 0 {
		n, _ := strconv.Atoi(q.Get("floor")) // what is no floor is the first
		f.Floor = min(max(n, 1), len(p.Floors))
	}
	return f
}

// accessible reports whether a plan has places for wheelchairs among its rows.
func accessible(p *seats.Plan) bool {
	return slices.ContainsFunc(p.Seats, func(s seats.Seat) bool { return s.Flags&seats.Accessible != 0 })
}

func (f Filter) on() bool { return f.Accessible || len(f.Prices) > 0 }

// query is the filter as it stands in addresses.
func (s Sale) query(f Filter) string {
	var parts []string
	for _, c := range f.Prices {
		parts = append(parts, "price="+url.QueryEscape(s.Plan.Categories[c].Key))
	}
	if f.Accessible {
		parts = append(parts, "accessible=1")
	}
	if f.Floor > 1 {
		parts = append(parts, "floor="+strconv.Itoa(f.Floor))
	}
	if f.Type != "" {
		parts = append(parts, "type="+url.QueryEscape(f.Type))
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// fits reports whether a seat is one of those looked for.
func (s Sale) fits(idx int) bool {
	seat := &s.Plan.Seats[idx]
	return (len(s.Filter.Prices) == 0 || slices.Contains(s.Filter.Prices, seat.Category)) && (!s.Filter.Accessible || seat.Flags&seats.Accessible != 0)
}

// found counts the free seats that fit.
func (s Sale) found() (n int) {
	for i := range s.Plan.Sections {
		n += s.fitting(i)
	}
	return n
}

// fitting counts the free seats of one section that fit.
func (s Sale) fitting(section int) (n int) {
	at := s.Plan.Sections[section]
	for idx := at.First; idx < at.First+at.Count; idx++ {
		if s.Map.States[idx].Shown() == seats.Free && s.fits(idx) {
			n++
		}
	}
	return n
}

// freeAccessible counts the free places for wheelchairs.
func (s Sale) freeAccessible() int {
	s.Filter = Filter{Accessible: true}
	return s.found()
}

// foundWords says how many seats fit.
func (s Sale) foundWords(ctx context.Context) string {
	n := s.found()
	if n == 0 {
		return text.T(ctx, "No seats match.")
	}
	return text.N(ctx, "%d seat matches.", "%d seats match.", n)
}

// fittingWords says the same of one section.
func (s Sale) fittingWords(ctx context.Context, section int) string {
	n := s.fitting(section)
	if n == 0 {
		return text.T(ctx, "No seats here match.")
	}
	return text.N(ctx, "%d seat here matches.", "%d seats here match.", n)
}

// page is the address of this page without its filter.
func (s Sale) page() string {
	if strings.HasPrefix(s.From, s.Path()) {
		return s.From
	}
	return s.MapPath()
}

// Here is the page of this sale with its filter: where forms come back to.
func (s Sale) Here() string { return s.page() + s.query(s.Filter) }

// unfiltered is this page with every seat.
func (s Sale) unfiltered() templ.SafeURL {
	return templ.SafeURL(s.page() + s.query(Filter{Type: s.Filter.Type, Floor: s.Filter.Floor}))
}

// section is the address of a section's page with the filter.
func (s Sale) section(i int) templ.SafeURL {
	f := s.Filter
	f.Floor = 0 // it is shown on its own
	return templ.SafeURL(s.SectionPath(i) + s.query(f))
}

// toggled is the address of this page with one price more, or one less.
func (s Sale) toggled(category int) templ.SafeURL {
	f := Filter{Accessible: s.Filter.Accessible, Type: s.Filter.Type, Floor: s.Filter.Floor}
	for i := range s.Plan.Categories {
		if slices.Contains(s.Filter.Prices, i) != (i == category) {
			f.Prices = append(f.Prices, i)
		}
	}
	return templ.SafeURL(s.page() + s.query(f))
}

// toggledAccessible is the address of this page with places for wheelchairs only, or with all seats.
func (s Sale) toggledAccessible() templ.SafeURL {
	f := s.Filter
	f.Accessible = !f.Accessible
	return templ.SafeURL(s.page() + s.query(f))
}

func (s Sale) picked(category int) bool { return slices.Contains(s.Filter.Prices, category) }
