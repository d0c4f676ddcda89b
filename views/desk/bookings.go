package desk

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// BookingsPath is the address of the group bookings of an event.
func BookingsPath(slug string) string { return EventPath(slug) + "/bookings" }

// BookingPath is the address of a group booking.
func BookingPath(slug string, id seats.ID) string { return BookingsPath(slug) + "/" + id.String() }

// GroupBooking is a booking with what it costs, in minor units.
type GroupBooking struct {
	bookings.Booking
	Sum int64
}

// Who is the group, as people call it.
func (k GroupBooking) Who(ctx context.Context) string {
	switch {
	case k.Organisation != "":
		return k.Organisation
	case k.Name != "":
		return k.Name
	}
	return text.T(ctx, "Erased")
}

// standing are the words for the state of a booking, and the class of its badge.
func (k GroupBooking) standing(ctx context.Context, e *seats.Event) (words, class string) {
	switch {
	case k.State == bookings.Option:
		return text.T(ctx, "Option"), ""
	case k.State == bookings.Expired:
		return text.T(ctx, "Expired"), ""
	case k.State == bookings.Cancelled:
		return text.T(ctx, "Cancelled"), ""
	case k.OrderCancelled:
		return text.T(ctx, "Order cancelled"), "bad"
	case k.Due > 0:
		return text.T(ctx, "%s due", views.MoneyIn(ctx, k.Due, e.Currency)), "warn"
	}
	return text.T(ctx, "Paid"), "good"
}

// depositStanding are the words for the state of a deposit, and the class of its badge.
func (k GroupBooking) depositStanding(ctx context.Context, e *seats.Event) (words, class string) {
	switch d := k.Deposit; {
	case d.Outcome == bookings.InOrder:
		return text.T(ctx, "In the order"), "good"
	case d.GoesBack:
		return text.T(ctx, "Refund on its way"), ""
	case d.Outcome == bookings.Refunded:
		return text.T(ctx, "Paid back"), ""
	case d.Outcome == bookings.Retained:
		return text.T(ctx, "Retained"), ""
	case k.Owed(*e) && !k.Deposit.Keepable:
		return text.T(ctx, "Pay back"), "warn"
	case k.Owed(*e):
		return text.T(ctx, "Pay back or retain"), "warn"
	case d.Paid():
		return text.T(ctx, "Paid"), "good"
	case k.State != bookings.Option:
		return text.T(ctx, "Not paid"), ""
	case d.Due.Before(time.Now()):
		return text.T(ctx, "Overdue"), "bad"
	}
	return text.T(ctx, "Due"), "warn"
}

// BookingsPage is the group bookings of an event, with a form for another one.
type BookingsPage struct {
	Frame
	Plan    *seats.Plan
	Prices  *seats.Prices
	List    []GroupBooking
	Chosen  []int      // seats that the form begins with
	Form    url.Values // as it was typed
	Message string     // why it was refused
	Next    string     // cursor of earlier ones; empty: there are none
	Part    bool       // the list is a page of several
}

// options are the number of options that last, and of their seats.
func (p BookingsPage) options() (n, places int) {
	for _, k := range p.List {
		if k.State == bookings.Option {
			n, places = n+1, places+k.Places
		}
	}
	return n, places
}

// typed is a field of the form, or what it begins with.
func (p BookingsPage) typed(field string) string {
	if field == "until" && !p.Form.Has(field) {
		return usualEnd(p.Event).Format(MomentForm)
	}
	return p.Form.Get(field)
}

// usualEnd is when an option ends unless the form says otherwise: in two weeks, or a day before the event begins.
func usualEnd(e *seats.Event) time.Time {
	at := e.Local(time.Now()).AddDate(0, 0, 14)
	at = time.Date(at.Year(), at.Month(), at.Day(), 18, 0, 0, 0, at.Location())
	if last := e.Local(e.StartsAt).AddDate(0, 0, -1); last.Before(at) {
		return last
	}
	return at
}

// BookingPage is the booking of a group.
type BookingPage struct {
	Frame
	Plan    *seats.Plan
	Prices  *seats.Prices
	Booking GroupBooking

	Lines    []seats.Line // of an option, as they would be sold
	Cost     pricing.Cost
	Unpriced string // why they cannot be

	Order    orders.Order // of a confirmed booking
	Invoices []invoices.Document
	Country  string // of the team's invoices; empty: it issues none

	Documents []invoices.Document // of its deposit
	Payment   *bookings.Payment   // of its deposit on the group's page, the latest; nil: none

	Part    string     // the form that was refused
	Form    url.Values // as it was typed
	Message string     // why it was refused
}

func (p BookingPage) path(more string) string {
	return BookingPath(p.Event.Slug, p.Booking.ID) + more
}

// typed returns the fields of a form, as they were typed or as they are.
func (p BookingPage) typed(part string) func(field string) string {
	if p.Part == part && p.Form != nil {
		return p.Form.Get
	}
	k := p.Booking
	as := url.Values{
		"name": {k.Name}, "email": {k.Email}, "organisation": {k.Organisation}, "note": {k.Note}, "until": {p.Event.Local(k.Until).Format(MomentForm)},
		"keep": {strconv.Itoa(len(k.Seats))}, orders.FieldCompany: {k.Organisation}, orders.FieldCountry: {p.Country},
		"due": {p.Event.Local(time.Now()).AddDate(0, 0, 14).Format("2006-01-02T") + "23:59"},
	}
	if d := k.Deposit; d != nil {
		as.Set("deposit", pricing.Amount(d.Amount, p.Event.Currency))
		as.Set("deposit_due", p.Event.Local(d.Due).Format(MomentForm))
		if d.Refundable != nil {
			as.Set("deposit_refundable", p.Event.Local(*d.Refundable).Format(MomentForm))
		}
	}
	for _, price := range k.Prices {
		if price.Count > 0 {
			as.Set("tickets."+price.Type, strconv.Itoa(price.Count))
		}
		if price.Each != nil {
			as.Set("price."+price.Type, pricing.Amount(*price.Each, p.Event.Currency))
		}
	}
	return as.Get
}

// ofTypes is how many tickets of a type cost so much.
type ofTypes struct {
	name  string
	count int
	each  int64
}

// kinds are the lines of an option by type and price.
func (p BookingPage) kinds() (list []ofTypes) {
	for i, l := range p.Lines {
		one := ofTypes{p.Prices.Types[l.Type].Name, 1, p.Cost.Lines[i].Cost()}
		if len(p.Prices.Types) == 1 {
			one.name = p.Plan.Categories[l.Category].Name
		} else if len(p.Plan.Categories) > 1 {
			one.name += " · " + p.Plan.Categories[l.Category].Name
		}
		found := false
		for j := range list {
			if found = list[j].name == one.name && list[j].each == one.each; found {
				list[j].count++
				break
			}
		}
		if !found {
			list = append(list, one)
		}
	}
	return list
}

// names are those on the tickets, one a line, by seat.
func (p BookingPage) names() string {
	if p.Part == "names" {
		return p.Form.Get("names")
	}
	var names []string
	for _, t := range p.Order.Unused() {
		names = append(names, t.Name)
	}
	return strings.TrimRight(strings.Join(names, "\n"), "\n")
}

// named is how many tickets have a name, and how many there are.
func (p BookingPage) named() (named, all int) {
	for _, t := range p.Order.Tickets {
		if !t.Revoked {
			all++
			if t.Name != "" || t.Friend != nil {
				named++
			}
		}
	}
	return named, all
}

// ticketTypes are those that a group may get.
func ticketTypes(prices *seats.Prices) (list []seats.TicketType) {
	for _, number := range prices.Order() {
		if t := prices.Types[number]; !t.Retired {
			list = append(list, t)
		}
	}
	return list
}

// ofPayment says what the desk has to know of a payment on the group's page; empty if that is nothing.
func (p BookingPage) ofPayment(ctx context.Context) string {
	if p.Payment == nil {
		return ""
	}
	amount := views.MoneyIn(ctx, p.Payment.Amount, p.Event.Currency)
	switch {
	case p.Payment.State == bookings.PaymentOpen:
		return text.T(ctx, "The group is paying %s online.", amount)
	case p.Payment.State == bookings.PaymentRefunding && p.Payment.Reason != "":
		return text.T(ctx, "An online payment of %[1]s goes back: %[2]s", amount, payments.Reason(p.Payment.Reason).In(ctx))
	case p.Payment.State == bookings.PaymentRefunding:
		return text.T(ctx, "An online payment of %s goes back.", amount)
	case p.Payment.State == bookings.PaymentRefunded:
		return text.T(ctx, "An online payment of %s went back.", amount)
	}
	return ""
}
