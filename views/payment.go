package views

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/orders"
)

// PaymentPage says how a payment stands.
type PaymentPage struct {
	Page
	Sale
	Payment orders.Payment
	Mine    bool // whoever reads began it
}

// PaymentPath is the address of a payment.
func PaymentPath(code string) string { return "/payments/" + code }

// DemoPage is where whoever pays with the demo card says how it shall behave.
type DemoPage struct {
	Page
	Reference, What, Currency, Back string
	Amount                          int64 // minor units
}

// facts are what the script of a payment needs.
func (p PaymentPage) facts() templ.Attributes {
	facts := p.body()
	facts["data-payment"] = PaymentPath(p.Payment.Code)
	return facts
}

// demoAnswers are what the demo card can be told to do.
var demoAnswers = []struct{ answer, label, about string }{
	{"pay", "Pay", "It pays at once."},
	{"decline", "Decline", "It refuses. Nothing is charged, and your seats stay yours."},
	{"slow", "Pay slowly", "It pays and takes ten seconds to say so."},
	{"late", "Pay too late", "It says so after your time for paying is over."},
	{"twice", "Pay and say so three times", "Only one order comes of it."},
}

// methodWords are the ways to pay as the checkout shows them.
var methodWords = map[string]struct{ label, about string }{
	orders.Demo:    {"Demo card", "This is a demo event: the card is not real and no money moves."},
	orders.Card:    {"Card", "You pay on the page of the card provider and come back here. The card is charged only once the seats are yours."},
	orders.Credit:  {"Credit", "It is taken from your credit here."},
	orders.Door:    {"At the door", "You pay when you come. Nothing is charged now."},
	orders.Invoice: {"Invoice", "You get a bill. Your seats are yours; nothing is charged now."},
}

// chosen tells whether a way to pay is the one marked on the page.
func (p CheckoutPage) chosen(method string) bool {
	for _, m := range p.Methods {
		if m == p.Form.Method {
			return m == method
		}
	}
	return p.Methods[0] == method
}
