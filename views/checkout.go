package views

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// CheckoutPage asks who takes the seats that are held.
type CheckoutPage struct {
	Page
	Sale
	Form     orders.Form     // as it was typed
	Mistakes orders.Mistakes // what was wrong with it
	Message  string          // why the order was refused; may be empty
	Nearest  []int           // seats to take in place of those that were lost
	Methods  []string        // how it may be paid, the best first
	Purse    *Purse          // the reader's credit; nil if orders are not paid with credit
	Payment  *orders.Payment // that is under way for these seats; nil if none is
}

// CheckoutPath is the address where a hold becomes an order.
func (s Sale) CheckoutPath() string { return s.Path() + "/checkout" }

// facts are what the script of a checkout needs.
func (p CheckoutPage) facts() templ.Attributes {
	facts := p.body()
	facts["data-deadline"] = strconv.FormatInt(p.held().ExpiresAt.UnixMilli(), 10)
	facts["data-now"] = strconv.FormatInt(p.held().Now.UnixMilli(), 10)
	return facts
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
	return slices.DeleteFunc(slices.Clone(idxs), p.foreign)
}

// holdID is the hold the form is about: the one that is shown, else the one that was.
func (p CheckoutPage) holdID() string {
	if p.Hold != nil {
		return p.Hold.ID.String()
	}
	return p.Form.Hold.String()
}

// payable tells whether there is a way to take this order.
func (p CheckoutPage) payable() bool { return len(p.Methods) > 0 && p.Payment == nil }
