package views

import (
	"strings"

	"github.com/usherbox/usher/seats"
)

// rowWords is a row by its name; tables have names of their own.
func rowWords(row string) string {
	if len(row) > 4 || strings.Contains(row, " ") {
		return row
	}
	return "Row " + row
}

// seatWords is a seat as one says it: "Stalls, row C, seat 12", or "Floor, place 17".
func (s Sale) seatWords(idx int) string {
	seat := &s.Plan.Seats[idx]
	section := s.Plan.Sections[seat.Section].Name
	if s.Plan.Sections[seat.Section].Area {
		return section + ", place " + seat.Number
	}
	if row := rowWords(seat.Row); row == seat.Row {
		return section + ", " + row + ", seat " + seat.Number
	}
	return section + ", row " + seat.Row + ", seat " + seat.Number
}

func (s Sale) priceOf(idx int) string {
	return price(s.Plan.Categories[s.Plan.Seats[idx].Category].Price, s.Event.Currency)
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

// stateWords says why a seat cannot be had, with a comma before it.
var stateWords = map[seats.State]string{
	seats.Free: "", seats.Held: ", held by somebody", seats.Sold: ", sold", seats.Blocked: ", not for sale",
}
