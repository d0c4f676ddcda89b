package shop

import (
	"context"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// PaymentPage says how a payment stands.
type PaymentPage struct {
	views.Page
	Sale
	Payment payments.Payment
	Mine    bool      // the visitor began it
	Ends    time.Time // the seats are kept until then; zero: for the length of a payment
	Mailed  string    // sent or enough: what became of asking for another mail; may be empty
}

// PaymentPath is the address of a payment.
func PaymentPath(code string) string { return "/payments/" + code }

// DemoPage is where a tester says how the demo card shall behave.
type DemoPage struct {
	views.Page
	Reference, What, Currency, Back string
	Amount                          int64 // minor units
}

// facts are what the script of a payment needs.
func (p PaymentPage) facts(ctx context.Context) templ.Attributes {
	facts := p.Body(ctx)
	facts["data-since"] = p.since()
	facts["data-deadline"] = strconv.FormatInt(p.Until().UnixMilli(), 10)
	facts["data-now"] = strconv.FormatInt(p.Now.UnixMilli(), 10)
	facts["data-payment"] = PaymentPath(p.Payment.Code)
	return facts
}

// Until is when the seats are no longer kept for the payment.
func (p PaymentPage) Until() time.Time {
	if !p.Ends.IsZero() {
		return p.Ends
	}
	return p.Now.Add(p.Payment.Length - p.Payment.Age)
}

// stillFree is what scripts find in sentences about a payment, with how they say the time that is left.
func stillFree(ctx context.Context) views.Marks {
	return views.Marks{"b": {"data-countdown": text.T(ctx, "for another %s")}, "strong": {"data-free-total": true}}
}

// known are its seats that the plan has.
func (p PaymentPage) known() (idxs []int) {
	for _, idx := range p.Payment.Seats {
		if !p.Foreign(idx) {
			idxs = append(idxs, idx)
		}
	}
	return idxs
}

// asks reports whether the order waits for its email to be confirmed.
func (p PaymentPage) asks() bool {
	return p.Payment.Confirms() && !p.Payment.Confirmed && !p.Payment.Over()
}

// title says in a few words how it stands.
func (p PaymentPage) title(ctx context.Context) string {
	switch {
	case p.asks():
		return text.T(ctx, "Confirm your email")
	case p.Payment.Over() && p.Payment.Confirms():
		return text.T(ctx, "Nothing was ordered")
	case p.Payment.Over():
		return text.T(ctx, "Payment failed")
	case p.Payment.Confirms():
		return text.T(ctx, "We’re placing your order")
	case p.Payment.Awaited():
		return text.T(ctx, "Your payment is on its way")
	case p.unpaid():
		return text.T(ctx, "Your payment isn’t confirmed yet")
	}
	return text.T(ctx, "We’re confirming your payment")
}

// ConfirmPath is the address that confirms an order.
func ConfirmPath(token string) string { return "/confirmations/" + token }

// unpaid reports whether the provider has not said yet that the buyer paid: they may have come back without paying.
func (p PaymentPage) unpaid() bool { return p.Payment.State == "open" && p.Payment.Page != "" }

// demoAnswers are what the demo card can be told to do.
var demoAnswers = []struct{ answer, label, about string }{
	{"pay", text.Mark("Pay"), text.Mark("It pays at once.")},
	{"decline", text.Mark("Decline"), text.Mark("It refuses. Nothing is charged, and your seats stay yours.")},
	{"slow", text.Mark("Pay slowly"), text.Mark("It pays and takes ten seconds to say so.")},
	{"late", text.Mark("Pay too late"), text.Mark("It says so after your time for paying is over.")},
	{"twice", text.Mark("Pay and say so three times"), text.Mark("Only one order comes of it.")},
}

// methodWords are the ways to pay as the checkout shows them.
var methodWords = map[string]struct{ label, about string }{
	payments.Demo:    {text.Mark("Demo card"), text.Mark("This is a demo event: the card is not real and no money moves.")},
	payments.Card:    {text.Mark("Pay online"), text.Mark("By card, wallet or bank, on the page of our payment provider. A card is charged only once the seats are yours.")},
	payments.Credit:  {text.Mark("Credit"), text.Mark("It is taken from your credit here.")},
	payments.Door:    {text.Mark("At the box office"), text.Mark("Pay at the box office. Nothing is charged now.")},
	payments.Invoice: {text.Mark("Bank transfer"), text.Mark("We’ll email you what to transfer and until when. Nothing is charged now.")},
}

// state is that of the payment, for the script: it asks how an open payment stands.
func (p PaymentPage) state() string {
	if p.Payment.Awaited() {
		return "processing"
	}
	return p.Payment.State
}

// chosen reports whether a way to pay is the one marked on the page.
func (p CheckoutPage) chosen(method string) bool {
	for _, m := range p.Methods {
		if m == p.Form.Method {
			return m == method
		}
	}
	return p.Methods[0] == method
}
