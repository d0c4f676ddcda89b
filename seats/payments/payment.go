package payments

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// Payments are the payments of a database. One is enough for a node.
type Payments struct {
	// Order returns what writes the order of a payment in the transaction that sells its seats.
	Order func(p Payment) (write func(q *pgx.Batch, s *seats.Sale, sold []seats.Line), err error)
	// Sell sells the seats of a payment, and what is exchanged for them goes back in the same transaction.
	Sell func(ctx context.Context, p Payment, s *seats.Sale, d seats.Purchase) error
	// Placed is called after an order was placed, MailQueued after a mail was queued, Changed after other changes.
	// All must return at once.
	Placed     func(Payment)
	MailQueued func()
	Changed    func()
	// Other is told of a webhook event that is about no payment of seats. It stores what follows of it, and may be nil.
	Other func(ctx context.Context, payment seats.ID) error
	// PayoutsChanged is told of a webhook event about a payout. It stores what follows of it, and may be nil.
	PayoutsChanged func(ctx context.Context) error
	// HomeOf returns the address of the pages of an event, to which a provider leads back. Nil: that of Open, for all.
	HomeOf func(ctx context.Context, event string) string

	db        seats.DB
	providers map[string]Provider // by method
	office    *seats.Inventory
	home      string // the address of our pages
	jobs      background
}

// New returns the payments of a database.
func New(db seats.DB) *Payments {
	ps := &Payments{db: db, providers: map[string]Provider{}, Sell: sellSeats}
	ps.jobs = ps.newBackground()
	for _, method := range []string{Free, Door, Invoice} {
		ps.Accept(method, byEmail{db})
	}
	return ps
}

// Open sets the seats that payments sell and the address of our pages. Call it before the first payment.
func (ps *Payments) Open(office *seats.Inventory, home string) {
	ps.office, ps.home = office, home
}

// Accept adds a method of payment. Call it before the first payment.
func (ps *Payments) Accept(method string, p Provider) { ps.providers[method] = p }

// Provider returns the provider of a method; nil if it is not set up.
func (ps *Payments) Provider(method string) Provider { return ps.providers[method] }

// Accepts reports whether a method is set up.
func (ps *Payments) Accepts(method string) bool { return ps.providers[method] != nil }

// OffSession reports whether a method charges an attendee who agreed before, without a page.
func (ps *Payments) OffSession(method string) bool {
	_, is := ps.providers[method].(OffSession)
	return is
}

// ErrNoPayment is the answer to an unknown payment.
var ErrNoPayment = errors.New("there is no such payment")

// The states of a payment. A hold has at most one that is open, authorized, sold or captured.
const (
	open       = "open"       // the provider or the attendee has to act
	authorized = "authorized" // the money is promised; the seats come next
	sold       = "sold"       // the order is placed; the capture comes next
	captured   = "captured"   // the order is placed and paid
	lost       = "lost"       // there will be no order; the money goes back
	closed     = "closed"     // there is no order, and no money is kept
)

// Payment is a payment and the order it is for.
type Payment struct {
	ID        seats.ID
	Event     string // slug
	EventID   int64
	Order     seats.ID
	Code      string // of the order; it opens the page of the payment
	Holder    seats.ID
	Form      json.RawMessage // from which the order is made
	Details                   // of the form
	Method    string
	Currency  string // ISO 4217
	Amount    int64  // minor units
	State     string
	Reference string // the provider's name of the payment
	Page      string // where the attendee pays; may be empty
	Captured  int64  // minor units, before refunds
	Reason    string // why there is no order
	Attention string // why an organizer has to look at it
	CreatedAt time.Time

	Title     string        // name of the event
	Age       time.Duration // by the database's clock
	Length    time.Duration // how long seats are kept for a payment
	Confirmed bool          // the email was confirmed, if the payment waits for that

	AwaitedUntil *time.Time // the attendee paid, and the money comes until then; nil if the method is quicker
	awaitOver    bool
	before       int64 // minor units refunded before the present refund
	slow         bool  // the event is so far away that methods may take days

	Keys    []seats.ID // of the person, known when it began
	card    *seats.ID  // key of the card; nil until it is authorized, or if the provider does not name it
	counted bool       // its seats count for Keys
}

// Details is the part of the form that a payment needs.
type Details struct {
	Hold    seats.ID `json:"hold"`
	Seats   []int    `json:"seats"`
	Name    string   `json:"name"`
	Email   string   `json:"email"`
	Account string   `json:"account"` // address of the credit that pays
	Credit  int64    `json:"credit"`  // minor units of the amount that credit pays, and the method the rest; 0: no part
	Mandate seats.ID `json:"mandate"` // of a stored card that pays

	Language string `json:"language"` // of the buyer

	Discount *pricing.Discount `json:"discount"` // of the code that the order has; nil for none
	Uses     []seats.Use       `json:"uses"`     // that it counts for

	Exchange struct {
		Code  string `json:"code"`  // of the order with the old tickets; empty: it is no exchange
		Worth int64  `json:"worth"` // minor units of the order that tickets of another one pay
		Kinds []int  `json:"kinds"` // if their types are changed: those that they get; the payment keeps no seats then
	} `json:"exchange"`

	Billing struct {
		Reverse bool `json:"reverse_charge"` // the buyer owes the tax
	} `json:"billing"`

	Shares []Share `json:"shares,omitempty"` // of several orders; none for most

	Till *AtTill `json:"till,omitempty"` // of a sale at the box office; nil: the buyer pays by themselves

	Lines  []seats.Line   `json:"lines,omitempty"`  // what the seats cost when the payment began; none for payments of earlier versions
	Agreed *pricing.Terms `json:"agreed,omitempty"` // fees, tax and offers then; nil for payments of earlier versions
}

// ChangesTypes reports whether it is of the difference between types of tickets that the buyer has. It keeps no seats.
func (p Payment) ChangesTypes() bool { return len(p.Exchange.Kinds) > 0 }

// Done reports whether the order is placed.
func (p Payment) Done() bool { return p.State == sold || p.State == captured }

// Over reports whether no order will come of the payment.
func (p Payment) Over() bool { return p.State == lost || p.State == closed }

// Ending reports whether the payment was given up while its provider may still take money for it.
func (p Payment) Ending() bool { return p.State == lost && p.Captured == 0 }

const paymentColumns = `
SELECT p.id, e.slug, p.order_id, p.code, p.holder, p.form, p.method, p.currency, p.amount, p.state, p.reference, p.page,
       p.captured, p.reason, p.attention, p.created_at, e.name,
       extract(epoch FROM clock_timestamp() - p.created_at)::float8, extract(epoch FROM e.payment_length)::float8, p.event_id, p.keys, p.card, p.counted, p.confirmed_at IS NOT NULL,
       p.awaited_until, coalesce(p.awaited_until <= clock_timestamp(), false), e.starts_at > p.created_at + interval '15 days'
  FROM payment p JOIN event e ON e.id = p.event_id`

const (
	paymentByCodeSQL = paymentColumns + ` WHERE p.code = $1`
	paymentByIDSQL   = paymentColumns + ` WHERE p.id = $1`
	// The one under way; else the latest.
	paymentByHoldSQL = paymentColumns + ` WHERE p.hold_id = $1 AND p.holder = $2
 ORDER BY p.state IN ('open', 'authorized', 'sold', 'captured') DESC, p.created_at DESC LIMIT 1`
)

func (ps *Payments) find(ctx context.Context, sql string, args ...any) (p Payment, err error) {
	var age, length float64
	err = ps.db.QueryRow(ctx, sql, args...).Scan(&p.ID, &p.Event, &p.Order, &p.Code, &p.Holder, &p.Form, &p.Method, &p.Currency, &p.Amount,
		&p.State, &p.Reference, &p.Page, &p.Captured, &p.Reason, &p.Attention, &p.CreatedAt, &p.Title, &age, &length, &p.EventID, &p.Keys, &p.card, &p.counted, &p.Confirmed,
		&p.AwaitedUntil, &p.awaitOver, &p.slow)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, ErrNoPayment
	}
	if err == nil {
		err = json.Unmarshal(p.Form, &p.Details)
	}
	if err != nil {
		return p, fmt.Errorf("payments: read a payment: %w", err)
	}
	p.Age, p.Length = time.Duration(age*float64(time.Second)), time.Duration(length*float64(time.Second))
	if p.Till != nil {
		p.Length = readerTime
	}
	return p, nil
}

// Find returns the payment for the order with this code. ErrNoPayment if there is none.
func (ps *Payments) Find(ctx context.Context, code string) (Payment, error) {
	return ps.find(ctx, paymentByCodeSQL, code)
}

// FindByHold returns the payment of a hold that is under way, else the latest. ErrNoPayment if there is none.
func (ps *Payments) FindByHold(ctx context.Context, holder, hold seats.ID) (Payment, error) {
	return ps.find(ctx, paymentByHoldSQL, hold, holder)
}

// As in package idempotency: the commit of this statement comes after those that were read, and waits for the standby.
const afterReadSQL = `SELECT pg_logical_emit_message(true, 'usher', '')::text`

// FindAgain is FindByHold for the answer to a repeat: it waits until a failover keeps the payment.
func (ps *Payments) FindAgain(ctx context.Context, holder, hold seats.ID) (Payment, error) {
	p, err := ps.FindByHold(ctx, holder, hold)
	if err != nil {
		return p, err
	}
	if _, err := ps.db.Exec(ctx, afterReadSQL); err != nil {
		return p, fmt.Errorf("payments: wait for what was read: %w", err)
	}
	return p, nil
}

const (
	beginPayment = `
WITH begun AS (
    INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, mandate, keys, counted)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, true)`

	queuePayment = `, asked AS (
    INSERT INTO mail (payment_id, kind) SELECT id, 'confirm' FROM begun WHERE $8 IN ('free', 'door', 'invoice')
)
INSERT INTO intention (payment_id, step, next_try) SELECT id, 'authorize', clock_timestamp() + interval '15 seconds' FROM begun`

	// The index "one hold has one payment under way" lets one of many equal forms pass. Only that one is attempted, and only
	// its seats count.
	paymentSQL = beginPayment + `
        ON CONFLICT DO NOTHING
    RETURNING id
), again AS (
    UPDATE purchase_key SET tickets = tickets - jsonb_array_length($7::jsonb->'seats')
     WHERE event_id = $2 AND key = ANY($12::uuid[]) AND NOT EXISTS (SELECT FROM begun)
), unused AS (
    UPDATE allowance a SET used = used - 1 FROM jsonb_array_elements($7::jsonb->'uses') u
     WHERE a.event_id = $2 AND a.key = (u->>'key')::uuid AND NOT EXISTS (SELECT FROM begun)
)` + queuePayment

	// A payment of several orders, or at a card reader, undoes the transaction if the hold or the reader has one under way.
	sharedPaymentSQL = beginPayment + `
    RETURNING id
)` + queuePayment
)

// Queue queues the payment and the attempt to authorize it, in the transaction that keeps its seats. Start makes the
// attempt at once; other nodes make it later if this one dies.
func (p Payment) Queue(q *pgx.Batch) {
	mandate := &p.Mandate
	if p.Mandate == (seats.ID{}) {
		mandate = nil
	}
	sql := paymentSQL
	if p.Shared() || p.Till != nil {
		sql = sharedPaymentSQL
	}
	q.Queue(sql, p.ID, p.EventID, p.Order, p.Code, p.Holder, p.Hold, p.Form, p.Method, p.Currency, p.Amount, mandate, p.Keys)
	if p.Till != nil {
		q.Queue(keptAtTillSQL, p.ID, KeptAtTill.Seconds())
	}
}

// Start attempts what is due of a payment and returns its state then.
func (ps *Payments) Start(ctx context.Context, p Payment) (Payment, error) {
	if err := ps.work(ctx, p.ID); err != nil {
		return p, err
	}
	return ps.find(ctx, paymentByIDSQL, p.ID)
}

// Ask makes a payment due now and attempts it, for an attendee who returned from the provider.
func (ps *Payments) Ask(ctx context.Context, p Payment) error {
	if _, err := ps.db.Exec(ctx, askAgainSQL, p.ID); err != nil {
		return fmt.Errorf("payments: ask about a payment: %w", err)
	}
	return ps.work(ctx, p.ID)
}

// PersonKey returns a purchase key (seats.Purchase): a name of the person, of a kind.
func PersonKey(kind, name string) seats.ID {
	sum := sha256.Sum256([]byte("usher/person/v1/" + kind + ":" + name))
	return seats.ID(sum[:len(seats.ID{})])
}

// setCard keeps the key of the card that the provider named.
func (p *Payment) setCard(s Standing) {
	if s.Card != "" && p.card == nil {
		key := PersonKey("card/"+p.Method, s.Card)
		p.card = &key
	}
}

// AllKeys returns the keys of the order: Keys, and that of the card.
func (p Payment) AllKeys() []seats.ID {
	if p.card == nil {
		return p.Keys
	}
	return append(slices.Clone(p.Keys), *p.card)
}

// uncounted returns the keys for which the seats are counted when they are sold.
func (p Payment) uncounted() []seats.ID {
	if all := p.AllKeys(); p.counted {
		return all[len(p.Keys):]
	} else {
		return all
	}
}

// uncountedUses returns the allowances that the order counts for when its seats are sold.
func (p Payment) uncountedUses() []seats.Use {
	if p.counted {
		return nil
	}
	return p.Uses
}

// lockKeysSQL locks keys before the payment, in the order of a batch (seats/sell.go).
const lockKeysSQL = `
SELECT FROM purchase_key WHERE event_id = $1 AND key = ANY($2::uuid[]) ORDER BY key FOR NO KEY UPDATE`

// lockUsesSQL locks allowances after the keys, as a batch does.
const lockUsesSQL = `SELECT FROM allowance WHERE event_id = $1 AND key = ANY($2::uuid[]) ORDER BY key FOR NO KEY UPDATE`

// queueLocks locks what uncountSQL changes: all keys by event, then all allowances.
func (p Payment) queueLocks(q *pgx.Batch) error {
	all, err := p.each()
	if err != nil {
		return err
	}
	for _, one := range all {
		q.Queue(lockKeysSQL, one.EventID, one.Keys)
	}
	for _, one := range all {
		if len(one.Uses) == 0 {
			continue
		}
		keys := make([]seats.ID, len(one.Uses))
		for i, u := range one.Uses {
			keys[i] = u.Key
		}
		q.Queue(lockUsesSQL, one.EventID, keys)
	}
	return nil
}

// The seats and the code of a payment without an order do not count any more.
const uncountSQL = `
WITH over AS (
    UPDATE payment SET counted = false WHERE id = $1 AND counted AND state IN ('lost', 'closed')
    RETURNING event_id, keys, form
), less AS (
    SELECT event_id, keys, jsonb_array_length(form->'seats') AS seats, form->'uses' AS uses FROM over WHERE NOT form ? 'shares'
     UNION ALL
    SELECT (s->>'event_id')::bigint, keys, jsonb_array_length(s->'form'->'seats'), s->'form'->'uses' FROM over, jsonb_array_elements(form->'shares') s
), unused AS (
    UPDATE allowance a SET used = used - 1
      FROM less, jsonb_array_elements(CASE jsonb_typeof(less.uses) WHEN 'array' THEN less.uses ELSE '[]' END) u WHERE a.event_id = less.event_id AND a.key = (u->>'key')::uuid
)
UPDATE purchase_key k SET tickets = greatest(0, k.tickets - less.seats) FROM less WHERE k.event_id = less.event_id AND k.key = ANY(less.keys)`
