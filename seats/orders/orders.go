package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Errors that say what is not there.
var (
	ErrNoOrder  = errors.New("there is no such order")
	ErrNoTicket = errors.New("there is no such ticket")
)

// Confirmed is the state of an order that holds; Cancelled of one that was given up.
const (
	Confirmed = "confirmed"
	Cancelled = "cancelled"
)

// Orders places orders and finds them again. One is enough for a node.
type Orders struct {
	Payments    *payments.Payments
	Happened    func() // called after a commit that changed an order, a payment or a ticket; must return at once
	MailWritten func() // called after a commit that wrote mail; must return at once

	// Subscribed queues, with an order of a subscription, what it belongs to (package subscriptions).
	Subscribed func(q *pgx.Batch, f Form, order seats.ID)
	// AtTill queues, with an order that a card reader was paid for, its entries in a session of the till (package till). A gift card paid
	// byCard of it, minor units.
	AtTill func(q *pgx.Batch, session int64, order seats.ID, byCard int64)

	db     seats.DB
	keys   keys
	office *seats.Inventory // sells the seats

	unpaid unpaidOrders
	jobs   background
}

// New returns the orders of a database.
func New(db seats.DB) *Orders {
	o := &Orders{
		Happened: func() {}, MailWritten: func() {}, db: db, Payments: payments.New(db), keys: keys{db: db},
	}
	o.jobs = o.newBackground()
	o.Payments.Sell = o.sellPayment
	o.Payments.Order, o.Payments.Placed, o.Payments.MailQueued, o.Payments.Changed = o.ofPayment, o.paymentPlaced, o.mailWritten, o.happened
	return o
}

// Open sets the seats that orders sell and the address of our pages. Call it before the first order.
func (o *Orders) Open(office *seats.Inventory, home string) {
	o.office = office
	office.Resold = o.resold
	o.Payments.Open(office, home)
}

// Order is what a customer bought, or got for nothing.
type Order struct {
	ID        seats.ID
	Code      string   // who knows it may see the order
	Event     string   // slug
	Holder    seats.ID // the visitor who ordered; zero if the box office sold it
	State     string
	Name      string
	Email     string
	Born      *time.Time // a day; nil if the event did not ask
	Method    string
	Currency  string // ISO 4217
	Total     int64  // minor units
	Fee       int64  // minor units of Total: the fees of all its tickets
	Discount  int64  // minor units that its tickets would have cost more without it
	Offer     string // the name of the offer that the discount is for; empty: a code, or none
	FeeKept   bool   // fees do not go back with a cancelled ticket
	Kept      int64  // minor units of Paid: extras, and fees of cancelled tickets, which do not go back
	Paid      int64  // minor units, without what went back
	Back      int64  // minor units that went back or are to go back
	OnItsWay  int64  // minor units of Back that were not seen to be given back yet
	ByHand    int64  // minor units of OnItsWay that the organizer pays out
	Reason    string // why the box office gave its tickets away; empty: it did not, or noted nothing
	AtOffice  bool   // sold at the box office; then there may be no address
	Waived    int64  // minor units that went back although the tickets hold
	ByCard    int64  // minor units that a gift card paid at the box office
	CreatedAt time.Time
	Answers   map[string]string // by number of the event's question, from 1
	Started   bool              // the event has begun, by the database's clock
	Consent   *Consent          // to the terms of the team; nil if it had none, or at the box office
	Tickets   []Ticket          // by seat

	DiscountCode string // that the discount is for; empty: an offer, or none

	Extras   []pricing.Extra // that the buyer added
	Post     *Address        // where the tickets go by post; nil: they do not
	PostedAt *time.Time      // when a member said that they were posted

	DueAt      *time.Time   // until when it is to be paid; nil if nothing is to be paid later
	Policy     seats.Policy // of its event, as far as it is about cancelling and exchanging
	CancelEnds *time.Time   // until when its attendee cancels, by the policy; nil: never
	CancelOver bool         // that time is over, by the database's clock, or there is none

	ExchangeEnds *time.Time // until when its attendee exchanges tickets for those of another performance; nil: never
	ExchangeOver bool       // as CancelOver
	Exchanges    []Exchange // that it came of, or that its tickets went into

	TransferEnds *time.Time // until when its tickets may be sent to another person; nil: never
	TransferOver bool       // as CancelOver
	ResaleEnds   *time.Time // until when its tickets may be offered back; nil: never
	ResaleOver   bool       // as CancelOver
	TypesEnd     *time.Time // until when types of its tickets may be changed; nil: never
	TypesOver    bool       // as CancelOver

	Received *Transfer // the order is as a friend sees it, whom its one ticket was sent to; nil for its buyer

	Rotates bool // its tickets need a rotating code at the door: their codes alone open none (rotating.go)

	reverse    bool           // its buyer owes the tax
	byHand     bool           // some of Paid is of another order, which was paid outside of this program
	keys       []seats.ID     // its live tickets count for these (person.go)
	offered    *pricing.Terms // with the offer that it was priced by; nil: none
	subscribed bool           // it is of a subscription
	differed   int64          // minor units of Kept that the tickets cost more since cancellations ended the offer
}

// PaidOutside reports whether money of the order came outside of this program, so that it can only go back by hand.
func (o Order) PaidOutside() bool { return o.Paid > 0 && (o.byHand || !payments.Ahead(o.Method)) }

// Consent is that the buyer accepted a version of the team's terms.
type Consent struct {
	Team    int64
	Version int
	At      time.Time
}

// Repriced reports whether a cancellation of some tickets may price the others again: an offer applied.
func (o Order) Repriced() bool { return o.offered != nil }

// Due is what is still to be paid, in minor units.
func (o Order) Due() int64 {
	due := o.Kept - o.Paid - o.Waived
	for _, t := range o.Tickets {
		if !t.Revoked {
			due += t.Cost()
		}
	}
	return max(0, due)
}

// Taxes sums what its live tickets and extras contain, by rate.
func (o Order) Taxes() []pricing.TaxSum {
	var lines []pricing.Priced
	for _, t := range o.Tickets {
		if !t.Revoked {
			lines = append(lines, t.Priced)
		}
	}
	return pricing.Taxes(lines, o.Extras...)
}

// Ticket is the right to one seat.
type Ticket struct {
	ID             seats.ID
	Idx            int    // its seat
	pricing.Priced        // what it cost
	Type           string // its ticket type; empty if the event has one only
	Proof          string // to be shown at the door for it; empty: none
	Name           string // that the buyer gave for it; empty: none (Order.NameOn)
	Code           string // what the door reads; empty if revoked, or if a friend has it
	Rotation       []byte // the key of its rotating code; nil if that does not rotate, or there is no Code
	Revoked        bool
	In             *time.Time // when it was checked in; nil: it was not
	Replaced       bool       // revoked, and another one took its place
	Offer          *Offer     // to a friend, who did not accept it yet; nil: none
	Friend         *Friend    // whom it was sent to; the buyer has no Code then. nil: it was not sent
	OfferedBack    bool       // its seat is for sale, and it is valid until that is sold
	OfferedTo      *OfferedTo // the friend who alone may buy it for a time; nil: it is for everyone, or not OfferedBack
	Resold         bool       // revoked, because its seat was sold again

	code   string     // what the door reads, also if a friend has it
	turns  []byte     // Rotation, also if a friend has it
	onward *Offer     // that the friend made
	line   seats.Line // as it was sold; its price is without fee, tax on top and discount
	listed bool       // line has the price
}

// Offer is a ticket that its holder offers to a friend.
type Offer struct {
	Code string // of the link by which it is accepted
	To   string // the address that the link was mailed to; empty: its holder passes it on
}

// Friend has a ticket that was sent to them.
type Friend struct{ Name, Email string }

// TypeNumber is the number of its ticket type in the event.
func (t Ticket) TypeNumber() int { return t.line.Type }

// TypeWords names the ticket type, and what has to be shown for it at the door. It is empty if the event has one type.
func (t Ticket) TypeWords() string {
	if t.Type == "" || t.Proof == "" {
		return t.Type
	}
	return t.Type + ", to be shown at the door: " + t.Proof
}

// byCard is what a gift card paid of an order o at the box office.
const byCard = `CASE WHEN o.at_office THEN coalesce(
           (SELECT s.amount FROM payment_share s JOIN payment p ON p.id = s.payment_id WHERE s.order_id = o.id AND p.method = 'credit'),
           (SELECT p.amount FROM payment p WHERE p.order_id = o.id AND p.method = 'credit'),
           (SELECT (x->'form'->'till'->>'by_card')::bigint FROM payment_share s JOIN payment p ON p.id = s.payment_id, jsonb_array_elements(p.form->'shares') x
             WHERE s.order_id = o.id AND p.form ? 'till' AND x->>'order' = s.order_id::text),
           (SELECT (p.form->'till'->>'by_card')::bigint FROM payment p WHERE p.order_id = o.id AND p.form ? 'till'), 0) ELSE 0 END`

const findOrderSQL = `
SELECT o.id, o.code, e.slug, o.state, o.name, o.email, o.born, o.method, o.currency, o.total, o.paid, o.created_at, o.answers, e.starts_at <= clock_timestamp(), o.event_id,
       coalesce(r.back, 0), coalesce(r.on_its_way, 0), coalesce(r.by_hand, 0), o.waived, o.at_office, o.free_reason, o.fee, o.fee_kept, o.kept, o.discount, o.offer, o.discount_code, CASE WHEN NOT o.at_office THEN o.holder END, o.keys,
       o.offered, (SELECT coalesce(sum(difference), 0)::bigint FROM cancellation WHERE order_id = o.id),
       o.due_at, e.cancel_fee, e.cancel_percent, e.starts_at - e.cancel_until, coalesce(e.starts_at - e.cancel_until <= clock_timestamp(), true),
       c.team_id, c.version, c.at, o.extras, o.post_to, o.posted_at,
       CASE WHEN e.series_id IS NOT NULL THEN e.starts_at - e.exchange_until END, e.series_id IS NULL OR coalesce(e.starts_at - e.exchange_until <= clock_timestamp(), true), e.exchange_fee,
       e.starts_at - e.transfer_until, coalesce(e.starts_at - e.transfer_until <= clock_timestamp(), true),
       e.starts_at - e.resale_until, coalesce(e.starts_at - e.resale_until <= clock_timestamp(), true), e.resale_fee, ` + rotates + `,
       e.starts_at - e.types_until, coalesce(e.starts_at - e.types_until <= clock_timestamp(), true),
       EXISTS (SELECT FROM carried k WHERE k.order_id = o.id AND k.amount > 0
           AND NOT EXISTS (SELECT FROM payment WHERE order_id = k.payer AND method NOT IN ('free', 'door', 'invoice'))
           AND NOT EXISTS (SELECT FROM payment WHERE id = (SELECT payment_id FROM payment_share WHERE order_id = k.payer) AND method NOT IN ('free', 'door', 'invoice'))),
       coalesce((o.billing->>'reverse_charge')::boolean, false), EXISTS (SELECT FROM subscriber_order WHERE order_id = o.id), ` + byCard + `, ` + exchangesOf + `
  FROM orders o JOIN event e ON e.id = o.event_id LEFT JOIN consent c ON c.order_id = o.id,
       LATERAL (SELECT sum(amount)::bigint AS back, (sum(amount - by_credit) FILTER (WHERE done_at IS NULL))::bigint AS on_its_way,
                       (sum(amount - by_credit) FILTER (WHERE done_at IS NULL AND by_hand))::bigint AS by_hand
                  FROM refund WHERE order_id = o.id) r
 WHERE o.code = $1`

// typeOfTicket are the type and the proof of ticket t. Type 0 is the only one of most events.
const typeOfTicket = `
  LEFT JOIN LATERAL (
       SELECT CASE WHEN t.type > 0 OR EXISTS (SELECT FROM ticket_type WHERE event_id = t.event_id AND number = 1) THEN name ELSE '' END AS name, proof
         FROM ticket_type WHERE event_id = t.event_id AND number = t.type) y ON true`

const ticketsSQL = `
SELECT t.id, t.idx, t.price, t.fee, t.discount, t.tax, t.fee_tax, t.tax_rate, t.fee_rate, coalesce(y.name, ''), coalesce(y.proof, ''), t.name, t.revoked_at IS NOT NULL, s.scanned_at,
       t.type, coalesce(d.category, 0), coalesce(z.phase, 0), coalesce(z.price, 0), z.price IS NOT NULL, f.name, f.email, w.code, w.sent_to, r.id IS NOT NULL AND r.ended_at IS NULL, r.sold_to IS NOT NULL
  FROM ticket t LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
  LEFT JOIN seat d ON d.event_id = t.event_id AND d.idx = t.idx
  LEFT JOIN seat_state z ON z.event_id = t.event_id AND z.idx = t.idx AND z.holder = t.order_id AND t.revoked_at IS NULL
  LEFT JOIN ticket_transfer f ON f.ticket_id = t.id AND f.accepted_at IS NOT NULL
  LEFT JOIN ticket_transfer w ON w.ticket_id = t.id AND w.accepted_at IS NULL AND w.withdrawn_at IS NULL
  LEFT JOIN resale r ON r.id = t.resale_id` + typeOfTicket + `
 WHERE t.order_id = $1 AND t.moved_to IS NULL ORDER BY t.idx`

// Find returns the order with this code and its tickets. ErrNoOrder if there is none.
func (o *Orders) Find(ctx context.Context, code string) (Order, error) {
	if _, err := seal.Letters.DecodeString(code); err != nil {
		return Order{}, ErrNoOrder
	}
	var found Order
	var event int64
	var team *int64
	var version *int
	var at *time.Time
	err := o.db.QueryRow(ctx, findOrderSQL, code).Scan(&found.ID, &found.Code, &found.Event, &found.State, &found.Name, &found.Email,
		&found.Born, &found.Method, &found.Currency, &found.Total, &found.Paid, &found.CreatedAt, &found.Answers, &found.Started, &event, &found.Back, &found.OnItsWay, &found.ByHand, &found.Waived, &found.AtOffice, &found.Reason,
		&found.Fee, &found.FeeKept, &found.Kept, &found.Discount, &found.Offer, &found.DiscountCode, &found.Holder, &found.keys, &found.offered, &found.differed,
		&found.DueAt, &found.Policy.CancelFee, &found.Policy.CancelPercent, &found.CancelEnds, &found.CancelOver, &team, &version, &at, &found.Extras, &found.Post, &found.PostedAt,
		&found.ExchangeEnds, &found.ExchangeOver, &found.Policy.ExchangeFee, &found.TransferEnds, &found.TransferOver, &found.ResaleEnds, &found.ResaleOver, &found.Policy.ResaleFee, &found.Rotates, &found.TypesEnd, &found.TypesOver, &found.byHand, &found.reverse, &found.subscribed, &found.ByCard, &found.Exchanges)
	if errors.Is(err, pgx.ErrNoRows) {
		return Order{}, ErrNoOrder
	}
	if err == nil && version != nil {
		found.Consent = &Consent{*team, *version, *at}
	}
	if err == nil {
		found.Tickets, err = o.tickets(ctx, found.ID, event, found.Rotates)
	}
	if err != nil {
		return Order{}, fmt.Errorf("orders: find: %w", err)
	}
	return found, nil
}

func (o *Orders) tickets(ctx context.Context, order seats.ID, event int64, rotating bool) ([]Ticket, error) {
	key, err := o.keys.signing(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := o.db.Query(ctx, ticketsSQL, order)
	if err != nil {
		return nil, err
	}
	tickets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Ticket, err error) {
		var name, email, offer, to *string
		if err = row.Scan(&t.ID, &t.Idx, &t.Price, &t.Fee, &t.Discount, &t.Tax, &t.FeeTax, &t.Rate, &t.FeeRate, &t.Type, &t.Proof, &t.Name, &t.Revoked, &t.In,
			&t.line.Type, &t.line.Category, &t.line.Phase, &t.line.Price, &t.listed, &name, &email, &offer, &to, &t.OfferedBack, &t.Resold); err == nil && name != nil {
			t.Friend = &Friend{*name, *email}
		}
		if err != nil || t.Revoked {
			return t, err
		}
		t.line.Seat, t.code = t.Idx, key.sign(event, t.ID)
		if rotating {
			t.turns = key.rotation(event, t.ID)
		}
		if offer != nil {
			t.Offer = &Offer{*offer, *to}
		}
		if t.Friend == nil {
			t.Code, t.Rotation = t.code, t.turns
		} else {
			t.Offer, t.onward = nil, t.Offer
		}
		return t, nil
	})
	if err == nil && slices.ContainsFunc(tickets, func(t Ticket) bool { return t.OfferedBack }) {
		err = o.noteFriends(ctx, order, tickets)
	}
	return tickets, err
}

// keyOf returns the key of a form about an order.
func keyOf(order seats.ID, key string, request ...any) (idempotency.Key, error) {
	return idempotency.New("order/"+order.String(), key, request...)
}

// once runs do in a transaction that takes the key first. It reports whether this is the first request with the key.
func (o *Orders) once(ctx context.Context, key idempotency.Key, do func(tx pgx.Tx) error) (first bool, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if first, _, err = key.Take(ctx, tx, nil); err != nil || !first {
			return err
		}
		return do(tx)
	})
	return first, refuseOther(err)
}

// wasDone reports whether an earlier request with the key was done.
func (o *Orders) wasDone(ctx context.Context, key idempotency.Key) (done bool, err error) {
	done, _, err = key.Find(ctx, o.db)
	return done, refuseOther(err)
}

// refuseOther makes a refusal of a key that was used for another request.
func refuseOther(err error) error {
	if errors.Is(err, idempotency.ErrOtherKey) {
		return &seats.Conflict{Code: CodeKey, Message: text.Mark("This form was sent before with other content. Nothing else was changed. Load the page again, then choose.")}
	}
	return err
}

// execAnd runs a statement, and the statements of also if it changed a row. It reports whether it did.
func (o *Orders) execAnd(ctx context.Context, also seats.TxHook, sql string, args ...any) (changed bool, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		if changed = err == nil && tag.RowsAffected() > 0; !changed {
			return err
		}
		return also.Run(ctx, tx)
	})
	return changed && err == nil, err
}

// background is the background work of orders.
type background struct {
	bulk    *jobs.Job // cancellations and messages for all orders of an event
	joining *jobs.Job // mail of online events that open
	unpaid  *jobs.Job // reminders, and the end of orders that were not paid
	resales *jobs.Job // tickets that are offered back, and were not sold in time
}

const (
	dueBulkJobsSQL = `SELECT '', taken_until FROM errand WHERE ended_at IS NULL`
	dueJoiningSQL  = `
SELECT '', opens.at
  FROM event e CROSS JOIN LATERAL (SELECT greatest(e.starts_at - e.join_early, e.join_link_at) AS at) opens
 WHERE e.online AND e.join_link <> '' AND e.status <> 'cancelled' AND clock_timestamp() < e.starts_at + interval '1 day'
   AND (EXISTS (SELECT FROM orders o WHERE o.event_id = e.id` + toldToJoin + `) OR EXISTS (SELECT FROM ticket_transfer f WHERE f.event_id = e.id` + friendsToJoin + `))`
	dueUnpaidSQL = `SELECT id::text, least(remind_at, due_at) FROM orders WHERE due_at IS NOT NULL`
)

func (o *Orders) newBackground() (b background) {
	b.bulk = jobs.New("bulk jobs", dueBulkJobsSQL, func(ctx context.Context, _ string) (int, error) { return one(o.RunBulkJob(ctx)) })
	b.joining = jobs.New("mail about joining", dueJoiningSQL, func(ctx context.Context, _ string) (int, error) { return one(o.MailJoin(ctx)) })
	b.unpaid = jobs.New("unpaid orders", dueUnpaidSQL, o.remindOrExpire)
	b.resales = jobs.New("tickets offered back", dueResalesSQL, o.endResale)
	return b
}

func one(did bool, err error) (int, error) {
	if did {
		return 1, err
	}
	return 0, err
}

// Jobs returns the jobs of orders and payments.
func (o *Orders) Jobs() []*jobs.Job {
	return append(o.Payments.Jobs(), o.jobs.bulk, o.jobs.joining, o.jobs.unpaid, o.jobs.resales, jobs.Hourly("number changes of orders", o.numberAll))
}
