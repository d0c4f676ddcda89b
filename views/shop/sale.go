package shop

import (
	"context"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
)

// Path is the address of the event's page.
func (s Sale) Path() string { return "/events/" + s.Event.Slug }

// SectionPath is the address of one section's page.
func (s Sale) SectionPath(section int) string { return s.Path() + "/sections/" + strconv.Itoa(section) }

func (s Sale) free() int { return s.Map.Counts.Remaining() }

// FreeIn counts the free seats of one section.
func (s Sale) FreeIn(section int) (n int) {
	at := s.Plan.Sections[section]
	for _, state := range s.Map.States[at.First : at.First+at.Count] {
		if state.Shown() == seats.Free {
			n++
		}
	}
	return n
}

// look is the classes of a section in the drawing: its colour, and how much of it is free, of what fits.
func (s Sale) look(section int) string {
	look := s.hue(s.categoryOf(section))
	switch free, all := s.fitting(section), s.Plan.Sections[section].Count; {
	case free == 0:
		look += " none"
	case free*4 < all:
		look += " few"
	case free*4 < all*3:
		look += " some"
	}
	if s.Plan.Sections[section].Area {
		look += " area"
	}
	return look
}

func (s Sale) mine(idx int) bool {
	return s.Hold != nil && !s.Hold.Expired && slices.Contains(s.Hold.Seats, idx)
}

// expired reports whether a seat is of an expired hold: others may take it, and the attendee may still have it.
func (s Sale) expired(idx int) bool {
	return s.Hold != nil && s.Hold.Expired && slices.Contains(s.Hold.Seats, idx)
}

// Drawn reports whether there is a map to draw: some section has rows.
func (s Sale) Drawn() bool {
	for _, section := range s.Plan.Sections {
		if !section.Area {
			return true
		}
	}
	return false
}

// MapStyle is the style sheet that its pages need besides the one of every page.
func (s Sale) MapStyle() string {
	if s.Drawn() {
		return ""
	}
	return "plain.css"
}

// lateStyle is the style sheet of rows, of what is held and of what scripts put over the map.
const lateStyle = "map.css"

// later reports whether the scripts load that style sheet: the page itself has it for the rows of a section, and for held seats.
func (s Sale) later(section int) bool {
	return section < 0 && s.Drawn() && s.Hold == nil && s.Proposals == nil
}

// lateStyles says where the scripts find it.
func (s Sale) lateStyles(section int) templ.Attributes {
	if !s.later(section) {
		return nil
	}
	return templ.Attributes{"data-styles": static.URL(lateStyle)}
}

// Areas lists the positions of the sections without rows.
func (s Sale) Areas() (list []int) {
	for i, section := range s.Plan.Sections {
		if section.Area {
			list = append(list, i)
		}
	}
	return list
}

// seated lists the categories that have seats in rows and are sold to the attendee: those one may ask the best of.
func (s Sale) seated() (list []int) {
	has := make([]bool, len(s.Plan.Categories))
	for i := range s.Plan.Seats {
		if seat := &s.Plan.Seats[i]; !s.Plan.Sections[seat.Section].Area {
			has[seat.Category] = true
		}
	}
	for c, yes := range has {
		if yes && s.sold(c) {
			list = append(list, c)
		}
	}
	return list
}

// categoryOf is the category most seats of a section are in.
func (s Sale) categoryOf(section int) (most int) {
	counts := make([]int, len(s.Plan.Categories))
	at := s.Plan.Sections[section]
	for i := at.First; i < at.First+at.Count; i++ {
		counts[s.Plan.Seats[i].Category]++
	}
	for c, n := range counts {
		if n > counts[most] {
			most = c
		}
	}
	return most
}

// prices is what the seats of a section cost: one price, or from and to.
func (s Sale) prices(ctx context.Context, section int) string {
	low, high := int64(-1), int64(0)
	for _, c := range s.categoriesIn(section) {
		l, sold := s.lineIn(c)
		if !sold {
			continue
		}
		p := AllIn(s.Event, l)
		if low < 0 {
			low = p
		}
		low, high = min(low, p), max(high, p)
	}
	if low < 0 {
		return s.notSold(ctx)
	}
	return s.span(ctx, low, high)
}

func (s Sale) span(ctx context.Context, low, high int64) string {
	if low == high {
		return views.PriceIn(ctx, low, s.Event.Currency)
	}
	return views.PriceIn(ctx, low, s.Event.Currency) + "–" + views.PriceIn(ctx, high, s.Event.Currency)
}

// Cost is what the hold costs, with what the attendee adds.
func (s Sale) Cost() pricing.Cost {
	lines := make([]seats.Line, len(s.held().Seats))
	for i, idx := range s.held().Seats {
		lines[i] = s.line(idx)
	}
	terms := pricing.TermsOf(&s.Event)
	terms.Extras = s.Extras
	return terms.Agreed(lines, s.Discount, s.Reverse)
}

// until is when the hold ends; empty without one.
func (s Sale) until(ctx context.Context) string {
	if s.Hold == nil {
		return ""
	}
	return views.ClockIn(ctx, s.Event, s.Hold.ExpiresAt)
}

func (s Sale) total() int64 { return s.Cost().Total }

// trayState is which of its three faces the tray shows.
func (s Sale) trayState() string {
	switch {
	case s.Hold == nil || len(s.Hold.Seats) == 0:
		return "empty"
	case s.Hold.Expired:
		return "lapsed"
	default:
		return "held"
	}
}

// LabelsOf names seats as far as the plan has them.
func (s Sale) LabelsOf(idxs []int) (labels []string) {
	for _, idx := range idxs {
		if idx >= 0 && idx < len(s.Plan.Seats) {
			labels = append(labels, s.Plan.Label(idx))
		}
	}
	return labels
}

// begun reports whether the event has. Its organizer may sell on: it may last for days.
func (s Sale) begun() bool { return s.Now.After(s.Event.StartsAt) }
