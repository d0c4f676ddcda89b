package credit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/payments"
)

// Payments lets orders be paid with credit. It keeps to the same ways as a provider far away, although its books are in
// the same database: the hold comes before the seats are sold, its capture after.
type Payments struct{ Ledger *Ledger }

// OffSession is part of payments.CardStore: an amount that the customer agreed to is taken from their credit without asking again.
func (Payments) OffSession() {}

// mostHeld is when credit that was set aside for an abandoned payment is given back. A payment that comes to
// nothing gives it back at once.
const mostHeld = time.Hour

// Authorize sets credit of the charge's account aside. That of a card was set aside with the sale.
func (p Payments) Authorize(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	if strings.HasPrefix(c.Account, cardAccount) {
		return p.stands(ctx, c, nil)
	}
	err := p.Ledger.Hold(ctx, HoldRequest{
		ID: c.Payment, Order: c.Order, Email: c.Account, Amount: Amount{c.Amount, c.Currency}, Length: mostHeld,
	})
	switch {
	case errors.Is(err, ErrShort):
		return payments.Standing{Stand: payments.Declined, Amount: c.Amount, Currency: c.Currency, Reason: "your credit does not reach that far."}, nil
	case errors.Is(err, ErrAddress), errors.Is(err, ErrAmount), errors.Is(err, ErrDiffers):
		return payments.Standing{Stand: payments.Declined, Amount: c.Amount, Currency: c.Currency, Reason: err.Error() + "."}, nil
	}
	return p.stands(ctx, c, err)
}

// Capture takes what was set aside.
func (p Payments) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	return p.stands(ctx, c, p.Ledger.Capture(ctx, c.Payment, c.Amount))
}

// Void gives back what was set aside.
func (p Payments) Void(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	return p.stands(ctx, c, p.Ledger.Void(ctx, c.Payment))
}

// Refund gives credit back for what was captured.
func (p Payments) Refund(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	err := p.Ledger.Refund(ctx, c.Key, c.Payment, c.Refund)
	if errors.Is(err, ErrTooMuch) {
		return payments.Standing{Stand: payments.Declined, Reason: err.Error() + "."}, nil
	}
	return p.stands(ctx, c, err)
}

// Lookup tells how the hold of a charge stands.
func (p Payments) Lookup(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	return p.stands(ctx, c, nil)
}

// stands tells how a hold is after what was asked. That it had ended already is an answer and no error.
func (p Payments) stands(ctx context.Context, c payments.Charge, err error) (payments.Standing, error) {
	if err != nil && !errors.Is(err, ErrCaptured) && !errors.Is(err, ErrVoided) && !errors.Is(err, ErrNoHold) {
		return payments.Standing{}, err
	}
	h, err := p.Ledger.Find(ctx, c.Payment)
	if errors.Is(err, ErrNoHold) {
		return payments.Standing{Stand: payments.Voided, Amount: c.Amount, Currency: c.Currency}, nil
	}
	if err != nil {
		return payments.Standing{}, err
	}
	stand := map[string]payments.Stand{Open: payments.Authorized, Captured: payments.Captured, Voided: payments.Voided}[h.State]
	return payments.Standing{
		Stand: stand, Reference: c.Payment.String(), Amount: h.Amount.Minor, Currency: h.Amount.Currency, Captured: h.Captured, Refunded: h.Refunded,
	}, nil
}
