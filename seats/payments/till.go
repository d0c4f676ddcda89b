package payments

import (
	"context"
	"fmt"
	"time"
)

// At the box office a card is read by a reader of the card provider. The payment begins with the sale, and keeps the seats itself
// (seats.Sale.KeepingAtOffice) while the reader waits for a card. Its method is Card: the money is where that of cards in the shop is, and
// it is looked up, refunded and paid out in the same way. A payment whose time is over, or that is cancelled, is voided: its seats are free
// again, and a card that was read in this moment gets its money back, or the seats if its time was over and they are still available.
//
// A gift card may pay a part of it. That part is set aside in the transaction that begins the payment, and follows the card of the reader:
// it is taken once that one is charged, and goes back if nothing is (parts.go).

// AtTill is where a payment at the box office is made.
type AtTill struct {
	Reader  string `json:"reader"`            // the provider's name of the card reader
	Label   string `json:"label"`             // of the reader
	Session int64  `json:"session"`           // of the till
	ByCard  int64  `json:"by_card,omitempty"` // of an order, minor units that a gift card pays of it, beside the reader
}

// readerTime is how long a reader waits for a card.
const readerTime = 5 * time.Minute

// KeptAtTill is how long a payment at the box office keeps its seats. It is longer than readerTime, so that they are not sold to others
// before the reader was told to end.
const KeptAtTill = 15 * time.Minute

const keptAtTillSQL = `UPDATE payment SET awaited_until = clock_timestamp() + make_interval(secs => $2) WHERE id = $1`

// OneForReader is the constraint by which a reader takes one payment at a time.
const OneForReader = "a reader takes one payment at a time"

// Reader is a card reader of a provider.
type Reader struct {
	ID     string // the provider's name
	Label  string
	Online bool
}

// ReaderProvider is a Provider with card readers at the box office. A Charge with a Reader is shown there, and stays Pending until a card
// is read; Void ends it there.
type ReaderProvider interface {
	// Readers lists them: those that the account assigns to a team, or with 0 all.
	Readers(ctx context.Context, team int64) ([]Reader, error)
}

// HasReaders reports whether the card provider has readers for the box office.
func (ps *Payments) HasReaders() bool {
	_, has := ps.providers[Card].(ReaderProvider)
	return has
}

// Readers lists the card readers of the provider that a team may use, or with 0 all. ErrNoProvider if it has none.
func (ps *Payments) Readers(ctx context.Context, team int64) ([]Reader, error) {
	provider, has := ps.providers[Card].(ReaderProvider)
	if !has {
		return nil, ErrNoProvider
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	list, err := provider.Readers(ctx, team)
	if err != nil {
		return nil, fmt.Errorf("payments: list card readers: %w", err)
	}
	return list, nil
}

// reader is the card reader of a payment; empty: it is at none.
func (p Payment) reader() string {
	if p.Till == nil {
		return ""
	}
	return p.Till.Reader
}
