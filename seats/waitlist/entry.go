package waitlist

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// States of an entry; doc.go draws how one becomes another.
const (
	Unverified = "new" // its email address is not verified
	Waiting    = "waiting"
	Offered    = "offered"
	Served     = "served"
	Left       = "left"
	Over       = "over" // the sale is over, or the entry reached its time limit
)

// MailPrefix is how the kinds of mail about an entry begin.
const MailPrefix = "wait-"

// Why an entry was passed over.
const (
	PassedNone     = "none"     // no acceptable seat
	PassedFew      = "few"      // fewer than wanted
	PassedApart    = "apart"    // enough, but not side by side
	PassedMissed   = "missed"   // it had just missed an offer of these seats
	PassedGathered = "gathered" // they are gathered for a group before it
)

// Errors of requests.
var (
	ErrNoEntry = errors.New("there is no such waitlist entry")
	ErrOften   = errors.New("this address was sent mail often enough for now")
	ErrOver    = errors.New("the sale is over")
)

// Entry is one person's place in the waitlist of an event.
type Entry struct {
	ID       int64
	Event    string // slug
	Code     string // secret: it authorizes every action on the entry
	Email    string
	Wanted   Wanted
	Consent  Consent
	Mandate  seats.ID   // to charge a saved card for orders; zero for none
	Until    *time.Time // nil: as long as the sale is open
	State    string
	Rank     int64
	Misses   int // unanswered offers
	JoinedAt time.Time
	Since    time.Time // when it began to wait for these seats; zero before that
	Passed   string    // why it was passed over since then; empty if it was not
	Had      int       // how many acceptable seats there were then
	Gathers  *time.Time
	Offer    *Made // the open offer
}

// Made is an offer.
type Made struct {
	ID     seats.ID
	Holder seats.ID // of the seats: ID, until a browser took them
	Hold   seats.ID
	Seats  []int
	At     time.Time
	Until  time.Time // as the offer said; a browser that took it may have longer
	Why    string    // why it was not ordered in spite of a consent, in words for the person
	Now    time.Time
}

const entryColumns = `n.id, e.slug, n.code, n.email, n.quantity, n.sections, n.categories, n.together, n.fewer, n.until, n.state, n.rank, n.misses, n.joined_at, n.waits_since,
       coalesce(n.passed, ''), coalesce(n.had, 0), n.gather_until, coalesce(n.method, ''), coalesce(n.name, ''), coalesce(n.most, 0), coalesce(n.terms, 0), n.mandate,
       o.id, o.holder, o.hold_id, o.seats, o.at, o.until, coalesce(o.unordered, ''), clock_timestamp()`

const entryTables = `
  FROM entry n JOIN event e ON e.id = n.event_id LEFT JOIN offer o ON o.entry_id = n.id AND o.state = 'open'`

// scanEntry reads the columns of an entry, and more if there are more.
func scanEntry(row pgx.CollectableRow, more ...any) (n Entry, err error) {
	var offer, holder, hold seats.ID
	var since, at, until *time.Time
	var now time.Time
	var list []int
	var why string
	w := &n.Wanted
	err = row.Scan(append([]any{
		&n.ID, &n.Event, &n.Code, &n.Email, &w.Quantity, &w.Sections, &w.Categories, &w.Together, &w.Fewer, &n.Until, &n.State, &n.Rank, &n.Misses, &n.JoinedAt, &since,
		&n.Passed, &n.Had, &n.Gathers, &n.Consent.Method, &n.Consent.Name, &n.Consent.Most, &n.Consent.Terms, &n.Mandate,
		&offer, &holder, &hold, &list, &at, &until, &why, &now,
	}, more...)...)
	if since != nil {
		n.Since = *since
	}
	if err == nil && at != nil {
		n.Offer = &Made{offer, holder, hold, list, *at, *until, why, now}
	}
	return n, err
}

const findEntrySQL = `SELECT ` + entryColumns + entryTables + ` WHERE n.code = $1`

// Find returns the entry with this code. ErrNoEntry if there is none.
func (l *List) Find(ctx context.Context, code string) (Entry, error) {
	if _, err := letters.DecodeString(code); err != nil {
		return Entry{}, ErrNoEntry
	}
	return l.one(ctx, findEntrySQL, code)
}

const entryOfSQL = `SELECT ` + entryColumns + entryTables + ` WHERE e.slug = $1 AND n.email = $2 AND n.state IN ('new', 'waiting', 'offered')`

// Of returns the entry of an address in the waitlist of an event. ErrNoEntry if it has none.
func (l *List) Of(ctx context.Context, slug, email string) (Entry, error) {
	return l.one(ctx, entryOfSQL, slug, tidyEmail(email))
}

func (l *List) one(ctx context.Context, sql string, args ...any) (Entry, error) {
	rows, err := l.db.Query(ctx, sql, args...)
	var n Entry
	if err == nil {
		n, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Entry, error) { return scanEntry(row) })
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Entry{}, ErrNoEntry
	}
	if err != nil {
		return Entry{}, fmt.Errorf("waitlist: find: %w", err)
	}
	return n, nil
}

// letters are Crockford's alphabet, without letters that look like digits.
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newCode returns 128 random bits in 26 letters and digits.
func newCode() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return letters.EncodeToString(b[:])
}

const leaveSQL = `
WITH gone AS (
    UPDATE entry SET state = 'left' WHERE id = $1 AND state IN ('new', 'waiting') RETURNING id, event_id
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, who, detail) SELECT event_id, id, 'left', $2, $3 FROM gone
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-left' FROM gone`

// Leave takes an entry off the list. Its offered seats go to the next entry. A repeat changes nothing.
func (l *List) Leave(ctx context.Context, s *seats.Sale, n Entry) error {
	if n.Offer != nil {
		return l.Decline(ctx, s, n)
	}
	tag, err := l.db.Exec(ctx, leaveSQL, n.ID, "", "")
	if err != nil {
		return fmt.Errorf("waitlist: leave: %w", err)
	}
	if tag.RowsAffected() == 0 { // it left before, or it just got an offer
		if n, err = l.Find(ctx, n.Code); err != nil {
			return err
		}
		return l.Decline(ctx, s, n)
	}
	l.Wrote()
	l.Wake(n.Event)
	return nil
}

const declineSQL = `UPDATE offer SET declined_at = clock_timestamp() WHERE id = $1 AND state = 'open'`

const undeclineSQL = `UPDATE offer SET declined_at = NULL WHERE id = $1 AND state = 'open'`

// Decline gives the offered seats back and takes the entry off the list. The next entry gets an offer at once. A
// *seats.Conflict while a payment for the seats is under way.
func (l *List) Decline(ctx context.Context, s *seats.Sale, n Entry) error {
	if n.Offer == nil {
		return nil // declined before, or ended
	}
	if _, err := l.db.Exec(ctx, declineSQL, n.Offer.ID); err != nil {
		return fmt.Errorf("waitlist: decline: %w", err)
	}
	left, err := s.Release(ctx, n.Offer.Holder)
	switch {
	case errors.Is(err, seats.ErrNoHold): // it ended before
	case err != nil:
		return fmt.Errorf("waitlist: decline: %w", err)
	case len(left.Seats) > 0:
		if _, err := l.db.Exec(ctx, undeclineSQL, n.Offer.ID); err != nil {
			return fmt.Errorf("waitlist: decline: %w", err)
		}
		return &seats.Conflict{Code: seats.CodePaying, Seats: left.Seats, Message: text.Mark("These seats are being paid for. Cancel the payment first.")}
	}
	l.Wake(n.Event)
	return nil
}

const takenSQL = `UPDATE offer SET holder = $2, hold_id = $3 WHERE id = $1 AND state = 'open'`

// Take moves the offered seats to a browser's session, for the checkout. Each browser that opens the link may take them; the
// last one has them. Errors are those of seats.Sale.Take.
func (l *List) Take(ctx context.Context, s *seats.Sale, n Entry, to seats.ID) (seats.Hold, error) {
	if n.Offer == nil {
		return seats.Hold{}, seats.ErrNoHold
	}
	o := n.Offer
	return s.Take(ctx, seats.Taking{From: o.Holder, To: to, Fresh: o.Holder == o.ID, Write: func(q *pgx.Batch, hold seats.ID) {
		q.Queue(takenSQL, o.ID, to, hold)
	}})
}

// Stand is the progress that the page of an entry shows.
type Stand struct {
	Place   int // position in the list, from 1; 0 if the entry does not wait
	Waiting int // waiting entries
	Figures
	Before int    // offers to entries behind this one since it began to wait
	Paused bool   // no offers are made for the time being
	Note   string // why
}

// Figures count the offers of an event by outcome.
type Figures struct {
	Open     int
	Accepted int
	Ended    int // accepted, declined and missed
}

// Rate is the percentage of ended offers that were accepted.
func (f Figures) Rate() int {
	if f.Ended == 0 {
		return 0
	}
	return (100*f.Accepted + f.Ended/2) / f.Ended
}

const standSQL = `
SELECT (SELECT count(*) FROM entry o WHERE o.event_id = n.event_id AND o.state = 'waiting' AND (o.rank, o.id) <= (n.rank, n.id) AND n.state = 'waiting'),
       (SELECT count(*) FROM entry o WHERE o.event_id = n.event_id AND o.state = 'waiting'),
       f.open, f.accepted, f.ended, f.before, coalesce(w.paused_at IS NOT NULL, false), coalesce(w.note, '')
  FROM entry n LEFT JOIN wait_list w ON w.event_id = n.event_id,
       LATERAL (SELECT count(*) FILTER (WHERE o.state = 'open') AS open, count(*) FILTER (WHERE o.state = 'accepted') AS accepted,
                       count(*) FILTER (WHERE o.state IN ('accepted', 'declined', 'missed')) AS ended,
                       count(*) FILTER (WHERE o.rank > n.rank AND o.at > n.waits_since) AS before
                  FROM offer o WHERE o.event_id = n.event_id) f
 WHERE n.id = $1`

// Stand returns the progress of an entry.
func (l *List) Stand(ctx context.Context, entry int64) (s Stand, err error) {
	err = l.db.QueryRow(ctx, standSQL, entry).Scan(&s.Place, &s.Waiting, &s.Open, &s.Accepted, &s.Ended, &s.Before, &s.Paused, &s.Note)
	if err != nil {
		return s, fmt.Errorf("waitlist: read the progress of entry %d: %w", entry, err)
	}
	return s, nil
}

const waitingSQL = `
SELECT count(*) FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.state = 'waiting'`

// Waiting counts the waiting entries of an event.
func (l *List) Waiting(ctx context.Context, slug string) (n int, err error) {
	if err = l.db.QueryRow(ctx, waitingSQL, slug).Scan(&n); err != nil {
		return 0, fmt.Errorf("waitlist: count waiting entries: %w", err)
	}
	return n, nil
}
