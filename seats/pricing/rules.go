package pricing

import (
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// CodeTypes is the code of a refusal: the ticket types of an order break a rule of the event.
const CodeTypes = "types"

// CheckTypes returns a *seats.Conflict if an order of these lines breaks the rule of a ticket type: how many one order has,
// and what the type is sold with. The box office is not bound by them.
func CheckTypes(s *seats.Sale, lines []seats.Line) error {
	if broken := BrokenRule(s, lines); broken.ID != "" {
		return &seats.Conflict{Code: CodeTypes, Message: text.Mark("%s Nothing was ordered, and the seats are still held for you. Change the ticket types, then order again."), Args: []any{broken}}
	}
	return nil
}

// BrokenRule names the rule of a ticket type that an order of these lines breaks; the zero message if it breaks none.
func BrokenRule(s *seats.Sale, lines []seats.Line) (broken text.Message) {
	count := make([]int, len(s.Prices.Types))
	for _, l := range lines {
		count[l.Type]++
	}
	for number, t := range s.Prices.Types {
		n := count[number]
		switch partners, what := partnersOf(s, lines, count, number); {
		case n == 0:
		case n < t.Least:
			return text.Say("An order has at least %d tickets of the type %s, and yours has %d.", t.Least, t.Name, n)
		case t.Most > 0 && n > t.Most:
			return text.Say("An order has at most %d tickets of the type %s, and yours has %d.", t.Most, t.Name, n)
		case what.ID != "" && partners == 0:
			return text.Say("Tickets of the type %s are sold only with %s.", t.Name, what)
		case what.ID != "" && t.With.Each > 0 && n > t.With.Each*partners:
			return text.Say("There are at most %d tickets of the type %s for each of these: %s.", t.With.Each, t.Name, what)
		}
	}
	return broken
}

// partnersOf counts the tickets that a type is sold with, and names them; the name is the zero message if it is sold alone.
func partnersOf(s *seats.Sale, lines []seats.Line, count []int, number int) (n int, what text.Message) {
	with := s.Prices.Types[number].With
	if with.Type != nil && *with.Type < len(count) {
		n, what = count[*with.Type], text.Say("tickets of the type %s", s.Prices.Types[*with.Type].Name)
	}
	if !with.Accessible {
		return n, what
	}
	for _, l := range lines {
		if l.Type != number && s.Plan.Seats[l.Seat].Flags&seats.Accessible != 0 {
			n++
		}
	}
	place := text.Say("a wheelchair place")
	if what.ID == "" {
		return n, place
	}
	return n, text.Say("%[1]s or %[2]s", what, place)
}
