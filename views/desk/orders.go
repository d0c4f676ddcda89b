package desk

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// OrderPath is the address of an order at the desk.
func OrderPath(slug, code string) string { return EventPath(slug) + "/orders/" + code }

// SeatsPath is the address of an event's seats at the desk.
func SeatsPath(slug string) string { return EventPath(slug) + "/seats" }

// SeatPath is the address of one seat at the desk.
func SeatPath(slug string, idx int) string { return fmt.Sprintf("%s/%d", SeatsPath(slug), idx) }

// OrdersPage lists orders of an event.
type OrdersPage struct {
	Frame
	Plan    *seats.Plan
	Words   string // that were looked for
	Orders  []orders.Found
	Older   string // the query of the page with those before; empty if there are none
	Key     string // of the form that cancels several
	Message string // why one was refused
}

// marks reports whether orders can be marked: one of them holds still, and who looks may give it back.
func (p OrdersPage) marks() bool {
	return p.Member.May(organizers.Manage) && slices.ContainsFunc(p.Orders, func(f orders.Found) bool { return len(f.Seats) > 0 })
}

// seatsOf says the seats of an order in a line; of many the first ones.
func (p OrdersPage) seatsOf(ctx context.Context, f orders.Found) string {
	const most = 4
	var words []string
	for _, idx := range f.Seats[:min(most, len(f.Seats))] {
		if idx >= 0 && idx < len(p.Plan.Seats) {
			words = append(words, p.Plan.Label(idx))
		}
	}
	if more := len(f.Seats) - most; more > 0 {
		words = append(words, text.T(ctx, "and %d more", more))
	}
	if len(words) == 0 {
		return text.T(ctx, "No tickets")
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// standingOf says how an order stands, and whether it needs attention.
func standingOf(ctx context.Context, f orders.Found) (words, class string) {
	switch {
	case f.State == orders.Cancelled:
		return text.T(ctx, "Order cancelled"), "bad"
	case f.Due > 0:
		return text.T(ctx, "%s due", views.MoneyIn(ctx, f.Due, f.Currency)), "warn"
	case f.In > 0 && f.In == len(f.Seats):
		return text.T(ctx, "Checked in"), "good"
	case f.In > 0:
		return text.N(ctx, "%d checked in", "%d checked in", f.In), "good"
	}
	return text.T(ctx, "Paid"), ""
}

// OrderPage is one order with what may be done with it.
type OrderPage struct {
	Frame
	Sale    shop.Sale
	Order   orders.Order
	Sent    orders.Sent
	Key     string
	Message string     // why what was asked was not done
	Form    url.Values // as it was typed

	Passages []orders.Passage // at the door

	Invoices []invoices.Document // of the order, and its credit notes

	EmailChanges []orders.EmailChange // all that were asked for

	Dates    []OtherDate   // of the series, that tickets may be exchanged for
	Exchange *DeskExchange // that was asked for, to be confirmed; nil: none
}

// OtherDate is another performance of a series.
type OtherDate struct {
	Slug  string
	Local time.Time // the start on the clock of its place
	Free  int
}

// DeskExchange is what an exchange would be, before a member confirms it.
type DeskExchange struct {
	Quote orders.Quote
	To    *seats.Sale
}

// chosen reports whether a ticket is marked in the form that was sent.
func (p OrderPage) chosen(t orders.Ticket) bool {
	return slices.Contains(p.Form["ticket"], t.ID.String())
}

// moneyWords says what an exchange costs or gives back.
func (p OrderPage) moneyWords(ctx context.Context) string {
	return shop.ExchangePage{Order: p.Order, Quote: p.Exchange.Quote}.MoneyWords(ctx)
}

func (p OrderPage) page() shop.OrderPage {
	return shop.OrderPage{Sale: p.Sale.Whole(), Order: p.Order, Sent: p.Sent}
}

// paid reports whether money came for the order, so that its receipt can be printed.
func (p OrderPage) paid() bool { return shop.OrderPage{Order: p.Order}.HasReceipt() }

func (p OrderPage) path(more string) string {
	return OrderPath(p.Event.Slug, p.Order.Code) + more
}

// movable are the valid tickets that were not scanned, also those that were sent to a friend.
func (p OrderPage) movable() []orders.Ticket {
	return slices.DeleteFunc(p.page().Tickets(), func(t orders.Ticket) bool { return t.Revoked || t.In != nil })
}

func (p OrderPage) typed(field string) string { return p.Form.Get(field) }

// SeatsPage is a section's seats, to be blocked, unblocked and sold.
type SeatsPage struct {
	Frame
	Sale    shop.Sale
	Section int
	Blocked map[int]string // why, by idx
	Methods []string       // of the box office
	Key     string
	Message string     // why what was asked was not done
	Form    url.Values // as it was typed

	Lines []seats.Line // the chosen seats, as they would be sold
	Cost  pricing.Cost // of Lines

	CardPays *int64 // what the gift card pays of Cost, minor units; nil: there is none
}

// mostLines is how many of the chosen seats the page lists.
const mostLines = 60

// kinds lists the ticket types that the box office sells.
func (p SeatsPage) kinds() (kinds []seats.TicketType) {
	if p.Sale.Prices == nil {
		return nil
	}
	for _, kind := range p.Sale.Prices.Order() {
		if t := p.Sale.Prices.Types[kind]; !t.Retired {
			kinds = append(kinds, t)
		}
	}
	return kinds
}

// choices lists the ticket types that a seat may be sold as, with what they cost.
func (p SeatsPage) choices(ctx context.Context, l seats.Line) (list []shop.Choice) {
	for _, kind := range p.Sale.Prices.Order() {
		price, sold := p.Sale.Prices.Price(l.Phase, kind, l.Category)
		if t := p.Sale.Prices.Types[kind]; sold && !t.Retired {
			all := shop.AllIn(p.Sale.Event, seats.Line{Type: kind, Category: l.Category, Price: price})
			list = append(list, shop.Choice{Key: t.Key, Name: t.Name, Price: all, Text: views.PriceIn(ctx, all, p.Sale.Event.Currency)})
		}
	}
	return list
}

func (p SeatsPage) marked(label string) bool {
	for _, one := range p.Form["seat"] {
		if one == label {
			return true
		}
	}
	return false
}

func (p SeatsPage) typed(field string) string { return p.Form.Get(field) }

// rowOfSeats is a row of seats at the desk.
type rowOfSeats struct {
	name  string
	seats []int
}

// rows are the seats of the section, row by row; an area has one for each hundred places.
func (p SeatsPage) rows(ctx context.Context) (rows []rowOfSeats) {
	plan, at := p.Sale.Plan, p.Sale.Plan.Sections[p.Section]
	const most = 100
	for idx := at.First; idx < at.First+at.Count; idx++ {
		last := len(rows) - 1
		switch {
		case last >= 0 && !at.Area && plan.Seats[rows[last].seats[0]].Row == plan.Seats[idx].Row:
		case last >= 0 && at.Area && len(rows[last].seats) < most:
		case at.Area:
			rows = append(rows, rowOfSeats{name: text.T(ctx, "Places from %s", plan.Seats[idx].Number)})
		default:
			rows = append(rows, rowOfSeats{name: shop.RowWords(ctx, plan.Seats[idx].Row)})
		}
		rows[len(rows)-1].seats = append(rows[len(rows)-1].seats, idx)
	}
	return rows
}

// seatTitle is all that is known of a seat, in a line.
func (p SeatsPage) seatTitle(ctx context.Context, idx int) string {
	title := p.Sale.Plan.WordsIn(ctx, idx) + text.T(ctx, ", ") + stateOf(ctx, p.Sale.Map.States[idx].Shown())
	if reason := p.Blocked[idx]; reason != "" {
		title += ": " + reason
	}
	return title
}

var stateNames = map[seats.State]string{
	seats.Free: text.Mark("available"), seats.Held: text.Mark("held"), seats.Expired: text.Mark("hold expired"), seats.Paying: text.Mark("being paid for"), seats.Sold: text.Mark("sold"), seats.Blocked: text.Mark("blocked"),
}

// stateOf names the state of a seat.
func stateOf(ctx context.Context, s seats.State) string { return text.T(ctx, stateNames[s]) }

// reasons are why seats of the section are blocked, each once, with how many.
func (p SeatsPage) reasons(ctx context.Context) (list []string) {
	count := map[string]int{}
	for _, reason := range p.Blocked {
		count[reason]++
	}
	for reason, n := range count {
		if reason == "" {
			list = append(list, text.N(ctx, "%d seat is blocked without a reason", "%d seats are blocked without a reason", n))
			continue
		}
		list = append(list, text.N(ctx, "%d seat is blocked: %s", "%d seats are blocked: %s", n, reason))
	}
	sortWords(list)
	return list
}

// Moment is what became of a seat once, in words.
type Moment struct {
	Version int64
	At      time.Time
	State   seats.State
	Who     string // the buyer's name, or a letter for a visitor without an order
	Order   string // its code
	Reason  string // of a block
}

// Moments puts words to what became of a seat. Visitors without an order are A, B and so on, as they came.
func Moments(ctx context.Context, list []sales.Moment, of map[seats.ID]orders.Found) []Moment {
	letters := map[seats.ID]string{}
	for i := len(list) - 1; i >= 0; i-- {
		h := list[i].Holder
		if _, known := letters[h]; !known && h != (seats.ID{}) && list[i].State != seats.Blocked && list[i].State != seats.Sold {
			letters[h] = text.T(ctx, "visitor %s", letter(len(letters)))
		}
	}
	moments := make([]Moment, len(list))
	for i, m := range list {
		moments[i] = Moment{Version: m.Version, At: m.At, State: m.State, Reason: m.Reason}
		if o, ordered := of[m.Holder]; ordered {
			moments[i].Who, moments[i].Order = o.Name, o.Code
		} else if m.State != seats.Blocked {
			moments[i].Who = letters[m.Holder]
		}
	}
	return moments
}

func letter(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return fmt.Sprint(n + 1)
}

// words says what became of the seat, after its time.
func (m Moment) words(ctx context.Context) string {
	switch m.State {
	case seats.Free:
		return text.T(ctx, "available again")
	case seats.Held:
		return text.T(ctx, "held by %s", m.Who)
	case seats.Expired:
		return text.T(ctx, "the hold of %s expired", m.Who)
	case seats.Paying:
		return text.T(ctx, "being paid for by %s", m.Who)
	case seats.Blocked:
		if m.Reason == "" {
			return text.T(ctx, "blocked")
		}
		return text.T(ctx, "blocked: %s", m.Reason)
	}
	return text.T(ctx, "sold")
}

// ordered is the message about a seat of an order, with a link to it.
func (m Moment) ordered() string {
	switch m.State {
	case seats.Held:
		return text.Mark("held by <a>%s</a>")
	case seats.Expired:
		return text.Mark("the hold of <a>%s</a> expired")
	case seats.Paying:
		return text.Mark("being paid for by <a>%s</a>")
	}
	return text.Mark("sold to <a>%s</a>")
}

// SeatPage is what became of one seat.
type SeatPage struct {
	Frame
	Sale    shop.Sale
	Idx     int
	Moments []Moment // the latest first
	Back    int64    // the version to look further back from; 0 if there is nothing left
}
