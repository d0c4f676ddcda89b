package orders

import (
	"context"
	"errors"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

// AloneMethods lists how an order of this total for an event may be paid while the customer is away, the best first.
// None if the event asks something of everybody who orders.
func (o *Orders) AloneMethods(e seats.Event, total int64) []string {
	if e.AsksBirth || len(e.Questions) > 0 {
		return nil
	}
	return slices.DeleteFunc(o.Methods(e, total), func(method string) bool {
		return payments.Ahead(method) && !o.Payments.OffSession(method)
	})
}

// ErrNotAlone says that a method needs the customer's presence.
var ErrNotAlone = errors.New("it cannot be paid while the customer is away")

// CodeDeclined is the code of a refusal: a payment without the customer's presence failed.
const CodeDeclined = "declined"

// PlaceAlone places or pays for an order that the customer agreed to before. A repeat changes nothing more. Errors are those
// of Place and Mandate, ErrNotAlone, and a *seats.Refusal that says why a payment came to nothing.
func (o *Orders) PlaceAlone(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) error {
	total := pricing.Of(s, f.Seats).Total
	if total == 0 {
		f.Method = payments.Free
	}
	if !slices.Contains(o.AloneMethods(s.Event, total), f.Method) {
		return ErrNotAlone
	}
	if !payments.Ahead(f.Method) {
		f.Verified = f.Email // the entry that agreed to it was confirmed by mail
		_, err := o.Place(ctx, s, holder, f)
		return err
	}
	if o.Payments.StoresCards(f.Method) {
		m, err := o.Payments.Mandate(ctx, f.Mandate)
		if err != nil && !errors.Is(err, payments.ErrNoMandate) {
			return err
		}
		if !m.Given() {
			return &seats.Refusal{Code: CodeDeclined, Message: "You had not saved a card. Nothing was charged."}
		}
	}
	p, err := o.Pay(ctx, s, holder, f)
	if err == nil && p.Over() {
		return &seats.Refusal{Code: CodeDeclined, Message: p.Reason}
	}
	return err
}
