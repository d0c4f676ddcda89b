package shop

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// EmailPage is where one of both addresses agrees to a change of the email of an order.
type EmailPage struct {
	views.Page
	Sale
	Change  orders.EmailChange
	Message string // why the answer did not count; may be empty
}

// EmailChangePath is the address at which a change of an email is answered.
func EmailChangePath(code string) string { return "/email-changes/" + code }

// stands says what became of the change, if it waits for no answer of the reader.
func (p EmailPage) stands(ctx context.Context) string {
	switch c := p.Change; {
	case c.DoneAt != nil:
		return text.T(ctx, "The email address of the order was changed. We sent the tickets to the new address.")
	case !c.Open():
		return text.T(ctx, "This change was stopped, replaced by another one, or not confirmed within a day. The order keeps its email address.")
	case c.Answered() && c.Old:
		return text.T(ctx, "Thank you. The email address changes once the new one is confirmed, too.")
	case c.Answered():
		return text.T(ctx, "Thank you. The email address changes once the person with the old one allows it, too.")
	}
	return ""
}

// emailChange is the change of the email that waits; nil if none does.
func (p OrderPage) emailChange() *orders.EmailChange {
	at := slices.IndexFunc(p.EmailChanges, orders.EmailChange.Open)
	if at < 0 {
		return nil
	}
	return &p.EmailChanges[at]
}

// awaits says what the change of the email waits for.
func (p OrderPage) awaits(ctx context.Context, c orders.EmailChange) string {
	until := views.DayTimeIn(ctx, p.Event, c.EndsAt)
	switch {
	case c.Allowed:
		return text.T(ctx, "Change of the email address: press the button in our email to %[1]s by %[2]s.", c.To, until)
	case c.Confirmed:
		return text.T(ctx, "Change of the email address: press the button in our email to %[1]s by %[2]s.", c.From, until)
	}
	return text.T(ctx, "Change of the email address: press the buttons in our emails to %[1]s and %[2]s by %[3]s.", c.From, c.To, until)
}
