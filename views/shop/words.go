package shop

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// RowWords is a row by its name; tables have names of their own.
func RowWords(ctx context.Context, row string) string {
	if seats.OwnName(row) {
		return row
	}
	return text.T(ctx, "Row %s", row)
}

// SeatWords is a seat in the language of a page: "Stalls, row C, seat 12", "Hall, Table 4, seat 2", or "Floor, place 17" in
// an area.
func SeatWords(ctx context.Context, p *seats.Plan, idx int) string {
	return p.WordsIn(ctx, idx)
}

// TypeWords names the type of a ticket, and what has to be shown for it at the door. It is empty if the event has one type.
func TypeWords(ctx context.Context, t orders.Ticket) string {
	if t.Type == "" || t.Proof == "" {
		return t.Type
	}
	return text.T(ctx, "%s, to be shown at the door: %s", t.Type, t.Proof)
}

func (s Sale) seatWords(ctx context.Context, idx int) string { return SeatWords(ctx, s.Plan, idx) }

// line is a seat with its type and price: those of the hold it is in, or those that it is claimed with.
func (s Sale) line(idx int) seats.Line {
	if l, held := s.heldLine(idx); held {
		return l
	}
	line, _ := s.lineIn(s.Plan.Seats[idx].Category)
	line.Seat = idx
	return line
}

// heldLine is a seat of the hold, or false if it is not held.
func (s Sale) heldLine(idx int) (l seats.Line, held bool) {
	if s.Hold != nil {
		for _, l := range s.Hold.Lines {
			if l.Seat == idx {
				return l, true
			}
		}
	}
	return l, false
}

// PriceOf is what a seat costs, with fees and taxes.
func (s Sale) PriceOf(ctx context.Context, idx int) string {
	category := s.Plan.Seats[idx].Category
	if _, held := s.heldLine(idx); !held && !s.onSale(category) {
		return s.notSold(ctx)
	}
	return views.PriceIn(ctx, AllIn(s.Event, s.line(idx)), s.Event.Currency)
}

// onSale reports whether a claim of a seat in a category gets a price.
func (s Sale) onSale(category int) bool {
	_, sold := s.kind(category)
	return sold
}

// flagWords says what is special about a seat, with a comma before each.
func flagWords(ctx context.Context, f seats.Flags) string {
	words := ""
	for _, w := range []struct {
		flag seats.Flags
		text string
	}{
		{seats.Accessible, text.T(ctx, ", wheelchair place")}, {seats.Companion, text.T(ctx, ", companion place")}, {seats.RestrictedView, text.T(ctx, ", restricted view")},
	} {
		if f&w.flag != 0 {
			words += w.text
		}
	}
	return words
}

// stateWords says why a seat is not simply free, with a comma before it. Only one's own expired seats are shown as such.
var stateWords = map[seats.State]string{
	seats.Free: "", seats.Held: text.Mark(", in someone’s basket"), seats.Sold: text.Mark(", sold"), seats.Blocked: text.Mark(", not for sale"), seats.Expired: text.Mark(", your hold expired, still available"),
}

// gates names the gates that a seat's ticket is good for, as "North / East"; empty if it may use any.
func (s Sale) gates(idx int) string {
	return strings.Join(s.Event.GatesOf(s.Plan.Sections[s.Plan.Seats[idx].Section].Name), " / ")
}
