package orders

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// Payments moves money: a card provider, the demo card, credit. No transaction is open while it is called, and the row of
// the intention is committed before.
//
// Each call may come again with the same key, from any node, at any time later, and must then change nothing and answer
// the same. An answer is a Standing, a refusal by the provider included; an error means that nothing is known, and the
// call comes again. A call that asks for what is the case already (a void of what was voided) answers how it stands.
type Payments interface {
	// Authorize asks that the amount is kept for us. It stands Authorized or Declined at once, or Pending while the
	// attendee is at the provider's Page. Without a Reference the payment is not known there and never will be.
	Authorize(ctx context.Context, c Charge) (Standing, error)
	// Capture takes what was authorized: Captured. Voided or Declined if it cannot be had any more.
	Capture(ctx context.Context, c Charge) (Standing, error)
	// Void gives back what was authorized, and keeps the attendee from paying what is Pending: Voided. Captured if it
	// came too late for that.
	Void(ctx context.Context, c Charge) (Standing, error)
	// Refund gives back c.Refund of what was captured; it adds to Standing.Refunded.
	Refund(ctx context.Context, c Charge) (Standing, error)
	// Lookup tells how a payment stands. It is asked after a webhook, and when an answer was lost.
	Lookup(ctx context.Context, c Charge) (Standing, error)
}

// Charge is a payment as its provider needs to know it.
type Charge struct {
	Key       string   // idempotency key of this call, of the intention's row
	Payment   seats.ID // for the provider's own books
	Order     seats.ID // that the payment is for, which may never come to be
	Reference string   // the provider's name of it; empty until it answered Authorize
	Amount    int64    // minor units
	Currency  string   // ISO 4217, upper case
	Refund    int64    // minor units; only for Refund
	Name      string   // of the attendee
	Email     string
	Account   string // whose credit pays; only for Credit
	Token     string // of a card that is kept, which pays while nobody is there; empty: the attendee is asked
	What      string // a line for the attendee's statement, such as "The Seagull, 2 tickets"
	Back      string // address of our own page about it, where the attendee comes back to
}

// Stand is how far a payment got at its provider.
type Stand string

// How a payment stands.
const (
	Pending    Stand = "pending"    // the attendee has to act
	Authorized Stand = "authorized" // the amount is kept for us
	Captured   Stand = "captured"   // the amount is ours, but for what was refunded
	Voided     Stand = "voided"     // nothing is kept, and nothing will be
	Declined   Stand = "declined"   // it was refused; nothing is kept
)

// Standing is what a provider says of a payment.
type Standing struct {
	Stand     Stand
	Reference string
	Page      string // where the attendee pays, while Pending; empty if nowhere
	Amount    int64  // that is or was kept for us, minor units
	Currency  string // ISO 4217, upper case
	Captured  int64  // minor units, refunds not taken off
	Refunded  int64  // minor units
	Reason    string // for the attendee: why it was declined
	Card      string // the provider's name of the card, the same whoever pays with it; empty if unknown

	Elsewhere int64     // minor units of Refunded that were not asked for here
	Failed    []Failure // refunds that were asked for here and came back; they are not in Refunded
}

// Failure is a refund that a provider could not make after all.
type Failure struct {
	Key    string // of the call that asked for it
	Reason string
}

// ErrNoPayments is the answer to a method nothing is set up for.
var ErrNoPayments = errors.New("there is no such way to pay here")

// paying is what this node pays with.
type paying struct {
	by     map[string]Payments // by method
	office *seats.Office       // whose seats follow a payment
	home   string              // how browsers reach us
	log    *slog.Logger
}

func newPaying() paying {
	return paying{by: map[string]Payments{}, log: slog.New(slog.DiscardHandler)}
}

// Open says whose seats follow a payment and how browsers reach us. Before anything is paid.
func (o *Orders) Open(office *seats.Office, home string, log *slog.Logger) {
	o.pay.office, o.pay.home, o.pay.log = office, home, log
}

// Accept lets orders be paid with a method. Before anything is paid.
func (o *Orders) Accept(method string, p Payments) { o.pay.by[method] = p }

// Methods lists how an order of this total for an event may be paid, the best first.
func (o *Orders) Methods(e seats.Event, total int64) (methods []string) {
	if total == 0 {
		return []string{Free}
	}
	for _, m := range []struct {
		method string
		there  bool
	}{
		{Demo, e.Demo && o.pay.by[Demo] != nil},
		{Card, !e.Demo && o.pay.by[Card] != nil},
		{Credit, o.pay.by[Credit] != nil},
		{Door, e.PayAtDoor && events.CanPayLater(e, time.Now())},
		{Invoice, e.Invoices && events.CanPayLater(e, time.Now())},
	} {
		if m.there {
			methods = append(methods, m.method)
		}
	}
	return methods
}

// Ahead tells whether a method moves money before the order is there.
func Ahead(method string) bool { return method == Card || method == Demo || method == Credit }
