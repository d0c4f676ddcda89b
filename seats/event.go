package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// Event is one dated thing people come to.
type Event struct {
	ID             int64
	Slug           string // its name in addresses
	Name           string
	Venue          string
	Promoter       string // who puts it on; empty: the team itself
	StartsAt       time.Time
	TimeZone       string        // IANA name
	Language       string        // of what the organizer writes; a tag of BCP 47
	Currency       string        // ISO 4217
	HoldLength     time.Duration // from the first seat of a hold to its end
	SeatsPerHolder int           // the most seats one attendee may hold
	Extensions     int           // how often a holder may ask for more time
	Strict         bool          // time running out takes seats away, instead of letting others take them
	NoOrphanSeats  bool          // no claim may leave a single free seat between others, if it can do without
	AsksBirth      bool          // every order says a date of birth
	PayAtDoor      bool          // who has something to pay may pay when they come
	Invoices       bool          // who has something to pay may get an invoice
	Demo           bool          // paid with the demo card, which moves no money
	PaymentLength  time.Duration // how long seats are kept while a payment runs
	Status         Status
	OpensAt        time.Time // from when on it is on sale; zero: from the beginning
	Reason         string    // of its status, for attendees; may be empty
	Seats          int
	Questions      []Question // asked with each order
	TicketNames    TicketNames
	Gates          []Gate // its entrances; nil: one, for all
	Reentry        bool   // a ticket that went out comes in again
	RotatingCodes  bool   // codes of tickets change all the time, but for those that the box office sold
	PlanHash       string // names the drawing: two events with the same hash look the same
	Team           int64  // the team that owns the event
	Series         int64  // of which it is a performance; 0 for none
	TestOf         int64  // the event that this test sale tries; 0: it is no test
	Fees           Fees
	Rules          PriceRules // tax and offers
	Policy         Policy
	Online         Online
	Confirmation   string // what the organizer adds to the confirmation

	OpensIn time.Duration // until OpensAt, when the event was read
}

// TicketNames says whether the buyer names the attendee of each ticket.
type TicketNames string

// The values of TicketNames.
const (
	NamesNone     TicketNames = "none"
	NamesOptional TicketNames = "optional"
	NamesRequired TicketNames = "required"
)

// Asked reports whether the checkout has a field for the name of each ticket.
func (n TicketNames) Asked() bool { return n == NamesOptional || n == NamesRequired }

// Listing is an event with its counts over all categories.
type Listing struct {
	Event
	Free, Held, Sold int
	PriceFrom        int64 // the lowest price that is not 0 and that everyone may pay, minor units; 0 if there is none
	TypeFrom         int   // its ticket type; -1 if nothing is sold to everyone
	Past             bool  // it began more than a day ago
}

const eventColumns = `e.id, e.slug, e.name, e.venue, e.promoter, e.starts_at, e.time_zone, e.language, e.currency,
       extract(epoch FROM e.hold_length)::float8, e.seats_per_holder, e.extensions, e.strict, e.no_lone_seats,
       e.asks_birth, e.pay_at_door, e.invoices, e.demo, extract(epoch FROM e.payment_length)::float8,
       CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason,
       coalesce(extract(epoch FROM e.opens_at - clock_timestamp()), 0)::float8, e.seats, p.hash, e.team_id, coalesce(e.series_id, 0), coalesce(e.test_of, 0),
       e.fee_ticket, e.fee_percent, e.fee_absorbed, e.fee_kept, e.price_rules, e.ticket_names, nullif(e.gates, '[]'), e.reentry, e.rotating_codes,
       ` + policyColumns + `,
       ` + onlineColumns + `,
       (SELECT coalesce(json_agg(json_build_object('kind', kind, 'label', label, 'required', required, 'choices', choices) ORDER BY number), '[]') FROM question WHERE event_id = e.id)`

func (e *Event) scan(row pgx.Row, more ...any) error {
	var hold, payment, opensIn, early float64
	var opensAt *time.Time
	var policy policyScan
	err := row.Scan(slices.Concat([]any{
		&e.ID, &e.Slug, &e.Name, &e.Venue, &e.Promoter, &e.StartsAt, &e.TimeZone, &e.Language, &e.Currency,
		&hold, &e.SeatsPerHolder, &e.Extensions, &e.Strict, &e.NoOrphanSeats, &e.AsksBirth, &e.PayAtDoor,
		&e.Invoices, &e.Demo, &payment, &e.Status, &opensAt, &e.Reason, &opensIn, &e.Seats, &e.PlanHash, &e.Team, &e.Series, &e.TestOf,
		&e.Fees.Ticket, &e.Fees.Percent, &e.Fees.Absorbed, &e.Fees.Kept, &e.Rules, &e.TicketNames, &e.Gates, &e.Reentry, &e.RotatingCodes,
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
       coalesce(low.amount, 0), coalesce(low.type, -1), o.past
  FROM event e JOIN plan p ON p.id = e.plan_id JOIN counter c ON c.event_id = e.id
  LEFT JOIN LATERAL (
       SELECT coalesce(f.amount, b.amount) AS amount, b.type
         FROM price b
         JOIN ticket_type t ON t.event_id = e.id AND t.number = b.type AND t.sold_to = 'everyone' AND NOT t.retired
         LEFT JOIN price f ON f.event_id = e.id AND f.version = b.version AND f.type = b.type AND f.category = b.category AND f.phase = (
              SELECT min(number) FROM phase
               WHERE event_id = e.id AND NOT retired AND coalesce(begins_at <= clock_timestamp(), true) AND coalesce(ends_at > clock_timestamp(), true) AND coalesce(c.quota[number] > 0, true))
        WHERE b.event_id = e.id AND b.version = c.price_version AND b.phase = 0
        ORDER BY coalesce(f.amount, b.amount) = 0, 1 LIMIT 1) low ON true,
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
		return l, l.scan(row, &l.Free, &l.Held, &l.Sold, &l.PriceFrom, &l.TypeFrom, &l.Past)
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

const eventOfRoomSQL = `
SELECT ` + eventColumns + `
  FROM event e JOIN plan p ON p.id = e.plan_id
 WHERE e.room_id = $1 AND e.status <> 'draft' ORDER BY e.starts_at, e.id LIMIT 1`

// EventOfRoom returns the first event of a waiting room, or ErrNoEvent. Drafts do not count.
func (o *Inventory) EventOfRoom(ctx context.Context, room int64) (Event, error) {
	var e Event
	err := e.scan(o.db.QueryRow(ctx, eventOfRoomSQL, room))
	if errors.Is(err, pgx.ErrNoRows) {
		return Event{}, ErrNoEvent
	}
	if err != nil {
		return Event{}, fmt.Errorf("seats: event of room %d: %w", room, err)
	}
	return e, nil
}

// TestMark begins the name of each test sale (Event.TestOf), so that it is on each page, ticket and mail.
const TestMark = "TEST · "

// TestSlug stands between the slug of an event and random letters in that of its test sale.
const TestSlug = "-test-"

// Language is what Usher's own words are in.
const Language = "en"

// Status is how far an event is. Its row and the database's clock decide, whatever a node remembers.
//
//	draft ◄──► scheduled ──time──► on sale ◄──► paused
//	  │            │                  ▲ │         │
//	  └────────────┴──── at once ─────┘ ▼         ▼
//	                                  closed ◄────┘      all but drafts ──► cancelled
//
// Where nothing was sold and nothing is held, all but a cancelled event may become a draft again.
type Status string

// The statuses of an event.
const (
	Draft     Status = "draft"     // only its team sees it
	Scheduled Status = "scheduled" // all visitors see it, and from when on its seats may be claimed; on sale, with a time to come
	OnSale    Status = "on sale"
	Paused    Status = "paused"    // no claims, for a reason that attendees read; who holds seats may order them
	Closed    Status = "closed"    // no claims any more; who holds seats may order them
	Cancelled Status = "cancelled" // it will not be: nothing is sold, and its orders are given back
)

// shut says why no visitor can claim seats of an event, for attendees.
type shut struct{ Event }

// In says it in the language of its reader.
func (e shut) In(ctx context.Context) string {
	switch e.Status {
	case Scheduled:
		return text.T(ctx, "On sale from %s.", text.Time(ctx, e.Local(e.OpensAt), "Mon 2 January 2006, 15:04\u00a0MST"))
	case Paused:
		return e.because(ctx, text.T(ctx, "The sale is paused"))
	case Closed:
		return e.because(ctx, text.T(ctx, "The sale is over"))
	case Cancelled:
		return e.because(ctx, text.T(ctx, "This event was cancelled"))
	}
	return text.T(ctx, "This event is not on sale yet.")
}

// because ends a sentence with the reason, as far as there is one in the language of the sentence.
func (e shut) because(ctx context.Context, said string) string {
	if e.Reason == "" || e.Language != text.Tag(ctx) && e.Language != "" {
		return said + "."
	}
	return said + ": " + strings.TrimRight(e.Reason, ".") + "."
}

// Local is a moment on the clock of the event's place.
func (e Event) Local(t time.Time) time.Time {
	zone, err := time.LoadLocation(e.TimeZone)
	if err != nil { // a zone this system does not know: better a right time elsewhere than a wrong one there
		zone = time.UTC
	}
	return t.In(zone)
}

// under is the event with the status that a batch read.
func (e Event) under(t *terms) Event {
	e.Status, e.Reason = t.status, t.reason
	if t.opensAt != nil {
		e.OpensAt = *t.opensAt
	}
	return e
}

// shut refuses a claim while the event is not on sale; nil while it is.
func (b *batch) shut() error {
	if b.terms.status == OnSale {
		return nil
	}
	return refuseShut(b.sale.Event.under(&b.terms))
}

// calledOff refuses whatever leads to an order of an event that will not be.
func (b *batch) calledOff() error {
	if b.terms.status != Cancelled {
		return nil
	}
	return refuseShut(b.sale.Event.under(&b.terms))
}

func refuseShut(e Event) error {
	next := map[Status]text.Message{
		Draft: text.Say("Nothing was changed."), Scheduled: text.Say("Nothing was changed. Come back then."),
		Paused:    text.Say("Nothing was changed. Your seats are still held, and you can continue to the checkout."),
		Closed:    text.Say("Nothing was changed. Your seats are held until the time shown. Continue to the checkout."),
		Cancelled: text.Say("Nothing was charged. Orders are refunded."),
	}[e.Status]
	return &Conflict{Code: CodeShut, Message: "%s %s", Args: []any{shut{e}, next}}
}

// Question is what an organizer asks with each order.
type Question struct {
	Kind     string   `json:"kind"`
	Label    string   `json:"label"`
	Required bool     `json:"required"` // of a checkbox: it has to be marked
	Choices  []string `json:"choices"`  // of a choice
}

// Kinds of questions.
const (
	AskText     = "text"
	AskChoice   = "choice"
	AskCheckbox = "checkbox"
)

// Fees are what a ticket costs besides its price. A ticket without a price has none.
type Fees struct {
	Ticket   int64 // minor units
	Percent  int   // of the price after its discount, in hundredths of a percent; half a minor unit up
	Absorbed bool  // they are inside of the price, instead of coming to it
	Kept     bool  // they do not go back with a cancelled ticket
}

// Policy is what an organizer decides about giving up tickets, paying later and confirming emails.
type Policy struct {
	NoCancelling  bool          // attendees do not cancel
	CancelUntil   time.Duration // before the start; attendees cancel until then
	CancelFee     int64         // kept for each cancelled ticket, minor units
	CancelPercent int           // of its price, in hundredths of a percent; kept as well
	PayLater      time.Duration // how long an order that is paid at the box office or by invoice may stay unpaid
	PayBefore     time.Duration // before the start; it is due then at the latest
	Confirm       Confirm       // whether free orders confirm the email first
	Exchanging    bool          // attendees exchange tickets for those of another performance of the series
	ExchangeUntil time.Duration // before the start; they do until then
	ExchangeFee   int64         // kept for each exchanged ticket, minor units
	NoTransfers   bool          // attendees do not send tickets to another person
	TransferUntil time.Duration // before the start; they do until then
	Resale        bool          // buyers offer tickets back, which are sold again
	ResaleUntil   time.Duration // before the start; they do until then
	ResaleFee     int64         // kept of each ticket that is sold again, minor units
	ChangingTypes bool          // buyers change the ticket type of tickets that they have
	TypesUntil    time.Duration // before the start; they do until then
}

// Confirm says whether free orders confirm the email first. Orders that are paid later always do.
type Confirm string

// The values of Confirm.
const (
	ConfirmByLimit Confirm = ""       // if one person gets two tickets at most
	ConfirmAlways  Confirm = "always" //
	ConfirmNever   Confirm = "never"  //
)

// DefaultPolicy is that of a new event.
var DefaultPolicy = Policy{CancelUntil: 7 * 24 * time.Hour, PayLater: 3 * 24 * time.Hour, PayBefore: time.Hour}

const policyColumns = `extract(epoch FROM e.cancel_until)::float8, e.cancel_fee, e.cancel_percent, extract(epoch FROM e.pay_later)::float8, extract(epoch FROM e.pay_before)::float8, coalesce(e.confirm_email, ''), extract(epoch FROM e.exchange_until)::float8, e.exchange_fee, extract(epoch FROM e.transfer_until)::float8, extract(epoch FROM e.resale_until)::float8, e.resale_fee, extract(epoch FROM e.types_until)::float8`

// policyScan is where the columns of a policy are read to.
type policyScan struct {
	until, exchange, transfer, resale, types *float64
	later, before                            float64
}

func (s *policyScan) into(p *Policy) []any {
	return []any{&s.until, &p.CancelFee, &p.CancelPercent, &s.later, &s.before, &p.Confirm, &s.exchange, &p.ExchangeFee, &s.transfer, &s.resale, &p.ResaleFee, &s.types}
}

func (s *policyScan) end(p *Policy) {
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	p.PayLater, p.PayBefore, p.NoCancelling, p.CancelUntil = seconds(s.later), seconds(s.before), s.until == nil, 0
	if s.until != nil {
		p.CancelUntil = seconds(*s.until)
	}
	if p.Exchanging, p.ExchangeUntil = s.exchange != nil, 0; p.Exchanging {
		p.ExchangeUntil = seconds(*s.exchange)
	}
	if p.NoTransfers, p.TransferUntil = s.transfer == nil, 0; !p.NoTransfers {
		p.TransferUntil = seconds(*s.transfer)
	}
	if p.Resale, p.ResaleUntil = s.resale != nil, 0; p.Resale {
		p.ResaleUntil = seconds(*s.resale)
	}
	if p.ChangingTypes, p.TypesUntil = s.types != nil, 0; p.ChangingTypes {
		p.TypesUntil = seconds(*s.types)
	}
}

// Online is how people join an event that has no place. The zero value is an event with a place.
type Online struct {
	On    bool
	Link  string        // where people join; empty while the organizer does not know it
	Early time.Duration // before the start, when tickets open the link; 0: as soon as they are confirmed
}

const onlineColumns = `e.online, e.join_link, coalesce(extract(epoch FROM e.join_early), 0)::float8, e.confirmation`

const lockEventsSQL = `SELECT slug FROM event WHERE slug = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE`

const (
	claimsFrom = `CASE WHEN e.status = 'on sale' THEN coalesce(e.opens_at, '-infinity') ELSE 'infinity' END`
	sells      = `e.status NOT IN ('draft', 'cancelled')`
)

// A version without seats: every node that meets one reads the event anew.
const noteChangeSQL = `
WITH bump AS (
    UPDATE counter c SET version = version + 1, claims_from = ` + claimsFrom + `, sells = ` + sells + `
      FROM event e WHERE c.event_id = $1 AND e.id = c.event_id
    RETURNING c.version, c.free, c.held, c.sold, c.blocked, c.quota
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, quota, passed)
SELECT $1, version, '{}', '{}', '{}', free, held, sold, blocked, $2, quota, 0 FROM bump
RETURNING version`

const saveTermsSQL = `
INSERT INTO terms (event_id, version, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict)
SELECT id, $2, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict FROM event WHERE id = $1`

// ChangeEvent changes the rows of an event and makes that a version of it. The event is locked first and its counter row
// last, as by a batch. change reports whether it changed anything; then also is committed with it. change must lock no
// seat and no hold.
func (o *Inventory) ChangeEvent(ctx context.Context, slug string, also TxHook, change func(pgx.Tx, Event) (bool, error)) (after Event, err error) {
	list, err := o.ChangeEvents(ctx, []string{slug}, also, change)
	if len(list) > 0 {
		after = list[0]
	}
	return after, err
}

// ChangeEvents is ChangeEvent for several events, all or none. Events are locked, changed and counted by id ascending, so that
// two such changes never wait for each other. It returns the events in that order.
func (o *Inventory) ChangeEvents(ctx context.Context, slugs []string, also TxHook, change func(pgx.Tx, Event) (bool, error)) (list []Event, err error) {
	var versions []int64
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		list, versions, err = changeEvents(ctx, tx, slugs, also, change)
		return err
	})
	var refusal *Conflict
	var nonsense *ValidationError
	switch {
	case errors.Is(err, ErrNoEvent) || errors.As(err, &refusal) || errors.As(err, &nonsense):
		return list, err
	case err != nil:
		return list, fmt.Errorf("seats: change event %q: %w", strings.Join(slugs, ", "), err)
	}
	for i, e := range list {
		if versions[i] > 0 {
			o.changedEvent(ctx, e, versions[i])
		}
	}
	return list, nil
}

// changeEvents returns the events by id, and for each the version that its change is; 0 if nothing changed.
func changeEvents(ctx context.Context, tx pgx.Tx, slugs []string, also TxHook, change func(pgx.Tx, Event) (bool, error)) (list []Event, versions []int64, err error) {
	rows, err := tx.Query(ctx, lockEventsSQL, slugs)
	if err != nil {
		return nil, nil, err
	}
	locked, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, nil, err
	}
	if len(locked) < len(slugs) {
		return nil, nil, ErrNoEvent
	}
	list, versions = make([]Event, len(locked)), make([]int64, len(locked))
	changed := make([]bool, len(locked))
	for i, slug := range locked {
		if list[i], err = EventBySlug(ctx, tx, slug); err != nil {
			return nil, nil, err
		}
		if changed[i], err = change(tx, list[i]); err != nil {
			return list, versions, err
		}
	}
	if !slices.Contains(changed, true) {
		return list, versions, nil
	}
	if err := also.Run(ctx, tx); err != nil {
		return list, versions, err
	}
	for i, e := range list {
		if !changed[i] {
			continue
		}
		if err := tx.QueryRow(ctx, noteChangeSQL, e.ID, NewID()).Scan(&versions[i]); err != nil {
			return list, versions, err
		}
		if _, err := tx.Exec(ctx, saveTermsSQL, e.ID, versions[i]); err != nil {
			return list, versions, err
		}
		if list[i], err = EventBySlug(ctx, tx, e.Slug); err != nil {
			return list, versions, err
		}
	}
	return list, versions, nil
}

// NoteChange makes a version of an event that a transaction changed and locked before. Each node reads the event anew when it
// meets that.
func NoteChange(ctx context.Context, tx pgx.Tx, event int64) error {
	var version int64
	if err := tx.QueryRow(ctx, noteChangeSQL, event, NewID()).Scan(&version); err != nil {
		return fmt.Errorf("seats: note a change of event %d: %w", event, err)
	}
	if _, err := tx.Exec(ctx, saveTermsSQL, event, version); err != nil {
		return fmt.Errorf("seats: note a change of event %d: %w", event, err)
	}
	return nil
}

// changedEvent tells this node and the others.
func (o *Inventory) changedEvent(ctx context.Context, e Event, version int64) {
	if s := o.sale(e.Slug); s != nil {
		if err := s.CatchUp(ctx); err != nil {
			o.log.Warn("the event is read anew with the next poll", "event", e.ID, "error", err)
		}
	}
	o.Committed(e.ID, version)
}

// Begin begins a transaction on the database of the office.
func (o *Inventory) Begin(ctx context.Context) (pgx.Tx, error) { return o.db.Begin(ctx) }

const saveStatesSQL = `INSERT INTO seat_state (event_id, idx) SELECT $1, generate_series($2::integer, $3::integer - 1)`

const saveCounterSQL = `
INSERT INTO counter (event_id, free, held, sold, blocked, claims_from, sells)
SELECT $1::bigint, $2::integer[], $3::integer[], $3, $3, ` + claimsFrom + `, ` + sells + ` FROM event e WHERE e.id = $1`

// CreateSeats puts the seats of a new event on sale, all of them free. The event and its plan were written before.
func CreateSeats(ctx context.Context, tx pgx.Tx, event int64, p *Plan) error {
	if _, err := tx.Exec(ctx, saveStatesSQL, event, 0, len(p.Seats)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, saveCounterSQL, event, p.perCategory(0), make([]int32, len(p.Categories))); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, saveTermsSQL, event, 0)
	return err
}

const addFreeSQL = `
UPDATE counter SET free = ARRAY(SELECT a + d FROM unnest(free, $2::integer[]) u(a, d)) WHERE event_id = $1`

const noteSeatsSQL = `
INSERT INTO added (event_id, version, seats) SELECT event_id, version + 1, $2 FROM counter WHERE event_id = $1`

// AddSeats puts the seats of a newer plan on sale that come behind the first few, all of them free. It is part of
// ChangeEvent, which makes the version.
func AddSeats(ctx context.Context, tx pgx.Tx, event int64, p *Plan, first int) error {
	if _, err := tx.Exec(ctx, saveStatesSQL, event, first, len(p.Seats)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, addFreeSQL, event, p.perCategory(first)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, noteSeatsSQL, event, len(p.Seats)-first)
	return err
}

// perCategory counts the seats of each category, from one idx on.
func (p *Plan) perCategory(first int) []int32 {
	n := make([]int32, len(p.Categories))
	for i := range p.Seats[first:] {
		n[p.Seats[first+i].Category]++
	}
	return n
}

// PriceRules are what an event prices its tickets by besides its prices and fees. Package pricing computes with them.
type PriceRules struct {
	Tax       Tax          `json:"tax"`
	Offers    []PriceOffer `json:"offers,omitempty"`
	LastOffer int          `json:"last_offer,omitempty"` // the highest number that an offer ever had
	Extras    Extras       `json:"extras,omitzero"`
}

// Extras are what buyers can add to an order. Nothing is added that a buyer did not choose.
type Extras struct {
	Donations   []int64 `json:"donations,omitempty"`    // to choose one of, minor units; none: no donation is asked for
	DonationFor string  `json:"donation_for,omitempty"` // such as our youth theatre
	Postage     int64   `json:"postage,omitempty"`      // of an order with tickets by post, as prices are entered; 0: tickets are not posted
	PostageRate int     `json:"postage_rate,omitempty"` // of its tax
}

// Tax is how much tax prices contain. Its zero value is none. A rate is in thousandths of a percent.
type Tax struct {
	Name    string     `json:"name,omitempty"`    // such as VAT; empty: Tax
	Country string     `json:"country,omitempty"` // ISO 3166-1; the rates of this country are suggested
	Rate    int        `json:"rate"`              // of tickets
	FeeRate int        `json:"fee_rate"`          // of fees
	Types   []TypeRate `json:"types,omitempty"`
	OnTop   bool       `json:"on_top"`   // prices and fees are entered without the tax; pages show them with it
	ByTotal bool       `json:"by_total"` // the tax of a rate is rounded once for an order, not for each ticket
}

// TypeRate is the rate of a ticket type that differs from other types.
type TypeRate struct {
	Type int `json:"type"`
	Rate int `json:"rate"`
}

// RateOf is the rate of tickets of a type.
func (t Tax) RateOf(kind int) int {
	for _, r := range t.Types {
		if r.Type == kind {
			return r.Rate
		}
	}
	return t.Rate
}

// Kinds of offers.
const (
	OfferMulti  = "multi"  // pay for Pay of Count tickets
	OfferGroup  = "group"  // Percent off from Count tickets on
	OfferFamily = "family" // Percent off for Count adults with at least so many Children
)

// PriceOffer is a discount that an order gets by itself.
type PriceOffer struct {
	Number     int    `json:"number"` // of the event; never given to another offer
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Types      []int  `json:"types,omitempty"`      // it is for these types; none: for all
	Categories []int  `json:"categories,omitempty"` // it is for these categories; none: for all
	Count      int    `json:"count"`
	Pay        int    `json:"pay,omitempty"`
	ChildTypes []int  `json:"child_types,omitempty"`
	Children   int    `json:"children,omitempty"`
	Percent    int    `json:"percent,omitempty"` // hundredths of a percent
}

// Offer returns the offer with this number.
func (r PriceRules) Offer(number int) (o PriceOffer, found bool) {
	at := slices.IndexFunc(r.Offers, func(o PriceOffer) bool { return o.Number == number })
	if at < 0 {
		return PriceOffer{}, false
	}
	return r.Offers[at], true
}
