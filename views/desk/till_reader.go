package desk

import (
	"context"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views"
)

// ReaderPaymentPath is the page of a payment at a card reader.
func ReaderPaymentPath(code string) string { return TillPath + "/payments/" + code }

// ReadersPage is the card readers that a till session may use.
type ReadersPage struct {
	Frame
	Session till.Session
	Readers []payments.Reader
	Team    int64  // that readers have to be assigned to; 0: it is the only one
	Message string // why what was asked was not done
}

// readerWords names a card reader.
func readerWords(ctx context.Context, r payments.Reader) string {
	if r.Online {
		return text.T(ctx, "%s, online", r.Label)
	}
	return text.T(ctx, "%s, offline", r.Label)
}

// AtReader is how a sale at a card reader stands.
type AtReader string

// The states of a sale at a card reader.
const (
	ReaderWaiting AtReader = "waiting" // for a card
	ReaderEnding  AtReader = "ending"  // it was cancelled, or its time is over; a card may be in the reader
	ReaderSold    AtReader = "sold"
	ReaderFailed  AtReader = "failed" // nothing was sold
)

// StandsAt is how a payment at a card reader stands.
func StandsAt(p payments.Payment) AtReader {
	switch {
	case p.Done():
		return ReaderSold
	case p.Ending():
		return ReaderEnding
	case p.Over():
		return ReaderFailed
	}
	return ReaderWaiting
}

// UnderWay reports whether it may still be sold.
func (a AtReader) UnderWay() bool { return a == ReaderWaiting || a == ReaderEnding }

// ReaderPaymentPage is a payment at a card reader.
type ReaderPaymentPage struct {
	Frame
	Payment payments.Payment
	Stands  AtReader
}

func (p ReaderPaymentPage) amount(ctx context.Context) string {
	return views.MoneyIn(ctx, p.Payment.Amount-p.Payment.Credit, p.Payment.Currency)
}
