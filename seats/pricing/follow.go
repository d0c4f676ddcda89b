package pricing

import (
	"slices"

	"github.com/usherbox/usher/seats"
)

// Follow returns the price list and the rules with which an event sells as another one does. Types are the same if their keys
// are. What an event sold keeps its number: types and phases that the other event does not have are retired, and an offer
// that differs gets a new number.
func Follow(had *seats.Prices, rulesHad seats.PriceRules, lead *seats.Prices, rules seats.PriceRules) (*seats.Prices, seats.PriceRules) {
	next := &seats.Prices{Types: slices.Clone(had.Types), Phases: slices.Clone(had.Phases)}
	for i := range next.Types {
		next.Types[i].Retired = true
	}
	kinds := make([]int, len(lead.Types)) // by number at the lead
	for i, t := range lead.Types {
		kinds[i] = slices.IndexFunc(next.Types, func(o seats.TicketType) bool { return o.Key == t.Key })
		if kinds[i] < 0 {
			kinds[i], next.Types = len(next.Types), append(next.Types, seats.TicketType{})
		}
		next.Types[kinds[i]] = t
	}
	for i := range lead.Types {
		t := &next.Types[kinds[i]]
		if t.With.Type != nil {
			with := kinds[*t.With.Type]
			t.With.Type = &with
		}
	}
	phases := followPhases(next, lead)
	for _, a := range lead.Amounts {
		a.Phase, a.Type = phases[a.Phase], kinds[a.Type]
		next.Amounts = append(next.Amounts, a)
	}
	return next, followRules(rulesHad, rules, kinds)
}

// followPhases gives the list the phases of the lead, and returns their numbers by those at the lead. Phases run in the order
// of their numbers: from the first that is another one on, those of the lead come behind.
func followPhases(next, lead *seats.Prices) []int {
	numbers := make([]int, len(lead.Phases)+1)
	alike := 0
	for alike < len(lead.Phases) && alike < len(next.Phases) && next.Phases[alike].Name == lead.Phases[alike].Name {
		alike++
	}
	for i := alike; i < len(next.Phases); i++ {
		next.Phases[i].Retired = true
	}
	copy(next.Phases, lead.Phases[:alike])
	for i := range lead.Phases {
		if numbers[i+1] = i + 1; i >= alike {
			next.Phases = append(next.Phases, lead.Phases[i])
			numbers[i+1] = len(next.Phases)
		}
	}
	return numbers
}

func followRules(had, rules seats.PriceRules, kinds []int) seats.PriceRules {
	mapped := func(list []int) (to []int) {
		for _, kind := range list {
			to = append(to, kinds[kind])
		}
		return to
	}
	rules.Tax.Types = slices.Clone(rules.Tax.Types)
	for i := range rules.Tax.Types {
		rules.Tax.Types[i].Type = kinds[rules.Tax.Types[i].Type]
	}
	rules.Offers, rules.LastOffer = slices.Clone(rules.Offers), max(rules.LastOffer, had.LastOffer)
	for i := range rules.Offers {
		o := &rules.Offers[i]
		o.Types, o.ChildTypes = mapped(o.Types), mapped(o.ChildTypes)
		if other, taken := had.Offer(o.Number); o.Number <= had.LastOffer && (!taken || other.Name != o.Name || other.Kind != o.Kind) {
			rules.LastOffer++
			o.Number = rules.LastOffer
		}
	}
	return rules
}
