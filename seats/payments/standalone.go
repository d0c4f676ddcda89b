package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/tracing"
)

// Standalone is a payment for something that is no order, such as a gift card or a deposit. It is a row of its own package, whose job makes the
// calls: each method makes one or two. Any call may be repeated, by any node.
type Standalone struct {
	Charge        // Key is what the keys of its calls begin with
	Method string // Card or Demo
	Ended  bool   // it is not to be paid any more: what is authorized is released, and its page is closed
	Age    time.Duration
}

// standaloneFor is how long a standalone payment may be open. Then the provider's page is ended.
const standaloneFor = time.Hour

// StandaloneBackoff is the pauses between tries of a standalone payment. The first, which is up to a fifth shorter, is longer than two calls.
var StandaloneBackoff = jobs.Backoff{First: 32 * time.Second, Most: 10 * time.Minute}

// IsDown reports whether an error is of a call with an unknown result, or with one that is not what was asked for. It is tried again.
func IsDown(err error) bool {
	var down *downError
	return errors.As(err, &down)
}

// Down is an error for which IsDown is true.
func Down(why string) error { return &downError{errors.New(why)} }

// callFor asks the provider of a standalone payment, outside of transactions. A step has one key.
func (ps *Payments) callFor(ctx context.Context, p Standalone, step string, refund int64, ask func(Provider, context.Context, Charge) (Standing, error)) (Standing, error) {
	provider := ps.providers[p.Method]
	if provider == nil {
		return Standing{}, &downError{ErrNoProvider}
	}
	c := p.Charge
	c.Key, c.Refund = p.Key+step+"-"+p.Payment.String(), refund
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	ctx, span := tracing.Start(ctx, "payment provider")
	span.SetAttributes(tracing.Method.String(p.Method))
	s, err := ask(provider, ctx, c)
	tracing.End(span, err)
	if err != nil {
		return s, &downError{fmt.Errorf("%s: %w", step, err)}
	}
	return s, nil
}

// Advance brings an open payment on: to its page, to the capture, to its end. refer stores the provider's name of it and its page, before money is
// taken. The answer is Captured with the whole amount, Declined, Voided, or a state in which it waits.
func (ps *Payments) Advance(ctx context.Context, p Standalone, refer func(Standing) error) (Standing, error) {
	ask, step := Provider.Lookup, "look"
	if p.Reference == "" {
		ask, step = Provider.Authorize, "authorize"
	}
	s, err := ps.callFor(ctx, p, step, 0, ask)
	if err != nil {
		return s, err
	}
	if s.Reference != "" {
		p.Reference = s.Reference
		if err := refer(s); err != nil {
			return s, err
		}
	}
	switch {
	case s.Stand == Authorized && !p.Ended:
		s, err = ps.callFor(ctx, p, "capture", 0, Provider.Capture)
	case s.Stand == Authorized, s.Stand == Pending && (p.Ended || p.Age > standaloneFor):
		s, err = ps.callFor(ctx, p, "void", 0, Provider.Void)
	}
	if err == nil && s.Stand == Captured && (s.Captured != p.Amount || s.Currency != p.Currency) {
		err = &downError{fmt.Errorf("the provider took %d %s, and not %d %s", s.Captured, s.Currency, p.Amount, p.Currency)}
	}
	return s, err
}

// GiveBack has the provider give all of a payment back. why says why it did not; empty if it did. It is tried until then.
func (ps *Payments) GiveBack(ctx context.Context, p Standalone) (why string, err error) {
	s, err := ps.callFor(ctx, p, "refund", p.Amount, Provider.Refund)
	if err != nil {
		return "", err
	}
	return s.Unreturned(p.Method, p.Amount), nil
}

// IsBack asks whether a payment that was given back still is: a bank may refuse it days later, and why says so.
func (ps *Payments) IsBack(ctx context.Context, p Standalone) (why string, err error) {
	s, err := ps.callFor(ctx, p, "look", 0, Provider.Lookup)
	if err != nil {
		return "", err
	}
	return s.Unreturned(p.Method, p.Amount), nil
}
