package desk

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
)

// CodesPage is the discount codes of an event.
type CodesPage struct {
	Frame
	Plan   *seats.Plan
	List   *seats.Prices
	Groups []pricing.CodeGroup
	Blocks []pricing.Block
	Others []seats.Listing // other events of the team that are to come
	Form   url.Values      // as it was sent, if it was refused
	Wrong  string
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
func CodeWords(e seats.Event, list *seats.Prices, c pricing.Code) string {
	var words []string
	if c.TakesOff() {
		words = append(words, codeOff(e, c))
	}
	if c.Unlocks() {
		words = append(words, "unlocks "+unlockWords(list, c))
	}
	return strings.Join(words, ", ")
}

// codeOff says what a code takes off.
func codeOff(e seats.Event, c pricing.Code) string {
	of := "each ticket"
	switch {
	case c.PerOrder:
		of = "the order"
	case c.Tickets > 0:
		of = views.Counted(c.Tickets, "ticket") + " of an order"
	}
	switch {
	case c.Percent > 0:
		return pricing.Percentage(c.Percent) + "% off " + of
	case !c.TakesOff():
		return "Nothing"
	}
	return views.Money(c.Amount, e.Currency) + " off " + of
}

// limits say for which tickets a code is, and how often and how long it is good.
func (p CodesPage) limits(c pricing.Code) string {
	var words, names []string
	for _, t := range c.Types {
		names = append(names, p.List.Types[t].Name)
	}
	for _, k := range c.Categories {
		names = append(names, p.Plan.Categories[k].Name)
	}
	if len(names) > 0 {
		words = append(words, "for "+strings.Join(names, ", "))
	}
	if c.Unlocks() {
		words = append(words, "unlocks "+unlockWords(p.List, c))
	}
	if c.PerPerson > 0 {
		words = append(words, views.Counted(c.PerPerson, "order")+" per person")
	}
	if c.BeginsAt != nil {
		words = append(words, "from "+p.moment(*c.BeginsAt))
	}
	if c.EndsAt != nil {
		words = append(words, "until "+p.moment(*c.EndsAt))
	}
	return strings.Join(words, " · ")
}

// unlockWords say what a code unlocks.
func unlockWords(list *seats.Prices, c pricing.Code) string {
	var words []string
	for _, kind := range c.UnlocksTypes {
		words = append(words, list.Types[kind].Name+" tickets")
	}
	if n := len(c.UnlocksBlocks); n > 0 {
		words = append(words, "the reserved seats of "+views.Counted(n, "block"))
	}
	if c.Presale {
		words = append(words, "the time before the sale")
	}
	return strings.Join(words, ", ")
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

// blockName is a block in the list of those that a code can unlock.
func blockName(b pricing.Block) string {
	if b.Reason == "" {
		return views.Counted(b.Seats, "blocked seat")
	}
	return b.Reason + ", " + views.Counted(b.Seats, "seat")
}

func (p CodesPage) moment(t time.Time) string {
	return p.Event.Local(t).Format("2 Jan 2006, 15:04")
}

// uses say how often the codes of a group were used, and what buyers saved.
func (p CodesPage) uses(g pricing.CodeGroup) string {
	text := views.Number(g.Uses)
	if g.Most > 0 {
		text += " of " + views.Number(g.Most*g.Count)
	}
	return text
}

func codeStateWord(s pricing.CodeState) string {
	switch s {
	case pricing.CodeGood:
		return "Active"
	case pricing.CodeEarly:
		return "Not yet active"
	case pricing.CodeUsedUp:
		return "Used up"
	}
	return "Ended"
}
