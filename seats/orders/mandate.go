package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

// Keeper is a Payments that keeps somebody's card, which it charges later while they are not there.
//
// As of Payments: each call may come again with the same key and must then change nothing and answer the same.
type Keeper interface {
	Alone
	// Keep asks for a page at the provider where somebody gives their card. Nothing is charged there.
	Keep(ctx context.Context, k Keeping) (Kept, error)
	// Kept tells how that stands.
	Kept(ctx context.Context, reference string) (Kept, error)
	// Forget closes the page, and has the provider delete the card if it was given.
	Forget(ctx context.Context, reference string) error
}

// Keeping is a mandate as its provider needs to know it.
type Keeping struct {
	Key     string   // idempotency key of the call
	Mandate seats.ID // for the provider's own books
	Email   string
	What    string // what they agree to, at most 1,200 characters
	Back    string // address of our own page, where they come back to
}

// Kept is how a mandate stands at its provider.
type Kept struct {
	Reference string // the provider's name of the page
	Page      string // where the card is given; empty if it was, or cannot be any more
	Token     string // what to charge; empty until it is given
}

// States of a mandate.
const (
	mandateAsked  = "asked"  // the provider is being asked for a page, or somebody is to give their card there
	mandateGiven  = "given"  // the provider keeps a card
	mandateEnding = "ending" // it is of no use any more, and the provider has yet to forget the card
	mandateEnded  = "ended"  // nothing is kept
)

// Mandate is that somebody agreed to be charged while they are not there.
type Mandate struct {
	Method string
	State  string
	Kept
	Keeping
}

// Given tells whether the provider keeps a card, as far as is known here.
func (m Mandate) Given() bool { return m.State == mandateGiven }

// ErrNoMandate says that there is no such mandate.
var ErrNoMandate = errors.New("there is no such mandate")

// Keeps tells whether a method charges a card that has to be kept before.
func (o *Orders) Keeps(method string) bool {
	_, keeps := o.pay.by[method].(Keeper)
	return keeps
}

const meanMandateSQL = `INSERT INTO mandate (id, method, email, what, back) VALUES ($1, $2, $3, $4, $5)`

// MeanMandate writes a mandate down that a provider is to be asked for; Mandate asks. Whoever commits it refers to it. k.Back
// is a path of ours.
func (o *Orders) MeanMandate(method string, k Keeping) seats.Also {
	return func(q *pgx.Batch) { q.Queue(meanMandateSQL, k.Mandate, method, k.Email, k.What, o.pay.home+k.Back) }
}

const mandateSQL = `SELECT id, method, state, reference, page, token, email, what, back FROM mandate WHERE id = $1`

const keptSQL = `
UPDATE mandate SET reference = $2, page = $3, token = $4, state = CASE WHEN $4 <> '' THEN 'given' ELSE state END
 WHERE id = $1 AND state = 'asked' AND (reference, page, token) IS DISTINCT FROM ($2, $3, $4)`

// Mandate tells how a mandate stands. While it is not given its provider is asked: for a page, or what became of that.
//
// Errors: ErrNoMandate; the provider's, of which nothing is known then; the database's.
func (o *Orders) Mandate(ctx context.Context, id seats.ID) (m Mandate, err error) {
	if m, err = o.KnownMandate(ctx, id); err != nil || m.State != mandateAsked {
		return m, err
	}
	keeper, err := o.keeper(m.Method)
	if err != nil {
		return m, err
	}
	if m.Kept, err = askKeeper(ctx, keeper, m); err != nil {
		return m, fmt.Errorf("orders: ask for a mandate: %w", err)
	}
	if _, err := o.db.Exec(ctx, keptSQL, id, m.Reference, m.Page, m.Token); err != nil {
		return m, fmt.Errorf("orders: note a mandate: %w", err)
	}
	return o.KnownMandate(ctx, id)
}

// KnownMandate tells how a mandate stood when its provider was asked last. ErrNoMandate if there is none.
func (o *Orders) KnownMandate(ctx context.Context, id seats.ID) (m Mandate, err error) {
	err = o.db.QueryRow(ctx, mandateSQL, id).Scan(&m.Mandate, &m.Method, &m.State, &m.Reference, &m.Page, &m.Token, &m.Email, &m.What, &m.Back)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, ErrNoMandate
	}
	if err != nil {
		return m, fmt.Errorf("orders: read a mandate: %w", err)
	}
	m.Key = "usher-mandate-" + m.Mandate.String()
	return m, nil
}

func (o *Orders) keeper(method string) (Keeper, error) {
	keeper, keeps := o.pay.by[method].(Keeper)
	if !keeps {
		return nil, fmt.Errorf("orders: %s: %w", method, ErrNoPayments)
	}
	return keeper, nil
}

// askKeeper asks how a mandate stands, or for its page if nobody knows whether the provider was asked for that.
func askKeeper(ctx context.Context, keeper Keeper, m Mandate) (Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if m.Reference == "" {
		return keeper.Keep(ctx, m.Keeping)
	}
	return keeper.Kept(ctx, m.Reference)
}

var mandateBackoff = jobs.Backoff{First: 30 * time.Second, Most: time.Hour} // its least is longer than two calls

// A card that pays for an order is forgotten afterwards.
const takeMandateSQL = `
UPDATE mandate m
   SET tries = tries + 1, next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[least(tries + 1, cardinality($2))])
 WHERE m.id IN (
       SELECT d.id FROM mandate d
        WHERE d.id = $1 AND d.state = 'ending' AND d.next_try <= clock_timestamp()
          AND NOT EXISTS (SELECT FROM payment p WHERE p.mandate = d.id AND p.state IN ('open', 'authorized', 'sold'))
          FOR UPDATE SKIP LOCKED)
RETURNING m.tries`

const unforgottenSQL = `UPDATE mandate SET error = $2 WHERE id = $1 AND state = 'ending' AND error <> $2`

// forgetDue has the provider forget a card that is of no use any more.
func (o *Orders) forgetDue(ctx context.Context, key string) (int, error) {
	id, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	var tries int
	err = o.db.QueryRow(ctx, takeMandateSQL, id, mandateBackoff.Seconds()).Scan(&tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("orders: take a mandate that ended: %w", err)
	}
	failed := o.forget(ctx, id)
	if failed == nil {
		return 1, nil
	}
	o.jobs.cards.Failed(id, tries, mandateBackoff.After(tries), failed)
	if _, err := o.db.Exec(ctx, unforgottenSQL, id, failed.Error()); err != nil {
		return 1, fmt.Errorf("orders: note that a card is still kept: %w", err)
	}
	return 1, nil
}

const forgottenSQL = `
UPDATE mandate SET state = 'ended', token = '', email = '', what = '', back = '', page = '', error = '' WHERE id = $1 AND state = 'ending'`

func (o *Orders) forget(ctx context.Context, id seats.ID) error {
	m, err := o.KnownMandate(ctx, id)
	if err != nil {
		return err
	}
	keeper, err := o.keeper(m.Method)
	if err != nil {
		return err
	}
	if m.Reference == "" { // nobody knows whether the provider was asked: ask again, with the same key
		if m.Kept, err = askKeeper(ctx, keeper, m); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := keeper.Forget(ctx, m.Reference); err != nil {
		return err
	}
	if _, err := o.db.Exec(ctx, forgottenSQL, id); err != nil {
		return fmt.Errorf("orders: note that a card was forgotten: %w", err)
	}
	return nil
}
