package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

// The states of a mandate.
const (
	mandateAsked  = "asked"  // the provider makes a page, or the attendee gives a card there
	mandateGiven  = "given"  // the provider stores a card
	mandateEnding = "ending" // it is not needed any more, and the provider has yet to delete the card
	mandateEnded  = "ended"  // no card is stored
)

// Mandate is an attendee's agreement to be charged later, without a page.
type Mandate struct {
	Method string
	State  string
	StoredCard
	CardRequest
}

// Given reports whether the provider stores a card, as far as we know.
func (m Mandate) Given() bool { return m.State == mandateGiven }

// ErrNoMandate is the answer to an unknown mandate.
var ErrNoMandate = errors.New("there is no such mandate")

// StoresCards reports whether a method charges a card that was stored before.
func (ps *Payments) StoresCards(method string) bool {
	_, is := ps.providers[method].(CardStore)
	return is
}

func (ps *Payments) cardStore(method string) (CardStore, error) {
	if store, is := ps.providers[method].(CardStore); is {
		return store, nil
	}
	return nil, fmt.Errorf("payments: %s: %w", method, ErrNoProvider)
}

const newMandateSQL = `INSERT INTO mandate (id, method, email, what, back) VALUES ($1, $2, $3, $4, $5)`

// NewMandate writes a mandate in the transaction that refers to it. Mandate asks the provider after that. r.Back is a path
// of our pages.
func (ps *Payments) NewMandate(method string, r CardRequest) seats.TxHook {
	return func(q *pgx.Batch) { q.Queue(newMandateSQL, r.Mandate, method, r.Email, r.What, ps.home+r.Back) }
}

const mandateSQL = `SELECT id, method, state, reference, page, token, email, what, back FROM mandate WHERE id = $1`

const storedSQL = `
UPDATE mandate SET reference = $2, page = $3, token = $4, state = CASE WHEN $4 <> '' THEN 'given' ELSE state END
 WHERE id = $1 AND state = 'asked' AND (reference, page, token) IS DISTINCT FROM ($2, $3, $4)`

// Mandate returns a mandate. Until a card is given it asks the provider for a page, or for the state of that page.
//
// Errors: ErrNoMandate; the provider's; the database's.
func (ps *Payments) Mandate(ctx context.Context, id seats.ID) (m Mandate, err error) {
	if m, err = ps.KnownMandate(ctx, id); err != nil || m.State != mandateAsked {
		return m, err
	}
	store, err := ps.cardStore(m.Method)
	if err != nil {
		return m, err
	}
	if m.StoredCard, err = askStore(ctx, store, m); err != nil {
		return m, fmt.Errorf("payments: ask for a mandate: %w", err)
	}
	if _, err := ps.db.Exec(ctx, storedSQL, id, m.Reference, m.Page, m.Token); err != nil {
		return m, fmt.Errorf("payments: store a mandate: %w", err)
	}
	return ps.KnownMandate(ctx, id)
}

// KnownMandate returns a mandate in its last known state. ErrNoMandate if there is none.
func (ps *Payments) KnownMandate(ctx context.Context, id seats.ID) (m Mandate, err error) {
	err = ps.db.QueryRow(ctx, mandateSQL, id).Scan(&m.Mandate, &m.Method, &m.State, &m.Reference, &m.Page, &m.Token, &m.Email, &m.What, &m.Back)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, ErrNoMandate
	}
	if err != nil {
		return m, fmt.Errorf("payments: read a mandate: %w", err)
	}
	m.Key = "usher-mandate-" + m.Mandate.String()
	return m, nil
}

// askStore asks for the state of a mandate. If the provider may not have been asked for a page, it asks for that again.
func askStore(ctx context.Context, store CardStore, m Mandate) (StoredCard, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if m.Reference == "" {
		return store.StoreCard(ctx, m.CardRequest)
	}
	return store.StoredCard(ctx, m.Reference)
}

var mandateBackoff = jobs.Backoff{First: 30 * time.Second, Most: time.Hour} // the first pause is longer than two calls

// A card is not deleted while it pays.
const takeMandateSQL = `
UPDATE mandate m
   SET tries = tries + 1, next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[least(tries + 1, cardinality($2))])
 WHERE m.id IN (
       SELECT d.id FROM mandate d
        WHERE d.id = $1 AND d.state = 'ending' AND d.next_try <= clock_timestamp()
          AND NOT EXISTS (SELECT FROM payment p WHERE p.mandate = d.id AND p.state IN ('open', 'authorized', 'sold'))
          FOR UPDATE SKIP LOCKED)
RETURNING m.tries`

const notDeletedSQL = `UPDATE mandate SET error = $2 WHERE id = $1 AND state = 'ending' AND error <> $2`

// deleteDueCard has the provider delete the card of an ending mandate.
func (ps *Payments) deleteDueCard(ctx context.Context, key string) (int, error) {
	id, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	var tries int
	err = ps.db.QueryRow(ctx, takeMandateSQL, id, mandateBackoff.Seconds()).Scan(&tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("payments: take an ending mandate: %w", err)
	}
	failed := ps.deleteCard(ctx, id)
	if failed == nil {
		return 1, nil
	}
	ps.jobs.cards.Failed(id, tries, mandateBackoff.After(tries), failed)
	if _, err := ps.db.Exec(ctx, notDeletedSQL, id, failed.Error()); err != nil {
		return 1, fmt.Errorf("payments: note a card that is still stored: %w", err)
	}
	return 1, nil
}

const deletedSQL = `
UPDATE mandate SET state = 'ended', token = '', email = '', what = '', back = '', page = '', error = '' WHERE id = $1 AND state = 'ending'`

func (ps *Payments) deleteCard(ctx context.Context, id seats.ID) error {
	m, err := ps.KnownMandate(ctx, id)
	if err != nil {
		return err
	}
	store, err := ps.cardStore(m.Method)
	if err != nil {
		return err
	}
	if m.Reference == "" {
		if m.StoredCard, err = askStore(ctx, store, m); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := store.DeleteCard(ctx, m.Reference); err != nil {
		return err
	}
	if _, err := ps.db.Exec(ctx, deletedSQL, id); err != nil {
		return fmt.Errorf("payments: note a deleted card: %w", err)
	}
	return nil
}
