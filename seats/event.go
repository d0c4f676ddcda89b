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

// Status is how far an event is. Its row and the database's clock decide, whatever a node remembers.
//
//	draft ◄──► scheduled ──time──► on sale ◄──► paused
//	  │            │                  ▲ │         │
//	  └────────────┴──── at once ─────┘ ▼         ▼
//	                                  closed ◄────┘      all but drafts ──► cancelled
type Status string

// The statuses of an event.
const (
	Draft     Status = "draft"     // only its team sees it
	Scheduled Status = "scheduled" // everybody sees it, and from when on its seats may be claimed; on sale, with a time to come
	OnSale    Status = "on sale"
	Paused    Status = "paused"    // no claims, for a reason that attendees read; who holds seats may order them
	Closed    Status = "closed"    // no claims any more; who holds seats may order them
	Cancelled Status = "cancelled" // it will not be: nothing is sold, and its orders are given back
)

// Shut says why nobody can claim seats of the event, for attendees; empty while they can.
func (e Event) Shut() string {
	switch e.Status {
	case OnSale:
		return ""
	case Draft:
		return "This event is not on sale yet."
	case Scheduled:
		return "On sale from " + e.Local(e.OpensAt).Format("Monday 2 January 2006, 15:04 MST") + "."
	case Paused:
		return "The sale is paused" + e.because()
	case Closed:
		return "The sale is over" + e.because()
	case Cancelled:
		return "This event was cancelled" + e.because()
	}
	return fmt.Sprintf("This event is %s.", e.Status)
}

// because ends a sentence with the reason, as far as there is one in the language of the sentence.
func (e Event) because() string {
	if e.Reason == "" || e.Language != Language && e.Language != "" {
		return "."
	}
	return ": " + strings.TrimRight(e.Reason, ".") + "."
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
	text := map[Status]string{
		Draft: "Nothing was changed.", Scheduled: "Nothing was changed. Come back then.",
		Paused:    "Nothing was changed. What you hold keeps its time, and you may go on to the checkout.",
		Closed:    "Nothing was changed. What you hold is yours until the time shown: go on to the checkout.",
		Cancelled: "Nothing was charged. Orders of it are given back.",
	}[e.Status]
	return &Refusal{Code: CodeShut, Message: e.Shut() + " " + text}
}

// Question is what an organizer asks everybody who orders.
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

const (
	mostQuestions = 20
	mostLabel     = 200 // characters
)

// ReadQuestion reads a question as organizers write it: a kind, with ! if it must be answered, and what is asked;
// for a choice, a colon and what there is to choose: "text! Company", "choice Menu: fish | vegetarian", "checkbox
// News by mail".
func ReadQuestion(text string) (Question, error) {
	kind, label, _ := strings.Cut(strings.TrimSpace(text), " ")
	q := Question{Label: strings.TrimSpace(label), Choices: []string{}}
	q.Kind, q.Required = strings.CutSuffix(kind, "!")
	if q.Kind == AskChoice {
		label, choices, _ := strings.Cut(q.Label, ":")
		q.Label = strings.TrimSpace(label)
		for _, c := range strings.Split(choices, "|") {
			if c = strings.TrimSpace(c); c != "" {
				q.Choices = append(q.Choices, c)
			}
		}
	}
	switch {
	case q.Kind != AskText && q.Kind != AskChoice && q.Kind != AskCheckbox:
		return q, &Nonsense{Message: fmt.Sprintf("%q begins with none of text, choice and checkbox.", text)}
	case q.Label == "" || len([]rune(q.Label)) > mostLabel || strings.ContainsFunc(text, unicode.IsControl):
		return q, &Nonsense{Message: fmt.Sprintf("%q asks nothing, or more than %d characters.", text, mostLabel)}
	case q.Kind == AskChoice && len(q.Choices) < 2:
		return q, &Nonsense{Message: fmt.Sprintf("%q leaves no choice: write \"choice Menu: fish | vegetarian\".", text)}
	}
	return q, nil
}

// String writes a question as ReadQuestion reads it.
func (q Question) String() string {
	kind := q.Kind
	if q.Required {
		kind += "!"
	}
	text := kind + " " + q.Label
	if len(q.Choices) > 0 {
		text += ": " + strings.Join(q.Choices, " | ")
	}
	return text
}

const saveQuestionSQL = `
INSERT INTO question (event_id, number, kind, label, required, choices) VALUES ($1, $2, $3, $4, $5, $6)`

func saveQuestions(ctx context.Context, tx pgx.Tx, event int64, questions []Question) error {
	if len(questions) > mostQuestions {
		return &Nonsense{Message: fmt.Sprintf("An event asks at most %d questions.", mostQuestions)}
	}
	for i, q := range questions {
		if _, err := tx.Exec(ctx, saveQuestionSQL, event, i+1, q.Kind, q.Label, q.Required, q.Choices); err != nil {
			return err
		}
	}
	return nil
}
