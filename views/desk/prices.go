package desk

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// PricesPage is the price list of an event.
type PricesPage struct {
	Frame
	Sale  shop.Sale
	List  *seats.Prices
	Left  []int // by phase, the seats it may still sell; -1: any number
	Rates pricing.RateTable
	Home  string // the country of the team, as its invoices say it; may be empty
	Codes []pricing.CodeGroup
	Form  url.Values // as it was sent, if it was refused
	Wrong string
}

// PricesPath is the address of the prices of an event.
func PricesPath(slug string) string { return EventPath(slug) + "/prices" }

// WithAccessible is the value of a ticket type that is sold with wheelchair places only.
const WithAccessible = "accessible"

// TypeField names a field of a ticket type.
func TypeField(number int, what string) string { return fmt.Sprintf("type.%d.%s", number, what) }

// PhaseField names a field of a phase.
func PhaseField(number int, what string) string { return fmt.Sprintf("phase.%d.%s", number, what) }

// PriceField names the field of a price; phase 0 is outside of phases.
func PriceField(phase, kind int, category string) string {
	return fmt.Sprintf("price.%d.%d.%s", phase, kind, category)
}

// WithOf is the value of what a ticket type is sold with.
func WithOf(list *seats.Prices, with seats.With) string {
	switch {
	case with.Accessible:
		return WithAccessible
	case with.Type != nil && *with.Type < len(list.Types):
		return list.Types[*with.Type].Key
	}
	return ""
}

func (p PricesPage) value(name, stored string) string {
	if p.Form != nil {
		return p.Form.Get(name)
	}
	return stored
}

// kinds are the numbers of the rows: each ticket type, and new ones. The first time there is room for a usual list.
func (p PricesPage) kinds() int { return max(len(p.List.Types)+1, 4) }

func (p PricesPage) kind(i int) seats.TicketType {
	if i < len(p.List.Types) {
		return p.List.Types[i]
	}
	return seats.TicketType{SoldTo: seats.SoldToEveryone}
}

// typeName is the name of a row: that of its ticket type, or that of a new one. The scripts write there what is typed.
func (p PricesPage) typeName(ctx context.Context, i int) string {
	name := p.value(TypeField(i, "name"), p.kind(i).Name)
	if name == "" {
		return text.T(ctx, "New ticket type %d", i+1)
	}
	return name
}

func (p PricesPage) phase(n int) seats.Phase {
	if n <= len(p.List.Phases) {
		return p.List.Phases[n-1]
	}
	return seats.Phase{}
}

// price is the content of a price's field.
func (p PricesPage) price(phase, kind, category int) string {
	stored := ""
	for _, a := range p.List.Amounts {
		if a.Phase == phase && a.Type == kind && a.Category == category {
			if stored = pricing.Amount(a.Amount, p.Sale.Event.Currency); a.Percent != nil {
				stored = pricing.Percentage(*a.Percent) + "%"
			}
		}
	}
	return p.value(PriceField(phase, kind, p.Sale.Plan.Categories[category].Key), stored)
}

func (p PricesPage) moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return p.Sale.Event.Local(*t).Format("2006-01-02T15:04")
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func countOf(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// left says how many seats a phase may still sell; nothing if it has no limit.
func (p PricesPage) left(ctx context.Context, n int) string {
	if n > len(p.Left) || p.Left[n-1] < 0 {
		return ""
	}
	return text.N(ctx, "%d left", "%d left", p.Left[n-1])
}

// hasRules reports whether a ticket type has a rule.
func (p PricesPage) hasRules() bool {
	return p.Form != nil || slices.ContainsFunc(p.List.Types, func(t seats.TicketType) bool {
		return t.SoldTo != seats.SoldToEveryone || t.Least > 0 || t.Most > 0 || t.Proof != "" || t.With != (seats.With{}) || t.Retired
	})
}

// hasPhases reports whether there is a phase, or one was typed.
func (p PricesPage) hasPhases() bool { return len(p.List.Phases) > 0 || p.typed("phase.") }

// phasesWords name the phases that are not over.
func (p PricesPage) phasesWords(ctx context.Context) string {
	names := []string{}
	for _, f := range p.List.Phases {
		if !f.Retired {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return text.T(ctx, "None")
	}
	return strings.Join(names, ", ")
}

// priceWords name a price of a phase; phase 0 is outside of phases.
func (p PricesPage) priceWords(ctx context.Context, phase int) string {
	switch {
	case phase == 0:
		return text.T(ctx, "price")
	case phase > len(p.List.Phases):
		return text.T(ctx, "price in the new phase")
	}
	return text.T(ctx, "price in %s", p.List.Phases[phase-1].Name)
}
