// Package stripetest has tests start the stand-in for Stripe, and holds what is sent there against Stripe's own description
// of its interface.
package stripetest

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/payments/stripe/standin"
)

// Secret is that of the stand-in's webhooks.
const Secret = standin.Secret

// Declined is the number of a test card that banks decline.
const Declined = standin.Declined

// Session is a payment in the stand-in's books.
type Session = standin.Session

// Fake is the stand-in of a test.
type Fake struct {
	*standin.Fake

	judged atomic.Int64
}

// New starts a stand-in, which ends with the test.
func New(t testing.TB) *Fake {
	t.Helper()
	f := &Fake{Fake: standin.Start()}
	t.Cleanup(f.Close)
	return f
}

// Sign is the signature of a webhook's body.
func Sign(body []byte, secret string, at time.Time) string { return standin.Sign(body, secret, at) }

// Deliver sends a webhook and returns the status of the answer; 0 if there was none.
func Deliver(t testing.TB, to string, body []byte) int {
	t.Helper()
	return standin.Deliver(t.Context(), http.DefaultClient, to, body)
}
