package shop

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// Alone is how offered seats may be ordered at once.
type Alone struct {
	Methods []string // of payment; none: they may not
	Terms   int      // the version of the terms that has to be accepted for that; 0: none
}

// Agreed says what the entry's consent allows.
func (p WaitPage) Agreed() string {
	c := p.Entry.Consent
	if c.Most == 0 {
		return "ordered at once"
	}
	return "ordered at once, " + views.PaidHow(c.Method) + ", for " + views.Price(c.Most, p.Event.Currency) + " at most"
}

// whatComes says what happens when the entry's turn comes.
func (p WaitPage) whatComes() string {
	held := " Seats are then held for you for a time that the mail names."
	if p.Entry.Consent.Given() {
		return "When it is your turn the seats are ordered, and the tickets come by mail to " + p.Entry.Email + ". If that cannot be done, you get a mail that says why." + held
	}
	return "When it is your turn you get a mail to " + p.Entry.Email + ", and this page says so." + held
}

// The states of the card that pays for an agreed order.
const (
	CardWanted = "wanted" // they have to save one
	CardSaved  = "saved"  // the provider keeps it
)

// CardText is the consent of saving a card: what is charged, when, how often, how much at
// most, and how that ends.
func CardText(s Sale, n waitlist.Entry) string {
	return "If seats that you wait for come back, this card may be charged once, without asking you again: for an order of up to " + views.Counted(n.Wanted.Quantity, "seat") +
		" for " + s.Event.Name + ", for " + views.Price(n.Consent.Most, s.Event.Currency) + " at most. It is deleted after that, and when you leave the waiting list, change what you agreed to, or the wait is over."
}

func (p WaitPage) cardText() string { return CardText(p.Sale, p.Entry) }

// Unordered says why seats are offered to who had agreed to have them ordered; empty if they had not.
func Unordered(o *waitlist.Made) string {
	if o.Why == "" {
		return ""
	}
	return "You had agreed to have such seats ordered at once, and that was not possible. " + o.Why + " "
}

// waitWrongly marks a field of an entry that is wrong.
func waitWrongly(m waitlist.Mistakes, field string) templ.Attributes {
	if m[field] == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": field + "-wrong"}
}
