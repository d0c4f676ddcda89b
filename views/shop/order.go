package shop

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// OrderPage is an order with its tickets.
type OrderPage struct {
	views.Page
	Sale
	Order   orders.Order
	Sent    orders.Sent // the latest mail about it
	Message string      // why what was asked was not done; may be empty
	Home    string      // how browsers reach us

	TypedEmail, WrongEmail string // of a friend whom a ticket is sent to, and what is wrong with it
	TypedFriend            string // the email of one who may buy tickets that are offered back

	EmailChanges            []orders.EmailChange
	NewEmail, WrongNewEmail string // as it was typed, and what is wrong with it

	Typed    *orders.Details // that were not saved; nil: those of the order
	Mistakes orders.Mistakes // in Typed

	Passes     Passes           // that buttons offer
	About      *pages.EventPage // may be nil
	Subscribed *Subscribed      // the subscription that it is of; nil for most

	Proofs map[int]publiclog.Proof // by seat: that its sale is in the public log

	Invoices []invoices.Document   // of the order, and its credit notes
	Transfer banktransfer.Transfer // of what is due; without an account if nothing is due by bank transfer
}

// cancellable reports whether its attendee may give tickets up.
func (p OrderPage) cancellable() bool {
	return p.Order.State == orders.Confirmed && !p.Order.Started && !p.Order.CancelOver && !p.Order.PaidOutside() && len(p.Unused()) > 0
}

// details are the name and the answers, as the form shows them.
func (p OrderPage) details() orders.Details {
	if p.Typed != nil {
		return *p.Typed
	}
	return orders.Details{Name: p.Order.Name, Answers: p.Order.Answers}
}

// Unused are the valid tickets that were not scanned.
func (p OrderPage) Unused() []orders.Ticket {
	return slices.DeleteFunc(p.Live(), func(t orders.Ticket) bool { return t.In != nil })
}

// giveUp says what giving tickets up means.
func (p OrderPage) giveUp(ctx context.Context) string {
	said := text.T(ctx, "Your tickets stop being valid at once, and others can book the seats.")
	if payments.Ahead(p.Order.Method) {
		said += " " + p.goesBack(ctx)
		if p.Order.Repriced() {
			said += " " + text.T(ctx, "Each amount is for that ticket alone. If you keep too few tickets for the offer “%s”, they cost their full price, and you get less back.", p.Order.Offer)
		}
	}
	return said
}

// goesBack says how the price of tickets that are given up goes back, and what becomes of their fees.
func (p OrderPage) goesBack(ctx context.Context) string {
	way := wayBackOf(ctx, p.Order)
	switch {
	case p.Order.Fee == 0:
		return text.T(ctx, "The price goes back %s.", way)
	case p.Order.FeeKept:
		return text.T(ctx, "The price goes back %s, without the fees.", way)
	}
	return text.T(ctx, "The price goes back %s, with their share of the fees.", way)
}

// WayBack says how money goes back that was paid by a method.
func WayBack(ctx context.Context, method string) string {
	switch method {
	case payments.Credit:
		return text.T(ctx, "into your credit")
	case payments.Demo:
		return text.T(ctx, "to the demo card")
	case payments.Door, payments.Invoice, payments.Cash, payments.Terminal:
		return text.T(ctx, "to you, paid out by the organizer")
	}
	return text.T(ctx, "the way you paid")
}

// wayBackOf says how money of an order goes back.
func wayBackOf(ctx context.Context, o orders.Order) string {
	switch {
	case o.ByCard == 0:
		return WayBack(ctx, o.Method)
	case o.ByCard == o.Total:
		return text.T(ctx, "to your gift card")
	}
	return text.T(ctx, "the way you paid")
}

// CancelWords says whether and until when the buyer of these tickets may cancel them, and what we keep. Nothing if all are used.
func (p OrderPage) CancelWords(ctx context.Context) string {
	o := p.Order
	switch {
	case len(p.Unused()) == 0:
		return ""
	case o.PaidOutside():
		return text.T(ctx, "Only the organizer can cancel this order, as it was not paid online.")
	}
	said := text.T(ctx, neverCancelled)
	if o.CancelEnds != nil {
		said = cancelUntil(ctx, p.Event, *o.CancelEnds, o.CancelOver)
	}
	keeps := slices.ContainsFunc(p.Unused(), func(t orders.Ticket) bool { return pricing.Kept(o.Policy, t.Price) > 0 })
	if !o.CancelOver && keeps && payments.Ahead(o.Method) {
		said += keepWords(ctx, p.Event, o.Policy)
	}
	if o.RefuseExchange() == nil {
		said += exchangeUntil(ctx, p.Event, *o.ExchangeEnds, slices.ContainsFunc(p.Unused(), func(t orders.Ticket) bool { return t.Price > 0 }))
	}
	return said
}

// CancelWords says until when the tickets of this checkout may be cancelled, and what we keep.
func (p CheckoutPage) CancelWords(ctx context.Context) string {
	return p.cancelWords(ctx, p.total() > 0)
}

// CancelWords says the same of all tickets of the event, before any are chosen.
func (s Sale) CancelWords(ctx context.Context) string {
	return s.cancelWords(ctx, slices.ContainsFunc(s.Plan.Categories, func(c seats.Category) bool { return c.Price > 0 }))
}

func (s Sale) cancelWords(ctx context.Context, priced bool) string {
	said := text.T(ctx, neverCancelled)
	if ends, may := events.CancelEnds(s.Event); may {
		over := !s.Now.Before(ends)
		if said = cancelUntil(ctx, s.Event, ends, over); !over && priced {
			said += keepWords(ctx, s.Event, s.Event.Policy)
		}
	}
	if ends, may := events.ExchangeEnds(s.Event); may && s.Now.Before(ends) {
		said += exchangeUntil(ctx, s.Event, ends, priced)
	}
	if ends, may := events.ResaleEnds(s.Event); may && s.Now.Before(ends) {
		said += " " + text.T(ctx, "Until %s you can also offer tickets back that you paid for online: your money goes back once the seat is sold again.", views.DayTimeIn(ctx, s.Event, ends))
		if priced && s.Event.Policy.ResaleFee > 0 {
			said += " " + text.T(ctx, "We keep %s for each ticket that is sold again, at most its price.", views.MoneyIn(ctx, s.Event.Policy.ResaleFee, s.Event.Currency))
		}
	}
	return said
}

// exchangeUntil says until when tickets may be exchanged for those of another performance, and what we keep.
func exchangeUntil(ctx context.Context, e seats.Event, ends time.Time, priced bool) string {
	said := " " + text.T(ctx, "You can exchange tickets for another date until %s.", views.DayTimeIn(ctx, e, ends))
	if priced && e.Policy.ExchangeFee > 0 {
		said += " " + text.T(ctx, "Exchange fee: %s for each ticket, but never more than its price.", views.MoneyIn(ctx, e.Policy.ExchangeFee, e.Currency))
	}
	return said
}

var neverCancelled = text.Mark("Tickets for this event cannot be cancelled.")

func cancelUntil(ctx context.Context, e seats.Event, ends time.Time, over bool) string {
	if over {
		return text.T(ctx, "Tickets for this event can no longer be cancelled.")
	}
	return text.T(ctx, "You can cancel until %s.", views.DayTimeIn(ctx, e, ends))
}

// keepWords says what we keep of cancelled tickets; nothing if the policy keeps nothing.
func keepWords(ctx context.Context, e seats.Event, policy seats.Policy) string {
	fee, percent := views.MoneyIn(ctx, policy.CancelFee, e.Currency), percentage(ctx, policy.CancelPercent)
	switch {
	case policy.CancelFee > 0 && policy.CancelPercent > 0:
		return " " + text.T(ctx, "We keep %s and %s of its price for each cancelled ticket, at most its price.", fee, percent)
	case policy.CancelFee > 0:
		return " " + text.T(ctx, "We keep %s for each cancelled ticket, at most its price.", fee)
	case policy.CancelPercent > 0:
		return " " + text.T(ctx, "We keep %s of its price for each cancelled ticket.", percent)
	}
	return ""
}

// backWords says what goes back for a ticket that its attendee cancels; nothing if nothing was paid here.
func (p OrderPage) backWords(ctx context.Context, t orders.Ticket) string {
	if !payments.Ahead(p.Order.Method) {
		return ""
	}
	return " · " + text.T(ctx, "%s back", views.MoneyIn(ctx, p.Order.GoesBack(t.ID), p.Order.Currency))
}

// DueWords says until when an order is to be paid, and what happens then; nothing if nothing is to be paid later.
func DueWords(ctx context.Context, e seats.Event, o orders.Order) string {
	if o.DueAt == nil || o.Due() == 0 {
		return ""
	}
	return text.T(ctx, "Pay by %s. Unpaid orders are cancelled then.", views.DayTimeIn(ctx, e, *o.DueAt))
}

// WentBack says what became of money that was paid; nothing if none goes back.
func WentBack(ctx context.Context, o orders.Order) string {
	var said []string
	if o.ByHand > 0 {
		said = append(said, text.T(ctx, "%s goes back to you, paid out by the organizer.", views.MoneyIn(ctx, o.ByHand, o.Currency)))
	}
	switch rest := o.Back - o.ByHand; {
	case rest == 0:
	case o.OnItsWay > o.ByHand:
		said = append(said, text.T(ctx, "%s goes back %s. It is on its way.", views.MoneyIn(ctx, rest, o.Currency), wayBackOf(ctx, o)))
	case o.Method == payments.Card:
		said = append(said, text.T(ctx, "%s went back the way you paid. Banks take some days to show it.", views.MoneyIn(ctx, rest, o.Currency)))
	default:
		said = append(said, text.T(ctx, "%s went back %s.", views.MoneyIn(ctx, rest, o.Currency), wayBackOf(ctx, o)))
	}
	return strings.Join(said, " ")
}

// ToPay says what is still to pay of an order, and how; nothing if nothing is.
func ToPay(ctx context.Context, o orders.Order) string {
	due := o.Due()
	switch {
	case due == 0:
		return ""
	case o.Method == payments.Door:
		return text.T(ctx, "%s to pay at the box office.", views.MoneyIn(ctx, due, o.Currency))
	case o.Method == payments.Invoice:
		return text.T(ctx, "%s to pay by bank transfer.", views.MoneyIn(ctx, due, o.Currency))
	}
	return text.T(ctx, "%s is being charged.", views.MoneyIn(ctx, due, o.Currency))
}

// Live are the tickets that hold, without those that a friend has.
func (p OrderPage) Live() (list []orders.Ticket) {
	for _, t := range p.Tickets() {
		if !t.Revoked && t.Friend == nil {
			list = append(list, t)
		}
	}
	return list
}

// Mailed says how the mail about the order stands.
func (p OrderPage) Mailed(ctx context.Context) string {
	switch {
	case p.Order.Email == "":
		return text.T(ctx, "Sold at the box office.")
	case p.Sent.Refused != "":
		return text.T(ctx, "The email to %s was refused. Keep the link to this page: it is your ticket.", p.Order.Email)
	case p.Sent.At != nil:
		return text.T(ctx, "We emailed %s at %s.", p.Order.Email, views.ClockIn(ctx, p.Event, *p.Sent.At))
	}
	return text.T(ctx, "We’re emailing %s.", p.Order.Email)
}

// OrderPath is the address of an order.
func OrderPath(code string) string { return "/orders/" + code }

// PaperPath is the address of its tickets on a paper; without one, on that of the team for buyers.
func PaperPath(code, paper string) string {
	path := OrderPath(code) + "/tickets.pdf"
	if paper != "" {
		path += "?size=" + paper
	}
	return path
}

// PaperName names one of pages.Papers.
func PaperName(ctx context.Context, paper string) string {
	switch paper {
	case pages.A6:
		return text.T(ctx, "A6")
	case pages.Roll:
		return text.T(ctx, "80 mm roll")
	}
	return text.T(ctx, "A4")
}

// header is the picture of the event, or of its team; nil without one.
func (p OrderPage) header() *pages.Picture {
	if p.About != nil && p.About.Header() != nil {
		return p.About.Header()
	}
	return p.Branding.Picture(pages.Header)
}

// otherPaper is a paper that people have at home, which is not the one of the team.
func (p OrderPage) otherPaper() string {
	usual, _ := p.Branding.PaperFor("")
	for _, paper := range pages.BuyerPapers() {
		if paper != usual {
			return paper
		}
	}
	return ""
}

// Tickets are those of the order with a seat in the plan, valid ones first.
func (p OrderPage) Tickets() (list []orders.Ticket) {
	for _, t := range p.Order.Tickets {
		if !p.Foreign(t.Idx) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b orders.Ticket) int { return last(a.Revoked) - last(b.Revoked) })
	return list
}

func last(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (p OrderPage) headline(ctx context.Context) string {
	switch {
	case p.Order.State == orders.Cancelled && slices.ContainsFunc(p.Order.Exchanges, func(x orders.Exchange) bool { return !x.Came }):
		return text.T(ctx, "Your tickets were exchanged")
	case SoldAgain(p.Order):
		return text.T(ctx, "Your tickets were sold again")
	case p.Order.State == orders.Cancelled:
		return text.T(ctx, "This order was cancelled")
	case p.justPlaced():
		return text.T(ctx, "Order confirmed")
	case len(p.Order.Tickets) == 1:
		return text.T(ctx, "Your ticket")
	}
	return text.T(ctx, "Your tickets")
}

// news is how long an order is new to its buyer, who is told at the top that it was confirmed.
const news = 15 * time.Minute

func (p OrderPage) justPlaced() bool {
	return !p.Order.AtOffice && p.Now.Sub(p.Order.CreatedAt) < news
}

// DocumentWord names a document of an order.
func DocumentWord(ctx context.Context, d invoices.Document) string {
	return invoices.KindWords(ctx, d.Kind)
}
