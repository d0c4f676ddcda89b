package shop

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// CheckoutPage asks who takes the seats that are held.
type CheckoutPage struct {
	views.Page
	Sale
	Form     orders.Form       // as it was typed
	Mistakes orders.Mistakes   // what was wrong with it
	Message  string            // why the order was refused; may be empty
	Nearest  []int             // seats to take in place of those that were lost
	Methods  []string          // how it may be paid, the best first
	Terms    int               // the version of the terms that the buyer has to accept; 0: none
	HasCodes bool              // the event has codes
	Unlocked string            // what the code that was typed does, if it takes nothing off
	Season   bool              // the event is in a subscription
	Bills    bool              // the team issues invoices
	Recharge bool              // a company of another country may owe the tax
	Wallet   *Wallet           // the reader's credit; nil if orders are not paid with credit
	CanPay   bool              // there is a way to pay for more than nothing
	Begun    string            // the page of an exchange that the visitor began; empty: none
	Room     string            // the page of the waiting room that led the visitor here; empty: none
	Payment  *payments.Payment // that is under way for these seats; nil if none is
}

// freeTotal is what scripts find in sentences.
var freeTotal = views.Marks{"b": {"data-free-total": true}}

// CheckoutPath is the address where a hold becomes an order.
func (s Sale) CheckoutPath() string { return s.Path() + "/checkout" }

// facts are what the script of a checkout needs.
func (p CheckoutPage) facts(ctx context.Context) templ.Attributes {
	facts := p.Body(ctx)
	facts["data-deadline"] = strconv.FormatInt(p.held().ExpiresAt.UnixMilli(), 10)
	facts["data-extensions"] = strconv.Itoa(p.held().ExtensionsLeft)
	facts["data-spent"], facts["data-full"] = text.T(ctx, noExtensions), text.T(ctx, noSeats)
	facts["data-since"] = p.since()
	facts["data-now"] = strconv.FormatInt(p.held().Now.UnixMilli(), 10)
	return facts
}

// since is what the page knows of the map, as its socket says it: it need not be told the states of all seats.
func (s Sale) since() string {
	return "&epoch=" + strconv.FormatUint(uint64(s.Map.Epoch), 10) + "&v=" + strconv.FormatInt(s.Map.Version, 10)
}

// idxs are the seats that are held, as the script compares them.
func (p CheckoutPage) idxs() string { return instead(p.held().Seats...) }

// Why a hold cannot be extended.
var (
	noExtensions = text.Mark("You can’t extend your time again.")
	noSeats      = text.Mark("No more time: no seats are left.")
)

// noMore says why the hold cannot be extended; nothing if it can. The script says the same (checkout.js).
func (p CheckoutPage) noMore(ctx context.Context) string {
	switch {
	case p.Hold == nil || p.Hold.Expired:
		return ""
	case p.Hold.ExtensionsLeft == 0:
		return text.T(ctx, noExtensions)
	case p.free() == 0:
		return text.T(ctx, noSeats)
	}
	return ""
}

// billing is the company that was typed; of the seller's country if none was.
func (p CheckoutPage) billing() orders.Billing {
	if p.Form.Billing != nil {
		return *p.Form.Billing
	}
	return orders.Billing{Country: p.Form.Seller.Country}
}

// rechargeWords say who owes the tax of an online event.
func (p CheckoutPage) rechargeWords(ctx context.Context) string {
	if p.Reverse {
		return text.T(ctx, "%s is not charged: your company owes it (reverse charge).", TaxName(ctx, p.Event))
	}
	return text.T(ctx, "With the VAT ID of another EU country you pay without %s.", TaxName(ctx, p.Event))
}

// confirmWords say that the email has to be confirmed, if it has; the server knows who did before.
func (p CheckoutPage) confirmWords(ctx context.Context) string {
	switch {
	case p.total() == 0 && events.ConfirmsFree(p.Event):
		return text.T(ctx, "Unless you confirmed your email address here before, we’ll ask you to do so first. Your seats stay held meanwhile.")
	case p.total() > 0 && (slices.Contains(p.Methods, payments.Door) || slices.Contains(p.Methods, payments.Invoice)):
		return text.T(ctx, "If you pay later: unless you confirmed your email address here before, we’ll ask you to do so first. Your seats stay held meanwhile.")
	}
	return ""
}

// discountWords says what a discount is for.
func (p CheckoutPage) discountWords(ctx context.Context) string {
	if p.Cost().Applied.Code {
		return text.T(ctx, "Discount: %s", text.T(ctx, "code %s", p.Code))
	}
	if name := p.Cost().Applied.Name; name != "" {
		return text.T(ctx, "Discount: %s", name)
	}
	return text.T(ctx, "Discount")
}

// codeWords says what became of the code that was typed; nothing if none was.
func (p CheckoutPage) codeWords(ctx context.Context) string {
	switch c := p.Cost(); {
	case p.Unlocked != "":
		return p.Unlocked
	case p.Discount == nil:
		return ""
	case c.Applied.Code:
		return text.T(ctx, "You save %s.", views.MoneyIn(ctx, c.Discount, p.Event.Currency))
	case c.Applied.Offer > 0:
		return text.T(ctx, "%s saves you more, so the code is not used.", c.Applied.Name)
	}
	return text.T(ctx, "This code takes nothing off these tickets.")
}

// limitWords says how many tickets one person gets, and what counts.
func (p CheckoutPage) limitWords(ctx context.Context) string {
	if p.Event.Status == seats.Scheduled {
		return text.N(ctx,
			"In the presale you can book up to %d ticket for this event. All your orders count: those with the same email address, account, card or browser.",
			"In the presale you can book up to %d tickets for this event. All your orders count: those with the same email address, account, card or browser.",
			p.Event.SeatsPerHolder)
	}
	return text.N(ctx,
		"You can book up to %d ticket for this event. All your orders count: those with the same email address, account, card or browser.",
		"You can book up to %d tickets for this event. All your orders count: those with the same email address, account, card or browser.",
		p.Event.SeatsPerHolder)
}

func (s Sale) held() seats.Hold {
	if s.Hold == nil {
		return seats.Hold{}
	}
	return *s.Hold
}

// instead is a choice of seats as the form sends it.
func instead(idxs ...int) string {
	texts := make([]string, len(idxs))
	for i, idx := range idxs {
		texts[i] = strconv.Itoa(idx)
	}
	return strings.Join(texts, ",")
}

// near are the seats offered that the plan has.
func (p CheckoutPage) near() []int { return p.known(p.Nearest) }

// was lists the seats the form was about, when nothing of them is held.
func (p CheckoutPage) was() []int { return p.known(p.Form.Seats) }

func (p CheckoutPage) known(idxs []int) []int {
	return slices.DeleteFunc(slices.Clone(idxs), p.Foreign)
}

// holdID is the hold the form is about: the one that is shown, else the one that was.
func (p CheckoutPage) holdID() string {
	if p.Hold != nil {
		return p.Hold.ID.String()
	}
	return p.Form.Hold.String()
}

// now and later report whether the order may be paid at once, and whether it may be paid later.
func (p CheckoutPage) now() bool { return slices.ContainsFunc(p.Methods, payments.Ahead) }

func (p CheckoutPage) later() bool { return slices.ContainsFunc(p.Methods, payments.Later) }

// payable reports whether there is a way to take this order.
func (p CheckoutPage) payable() bool { return len(p.Methods) > 0 && p.Payment == nil }
