package shop

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// ProposalField is the field of a form with the seats of a proposal: their idx, with spaces between.
const ProposalField = "proposal"

// Party is whom the form of the best seats is for.
type Party struct {
	Size     int
	Tickets  map[string]int // how many of each type, by key; nil: the usual type of each seat
	Category string         // key; empty: any
	Most     int64          // of a seat, in minor units, with fees and taxes; 0: any price
	Apart    bool
	Aisle    bool
	Not      []int // idx of the seats that were proposed before
}

// Proposals are places for a party, on a page or as JSON.
type Proposals struct {
	Party
	List []seats.Proposal
	Anew bool // there are no others, so that these were proposed before
}

// Propose finds places for a party.
func (s Sale) Propose(sale *seats.Sale, p Party) Proposals {
	made := Proposals{Party: p}
	party := seats.Party{Size: p.Size, Together: !p.Apart, Aisle: p.Aisle, Accessible: s.Filter.Accessible, Not: p.Not, Price: s.partyPrice(p)}
	if s.Codes.Access != nil {
		party.Unlocked = s.Codes.Access.Seats
	}
	if made.List = sale.Propose(party); len(made.List) == 0 && len(p.Not) > 0 {
		party.Not, made.Not, made.Anew = nil, nil, true
		made.List = sale.Propose(party)
	}
	return made
}

// partyPrice says what a party would pay in a category, and whether it may sit there.
func (s Sale) partyPrice(p Party) func(category int) (int64, bool) {
	return func(category int) (sum int64, may bool) {
		if p.Category != "" && s.Plan.Categories[category].Key != p.Category {
			return 0, false
		}
		if p.Tickets == nil {
			l, sold := s.lineIn(category)
			price := AllIn(s.Event, l)
			return price * int64(p.Size), sold && (p.Most == 0 || price <= p.Most)
		}
		for key, n := range p.Tickets {
			kind := s.Prices.TypeKeyed(key)
			if kind < 0 || !s.sells(kind, category) {
				return 0, false
			}
			price, _ := s.Prices.Price(s.Running.Phase, kind, category)
			all := AllIn(s.Event, seats.Line{Type: kind, Category: category, Price: price})
			if p.Most > 0 && all > p.Most {
				return 0, false
			}
			sum += all * int64(n)
		}
		return sum, true
	}
}

// limits are the prices of seats, the lowest first, as choices for the highest.
func (s Sale) limits() (list []int64) {
	for _, c := range s.seated() {
		if l, sold := s.lineIn(c); sold {
			list = append(list, AllIn(s.Event, l))
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) < 2 {
		return nil
	}
	return list[:len(list)-1]
}

// asked is what the form of the best seats was sent with.
func (s Sale) askedParty() Party {
	if s.Proposals == nil {
		return Party{}
	}
	return s.Proposals.Party
}

// usualParty is how many a form asks for: what it was sent with, else the usual number.
func (s Sale) usualParty(usual int) int {
	if s.Proposals != nil && s.Proposals.Tickets == nil {
		return s.Proposals.Size
	}
	return usual
}

// optionsTitle says how many proposals there are.
func (s Sale) optionsTitle(ctx context.Context) string {
	n := len(s.Proposals.List)
	switch {
	case n == 0 && s.Proposals.Apart:
		return text.T(ctx, "No seats match. Choose fewer, or a higher price.")
	case n == 0:
		return text.T(ctx, "No seats together match. Choose fewer, a higher price, or seats apart.")
	case s.Proposals.Apart:
		return text.N(ctx, "%d option", "%d options", n)
	}
	return text.N(ctx, "%d option, together", "%d options, together", n)
}

var reasons = map[string]string{
	seats.ForValue: text.Mark("Best value"), seats.ForSight: text.Mark("Closest to the stage"), seats.ForPrice: text.Mark("Lowest price"),
}

// reason says why seats are proposed, and how far they are from the stage.
func (s Sale) reason(ctx context.Context, p seats.Proposal) string {
	words := []string{text.T(ctx, "%d m to the stage", int(math.Round(eyeOf(s.Plan, p.Seats[len(p.Seats)/2]).distance)))}
	if p.Why != "" {
		words = append([]string{text.T(ctx, reasons[p.Why])}, words...)
	}
	return strings.Join(words, " · ")
}

// together names seats of one row: "Stalls, row M, seats 18–20". Others are named one by one.
func (s Sale) togetherWords(ctx context.Context, idxs []int) string {
	first, last := &s.Plan.Seats[idxs[0]], &s.Plan.Seats[idxs[len(idxs)-1]]
	if len(idxs) == 1 {
		return s.seatWords(ctx, idxs[0])
	}
	for i, idx := range idxs {
		if seat := &s.Plan.Seats[idx]; idx != idxs[0]+i || seat.Section != first.Section || seat.Row != first.Row {
			names := make([]string, len(idxs))
			for i, idx := range idxs {
				names[i] = s.seatWords(ctx, idx)
			}
			return strings.Join(names, " · ")
		}
	}
	numbers, section := first.Number+"–"+last.Number, s.Plan.SectionIn(ctx, first.Section)
	if seats.OwnName(first.Row) {
		return text.T(ctx, "%s, %s, seats %s", section, first.Row, numbers)
	}
	return text.T(ctx, "%s, row %s, seats %s", section, first.Row, numbers)
}

// idxWords writes seats as forms name them.
func idxWords(idxs []int) string {
	words := make([]string, len(idxs))
	for i, idx := range idxs {
		words[i] = strconv.Itoa(idx)
	}
	return strings.Join(words, " ")
}

// shownBefore are the seats of these proposals and of those before.
func (p Proposals) shownBefore() string {
	all := slices.Clone(p.Not)
	for _, each := range p.List {
		all = append(all, each.Seats...)
	}
	return idxWords(all)
}

// fields are the hidden fields of a form that repeat whom it is for.
func (p Proposals) fields() (list [][2]string) {
	if p.Tickets == nil {
		list = append(list, [2]string{"best", strconv.Itoa(p.Size)})
	}
	if p.Category != "" {
		list = append(list, [2]string{"category", p.Category})
	}
	if p.Most > 0 {
		list = append(list, [2]string{"most", strconv.FormatInt(p.Most, 10)})
	}
	for name, yes := range map[string]bool{"party": true, "together": !p.Apart, "aisle": p.Aisle} {
		if yes {
			list = append(list, [2]string{name, "1"})
		}
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// tickets are the fields with how many tickets of each type the party wants.
func (p Proposals) tickets() (list [][2]string) {
	for key, n := range p.Tickets {
		list = append(list, [2]string{TicketsPrefix + key, strconv.Itoa(n)})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// limitWords is a highest price.
func (s Sale) limitWords(ctx context.Context, most int64) string {
	return text.T(ctx, "Up to %s", views.PriceIn(ctx, most, s.Event.Currency))
}

// viewPath is the address of the view from a seat.
func (s Sale) viewPath(idx int) string {
	return s.Path() + "/views/" + s.Event.PlanHash + "/" + strconv.Itoa(idx) + ".svg"
}
