package seats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// NewEvent is what an organizer says of an event; zero values stand for the defaults named here.
type NewEvent struct {
	Slug           string // made from Name
	Name           string
	Venue          string
	StartsAt       time.Time
	TimeZone       string        // UTC
	Language       string        // en
	Currency       string        // EUR
	HoldLength     time.Duration // 8 minutes
	SeatsPerHolder int           // 6
	Extensions     int           // 10
	Strict         bool
	NoLoneSeats    bool
	AsksBirth      bool
	Questions      []Question
	PaidAhead      bool          // nobody may pay at the door
	Invoices       bool          // who has something to pay may get an invoice
	Demo           bool          // paid with the demo card
	PaymentLength  time.Duration // 15 minutes
	Team           int64         // the first team
	Status         Status        // OnSale; Draft is the other one it may begin with
	OpensAt        time.Time     // on sale from then on; at once
	Fees           Fees          // none
	Policy         *Policy       // DefaultPolicy; of an event that is there: as it is
	Online         Online        // people come to a place
	Confirmation   string        // none
}

func (e NewEvent) withDefaults() NewEvent {
	e.Slug = or(e.Slug, Slug(e.Name, "event"))
	e.TimeZone = or(e.TimeZone, "UTC")
	e.Language = or(e.Language, Language)
	e.Currency = or(e.Currency, "EUR")
	e.HoldLength = or(e.HoldLength, 8*time.Minute)
	e.SeatsPerHolder = or(e.SeatsPerHolder, 6)
	e.Extensions = or(e.Extensions, 10)
	e.PaymentLength = or(e.PaymentLength, 15*time.Minute)
	e.Status = or(e.Status, OnSale)
	return e
}

func or[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}

const createEventSQL = `
INSERT INTO event (plan_id, slug, name, venue, starts_at, time_zone, currency, hold_length, seats_per_holder, extensions, seats, strict, no_lone_seats, asks_birth, pay_at_door,
                   invoices, demo, payment_length, team_id, status, opens_at, fee_ticket, fee_order, fee_percent, fee_kept, language)
VALUES ($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8), $9, $10, $11, $12, $13, $14, $15, $16, $17, make_interval(secs => $18), coalesce(nullif($19::bigint, 0), first_team()), $20, $21, $22, $23, $24, $25, $26)
RETURNING id`

// CreateEvent makes an event with the seats of a plan that passed plan.Check. It is there whole or not at all.
// ErrSlugTaken if another event has its slug.
func CreateEvent(ctx context.Context, db DB, n NewEvent, p *Plan) (Event, error) {
	n = n.withDefaults()
	n.Policy = cmp.Or(n.Policy, &DefaultPolicy)
	if err := n.check(); err != nil {
		return Event{}, err
	}
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		planID, err := savePlan(ctx, tx, p)
		if err != nil {
			return err
		}
		var id int64
		err = tx.QueryRow(ctx, createEventSQL, planID, n.Slug, n.Name, n.Venue, n.StartsAt, n.TimeZone, n.Currency,
			n.HoldLength.Seconds(), n.SeatsPerHolder, n.Extensions, len(p.Seats), n.Strict, n.NoLoneSeats, n.AsksBirth, !n.PaidAhead,
			n.Invoices, n.Demo, n.PaymentLength.Seconds(), n.Team, n.Status, momentOf(n.OpensAt),
			n.Fees.Ticket, n.Fees.Order, n.Fees.Percent, n.Fees.Kept, n.Language).Scan(&id)
		if err != nil {
			return err
		}
		if err := n.Policy.save(ctx, tx, id); err != nil {
			return err
		}
		if err := n.saveOnline(ctx, tx, id); err != nil {
			return err
		}
		if err := saveQuestions(ctx, tx, id, n.Questions); err != nil {
			return err
		}
		if err := saveSeats(ctx, tx, id, p); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, saveTermsSQL, id, 0)
		return err
	})
	if IsConstraint(err, "event_slug_key") {
		return Event{}, ErrSlugTaken
	}
	if err != nil {
		return Event{}, fmt.Errorf("seats: create event %q: %w", n.Slug, err)
	}
	return EventBySlug(ctx, db, n.Slug)
}

// CreateEvent makes an event together with something else, or neither.
func (o *Office) CreateEvent(ctx context.Context, n NewEvent, p *Plan, also Also) (e Event, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if e, err = CreateEvent(ctx, tx, n, p); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	return e, err
}

const editEventSQL = `
UPDATE event
   SET name = $2, venue = $3, starts_at = $4, time_zone = $5, hold_length = make_interval(secs => $6), seats_per_holder = $7, extensions = $8,
       strict = $9, no_lone_seats = $10, asks_birth = $11, pay_at_door = $12, invoices = $13, demo = $14,
       payment_length = make_interval(secs => $15), plan_id = coalesce($16, plan_id), currency = $17,
       fee_ticket = $18, fee_order = $19, fee_percent = $20, fee_kept = $21, language = $22
 WHERE id = $1`

// EditEvent gives an event what an organizer says of it now; its slug, its seats and its status stay. prices are
// those of the categories, in minor units; nil for the ones it has. What people agreed to when they took seats
// changes only until the sale begins: prices, fees, the currency, questions, and what becomes of seats whose time
// is up. Limits hold for claims from now on.
//
// Errors: ErrNoEvent; a *Refusal that says what cannot be changed any more, and then nothing was; *Nonsense; the
// database's.
func (o *Office) EditEvent(ctx context.Context, slug string, n NewEvent, prices []int64, also Also) (Event, error) {
	n = n.withDefaults()
	if n.StartsAt.IsZero() {
		return Event{}, &Nonsense{Message: "Say when the event is. Nothing was changed."}
	}
	if err := n.check(); err != nil {
		return Event{}, err
	}
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		p, err := LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		if prices == nil {
			prices = pricesOf(p)
		}
		if len(prices) != len(p.Categories) || slices.Min(prices) < 0 {
			return false, &Nonsense{Message: fmt.Sprintf("This event has %d categories, each with a price that is not negative. Nothing was changed.", len(p.Categories))}
		}
		n.Policy = cmp.Or(n.Policy, &e.Policy)
		reprices := !slices.Equal(prices, pricesOf(p))
		if sameEvent(n, e.New()) && !reprices {
			return false, nil
		}
		if err := e.mayEdit(n, reprices); err != nil {
			return false, err
		}
		plan, err := reprice(ctx, tx, e, p, prices)
		if err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, editEventSQL, e.ID, n.Name, n.Venue, n.StartsAt, n.TimeZone, n.HoldLength.Seconds(), n.SeatsPerHolder, n.Extensions,
			n.Strict, n.NoLoneSeats, n.AsksBirth, !n.PaidAhead, n.Invoices, n.Demo, n.PaymentLength.Seconds(), plan, n.Currency,
			n.Fees.Ticket, n.Fees.Order, n.Fees.Percent, n.Fees.Kept, n.Language); err != nil {
			return false, err
		}
		if err := n.Policy.save(ctx, tx, e.ID); err != nil {
			return false, err
		}
		if err := n.saveOnline(ctx, tx, e.ID); err != nil {
			return false, err
		}
		if slices.EqualFunc(n.Questions, e.Questions, Question.equal) {
			return true, nil
		}
		if _, err := tx.Exec(ctx, forgetQuestionsSQL, e.ID); err != nil {
			return false, err
		}
		return true, saveQuestions(ctx, tx, e.ID, n.Questions)
	})
}

const forgetQuestionsSQL = `DELETE FROM question WHERE event_id = $1`

func (q Question) equal(other Question) bool {
	return q.Kind == other.Kind && q.Label == other.Label && q.Required == other.Required && slices.Equal(q.Choices, other.Choices)
}

// New is what was said of the event, as one says it of a new one.
func (e Event) New() NewEvent {
	return NewEvent{
		Slug: e.Slug, Name: e.Name, Venue: e.Venue, StartsAt: e.StartsAt, TimeZone: e.TimeZone, Language: e.Language, Currency: e.Currency, HoldLength: e.HoldLength,
		SeatsPerHolder: e.SeatsPerHolder, Extensions: e.Extensions, Strict: e.Strict, NoLoneSeats: e.NoLoneSeats, AsksBirth: e.AsksBirth,
		Questions: e.Questions, Team: e.Team, PaidAhead: !e.PayAtDoor, Invoices: e.Invoices, Demo: e.Demo, PaymentLength: e.PaymentLength, Fees: e.Fees, Policy: &e.Policy,
		Online: e.Online, Confirmation: e.Confirmation,
	}
}

// sameEvent tells whether two say the same of an event whose address, team and status are what they are.
func sameEvent(n, other NewEvent) bool {
	questions := slices.EqualFunc(n.Questions, other.Questions, Question.equal)
	other.Slug, other.Team, other.Status, other.OpensAt, other.Questions = n.Slug, n.Team, n.Status, n.OpensAt, n.Questions
	if n.StartsAt.Equal(other.StartsAt) {
		other.StartsAt = n.StartsAt
	}
	return questions && reflect.DeepEqual(n, other)
}

const mostName = 200 // characters

// Language is what Usher's own words are in.
const Language = "en"

var tag = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`) // by its form (BCP 47)

// IsLanguage tells whether a text may be the tag of a language.
func IsLanguage(text string) bool { return tag.MatchString(text) }

// oneLine tells whether a text is one line of so many characters at most.
func oneLine(text string, most int) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && utf8.RuneCountInString(text) <= most
}

// check refuses what makes no sense of any event.
func (e NewEvent) check() error {
	if _, err := time.LoadLocation(e.TimeZone); err != nil {
		return &Nonsense{Message: fmt.Sprintf("There is no time zone %q. Use a name such as Europe/Vienna.", e.TimeZone)}
	}
	var wrong string
	switch {
	case e.Name == "" || !oneLine(e.Name, mostName):
		wrong = fmt.Sprintf("The name of an event is one line of at most %d characters.", mostName)
	case !oneLine(e.Venue, mostName):
		wrong = fmt.Sprintf("The venue is one line of at most %d characters.", mostName)
	case !IsLanguage(e.Language):
		wrong = "A language is a tag such as en, de or pt-BR."
	case e.HoldLength < time.Second || e.HoldLength > 7*24*time.Hour:
		wrong = "Seats are held between a second and a week."
	case e.PaymentLength < time.Second || e.PaymentLength > 24*time.Hour:
		wrong = "A payment may take between a second and a day."
	case e.SeatsPerHolder < 1 || e.SeatsPerHolder > MaxSeats:
		wrong = "One person may have at least one seat."
	case e.Extensions < 0:
		wrong = "Extensions are not negative."
	case e.Status != Draft && e.Status != OnSale:
		wrong = "An event begins as a draft, or on sale."
	}
	if wrong == "" {
		wrong = e.Fees.check()
	}
	if wrong == "" && e.Policy != nil {
		wrong = e.Policy.check()
	}
	if wrong == "" {
		wrong = e.Online.check(e.Confirmation)
	}
	if wrong == "" {
		if err := CheckCurrency(e.Currency); err != nil {
			wrong = "The currency is three letters of ISO 4217, such as EUR."
		}
	}
	if wrong != "" {
		return &Nonsense{Message: wrong + " Nothing was changed."}
	}
	return nil
}

// mayEdit refuses what cannot be changed any more.
func (e Event) mayEdit(n NewEvent, reprices bool) error {
	if e.Status == Cancelled {
		return &Refusal{Code: CodeChanged, Message: "This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one."}
	}
	if e.Status == Draft || e.Status == Scheduled {
		return nil
	}
	var fixed []string
	for _, f := range []struct {
		what    string
		changes bool
	}{
		{"prices", reprices},
		{"fees", n.Fees != e.Fees},
		{"the cancellation policy", !n.Policy.sameCancelling(e.Policy)},
		{"the currency", n.Currency != e.Currency},
		{"the questions", !slices.EqualFunc(n.Questions, e.Questions, Question.equal) || n.AsksBirth != e.AsksBirth},
		{"what becomes of seats whose time is up", n.Strict != e.Strict},
	} {
		if f.changes {
			fixed = append(fixed, f.what)
		}
	}
	if len(fixed) == 0 {
		return nil
	}
	return &Refusal{Code: CodeChanged, Message: "The sale has begun, and people took seats on what they read: " + joined(fixed, " and ") + " cannot be changed any more. Nothing was changed."}
}

func pricesOf(p *Plan) []int64 {
	prices := make([]int64, len(p.Categories))
	for i := range p.Categories {
		prices[i] = p.Categories[i].Price
	}
	return prices
}

const setPricesSQL = `
UPDATE category c SET price = n.price FROM unnest($2::bigint[]) WITH ORDINALITY AS n(price, place) WHERE c.event_id = $1 AND c.number = n.place - 1`

// reprice writes other prices. The drawing that pages keep shows them, so it gets another name; nil if they are the
// same.
func reprice(ctx context.Context, tx pgx.Tx, e Event, p *Plan, prices []int64) (plan *int64, err error) {
	if slices.Equal(prices, pricesOf(p)) {
		return nil, nil // nothing changes
	}
	for i := range prices {
		p.Categories[i].Price = prices[i]
	}
	if _, err := tx.Exec(ctx, setPricesSQL, e.ID, prices); err != nil {
		return nil, err
	}
	id, err := savePlan(ctx, tx, p)
	return &id, err
}

// NewStatus is what an organizer makes of an event.
type NewStatus struct {
	Status  Status
	OpensAt time.Time // for Scheduled: from when on it is on sale
	Reason  string    // for Paused, Closed and Cancelled: what attendees read
}

const mostReason = 500 // characters

// leads tells which statuses an organizer may make of one. What may be said again is also in it: another time, another
// reason.
var leads = map[Status][]Status{
	Draft:     {Draft, Scheduled, OnSale},
	Scheduled: {Draft, Scheduled, OnSale, Cancelled},
	OnSale:    {OnSale, Paused, Closed, Cancelled},
	Paused:    {OnSale, Scheduled, Paused, Closed, Cancelled},
	Closed:    {OnSale, Scheduled, Closed, Cancelled},
	Cancelled: {Cancelled},
}

// Next lists the other statuses that an organizer may make of the event, the usual one first.
func (e Event) Next() []Status {
	return slices.DeleteFunc(slices.Clone(leads[e.Status]), func(s Status) bool { return s == e.Status })
}

// SetStatus takes an event to another status, on all nodes at once: the counter row, which every claim and every
// sale locks last, knows of it when this returns. What was decided before by an earlier status is undone and
// decided anew. Claims that were granted before stay. The same status once more changes nothing.
//
// Errors: ErrNoEvent; a *Refusal if the event cannot become that; *Nonsense for a reason or time that makes no
// sense; the database's.
func (o *Office) SetStatus(ctx context.Context, slug string, to NewStatus, also Also) (Event, error) {
	to.Reason = strings.TrimSpace(to.Reason)
	if to.Status == OnSale || to.Status == Scheduled || to.Status == Draft {
		to.Reason = ""
	}
	if to.Status != Scheduled {
		to.OpensAt = time.Time{}
	}
	if err := to.check(); err != nil {
		return Event{}, err
	}
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		if err := e.mayBecome(ctx, tx, to); err != nil {
			return false, err
		}
		if e.Status == to.Status && e.Reason == to.Reason && e.OpensAt.Equal(to.OpensAt) {
			return false, nil
		}
		stored := to.Status
		if stored == Scheduled {
			stored = OnSale
		}
		_, err := tx.Exec(ctx, setStatusSQL, e.ID, stored, momentOf(to.OpensAt), to.Reason)
		return true, err
	})
}

const setStatusSQL = `UPDATE event SET status = $2, opens_at = $3, reason = $4 WHERE id = $1`

func (n NewStatus) check() error {
	switch {
	case leads[n.Status] == nil:
		return &Nonsense{Message: fmt.Sprintf("An event is never %q. Nothing was changed.", n.Status)}
	case n.Status == Scheduled && n.OpensAt.IsZero():
		return &Nonsense{Message: "Say from when on the event is on sale. Nothing was changed."}
	case n.Status == Paused && n.Reason == "":
		return &Nonsense{Message: "Say why the sale is paused: everybody who looks at the event reads it. Nothing was changed."}
	case !oneLine(n.Reason, mostReason):
		return &Nonsense{Message: fmt.Sprintf("A reason is one line of at most %d characters. Nothing was changed.", mostReason)}
	}
	return nil
}

const hasOrdersSQL = `SELECT EXISTS (SELECT FROM orders WHERE event_id = $1)`

// mayBecome refuses what an event cannot become.
func (e Event) mayBecome(ctx context.Context, tx pgx.Tx, to NewStatus) error {
	if !slices.Contains(leads[e.Status], to.Status) {
		return &Refusal{Code: CodeChanged, Message: fmt.Sprintf("This event is %s, and from there it cannot become %s. Nothing was changed.", statusWords[e.Status], statusWords[to.Status])}
	}
	if to.Status != Draft || e.Status == Draft {
		return nil
	}
	var ordered bool
	if err := tx.QueryRow(ctx, hasOrdersSQL, e.ID).Scan(&ordered); err != nil {
		return err
	}
	if ordered {
		return &Refusal{Code: CodeChanged, Message: "Tickets of this event were sold, so it cannot be a draft again. Nothing was changed. Schedule it for another time instead."}
	}
	return nil
}

var statusWords = map[Status]string{Draft: "a draft", Scheduled: "scheduled", OnSale: "on sale", Paused: "paused", Closed: "closed", Cancelled: "cancelled"}

const lockEventSQL = `SELECT FROM event WHERE slug = $1 FOR NO KEY UPDATE`

const (
	claimsFrom = `CASE WHEN e.status = 'on sale' THEN coalesce(e.opens_at, '-infinity') ELSE 'infinity' END`
	sells      = `e.status NOT IN ('draft', 'cancelled')`
)

// A version without seats: every node reads the event anew when it meets one. The counter row comes last, as in any
// batch.
const noteChangeSQL = `
WITH bump AS (
    UPDATE counter c SET version = version + 1, claims_from = ` + claimsFrom + `, sells = ` + sells + `
      FROM event e WHERE c.event_id = $1 AND e.id = c.event_id
    RETURNING c.version, c.free, c.held, c.sold, c.blocked
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, '{}', '{}', '{}', free, held, sold, blocked, $2, 0 FROM bump
RETURNING version`

const saveTermsSQL = `
INSERT INTO terms (event_id, version, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict)
SELECT id, $2, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict FROM event WHERE id = $1`

// change does something to an event's row and makes it a version. do tells whether it changed anything.
func (o *Office) change(ctx context.Context, slug string, also Also, do func(pgx.Tx, Event) (bool, error)) (after Event, err error) {
	var version int64
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockEventSQL, slug); err != nil {
			return err
		}
		before, err := EventBySlug(ctx, tx, slug)
		if err != nil {
			return err
		}
		changed, err := do(tx, before)
		if err != nil || !changed {
			after = before
			return err
		}
		if err := also.Run(ctx, tx); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, noteChangeSQL, before.ID, NewID()).Scan(&version); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, saveTermsSQL, before.ID, version); err != nil {
			return err
		}
		after, err = EventBySlug(ctx, tx, slug)
		return err
	})
	var refusal *Refusal
	var nonsense *Nonsense
	switch {
	case errors.Is(err, ErrNoEvent) || errors.As(err, &refusal) || errors.As(err, &nonsense):
		return after, err
	case err != nil:
		return after, fmt.Errorf("seats: change event %q: %w", slug, err)
	case version > 0:
		o.changedEvent(ctx, after, version)
	}
	return after, nil
}

// changedEvent lets this node and the others know.
func (o *Office) changedEvent(ctx context.Context, e Event, version int64) {
	if s := o.sale(e.Slug); s != nil {
		if err := s.CatchUp(ctx); err != nil {
			o.log.Warn("the event is read anew with the next poll", "event", e.ID, "error", err)
		}
	}
	o.Committed(e.ID, version)
}

const setRoomSQL = `UPDATE event SET room_id = $1 WHERE slug = ANY($2) AND room_id IS NULL`

// SetRoom gives a waiting room to those of the events that have none, and returns how many these were.
func SetRoom(ctx context.Context, tx pgx.Tx, room int64, slugs []string) (int, error) {
	tag, err := tx.Exec(ctx, setRoomSQL, room, slugs)
	if err != nil {
		return 0, fmt.Errorf("seats: set waiting room: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

const setWaitlistSQL = `UPDATE event SET wait_list = $2 WHERE id = $1 AND wait_list <> $2`

// SetWaitlist decides whether batches reserve the seats of an event that come back for its waiting list.
func SetWaitlist(ctx context.Context, db DB, event int64, reserve bool) error {
	if _, err := db.Exec(ctx, setWaitlistSQL, event, reserve); err != nil {
		return fmt.Errorf("seats: set waiting list: %w", err)
	}
	return nil
}

// momentOf is a time as the database keeps it; the zero time is none.
func momentOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
