package pricing

import (
	"fmt"

	"github.com/usherbox/usher/seats"
)

// CodeTypes is the code of a refusal: the ticket types of an order break a rule of the event.
const CodeTypes = "types"

// CheckTypes returns a *seats.Conflict if an order of these lines breaks the rule of a ticket type: how many one order has,
// and what the type is sold with. The box office is not bound by them.
func CheckTypes(s *seats.Sale, lines []seats.Line) error {
	if broken := BrokenRule(s, lines); broken != "" {
		return &seats.Conflict{Code: CodeTypes, Message: broken + " Nothing was ordered, and the seats are still held for you. Change the ticket types, then order again."}
	}
	return nil
}

// BrokenRule names the rule of a ticket type that an order of these lines breaks; empty if it breaks none.
func BrokenRule(s *seats.Sale, lines []seats.Line) string {
	count := make([]int, len(s.Prices.Types))
	for _, l := range lines {
		count[l.Type]++
	}
	for number, t := range s.Prices.Types {
		n := count[number]
		switch partners, what := partnersOf(s, lines, count, number); {
		case n == 0:
		case n < t.Least:
			return fmt.Sprintf("An order has at least %d tickets of the type %s, and yours has %d.", t.Least, t.Name, n)
		case t.Most > 0 && n > t.Most:
			return fmt.Sprintf("An order has at most %d tickets of the type %s, and yours has %d.", t.Most, t.Name, n)
		case what != "" && partners == 0:
			return fmt.Sprintf("Tickets of the type %s are sold only with %s.", t.Name, what)
		case what != "" && t.With.Each > 0 && n > t.With.Each*partners:
			return fmt.Sprintf("There are at most %d tickets of the type %s for each of these: %s.", t.With.Each, t.Name, what)
		}
	}
	return ""
}

// partnersOf counts the tickets that a type is sold with, and names them; the name is empty if it is sold alone.
func partnersOf(s *seats.Sale, lines []seats.Line, count []int, number int) (n int, what string) {
	with := s.Prices.Types[number].With
	if with.Type != nil && *with.Type < len(count) {
		n, what = count[*with.Type], "tickets of the type "+s.Prices.Types[*with.Type].Name
	}
	if !with.Accessible {
		return n, what
	}
	for _, l := range lines {
		if l.Type != number && s.Plan.Seats[l.Seat].Flags&seats.Accessible != 0 {
			n++
		}
	}
	if what != "" {
		what += " or "
	}
	return n, what + "a wheelchair place"
}
