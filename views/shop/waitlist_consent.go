package shop

import (
	"context"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// Alone is how offered seats may be ordered at once.
type Alone struct {
	Methods []string // of payment; none: they may not
	Terms   int      // the version of the terms that has to be accepted for that; 0: none
}

// Agreed says what the entry's consent allows.
func (p WaitPage) Agreed(ctx context.Context) string {
	c := p.Entry.Consent
	if c.Most == 0 {
		return text.T(ctx, "ordered at once")
	}
	// Translators: %[1]s is how it is paid, such as "by card", and %[2]s an amount.
	return text.T(ctx, "ordered at once, %[1]s, for %[2]s at most", text.T(ctx, views.PaidHow(c.Method)), views.PriceIn(ctx, c.Most, p.Event.Currency))
}

// atOnce names the way of payment of an order that is placed at once.
func atOnce(ctx context.Context, method string) string {
	if method == payments.Free {
		return text.T(ctx, "Order at once")
	}
	return text.T(ctx, "Order at once, %s", text.T(ctx, views.PaidHow(method)))
}

// whatComes says what happens when the entry's turn comes.
func (p WaitPage) whatComes(ctx context.Context) string {
	held := " " + text.T(ctx, "We then hold the seats for you until the time in the email.")
	if p.Entry.Consent.Given() {
		return text.T(ctx, "When it’s your turn, we order the seats and email the tickets to %s. If that isn’t possible, we email you the reason.", p.Entry.Email) + held
	}
	return text.T(ctx, "When it’s your turn, we email %s, and this page shows it.", p.Entry.Email) + held
}

// The states of the card that pays for an agreed order.
const (
	CardWanted = "wanted" // they have to save one
	CardSaved  = "saved"  // the provider keeps it
)

// CardText is the consent of saving a card: what is charged, when, how often, how much at
// most, and how that ends.
func CardText(ctx context.Context, s Sale, n waitlist.Entry) string {
	return text.T(ctx, "If seats that you’re waiting for come back, we may charge this card once, without asking you again: for an order of up to %s for %s, for %s at most. "+
		"The card is deleted after that, and when you leave the waiting list, change what you agreed to, or the wait ends.",
		text.N(ctx, "%d seat", "%d seats", n.Wanted.Quantity), s.Event.Name, views.PriceIn(ctx, n.Consent.Most, s.Event.Currency))
}

// Unordered says why seats are offered to who had agreed to have them ordered; empty if they had not.
func Unordered(ctx context.Context, o *waitlist.Made) string {
	if o.Why == "" {
		return ""
	}
	return text.T(ctx, "You agreed that we order such seats at once, but that wasn’t possible.") + " " + o.Why + " "
}

// waitWrongly marks a field of an entry that is wrong.
func waitWrongly(m waitlist.Mistakes, field string) templ.Attributes {
	if m[field] == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": field + "-wrong"}
}
