package payments

import (
	"context"
	"errors"
)

// parts is the Provider of a payment of which credit pays a part, and another method the rest. The credit is reserved
// first, and captured or released with the rest. A method that takes money at once captures the credit at once, too.
// Refunds go to the rest first, as far as it was captured.
type parts struct{ credit, rest Provider }

// split returns the charge of each part.
func (x parts) split(c Charge) (credit, rest Charge) {
	credit, rest = c, c
	credit.Key, credit.Amount, credit.Refund = c.Key+"-credit", c.Credit, 0
	rest.Amount, rest.Account = c.Amount-c.Credit, ""
	return credit, rest
}

// Authorize is part of Provider.
func (x parts) Authorize(ctx context.Context, c Charge) (Standing, error) {
	credit, rest := x.split(c)
	of, err := x.credit.Authorize(ctx, credit)
	if err != nil {
		return Standing{}, err
	}
	if of.Stand != Authorized && of.Stand != Captured {
		return Standing{Stand: Declined, Amount: c.Amount, Currency: c.Currency, Reason: of.Reason}, nil
	}
	s, err := x.rest.Authorize(ctx, rest)
	if err != nil {
		return Standing{}, err
	}
	return x.both(ctx, c, s)
}

// Lookup is part of Provider.
func (x parts) Lookup(ctx context.Context, c Charge) (Standing, error) {
	_, rest := x.split(c)
	s, err := x.rest.Lookup(ctx, rest)
	if err != nil {
		return Standing{}, err
	}
	return x.both(ctx, c, s)
}

// Capture is part of Provider.
func (x parts) Capture(ctx context.Context, c Charge) (Standing, error) {
	_, rest := x.split(c)
	s, err := x.rest.Capture(ctx, rest)
	if err != nil {
		return Standing{}, err
	}
	return x.both(ctx, c, s)
}

// Void is part of Provider.
func (x parts) Void(ctx context.Context, c Charge) (Standing, error) {
	_, rest := x.split(c)
	s, err := x.rest.Void(ctx, rest)
	if err != nil {
		return Standing{}, err
	}
	return x.both(ctx, c, s)
}

// both has the credit follow the rest, and returns the state of the whole.
func (x parts) both(ctx context.Context, c Charge, s Standing) (Standing, error) {
	credit, _ := x.split(c)
	follow := x.credit.Lookup
	switch s.Stand {
	case Captured:
		follow = x.credit.Capture
	case Declined, Voided:
		follow = x.credit.Void
	}
	of, err := follow(ctx, credit)
	if err != nil {
		return Standing{}, err
	}
	switch {
	case s.Stand == Authorized && of.Stand != Authorized: // the credit is gone: nothing of the rest is taken
		_, rest := x.split(c)
		rest.Key, rest.Reference = c.Key+"-alone", s.Reference
		if s, err = x.rest.Void(ctx, rest); err != nil {
			return Standing{}, err
		}
	case s.Stand == Captured && of.Stand != Captured: // the sums tell: it is refunded
		return s, nil
	}
	s.Amount, s.Captured, s.Refunded = s.Amount+of.Amount, s.Captured+of.Captured, s.Refunded+of.Refunded
	return s, nil
}

var errParts = errors.New("a part of the refund was not made")

// Refund is part of Provider. What was refunded before says which part this refund is of, so that a repeat splits it in
// the same way.
func (x parts) Refund(ctx context.Context, c Charge) (Standing, error) {
	credit, rest := x.split(c)
	s, err := x.rest.Lookup(ctx, rest)
	if err != nil {
		return Standing{}, err
	}
	rest.Refund = min(c.Before+c.Refund, s.Captured) - min(c.Before, s.Captured)
	credit.Refund = c.Refund - rest.Refund
	if rest.Refund > 0 {
		if s, err = x.rest.Refund(ctx, rest); err != nil || s.Stand == Declined {
			return s, err
		}
	}
	if credit.Refund > 0 {
		if of, err := x.credit.Refund(ctx, credit); err != nil || of.Stand == Declined {
			return Standing{}, errors.Join(errParts, err)
		}
	}
	return x.both(ctx, c, s)
}
