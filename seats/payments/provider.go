package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
)

// The methods of payment.
const (
	Free    = "free"    // the total is zero
	Door    = "door"    // at the entrance of the event
	Invoice = "invoice" // by bank transfer; the organizer marks the order as paid
	Card    = "card"    // ahead, by a card provider
	Demo    = "demo"    // ahead, by the demo card, which moves no money
	Credit  = "credit"  // ahead, from the attendee's credit

	Deposit  = "deposit"  // what an order took over of the deposit of its group (seats/bookings)
	Exchange = "exchange" // with what was paid for tickets of another order; see carry.go

	Cash     = "cash"     // at the box office
	Terminal = "terminal" // at the box office, by a card terminal that this program does not control
)

// Ahead reports whether a method moves money before the order is placed.
func Ahead(method string) bool {
	return method == Card || method == Demo || method == Credit || method == Exchange
}

// Later reports whether an order with this method is paid after it is placed.
func Later(method string) bool { return method == Door || method == Invoice }

// A Provider moves money: a card provider, the demo card, credit. It is called outside of transactions, after the
// attempt is committed.
//
// Each call may be repeated with the same key, from any node, at any later time. A repeat changes nothing and returns
// the same answer. A refusal by the provider is an answer. An error means that the result is unknown, and the call is
// repeated. A call for a state that holds already, as a second void, returns that state.
type Provider interface {
	// Authorize reserves the amount. The answer is Authorized or Declined, or Pending while the attendee is at the
	// provider's Page. It is Captured if the method takes money at once, and Processing if it takes days to say so. A payment
	// without a Reference is unknown to the provider and stays so.
	Authorize(ctx context.Context, c Charge) (Standing, error)
	// Capture takes the amount that was authorized: Captured. Voided or Declined if that is no longer possible.
	Capture(ctx context.Context, c Charge) (Standing, error)
	// Void releases the amount that was authorized, and ends a Pending payment: Voided. Captured if it came too late. One at a
	// Reader without a Reference has the Key of Authorize, which may not have been called.
	Void(ctx context.Context, c Charge) (Standing, error)
	// Refund gives back c.Refund of the captured amount and adds it to Standing.Refunded.
	Refund(ctx context.Context, c Charge) (Standing, error)
	// Lookup returns the state of a payment, after a webhook or a lost answer.
	Lookup(ctx context.Context, c Charge) (Standing, error)
}

// Charge is a payment as its provider needs to know it.
type Charge struct {
	Key       string   // idempotency key of this call, from the row of the attempt
	Payment   seats.ID // for the provider's books
	Order     seats.ID // that the payment is for, and that may never exist
	Reference string   // the provider's name of the payment; empty until Authorize was answered
	Amount    int64    // minor units
	Currency  string   // ISO 4217, upper case
	Refund    int64    // minor units; only for Refund
	Name      string   // of the attendee
	Email     string
	Account   string // address of the credit that pays; only for Credit
	Credit    int64  // minor units of Amount that credit pays; a provider is told of the rest alone
	Before    int64  // minor units that were refunded before, with Refund
	Token     string // of a stored card; empty: the attendee pays on a page
	Reader    string // the provider's name of the card reader that reads the card; empty: none
	Slow      bool   // methods that take days may be offered
	What      string // a line for the attendee's statement, such as "The Seagull, 2 tickets"
	Back      string // our own page about the payment, to which the attendee returns
}

// Stand is the state of a payment at its provider.
type Stand string

// The states of a payment at its provider.
const (
	Pending    Stand = "pending"    // the attendee has to act
	Processing Stand = "processing" // the attendee acted, and the provider says within days whether the money comes
	Authorized Stand = "authorized" // the amount is reserved for us
	Captured   Stand = "captured"   // the amount is ours, less refunds
	Voided     Stand = "voided"     // nothing is reserved, and nothing will be
	Declined   Stand = "declined"   // it was refused; nothing is reserved
)

// Standing is a provider's answer about a payment.
type Standing struct {
	Stand     Stand
	Reference string
	Page      string        // where the attendee pays while Pending; may be empty
	Amount    int64         // that is or was reserved, minor units
	Currency  string        // ISO 4217, upper case
	Captured  int64         // minor units, before refunds
	Refunded  int64         // minor units
	Wait      time.Duration // how long the method may take, while Processing
	Reason    string        // for the attendee: why it was declined
	Card      string        // the provider's name of the card, equal for every user of it; empty if unknown

	Elsewhere int64     // minor units of Refunded that were refunded at the provider, not here
	Failed    []Failure // refunds from here that failed later; they are not in Refunded
}

// Unreturned says why less than an amount, in minor units, went back of a payment by a method; empty if all of it did.
func (s Standing) Unreturned(method string, amount int64) string {
	if s.Refunded >= amount {
		return ""
	}
	why := cmp.Or(s.Reason, "it is "+string(s.Stand)+".")
	if n := len(s.Failed); n > 0 {
		why = s.Failed[n-1].Reason
	}
	return fmt.Sprintf("The %s provider could not give it back: %s", method, why)
}

// Failure is a refund that a provider accepted and could not make.
type Failure struct {
	Key    string // of the call that asked for it
	Reason string
}

// OffSession is a Provider that charges an attendee who agreed before, without a page.
type OffSession interface{ OffSession() }

// CardStore is a Provider that stores a card and charges it later. Calls may be repeated as those of Provider.
type CardStore interface {
	OffSession
	// StoreCard asks the provider for a page where the attendee gives a card. It charges nothing.
	StoreCard(ctx context.Context, r CardRequest) (StoredCard, error)
	// StoredCard returns the state of that page.
	StoredCard(ctx context.Context, reference string) (StoredCard, error)
	// DeleteCard closes the page, and has the provider delete the card.
	DeleteCard(ctx context.Context, reference string) error
}

// CardRequest is a mandate as its provider needs to know it.
type CardRequest struct {
	Key     string   // idempotency key of the call
	Mandate seats.ID // for the provider's books
	Email   string
	What    string // the agreement, at most 1,200 characters
	Back    string // our own page, to which the attendee returns
}

// StoredCard is the state of a mandate at its provider.
type StoredCard struct {
	Reference string // the provider's name of the page
	Page      string // where the card is given; empty if it was, or cannot be any more
	Token     string // charges the card; empty until it is given
}

// WebhookEvent is a provider's message about a payment. It is not believed: it makes us ask the provider.
type WebhookEvent struct {
	Method  string
	Event   string   // the provider's id: equal ids are one event
	Payment seats.ID // as we gave it to the provider; zero: it is about payouts
	Kind    string   // for readers of the inbox
}

// Errors of webhooks and methods.
var (
	ErrNotOurs    = errors.New("this is about no payment of ours")
	ErrForged     = errors.New("this is not signed by the provider, or is too old")
	ErrNoProvider = errors.New("there is no such way to pay here")
)
