package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/text/unicode/norm"
)

// Event is one dated thing people come to.
type Event struct {
	ID             int64
	Slug           string // its name in addresses
	Name           string
	Venue          string
	StartsAt       time.Time
	TimeZone       string        // IANA name
	Language       string        // of what the organizer writes; a tag of BCP 47
	Currency       string        // ISO 4217
	HoldLength     time.Duration // from the first seat of a hold to its end
	SeatsPerHolder int           // the most seats one attendee may hold
	Extensions     int           // how often a holder may ask for more time
	Strict         bool          // time running out takes seats away, instead of letting others take them
	NoLoneSeats    bool          // no claim may leave a single free seat between others, if it can do without
	AsksBirth      bool          // every order says a date of birth
	PayAtDoor      bool          // who has something to pay may pay when they come
	Invoices       bool          // who has something to pay may get an invoice
	Demo           bool          // paid with the demo card, which moves no money
	PaymentLength  time.Duration // how long seats are kept while a payment runs
	Status         Status
	OpensAt        time.Time // from when on it is on sale; zero: from the beginning
	Reason         string    // of its status, for attendees; may be empty
	Seats          int
	Questions      []Question // asked of everybody who orders
	PlanHash       string     // names the drawing: two events with the same hash look the same
	Team           int64      // whose event it is
	Fees           Fees
	Policy         Policy
	Online         Online
	Confirmation   string // what the organizer adds to the confirmation

	OpensIn time.Duration // until OpensAt, when the event was read
}

// Listing is an event with its counts over all categories.
type Listing struct {
	Event
	Free, Held, Sold int
	PriceFrom        int64 // the lowest price, minor units
	Past             bool  // it began more than a day ago
}

const eventColumns = `e.id, e.slug, e.name, e.venue, e.starts_at, e.time_zone, e.language, e.currency,
       extract(epoch FROM e.hold_length)::float8, e.seats_per_holder, e.extensions, e.strict, e.no_lone_seats,
       e.asks_birth, e.pay_at_door, e.invoices, e.demo, extract(epoch FROM e.payment_length)::float8,
       CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason,
       coalesce(extract(epoch FROM e.opens_at - clock_timestamp()), 0)::float8, e.seats, p.hash, e.team_id,
       e.fee_ticket, e.fee_order, e.fee_percent, e.fee_kept,
       ` + policyColumns + `,
       ` + onlineColumns + `,
       (SELECT coalesce(json_agg(json_build_object('kind', kind, 'label', label, 'required', required, 'choices', choices) ORDER BY number), '[]') FROM question WHERE event_id = e.id)`

func (e *Event) scan(row pgx.Row, more ...any) error {
	var hold, payment, opensIn, early float64
	var opensAt *time.Time
	var policy policyScan
	err := row.Scan(slices.Concat([]any{
		&e.ID, &e.Slug, &e.Name, &e.Venue, &e.StartsAt, &e.TimeZone, &e.Language, &e.Currency,
		&hold, &e.SeatsPerHolder, &e.Extensions, &e.Strict, &e.NoLoneSeats, &e.AsksBirth, &e.PayAtDoor,
		&e.Invoices, &e.Demo, &payment, &e.Status, &opensAt, &e.Reason, &opensIn, &e.Seats, &e.PlanHash, &e.Team,
		&e.Fees.Ticket, &e.Fees.Order, &e.Fees.Percent, &e.Fees.Kept,
	}, policy.into(&e.Policy), []any{&e.Online.On, &e.Online.Link, &early, &e.Confirmation, &e.Questions}, more)...)
	policy.end(&e.Policy)
	e.HoldLength, e.PaymentLength = time.Duration(hold*float64(time.Second)), time.Duration(payment*float64(time.Second))
	e.Online.Early = time.Duration(early * float64(time.Second))
	e.OpensAt, e.OpensIn = time.Time{}, time.Duration(opensIn*float64(time.Second))
	if opensAt != nil {
		e.OpensAt = *opensAt
	}
	return err
}

const eventsSQL = `
SELECT ` + eventColumns + `,
       (SELECT sum(n) FROM unnest(c.free) n), (SELECT sum(n) FROM unnest(c.held) n), (SELECT sum(n) FROM unnest(c.sold) n),
       (SELECT min(price) FROM category WHERE event_id = e.id), o.past
  FROM event e JOIN plan p ON p.id = e.plan_id JOIN counter c ON c.event_id = e.id,
       LATERAL (SELECT e.starts_at < clock_timestamp() - interval '1 day' AS past) o
 ORDER BY o.past, CASE WHEN o.past THEN -1 ELSE 1 END * extract(epoch FROM e.starts_at), e.id`

// Events lists every event with its counts, the next one first; after those to come the past ones, the last one first.
func Events(ctx context.Context, db DB) ([]Listing, error) {
	rows, err := db.Query(ctx, eventsSQL)
	if err != nil {
		return nil, fmt.Errorf("seats: list events: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Listing, error) {
		var l Listing
		return l, l.scan(row, &l.Free, &l.Held, &l.Sold, &l.PriceFrom, &l.Past)
	})
	if err != nil {
		return nil, fmt.Errorf("seats: list events: %w", err)
	}
	return list, nil
}

const eventBySlugSQL = `
SELECT ` + eventColumns + `
  FROM event e JOIN plan p ON p.id = e.plan_id
 WHERE e.slug = $1`

// EventBySlug returns one event, or ErrNoEvent.
func EventBySlug(ctx context.Context, db DB, slug string) (Event, error) {
	var e Event
	err := e.scan(db.QueryRow(ctx, eventBySlugSQL, slug))
	if errors.Is(err, pgx.ErrNoRows) {
		return Event{}, ErrNoEvent
	}
	if err != nil {
		return Event{}, fmt.Errorf("seats: event %q: %w", slug, err)
	}
	return e, nil
}

// Slug turns a name into what an address may hold: lower case letters, digits and dashes. A name that has none of them, as
// in another script, becomes the word for what it names.
func Slug(name, otherwise string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == 'ß':
			b.WriteString("ss")
		case unicode.IsMark(r) || r == '\'' || r == '’':
		default:
			b.WriteByte('-')
		}
	}
	return or(strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-"), otherwise)
}

// isConstraint tells whether err is the refusal of the constraint with this name.
func isConstraint(err error, name string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.ConstraintName == name
}
