package bookings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Bookings are those of all events, for one node.
type Bookings struct {
	MailWritten func()

	db     seats.DB
	desk   *organizers.Desk
	orders *orders.Orders
	blocks *blocks.Blocks
	remind *jobs.Job
	online *jobs.Job
}

// New returns the bookings of a desk.
func New(db seats.DB, desk *organizers.Desk, sold *orders.Orders, kept *blocks.Blocks) *Bookings {
	b := &Bookings{MailWritten: func() {}, db: db, desk: desk, orders: sold, blocks: kept}
	b.remind = jobs.New("reminders of group bookings", remindersSQL, b.sendReminder)
	b.online = jobs.New("deposits paid online", onlineDueSQL, b.work)
	return b
}

// States of a booking.
const (
	Option    = "option"
	Confirmed = "confirmed"
	Expired   = "expired"
	Cancelled = "cancelled"
)

// Contact is who asks for a group.
type Contact struct {
	Name         string
	Email        string // empty: no mail goes out
	Organisation string // such as a school; may be empty
	Note         string // for organizers; may be empty
}

// Price is what is agreed about a ticket type.
type Price struct {
	Type  string `json:"type"`           // its key
	Count int    `json:"count"`          // tickets of it; the other seats get the usual type
	Each  *int64 `json:"each,omitempty"` // what a ticket costs at most before fees and taxes on top, minor units; nil: as listed
}

// Booking is the booking of a group.
type Booking struct {
	ID seats.ID // also that of its block
	Contact
	Places int // seats that it has, or had when it ended
	Prices []Price
	At     time.Time
	Until  time.Time // when the option ends
	State  string
	Seats  []int // that are kept, or those of its valid tickets

	Order          string // its code; empty: there is none
	OrderCancelled bool
	Total, Due     int64 // of its order, minor units

	Deposit   *Deposit // that its contact is asked for; nil: none
	Withdrawn *Deposit // that its contact was asked for before; nil: none

	now time.Time // of the database
	n   int64     // where it stands on the list; grows
}

// ErrNone says that an event has no such booking.
var ErrNone = errors.New("the event has no such booking")

const listSQL = `
SELECT b.id, b.name, b.email, b.organisation, b.note, b.places, b.prices, b.at, k.ends_at,
       CASE WHEN b.order_id IS NOT NULL THEN 'confirmed' WHEN b.cancelled_at IS NOT NULL THEN 'cancelled'
            WHEN k.ended_at IS NOT NULL OR k.ends_at <= clock_timestamp() THEN 'expired' ELSE 'option' END, s.idxs,
       coalesce(o.code, ''), coalesce(o.state = 'cancelled', false), coalesce(o.total, 0), coalesce(greatest(0, t.cost + o.kept - o.paid - o.waived), 0), clock_timestamp(),
       d.code, d.amount, d.due_at, d.refundable_until, d.paid_at, d.method, d.ended_at, d.outcome,
       coalesce(` + mayRetain + `, false),
       d.withdrawn_at IS NOT NULL, d.reminded_at IS NOT NULL, EXISTS (SELECT FROM deposit_payment WHERE id = d.payment_id AND state = 'refunding'), b.n
  FROM booking b JOIN block k ON k.id = b.id JOIN event e ON e.id = b.event_id LEFT JOIN orders o ON o.id = b.order_id LEFT JOIN deposit d ON d.booking_id = b.id,
       LATERAL (SELECT coalesce(sum(price + fee), 0)::bigint AS cost FROM ticket WHERE order_id = b.order_id AND revoked_at IS NULL) t,
       ` + ofEnd + `,
       LATERAL (SELECT coalesce(array_agg(idx ORDER BY idx), '{}') AS idxs FROM (
           SELECT idx FROM seat_state WHERE event_id = b.event_id AND idx = ANY (k.seats) AND state = 5 /* blocked */ AND holder = b.id AND b.order_id IS NULL
            UNION ALL
           SELECT idx FROM ticket WHERE order_id = b.order_id AND revoked_at IS NULL) u) s
 WHERE b.event_id = $1 AND ($2::uuid IS NULL OR b.id = $2) AND ($4::bigint = 0 OR b.n < $4)
 ORDER BY b.n DESC LIMIT $3`

// List returns a page of the bookings of an event of the member's team, the latest first, and where the list goes on; nil if there are no more.
func (b *Bookings) List(ctx context.Context, m organizers.Member, event int64, p paging.Page) (list []Booking, next *paging.Place, err error) {
	if list, err = b.read(ctx, m, event, nil, paging.Page{After: p.After, Limit: p.Limit + 1}); err != nil {
		return nil, nil, err
	}
	list, next = paging.Cut(list, p, func(k Booking) paging.Place { return paging.Place{N: k.n} })
	return list, next, nil
}

// Find returns a booking of an event. ErrNone if there is none.
func (b *Bookings) Find(ctx context.Context, m organizers.Member, event int64, id seats.ID) (Booking, error) {
	list, err := b.read(ctx, m, event, &id, paging.Page{Limit: 1})
	if err == nil && len(list) == 0 {
		err = ErrNone
	}
	if err != nil {
		return Booking{}, err
	}
	return list[0], nil
}

func (b *Bookings) read(ctx context.Context, m organizers.Member, event int64, id *seats.ID, p paging.Page) (list []Booking, err error) {
	err = b.desk.As(ctx, m, func(tx pgx.Tx) (err error) {
		list, err = collect(ctx, tx, event, id, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bookings: list those of event %d: %w", event, err)
	}
	return list, nil
}

// collect reads a page of the bookings of an event, or one of them.
func collect(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, event int64, id *seats.ID, p paging.Page,
) ([]Booking, error) {
	rows, err := db.Query(ctx, listSQL, event, id, p.Limit, p.After.N)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Booking, err error) {
		var code, method, outcome *string
		var amount *int64
		var due *time.Time
		d := &Deposit{}
		err = row.Scan(&k.ID, &k.Name, &k.Email, &k.Organisation, &k.Note, &k.Places, &k.Prices, &k.At, &k.Until, &k.State, &k.Seats, &k.Order, &k.OrderCancelled, &k.Total, &k.Due, &k.now,
			&code, &amount, &due, &d.Refundable, &d.PaidAt, &method, &d.EndedAt, &outcome, &d.Keepable, &d.Withdrawn, &d.Reminded, &d.GoesBack, &k.n)
		if err == nil && code != nil {
			d.Code, d.Amount, d.Due, d.Method, d.Outcome = *code, *amount, *due, *method, *outcome
			if k.Deposit = d; d.Withdrawn {
				k.Deposit, k.Withdrawn = nil, d
			}
		}
		return k, err
	})
}

// form is the sale of the seats of a booking. Seats get the types that were agreed in the order of the list, as far as those are sold for them.
//
// Errors: *seats.ValidationError if tickets of a type do not fit.
func (k Booking) form(s *seats.Sale) (orders.OfficeForm, error) {
	f := orders.OfficeForm{Seats: k.Seats, Name: k.Name, Email: k.Email, Types: map[int]string{}, Account: &orders.Account{}, Group: k.ID}
	for _, p := range k.Prices {
		kind := s.Prices.TypeKeyed(p.Type)
		if kind < 0 {
			return f, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no ticket type “%s”. Nothing was changed."), Args: []any{p.Type}}
		}
		left := p.Count
		for _, idx := range k.Seats {
			_, priced := s.Prices.Price(0, kind, s.Plan.Seats[idx].Category)
			if _, has := f.Types[idx]; left > 0 && !has && priced && !s.Prices.Types[kind].Retired {
				f.Types[idx] = p.Type
				left--
			}
		}
		if left > 0 {
			return f, &seats.ValidationError{Message: text.Mark("There are not enough seats for %[1]d tickets of the type “%[2]s”. Nothing was changed."), Args: []any{p.Count, s.Prices.Types[kind].Name}}
		}
		if p.Each != nil {
			if f.Agreed == nil {
				f.Agreed = map[string]int64{}
			}
			f.Agreed[p.Type] = *p.Each
		}
	}
	return f, nil
}

// Quote returns what the seats of an option cost at this moment.
//
// Errors: *seats.ValidationError; a *seats.Conflict if a type is not sold for its seat.
func (k Booking) Quote(s *seats.Sale) ([]seats.Line, pricing.Cost, error) {
	return k.QuoteFor(s, nil, orders.Seller{})
}

// QuoteFor is Quote for a company, which may owe the tax itself.
func (k Booking) QuoteFor(s *seats.Sale, company *orders.Billing, seller orders.Seller) ([]seats.Line, pricing.Cost, error) {
	f, err := k.form(s)
	if err != nil {
		return nil, pricing.Cost{}, err
	}
	f.Account = &orders.Account{Billing: company, Seller: seller}
	return f.Quote(s)
}

// trimmed are prices of fewer tickets: the last types lose theirs.
func trimmed(prices []Price, places int) []Price {
	list := make([]Price, 0, len(prices))
	for _, p := range prices {
		p.Count = min(p.Count, places)
		places -= p.Count
		list = append(list, p)
	}
	return list
}

// alone changes a booking while no other request does, if its option lasts.
func (b *Bookings) alone(ctx context.Context, id seats.ID, do func(ctx context.Context) error) error {
	return b.desk.Requests.Alone(ctx, "booking", id.String(), do)
}

// open finds a booking with an option that lasts.
func (b *Bookings) open(ctx context.Context, m organizers.Member, event int64, id seats.ID) (Booking, error) {
	k, err := b.Find(ctx, m, event, id)
	if err != nil {
		return k, err
	}
	if words, over := overWords[k.State]; over {
		return k, &seats.Conflict{Code: seats.CodeChanged, Message: words}
	}
	return k, nil
}

var overWords = map[string]string{
	Confirmed: text.Mark("This booking was confirmed before. Nothing else was changed. Change its order."),
	Expired:   text.Mark("The option ended, and its seats are on sale. Nothing was changed. Take another option."),
	Cancelled: text.Mark("The option was cancelled before, and its seats are on sale. Nothing else was changed."),
}

const exportSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'starts_at', e.starts_at, 'name', b.name, 'email', b.email, 'organisation', b.organisation, 'note', b.note, 'seats', b.places, 'booked_at', b.at, 'cancelled_at', b.cancelled_at, 'deposit', d.amount, 'deposit_paid_at', d.paid_at, 'deposit_method', nullif(d.method, ''), 'deposit_ended_at', d.ended_at, 'deposit_outcome', nullif(d.outcome, ''), 'deposit_back', nullif(d.back, '')) ORDER BY b.n), '[]')
  FROM booking b JOIN event e ON e.id = b.event_id LEFT JOIN deposit d ON d.booking_id = b.id WHERE b.event_id = ANY($1) AND lower(b.email) = $2`

// Export returns the bookings of a person for some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("bookings: export: %w", err)
	}
	return list, nil
}

const eraseSQL = `
UPDATE booking SET name = '', email = '', organisation = '', note = '', remind_at = NULL
 WHERE event_id = ANY($1) AND ($2 = '' OR lower(email) = $2)
   AND NOT EXISTS (SELECT FROM deposit d WHERE d.booking_id = booking.id AND d.paid_at IS NOT NULL AND d.ended_at IS NULL)
   AND NOT EXISTS (SELECT FROM deposit_payment p WHERE p.booking_id = booking.id AND p.state IN ('open', 'refunding'))`

// Erase takes a person off the bookings of some events, or all persons for an empty email. Seats and orders stay. A booking with an open
// deposit stays as it is: the deposit may have to be paid back. So does one whose money is being paid online, or is on its way back.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	if _, err := tx.Exec(ctx, eraseSQL, events, email); err != nil {
		return fmt.Errorf("bookings: erase: %w", err)
	}
	return nil
}

const openDepositsSQL = `
SELECT count(*) FROM deposit d JOIN booking b ON b.id = d.booking_id
 WHERE b.event_id = ANY($1) AND lower(b.email) = $2
   AND (d.paid_at IS NOT NULL AND d.ended_at IS NULL OR EXISTS (SELECT FROM deposit_payment p WHERE p.booking_id = d.booking_id AND p.state IN ('open', 'refunding')))`

// OpenDeposits counts the deposits that a person paid for some events and that are neither in an order nor paid back nor retained, and those
// with money that is being paid online or on its way back.
func OpenDeposits(ctx context.Context, tx pgx.Tx, events []int64, email string) (n int, err error) {
	if err := tx.QueryRow(ctx, openDepositsSQL, events, email).Scan(&n); err != nil {
		return 0, fmt.Errorf("bookings: count open deposits: %w", err)
	}
	return n, nil
}

// subjectOf is the address of a booking below /desk.
func subjectOf(s *seats.Sale, id seats.ID) string {
	return "events/" + s.Event.Slug + "/bookings/" + id.String()
}

// refused reports whether an error is about what was asked for, and not of the database.
func refused(err error) bool {
	var invalid *seats.ValidationError
	var refusal *seats.Conflict
	return errors.As(err, &invalid) || errors.As(err, &refusal)
}

// wrap adds the call to an error that no member caused.
func wrap(call string, err error) error {
	var mistakes orders.Mistakes
	if err == nil || refused(err) || errors.As(err, &mistakes) || errors.Is(err, ErrNone) {
		return err
	}
	return fmt.Errorf("bookings: %s: %w", call, err)
}
