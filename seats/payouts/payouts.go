package payouts

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// Provider is a card provider that says what it paid out.
type Provider interface {
	// Payouts returns the payouts that were made since a time, in any order.
	Payouts(ctx context.Context, since time.Time) iter.Seq2[Payout, error]
	// Lines returns all lines of a payout that is Settled.
	Lines(ctx context.Context, payout string) iter.Seq2[Line, error]
}

// Payout is money that the provider sent to the bank account, or took from it.
type Payout struct {
	ID        string // the provider's name
	Status    string // one of those below
	Currency  string // ISO 4217, upper case
	Amount    int64  // minor units; negative if it was taken
	CreatedAt time.Time
	ArrivesOn time.Time // a day, UTC
	Automatic bool      // of another one the provider does not say what it is made of
	Settled   bool      // the provider knows all of its lines
}

// The states of a payout, as the provider calls them.
const (
	Pending  = "pending"
	Transit  = "in_transit"
	Paid     = "paid"
	Failed   = "failed"
	Canceled = "canceled"
)

// Line is one of those that a payout is made of.
type Line struct {
	ID       string
	Kind     string // one of those below
	Type     string // as the provider calls it
	Source   string // the provider's name of what the line is about; may be empty
	At       time.Time
	Currency string // that of the payout
	Amount   int64  // minor units; negative if it went
	Fee      int64  // that the provider kept of it
	Net      int64
	Charged  int64  // what a charge or refund was of, before it was exchanged; never negative
	Of       string // the currency of that; empty for lines of neither

	Payment seats.ID // as we gave it to the provider: a payment or a gift card, which may be of another box office; zero: none
	Key     string   // of the call that asked for a refund; empty: it was made at the provider
}

// Kinds of lines.
const (
	Charge   = "charge"
	Refund   = "refund"
	Returned = "failed"  // a refund that failed: its money came back
	Dispute  = "dispute" // a buyer has their bank take the money back, or that ended well
	Fee      = "fee"
	Earlier  = "payout" // a payout that failed: its money came back
	Other    = "other"
)

// Payouts is what one box office knows of its account.
type Payouts struct {
	Record func(context.Context, payments.WebhookEvent) error // has a payment looked up at its provider

	db       *pgxpool.Pool
	desk     *organizers.Desk
	provider Provider // nil: there is none
	job      *jobs.Job
}

// New returns the payouts of a provider, which may be nil.
func New(db *pgxpool.Pool, desk *organizers.Desk, provider Provider) *Payouts {
	p := &Payouts{db: db, desk: desk, provider: provider, Record: func(context.Context, payments.WebhookEvent) error { return nil }}
	p.job = jobs.New("payouts", dueSQL, p.work)
	if provider == nil {
		p.job.Due += ` AND false` // what was asked for before it was taken away waits until it is back
	}
	return p
}

// Job returns the job that reads.
func (p *Payouts) Job() *jobs.Job { return p.job }

// Has reports whether there is a provider.
func (p *Payouts) Has() bool { return p.provider != nil }
