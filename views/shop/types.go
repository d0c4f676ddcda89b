package shop

import (
	"strconv"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
)

// TypeField names the field with the ticket type of a seat.
func TypeField(idx int) string { return "type." + strconv.Itoa(idx) }

// typesFor lists the ticket types that the attendee may choose for a seat, and the one it has.
func (s Sale) typesFor(idx int) (kinds []int) {
	if s.Prices == nil || s.Hold == nil {
		return nil
	}
	has := s.line(idx)
	for _, kind := range s.Prices.Order() {
		t := &s.Prices.Types[kind]
		_, sold := s.Prices.Price(has.Phase, kind, has.Category)
		if kind == has.Type || sold && !t.Retired && (t.SoldTo == seats.SoldToEveryone || t.SoldTo == seats.SoldWithCode && s.Codes.Access.Type(kind)) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// severalTypes reports whether the type of a held seat can be changed.
func (s Sale) severalTypes() bool {
	for _, idx := range s.held().Seats {
		if len(s.typesFor(idx)) > 1 {
			return true
		}
	}
	return false
}

// typeName is the ticket type of a held seat; empty if the event has one only.
func (s Sale) typeName(idx int) string {
	if s.Prices == nil || len(s.Prices.Types) < 2 {
		return ""
	}
	return s.Prices.Types[s.line(idx).Type].Name
}

// typePrice is what a held seat costs with another ticket type, with fees and taxes.
func (s Sale) typePrice(idx, kind int) string {
	line := s.line(idx)
	if kind != line.Type {
		line.Price, _ = s.Prices.Price(line.Phase, kind, line.Category)
	}
	return views.Price(pricing.AllIn(pricing.Line{Type: kind, Category: line.Category, Price: line.Price}, pricing.TermsOf(s.Event)).Cost(), s.Event.Currency)
}
