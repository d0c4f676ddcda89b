package shop

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// The beginnings of names of fields: the ticket type of a seat, by its idx, and a number of tickets, by the key of their type.
const (
	TypePrefix    = "type."
	TicketsPrefix = "tickets."
)

// TypeField names the field with the ticket type of a seat.
func TypeField(idx int) string { return TypePrefix + strconv.Itoa(idx) }

// sells reports whether the attendee may buy tickets of a type in a category.
func (s Sale) sells(kind, category int) bool {
	t := &s.Prices.Types[kind]
	_, sold := s.Prices.Price(0, kind, category)
	return sold && !t.Retired && (t.SoldTo == seats.SoldToEveryone || t.SoldTo == seats.SoldWithCode && s.Codes.Access.Type(kind))
}

// kindsIn lists the ticket types that the attendee may choose in any of these categories, as pages show them.
func (s Sale) kindsIn(categories ...int) (kinds []int) {
	if s.Prices == nil {
		return nil
	}
	for _, kind := range s.Prices.Order() {
		if slices.ContainsFunc(categories, func(c int) bool { return s.sells(kind, c) }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// sold reports whether the attendee may choose a ticket type in any of these categories.
func (s Sale) sold(categories ...int) bool {
	return s.Prices == nil || len(s.kindsIn(categories...)) > 0
}

// kinds lists those of the whole event.
func (s Sale) kinds() []int { return s.kindsIn(s.allCategories()...) }

func (s Sale) allCategories() []int {
	all := make([]int, len(s.Plan.Categories))
	for i := range all {
		all[i] = i
	}
	return all
}

// categoriesIn lists the categories of a section.
func (s Sale) categoriesIn(section int) (list []int) {
	at := s.Plan.Sections[section]
	for i := range s.Plan.Seats[at.First : at.First+at.Count] {
		if c := s.Plan.Seats[at.First+i].Category; !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// chosen is the ticket type that seats are claimed with; the page shows its prices.
func (s Sale) chosen() int {
	kinds := s.kinds()
	for _, kind := range kinds {
		if s.Prices.Types[kind].Key == s.Filter.Type {
			return kind
		}
	}
	if len(kinds) > 0 {
		return kinds[0]
	}
	return 0
}

// Choose shows the prices of the ticket type with this key, if the attendee may buy it.
func (s *Sale) Choose(key string) {
	for i, kind := range s.kinds() {
		if i > 0 && s.Prices.Types[kind].Key == key {
			s.Filter.Type = key
		}
	}
}

// asked is the key of the chosen type in a claim; empty for the usual type of each seat.
func (s Sale) asked() string {
	if s.Filter.Type == "" || s.Prices == nil {
		return ""
	}
	return s.Prices.Types[s.chosen()].Key
}

// kind is the type that seats of a category are claimed with: the chosen one, or else the usual one. It returns false if
// such a claim is refused.
func (s Sale) kind(category int) (kind int, sold bool) {
	switch {
	case s.Prices == nil:
		return 0, true
	case s.asked() != "":
		return s.chosen(), s.sells(s.chosen(), category)
	}
	return s.Prices.Usual(category, s.Codes.Access)
}

// lineIn is a ticket of a category as it would be claimed now, or false if it is not sold.
func (s Sale) lineIn(category int) (l seats.Line, sold bool) {
	l.Category, l.Price = category, s.Plan.Categories[category].Price
	if l.Type, sold = s.kind(category); sold && s.Prices != nil {
		l.Phase = s.Running.Phase
		l.Price, _ = s.Prices.Price(l.Phase, l.Type, category)
	}
	return l, sold
}

// priceIn is what a ticket of a category costs, with fees and taxes, and with the name of the type if it is not the chosen
// one: the price that pages show, and that a claim gets.
func (s Sale) priceIn(ctx context.Context, category int) string {
	l, sold := s.lineIn(category)
	if !sold {
		return s.notSold(ctx)
	}
	price := views.PriceIn(ctx, AllIn(s.Event, l), s.Event.Currency)
	if s.Prices != nil && l.Type != s.chosen() {
		return s.Prices.Types[l.Type].Name + " " + price
	}
	return price
}

// shown tells the scripts the price that a category is shown at, and of which ticket type; both are empty where none is sold.
func (s Sale) shown(category int) templ.Attributes {
	l, sold := s.lineIn(category)
	if !sold || s.Prices == nil {
		return templ.Attributes{"data-price": "", "data-kind": ""}
	}
	return templ.Attributes{"data-price": strconv.FormatInt(AllIn(s.Event, l), 10), "data-kind": s.Prices.Types[l.Type].Key}
}

// notSold stands in place of a price where tickets of the chosen type are not sold, or none are.
func (s Sale) notSold(ctx context.Context) string {
	if s.asked() != "" {
		return text.T(ctx, "not as %s", s.Prices.Types[s.chosen()].Name)
	}
	return text.T(ctx, "not on sale")
}

// then says what a category costs after this phase; nothing if it is the same.
func (s Sale) then(ctx context.Context, category int) string {
	l, sold := s.lineIn(category)
	if s.Running.Phase == 0 || !sold {
		return ""
	}
	price, _ := s.Prices.Price(s.Running.Next, l.Type, category)
	if price == l.Price {
		return ""
	}
	l.Price = price
	return text.T(ctx, "then %s", views.PriceIn(ctx, AllIn(s.Event, l), s.Event.Currency))
}

// fare names a price on the page, for the scripts that take it from a fresh copy.
func fare(what string, i int) string { return what + strconv.Itoa(i) }

func (s Sale) hasPhases() bool { return s.Prices != nil && len(s.Prices.Phases) > 0 }

// typed is the address of this page with the prices of another ticket type.
func (s Sale) typed(kind int) string {
	t := s
	t.Filter.Type = ""
	t.Choose(s.Prices.Types[kind].Key)
	return t.Here()
}

// rule says what a ticket type is sold with, how many an order has, and what is shown at the door; empty for nothing.
func (s Sale) rule(ctx context.Context, kind int) string {
	t := &s.Prices.Types[kind]
	var words, with []string
	if t.With.Type != nil && *t.With.Type < len(s.Prices.Types) {
		with = append(with, s.Prices.Types[*t.With.Type].Name)
	}
	if t.With.Accessible {
		with = append(with, text.T(ctx, "a wheelchair place"))
	}
	if len(with) > 0 {
		if t.With.Each > 0 {
			words = append(words, text.T(ctx, "Only with %s, up to %d for each", text.Either(ctx, with), t.With.Each))
		} else {
			words = append(words, text.T(ctx, "Only with %s", text.Either(ctx, with)))
		}
	}
	if t.Least > 0 {
		words = append(words, text.T(ctx, "At least %d", t.Least))
	}
	if t.Most > 0 {
		words = append(words, text.T(ctx, "Up to %d", t.Most))
	}
	if t.Proof != "" {
		words = append(words, text.T(ctx, "Proof at the door: %s", t.Proof))
	}
	return strings.Join(words, " · ")
}

// kindPrice is what tickets of a type cost in these categories: one price, or from and to.
func (s Sale) kindPrice(ctx context.Context, kind int, categories []int) string {
	low, high := int64(-1), int64(0)
	for _, c := range categories {
		if !s.sells(kind, c) {
			continue
		}
		price, _ := s.Prices.Price(s.Running.Phase, kind, c)
		all := AllIn(s.Event, seats.Line{Type: kind, Category: c, Price: price})
		if low < 0 {
			low = all
		}
		low, high = min(low, all), max(high, all)
	}
	return s.span(ctx, low, high)
}

// usually is how many tickets of a type a form asks for before it was changed.
func (s Sale) usually(kind, most int) string {
	if s.Proposals != nil && s.Proposals.Tickets != nil {
		return strconv.Itoa(s.Proposals.Tickets[s.Prices.Types[kind].Key])
	}
	if kind != s.chosen() {
		return "0"
	}
	return strconv.Itoa(min(most, s.Event.SeatsPerHolder))
}

// Choice is a ticket type that a held seat may have.
type Choice struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Price int64  `json:"price"` // of the seat, with its fee and all taxes
	Text  string `json:"text"`
}

// Choices lists the ticket types that a held seat may have, with the one it has; nothing if that is the only one.
func (s Sale) Choices(ctx context.Context, idx int) (list []Choice) {
	if s.Prices == nil || s.Hold == nil {
		return nil
	}
	has := s.line(idx)
	for _, kind := range s.Prices.Order() {
		if kind != has.Type && !s.sells(kind, has.Category) {
			continue
		}
		l := has
		if kind != has.Type {
			l.Type = kind
			l.Price, _ = s.Prices.Price(has.Phase, kind, has.Category)
		}
		price := AllIn(s.Event, l)
		list = append(list, Choice{s.Prices.Types[kind].Key, s.Prices.Types[kind].Name, price, views.PriceIn(ctx, price, s.Event.Currency)})
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// severalTypes reports whether the type of a held seat can be changed.
func (s Sale) severalTypes() bool {
	return slices.ContainsFunc(s.held().Seats, func(idx int) bool { return len(s.Choices(context.Background(), idx)) > 0 })
}

// typeKey is the key of the ticket type of a held seat.
func (s Sale) typeKey(idx int) string { return s.Prices.Types[s.line(idx).Type].Key }

// typeName is the ticket type of a held seat; empty if the event has one only.
func (s Sale) typeName(idx int) string {
	if s.Prices == nil || len(s.Prices.Types) < 2 {
		return ""
	}
	return s.Prices.Types[s.line(idx).Type].Name
}
