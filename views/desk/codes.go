package desk

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// CodesPage is the discount codes of an event.
type CodesPage struct {
	Frame
	Next          string // cursor of the next page; empty: there is none
	Plan          *seats.Plan
	List          *seats.Prices
	Groups        []pricing.CodeGroup
	Blocks        []blocks.Block
	Kinds         []memberships.Kind
	Subscriptions []subscriptions.Listed
	Others        []overview.Event // other events of the team that are to come
	Dates         int              // other performances to come of its series
	Form          url.Values       // as it was sent, if it was refused
	Wrong         string
}

// CodesPath is the address of the codes of an event.
func CodesPath(slug string) string { return EventPath(slug) + "/codes" }

func (p CodesPage) value(name string) string { return p.Form.Get(name) }

func (p CodesPage) marked(name, key string) bool { return slices.Contains(p.Form[name], key) }

// filePath is the address of the list of codes with a name, or of all codes.
func (p CodesPage) filePath(name string) string {
	path := EventPath(p.Event.Slug) + "/exports/codes.csv"
	if name != "" {
		path += "?" + url.Values{"name": {name}}.Encode()
	}
	return path
}

// CodeWords say what a code takes off and unlocks.
func CodeWords(ctx context.Context, e seats.Event, list *seats.Prices, c pricing.Code) string {
	var words []string
	if c.TakesOff() {
		words = append(words, codeOff(ctx, e, c))
	}
	if c.Unlocks() {
		words = append(words, text.T(ctx, "unlocks %s", unlockWords(ctx, list, c)))
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// codeOff says what a code takes off.
func codeOff(ctx context.Context, e seats.Event, c pricing.Code) string {
	off := views.MoneyIn(ctx, c.Amount, e.Currency)
	if c.Percent > 0 {
		off = text.Percent(ctx, float64(c.Percent)/100)
	}
	switch {
	case !c.TakesOff():
		return text.T(ctx, "Nothing")
	case c.PerOrder:
		return text.T(ctx, "%s off the order", off)
	case c.Tickets > 0:
		return text.T(ctx, "%s off %s of an order", off, text.N(ctx, "%d ticket", "%d tickets", c.Tickets))
	}
	return text.T(ctx, "%s off each ticket", off)
}

// limits say for which tickets a code is, and how often and how long it is good.
func (p CodesPage) limits(ctx context.Context, c pricing.Code) string {
	var words, names []string
	for _, t := range c.Types {
		names = append(names, p.List.Types[t].Name)
	}
	for _, k := range c.Categories {
		names = append(names, p.Plan.Categories[k].Name)
	}
	if len(names) > 0 {
		words = append(words, text.T(ctx, "for %s", strings.Join(names, text.T(ctx, ", "))))
	}
	if c.Unlocks() {
		words = append(words, text.T(ctx, "unlocks %s", unlockWords(ctx, p.List, c)))
	}
	if c.Members != "" {
		words = append(words, text.T(ctx, "for members: %s", c.Members))
	}
	if c.PerPerson > 0 {
		words = append(words, text.N(ctx, "%d order per person", "%d orders per person", c.PerPerson))
	}
	if c.PersonTickets > 0 {
		words = append(words, text.N(ctx, "%d ticket per person in the presale", "%d tickets per person in the presale", c.PersonTickets))
	}
	if c.BeginsAt != nil {
		words = append(words, text.T(ctx, "from %s", p.moment(ctx, *c.BeginsAt)))
	}
	if c.EndsAt != nil {
		words = append(words, text.T(ctx, "until %s", p.moment(ctx, *c.EndsAt)))
	}
	return strings.Join(words, " · ")
}

// unlockWords say what a code unlocks.
func unlockWords(ctx context.Context, list *seats.Prices, c pricing.Code) string {
	var words []string
	for _, kind := range c.UnlocksTypes {
		words = append(words, text.T(ctx, "%s tickets", list.Types[kind].Name))
	}
	if n := len(c.UnlocksBlocks); n > 0 {
		words = append(words, text.N(ctx, "the reserved seats of %d block", "the reserved seats of %d blocks", n))
	}
	if c.Presale {
		words = append(words, text.T(ctx, "the time before the sale"))
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// coded lists the ticket types that are sold to people with a code.
func (p CodesPage) coded() (list []seats.TicketType) {
	for _, t := range p.List.Types {
		if t.SoldTo == seats.SoldWithCode && !t.Retired {
			list = append(list, t)
		}
	}
	return list
}

func (p CodesPage) moment(ctx context.Context, t time.Time) string {
	return text.Time(ctx, p.Event.Local(t), "2 Jan 2006, 15:04")
}

// uses say how often the codes of a group were used, and what buyers saved.
func (p CodesPage) uses(ctx context.Context, g pricing.CodeGroup) string {
	if g.Most > 0 {
		return text.T(ctx, "%d of %d", g.Uses, g.Most*g.Count)
	}
	return text.Number(ctx, g.Uses)
}

func codeStateWord(ctx context.Context, s pricing.CodeState) string {
	switch s {
	case pricing.CodeGood:
		return text.T(ctx, "Active")
	case pricing.CodeEarly:
		return text.T(ctx, "Not yet active")
	case pricing.CodeUsedUp:
		return text.T(ctx, "Used up")
	}
	return text.T(ctx, "Ended")
}
