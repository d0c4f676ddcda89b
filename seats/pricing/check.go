package pricing

import (
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

const (
	mostTypes  = 40
	mostPhases = 20
	mostName   = 60      // characters
	mostProof  = 100     // characters
	mostAmount = 1 << 40 // minor units, as the price of a category
)

// Complete returns a list with the amounts of its percentages, which are of the first type's price outside of phases.
func Complete(list *seats.Prices, categories []seats.Category) *seats.Prices {
	next := *list
	next.Amounts = slices.Clone(list.Amounts)
	first := map[int]int64{}
	for _, a := range next.Amounts {
		if a.Phase == 0 && a.Type == 0 && a.Percent == nil {
			first[a.Category] = a.Amount
		}
	}
	for i := range next.Amounts {
		if a := &next.Amounts[i]; a.Percent != nil {
			a.Amount = percentOf(first[a.Category], *a.Percent)
		}
	}
	return next.Indexed(categories)
}

// Reprice returns a list in which the first type costs this in each category, outside of phases.
func Reprice(list *seats.Prices, categories []seats.Category, prices []int64) *seats.Prices {
	next := *list
	next.Amounts = slices.DeleteFunc(slices.Clone(list.Amounts), func(a seats.Amount) bool { return a.Phase == 0 && a.Type == 0 })
	for category, price := range prices {
		next.Amounts = append(next.Amounts, seats.Amount{Category: category, Amount: price})
	}
	return Complete(&next, categories)
}

// Check returns a *seats.ValidationError that says what is wrong with a list that follows another one; nil if nothing is.
// Types and phases that were there stay, by number: they are retired at most.
func Check(before, next *seats.Prices, categories int) error {
	wrong := checkTypes(before, next)
	if wrong.ID == "" {
		wrong = checkPhases(before, next)
	}
	usual := map[[2]int]bool{}
	for _, a := range next.Amounts {
		usual[[2]int{a.Type, a.Category}] = usual[[2]int{a.Type, a.Category}] || a.Phase == 0
	}
	for _, a := range next.Amounts {
		switch {
		case wrong.ID != "":
		case a.Amount < 0 || a.Amount > mostAmount:
			wrong = text.Say("A price is an amount that is not negative, and not so large.")
		case a.Percent != nil && (*a.Percent < 0 || *a.Percent > WholePercent):
			wrong = text.Say("A percentage is between 0 and 100.")
		case a.Type < 0 || a.Type >= len(next.Types) || a.Phase < 0 || a.Phase > len(next.Phases) || a.Category < 0 || a.Category >= categories:
			wrong = text.Say("A price is for a type, a category and a phase of the event.")
		case a.Phase > 0 && !usual[[2]int{a.Type, a.Category}]:
			wrong = text.Say("“%s” has a price in the phase “%s”, but no usual price there. Enter both.", next.Types[a.Type].Name, next.Phases[a.Phase-1].Name)
		}
	}
	if wrong.ID != "" {
		return seats.Unchanged(wrong)
	}
	return nil
}

// mostOffers is how many offers an event has at most.
const mostOffers = 20

// CheckRules returns a *seats.ValidationError that says what is wrong with the rules of an event with so many ticket types and
// categories; nil if nothing is.
func CheckRules(r seats.PriceRules, types, categories int) error {
	wrong, of, numbers := checkTax(r.Tax), r.Tax.Types, map[int]bool{}
	if wrong.ID == "" {
		wrong = checkExtras(r.Extras)
	}
	if wrong.ID == "" && len(r.Offers) > mostOffers {
		wrong = text.Say("An event has at most %d offers.", mostOffers)
	}
	within := func(list []int, n int) bool {
		return !slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= n })
	}
	if wrong.ID == "" && slices.ContainsFunc(of, func(t seats.TypeRate) bool { return t.Type < 0 || t.Type >= types }) {
		wrong = text.Say("A tax rate is for a ticket type of the event.")
	}
	for _, o := range r.Offers {
		switch {
		case wrong.ID != "":
		case !within(o.Types, types) || !within(o.ChildTypes, types) || !within(o.Categories, categories):
			wrong = text.Say("An offer is for ticket types and categories of the event.")
		case numbers[o.Number] || o.Number < 1 || o.Number > r.LastOffer:
			wrong = text.Say("Two offers have the same number.")
		default:
			wrong = checkOffer(o)
		}
		numbers[o.Number] = true
	}
	if wrong.ID != "" {
		return seats.Unchanged(wrong)
	}
	return nil
}

func checkTypes(before, next *seats.Prices) text.Message {
	keys := map[string]bool{}
	if len(next.Types) < len(before.Types) || len(next.Types) > mostTypes {
		return text.Say("Ticket types that were sold stay in the list. An event has at most %d.", mostTypes)
	}
	for i, t := range next.Types {
		switch {
		case t.Name == "" || !seats.OneLine(t.Name, mostName) || t.Key == "":
			return text.Say("The name of a ticket type is one line of at most %d characters.", mostName)
		case keys[t.Key]:
			return text.Say("Two ticket types have the same name: “%s”.", t.Name)
		case i < len(before.Types) && t.Key != before.Types[i].Key:
			return text.Say("A ticket type keeps its key.")
		case !seats.OneLine(t.Proof, mostProof):
			return text.Say("The proof that is shown at the door is one line of at most %d characters.", mostProof)
		case t.Least < 0 || t.Most < 0 || t.Most > 0 && t.Least > t.Most || t.With.Each < 0 || t.Most > seats.MaxSeats:
			return text.Say("The numbers of tickets in an order are not negative, and the least is not more than the most.")
		case t.SoldTo != seats.SoldToEveryone && t.SoldTo != seats.SoldWithCode && t.SoldTo != seats.SoldAtDesk:
			return text.Say("Tickets are sold to everyone, with a code, or at the desk.")
		case t.With.Type != nil && (*t.With.Type < 0 || *t.With.Type >= len(next.Types) || *t.With.Type == i):
			return text.Say("“%s” is sold with another ticket type of the event.", t.Name)
		}
		keys[t.Key] = true
	}
	return text.Message{}
}

// checkPhases wants phases in the order in which they run: each begins when the one before has ended, or once that is sold out.
func checkPhases(before, next *seats.Prices) text.Message {
	if len(next.Phases) < len(before.Phases) || len(next.Phases) > mostPhases {
		return text.Say("Phases that began stay in the list. An event has at most %d.", mostPhases)
	}
	var last *seats.Phase
	for i := range next.Phases {
		f := &next.Phases[i]
		switch {
		case f.Name == "" || !seats.OneLine(f.Name, mostName):
			return text.Say("The name of a phase is one line of at most %d characters.", mostName)
		case f.Sells != nil && (*f.Sells < 0 || *f.Sells > seats.MaxSeats):
			return text.Say("A phase sells a number of seats that is not negative.")
		case f.BeginsAt != nil && f.EndsAt != nil && !f.BeginsAt.Before(*f.EndsAt):
			return text.Say("“%s” ends before it begins.", f.Name)
		}
		if f.Retired {
			continue
		}
		if last != nil {
			switch {
			case last.EndsAt == nil && last.Sells == nil:
				return text.Say("“%s” never runs: “%s” before it has neither an end nor a number of seats.", f.Name, last.Name)
			case f.BeginsAt != nil && last.EndsAt != nil && f.BeginsAt.Before(*last.EndsAt), f.BeginsAt != nil && last.EndsAt == nil:
				return text.Say("“%s” and “%s” overlap: the second begins before the first has ended.", last.Name, f.Name)
			case f.EndsAt != nil && last.EndsAt != nil && !f.EndsAt.After(*last.EndsAt):
				return text.Say("“%s” and “%s” overlap: the second has to end after the first.", last.Name, f.Name)
			}
		}
		last = f
	}
	return text.Message{}
}

// ReadPrice reads a price as organizers write it: an amount such as 18.00, or a percentage such as 60%. Empty: not sold.
func ReadPrice(typed, currency string) (amount int64, percent *int, sold bool, err error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return 0, nil, false, nil
	}
	if share, is := strings.CutSuffix(typed, "%"); is {
		hundredths, err := ReadPercent(strings.TrimSpace(share))
		return 0, &hundredths, true, err
	}
	amount, err = ReadAmount(typed, currency)
	return amount, nil, true, err
}

// ReadTime reads a time such as 2030-05-01T19:00 at a place; nil for none.
func ReadTime(typed string, at *time.Location) (*time.Time, error) {
	if typed = strings.TrimSpace(typed); typed == "" {
		return nil, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, typed, at); err == nil {
			return &t, nil
		}
	}
	return nil, unreadable(text.Mark("“%s” is not a time such as 2030-05-01T19:00."), typed)
}
