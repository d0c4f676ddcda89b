package shop

import (
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views"
)

// RowWords is a row by its name; tables have names of their own.
func RowWords(row string) string {
	if seats.OwnName(row) {
		return row
	}
	return "Row " + row
}

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
func (s Sale) PriceOf(idx int) string {
	category := s.Plan.Seats[idx].Category
	if _, held := s.heldLine(idx); !held && !s.onSale(category) {
		return s.notSold()
	}
	return views.Price(AllIn(s.Event, s.line(idx)), s.Event.Currency)
}

// onSale reports whether a claim of a seat in a category gets a price.
func (s Sale) onSale(category int) bool {
	_, sold := s.kind(category)
	return sold
}

// flagWords says what is special about a seat, with a comma before each.
func flagWords(f seats.Flags) string {
	words := ""
	for _, w := range []struct {
		flag seats.Flags
		text string
	}{{seats.Accessible, ", wheelchair place"}, {seats.Companion, ", companion place"}, {seats.RestrictedView, ", restricted view"}} {
		if f&w.flag != 0 {
			words += w.text
		}
	}
	return words
}

// stateWords says why a seat is not simply free, with a comma before it. Only one's own expired seats are shown as such.
var stateWords = map[seats.State]string{
	seats.Free: "", seats.Held: ", held by somebody", seats.Sold: ", sold", seats.Blocked: ", not for sale", seats.Expired: ", your time ran out, still free",
}
