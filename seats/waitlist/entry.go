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
)

// States of an entry; doc.go draws how one becomes another.
const (
	Unverified = "new" // its address is not confirmed yet
	Waiting    = "waiting"
	Offered    = "offered"
	Served     = "served"
	Left       = "left"
	Over       = "over" // the sale is over, or the time until which they waited
)

// MailPrefix is how the kinds of mail about an entry begin.
const MailPrefix = "wait-"

// Why an entry was passed over.
const (
	PassedNone     = "none"     // no seat was where they would sit
	PassedFew      = "few"      // fewer than they want
	PassedApart    = "apart"    // enough, and not side by side
	PassedMissed   = "missed"   // they had let an offer of these seats go by a moment before
	PassedGathered = "gathered" // they were gathered for a group before them
)

// Why a visitor cannot join.
var (
	ErrNoEntry = errors.New("there is no such entry of a wait list")
	ErrOften   = errors.New("this address was sent mail often enough for now")
	ErrOver    = errors.New("the sale is over")
)

// Entry is a visitor's place in the waitlist, also after it ended.
type Entry struct {
	ID       int64
	Event    string // slug
	Code     string // the capability of its page
	Email    string
	Wanted   seats.Wanted
	Consent  Consent
	Mandate  seats.ID   // to charge a card that is kept for what they agreed to; zero for none
	Until    *time.Time // nil: as long as the sale is open
	State    string
	Rank     int64
	Misses   int // offers without an answer
	JoinedAt time.Time
	Since    time.Time // since when it waits for the same seats; zero before it waited
	Passed   string    // why it was passed over since it waits; empty if it was not
	Had      int       // how many seats that would do there were then
	Gathers  *time.Time
	Offer    *Made // the open offer
}

// Made is an offer that was made.
type Made struct {
	ID     seats.ID
	Holder seats.ID // who has the seats: ID, until a browser took them
	Hold   seats.ID
	Seats  []int
	At     time.Time
	Until  time.Time // what the offer said; who took it may have longer
	Why    string    // it was not ordered for who agreed to that; for them
	Now    time.Time
}

const entryColumns = `n.id, e.slug, n.code, n.email, n.quantity, n.sections, n.categories, n.together, n.fewer, n.until, n.state, n.rank, n.misses, n.joined_at, n.waits_since,
       coalesce(n.passed, ''), coalesce(n.had, 0), n.gather_until, coalesce(n.method, ''), coalesce(n.name, ''), coalesce(n.most, 0), n.mandate,
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
		&n.Passed, &n.Had, &n.Gathers, &n.Consent.Method, &n.Consent.Name, &n.Consent.Most, &n.Mandate,
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

// Of returns the place that an address has in the list of an event. ErrNoEntry if it has none.
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

// letters are Crockford's: none looks like a digit.
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newCode names an entry: 128 random bits in 26 letters and digits.
func newCode() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return letters.EncodeToString(b[:])
}
