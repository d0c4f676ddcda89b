package bookings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Deposit is what the contact of a group is asked to pay before its order. Amounts are minor units.
type Deposit struct {
	Code       string // of the link in the contact's email
	Amount     int64
	Due        time.Time
	Refundable *time.Time // it goes back if the booking ends until then; nil: the team may keep it at any time
	PaidAt     *time.Time
	Method     string // payments.Invoice, which is a bank transfer, Cash or Terminal, or Card or Demo online; empty: it is not paid
	EndedAt    *time.Time
	Outcome    string // InOrder, Refunded or Retained; empty: it is with the booking
	Keepable   bool   // its rule lets the team keep it, if the booking has ended
	Withdrawn  bool   // it is not asked for any more
	Reminded   bool   // its contact was told that it is due soon
	GoesBack   bool   // it was Refunded to the card, and the money is on its way
}

// What becomes of a paid deposit.
const (
	InOrder  = "order"    // it is a part of what the order was paid
	Refunded = "refunded" // it was paid back
	Retained = "retained" // the team keeps it
)

// Paid reports whether the deposit came.
func (d *Deposit) Paid() bool { return d != nil && d.PaidAt != nil }

// ByCard reports whether the deposit came online, and can go back that way.
func (d *Deposit) ByCard() bool { return d.Paid() && online(d.Method) }

// Open reports whether the deposit came, and is neither in an order nor paid back nor retained.
func (d *Deposit) Open() bool { return d.Paid() && d.Outcome == "" }

// DepositTerms ask for a deposit: an amount, or a part of what the seats cost at that moment.
type DepositTerms struct {
	Amount     int64      `json:",omitempty"` // minor units; 0: Percent counts
	Percent    int        `json:",omitempty"` // in hundredths of a percent
	Due        time.Time  // until when it is to be paid
	Refundable *time.Time // as in Deposit
}

// check says what is wrong with the terms of a deposit of an option that ends at a time.
func (t *DepositTerms) check(e seats.Event, until time.Time) error {
	switch {
	case t == nil:
		return nil
	case e.TestOf != 0:
		return &seats.ValidationError{Message: text.Mark("A test sale takes no deposits. Nothing was changed.")}
	case t.Due.IsZero() || t.Due.After(until):
		return &seats.ValidationError{Message: text.Mark("A deposit is due before the option ends. Nothing was changed. Choose when.")}
	case t.Refundable != nil && t.Refundable.After(e.StartsAt):
		return &seats.ValidationError{Message: text.Mark("A deposit is refundable until the event begins at most. Nothing was changed.")}
	}
	return nil
}

// of is the amount of the deposit for seats that cost so much.
func (t DepositTerms) of(total int64) (int64, error) {
	amount := t.Amount
	if amount == 0 {
		amount = (total*int64(t.Percent) + pricing.WholePercent/2) / pricing.WholePercent
	}
	if amount < 1 || amount > total {
		return 0, &seats.ValidationError{Message: text.Mark("A deposit is more than nothing, and at most what the seats cost. Nothing was changed.")}
	}
	return amount, nil
}

// differs reports whether terms of so much are not those of a deposit.
func (d *Deposit) differs(amount int64, t *DepositTerms) bool {
	if d == nil || t == nil {
		return (d == nil) != (t == nil)
	}
	until := func(t *time.Time) time.Time {
		if t == nil {
			return time.Time{}
		}
		return *t
	}
	return d.Amount != amount || !d.Due.Equal(t.Due) || !until(d.Refundable).Equal(until(t.Refundable))
}

// A deposit that was paid meanwhile stays: its row is not of the update, and the answer says so. A reminder goes out two days before it is
// due, if there is an hour more than that; new terms make a new one.
const (
	askSQL = `
INSERT INTO deposit AS d (booking_id, event_id, code, amount, due_at, refundable_until, rates, remind_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $5::timestamptz > clock_timestamp() + interval '49 hours' THEN $5 - interval '48 hours' END)
    ON CONFLICT (booking_id) DO UPDATE SET amount = $4, due_at = $5, refundable_until = $6, rates = $7, withdrawn_at = NULL, remind_at = excluded.remind_at, reminded_at = NULL WHERE d.paid_at IS NULL`
	askNoneSQL = `UPDATE deposit SET withdrawn_at = clock_timestamp(), remind_at = NULL WHERE booking_id = $1 AND paid_at IS NULL`
	lowerSQL   = `UPDATE deposit SET amount = $2, rates = $3 WHERE booking_id = $1 AND paid_at IS NULL AND amount > $2`
)

// queue asks the contact for a deposit with what makes the option.
func (t *DepositTerms) queue(q *pgx.Batch, event int64, id seats.ID, amount int64, cost pricing.Cost) {
	if t != nil {
		q.Queue(askSQL, id, event, seal.NewCode(), amount, t.Due, t.Refundable, spread(amount, cost))
	}
}

var errDepositPaid = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The deposit was paid on the terms that were shown. Nothing was changed. They stay as they are.")}

// terms are those of a deposit that was not paid.
func (d *Deposit) terms() *DepositTerms {
	if d == nil || d.Paid() {
		return nil
	}
	return &DepositTerms{Amount: d.Amount, Due: d.Due, Refundable: d.Refundable}
}

// askAgain changes what a group is asked for, in a transaction that changes its booking, and tells its contact. Without terms its deposit
// is withdrawn. A deposit that is paid stays.
func (k Booking) askAgain(ctx context.Context, tx pgx.Tx, event int64, t *DepositTerms, cost pricing.Cost) error {
	if t == nil && (k.Deposit == nil || k.Deposit.Paid()) {
		return nil
	}
	amount, err := int64(0), error(nil)
	if t != nil {
		if amount, err = t.of(cost.Total); err != nil {
			return err
		}
	}
	if !k.Deposit.differs(amount, t) {
		return nil
	}
	if k.Deposit.Paid() {
		return errDepositPaid
	}
	sql, args := askNoneSQL, []any{k.ID}
	if t != nil {
		sql, args = askSQL, []any{k.ID, event, seal.NewCode(), amount, t.Due, t.Refundable, spread(amount, cost)}
	}
	tag, err := tx.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		err = errDepositPaid
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, mailSQL, k.ID, MailOption)
	return err
}

// lower queues that a group is not asked for more than its seats cost, and that its contact is told.
func (k Booking) lower(q *pgx.Batch, cost pricing.Cost) {
	if k.Deposit == nil || k.Deposit.Paid() || k.Deposit.Amount <= cost.Total {
		return
	}
	if cost.Total == 0 {
		q.Queue(askNoneSQL, k.ID)
	} else {
		q.Queue(lowerSQL, k.ID, cost.Total, spread(cost.Total, cost))
	}
	q.Queue(mailSQL, k.ID, MailOption)
}

// taxed is the part of a deposit that is taxed at a rate.
type taxed struct {
	Rate   int   `json:"rate"` // thousandths of a percent
	Amount int64 `json:"amount"`
	Tax    int64 `json:"tax"` // contained in Amount
}

// spread is a deposit by the tax rates of what the seats cost. Parts are rounded by their running sum.
func spread(amount int64, cost pricing.Cost) (list []taxed) {
	add := func(rate int, gross, tax int64) {
		at := slices.IndexFunc(list, func(t taxed) bool { return t.Rate == rate })
		if at < 0 {
			at, list = len(list), append(list, taxed{Rate: rate})
		}
		list[at].Amount, list[at].Tax = list[at].Amount+gross, list[at].Tax+tax
	}
	for _, l := range cost.Lines {
		add(l.Rate, l.Price, l.Tax)
		if l.Fee > 0 {
			add(l.FeeRate, l.Fee, l.FeeTax)
		}
	}
	if cost.Total == 0 { // the option is over, or it costs nothing
		return []taxed{{Amount: amount}}
	}
	var before, given int64
	for i, t := range list {
		before += t.Amount
		upTo := pricing.Part(amount, before, cost.Total)
		gross := upTo - given
		tax := int64(0)
		if t.Amount > 0 {
			tax = pricing.Part(t.Tax, gross, t.Amount)
		}
		list[i], given = taxed{t.Rate, gross, tax}, upTo
	}
	return slices.DeleteFunc(list, func(t taxed) bool { return t.Amount == 0 })
}

// DepositPayment is money that came for a deposit.
type DepositPayment struct {
	Method string       // payments.Invoice, Cash or Terminal
	Shown  *int64       // the amount as the page showed it, minor units; nil: the page showed none
	Entry  seats.TxHook `json:"-"` // of the till that it came into, or of the statement; nil: none

	Statement *seats.ID `json:",omitempty"` // the entry of a bank statement that it is; nil: none
}

const (
	lockBookingSQL = `SELECT order_id IS NOT NULL FROM booking WHERE id = $1 AND event_id = $2 FOR NO KEY UPDATE`
	lockDepositSQL = `SELECT amount, paid_at IS NOT NULL, outcome <> '' FROM deposit WHERE booking_id = $1 AND withdrawn_at IS NULL FOR NO KEY UPDATE`
	paidSQL        = `UPDATE deposit SET paid_at = clock_timestamp(), method = $2, rates = $3, remind_at = NULL WHERE booking_id = $1`
)

// PayDeposit notes that a deposit came, all of it, and tells the contact. It may come after the option ended: then it is to be paid back. A
// repeat of the form changes nothing more.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if none is asked for, it was paid, the booking has an order, or the page showed
// another amount; those of a form that is done once; the database's.
func (b *Bookings) PayDeposit(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID, p DepositPayment) error {
	if !slices.Contains([]string{payments.Invoice, payments.Cash, payments.Terminal}, p.Method) {
		return &seats.ValidationError{Message: text.Mark("Choose how it is paid.")}
	}
	act := organizers.Action{Key: key, Form: []any{"deposit paid", s.Event.Slug, id, p}, What: text.Mark("noted the deposit of a group of"), Subject: subjectOf(s, id), Detail: map[string]any{"method": p.Method}}
	if p.Statement != nil {
		act.Detail = map[string]any{"method": p.Method, "entry": *p.Statement}
	}
	return b.onDeposit(ctx, m, act, s, id, "note a deposit", func(ctx context.Context, tx pgx.Tx, k Booking, ordered bool) error {
		var amount int64
		var paid, ended bool
		err := tx.QueryRow(ctx, lockDepositSQL, id).Scan(&amount, &paid, &ended)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This group is not asked for a deposit. Nothing was noted.")}
		case err != nil:
			return err
		case paid:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The deposit was noted as paid before. Nothing else was noted.")}
		case ordered:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This booking was confirmed without a deposit. Nothing was noted. Note the money at its order.")}
		case p.Shown != nil && *p.Shown != amount:
			return &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The deposit is %s now, which is not what the page showed. Nothing was noted."), Args: []any{pricing.Sum{Minor: amount, Currency: s.Event.Currency}}}
		}
		rates, err := k.rates(s, amount)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, paidSQL, id, p.Method, rates); err != nil {
			return err
		}
		if k.State == Option {
			if _, err := tx.Exec(ctx, mailSQL, id, MailOption); err != nil {
				return err
			}
		}
		return p.Entry.Run(ctx, tx)
	})
}

// rates are the parts of a deposit of a booking by tax rate, as its tickets cost at this moment.
func (k Booking) rates(s *seats.Sale, amount int64) ([]taxed, error) {
	_, cost, err := k.Quote(s)
	if k.State == Option && (refused(err) || err == nil && cost.Total == 0) {
		return nil, &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The tickets of this option have no price at the moment, and the deposit’s tax follows it. Nothing was noted. Change its prices first.")}
	}
	if refused(err) { // the option is over
		cost, err = pricing.Cost{}, nil
	}
	if err != nil {
		return nil, err
	}
	return spread(amount, cost), nil
}

// Owed reports whether an open deposit is to be paid back or retained: the option is over, or the event was cancelled.
func (k Booking) Owed(e seats.Event) bool {
	return k.Deposit.Open() && (k.State != Option || e.Status == seats.Cancelled)
}

// DepositEnd is what becomes of a paid deposit of a booking that ended.
type DepositEnd struct {
	Outcome string       // Refunded or Retained
	Back    string       // how it was paid back: payments.Invoice or Cash, or online as it came, which is begun here; empty if it is retained
	Entry   seats.TxHook `json:"-"` // of the till that paid it back; nil: none
}

// A deposit may be kept if the booking ended, at x.at, after the time until which it is refundable, and it was paid before that end. Nothing of an
// event that was cancelled is.
const (
	ofEnd     = `LATERAL (SELECT coalesce(b.cancelled_at, least(k.ends_at, k.ended_at)) AS at) x`
	mayRetain = `b.order_id IS NULL AND e.status <> 'cancelled' AND d.paid_at < x.at AND (d.refundable_until IS NULL OR d.refundable_until < x.at)`

	mayRetainSQL = `
SELECT ` + mayRetain + `
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = d.event_id, ` + ofEnd + `
 WHERE d.booking_id = $1`
)

const endDepositSQL = `UPDATE deposit SET ended_at = clock_timestamp(), outcome = $2, back = $3 WHERE booking_id = $1`

// EndDeposit notes that the deposit of a booking that expired or was cancelled, or of an event that was cancelled, was paid back, or is
// retained. One that stayed open though its booking was confirmed, as an earlier version leaves it, is paid back. A repeat of the form
// changes nothing more.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if the booking has not ended, its deposit is not there or has ended, or the rule
// that was shown does not let the team keep it; those of a form that is done once; the database's.
func (b *Bookings) EndDeposit(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID, end DepositEnd) error {
	if end.Outcome == Retained {
		end.Back = ""
	}
	if end.Outcome != Retained && (end.Outcome != Refunded || end.Back != payments.Invoice && end.Back != payments.Cash && !online(end.Back)) {
		return &seats.ValidationError{Message: text.Mark("Choose whether the deposit is retained, or how it was paid back. Nothing was changed.")}
	}
	act := organizers.Action{Key: key, Form: []any{"deposit end", s.Event.Slug, id, end}, What: text.Mark("paid back the deposit of a group of"), Subject: subjectOf(s, id), Detail: map[string]any{"method": end.Back}}
	if end.Outcome == Retained {
		act.What, act.Detail = text.Mark("retained the deposit of a group of"), nil
	}
	return b.onDeposit(ctx, m, act, s, id, "end a deposit", func(ctx context.Context, tx pgx.Tx, k Booking, ordered bool) error {
		var amount int64
		var paid, ended bool
		err := tx.QueryRow(ctx, lockDepositSQL, id).Scan(&amount, &paid, &ended)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return err
		case err != nil || !paid:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("No deposit of this group came. Nothing was changed.")}
		case ended:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("It was decided before what becomes of this deposit. Nothing was changed.")}
		case k.State == Option && s.Event.Status != seats.Cancelled:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The group still has its option. Nothing was changed. Cancel the option first.")}
		}
		if online(end.Back) && k.Deposit.Method != end.Back {
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This deposit was not paid by card online. Nothing was changed. Choose how you pay it back.")}
		}
		if end.Outcome == Retained && ordered {
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The booking was confirmed without this deposit. Nothing was changed. Pay it back.")}
		}
		if end.Outcome == Retained {
			may := false
			if err := tx.QueryRow(ctx, mayRetainSQL, id).Scan(&may); err != nil {
				return err
			}
			if !may {
				return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This deposit was refundable when the booking ended. Nothing was changed. Pay it back.")}
			}
		}
		if _, err := tx.Exec(ctx, endDepositSQL, id, end.Outcome, end.Back); err != nil {
			return err
		}
		if online(end.Back) {
			if _, err := tx.Exec(ctx, backOnlineSQL, id); err != nil {
				return err
			}
		}
		return end.Entry.Run(ctx, tx)
	})
}

// onDeposit changes the deposit of a booking in a transaction that has its booking's lock, which the one that makes an order has, too.
func (b *Bookings) onDeposit(ctx context.Context, m organizers.Member, act organizers.Action, s *seats.Sale, id seats.ID, call string, do func(ctx context.Context, tx pgx.Tx, k Booking, ordered bool) error) error {
	err := b.alone(ctx, id, func(ctx context.Context) error {
		return b.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			k, err := b.Find(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			return pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
				ordered := false
				if err := tx.QueryRow(ctx, lockBookingSQL, id, s.Event.ID).Scan(&ordered); err != nil {
					return err
				}
				if err := do(ctx, tx, k, ordered); err != nil {
					return err
				}
				return also.Run(ctx, tx)
			})
		})
	})
	if err == nil {
		b.MailWritten()
		b.online.Wake()
	}
	return wrap(call, err)
}

const takeOverSQL = `UPDATE deposit SET ended_at = clock_timestamp(), outcome = 'order', order_id = $2 WHERE booking_id = $1 AND paid_at IS NOT NULL AND ended_at IS NULL`

// takeOver queues that an order takes over the deposit of its booking, if one was paid.
func takeOver(q *pgx.Batch, booking, order seats.ID) {
	q.Queue(takeOverSQL, booking, order)
	orders.QueueDeposit(q, order)
}

const byCodeSQL = `SELECT booking_id::text FROM deposit WHERE code = $1`

// ByDeposit returns the booking with the deposit of a link, and its event; of one that was withdrawn, too. ErrNone if there is none.
func (b *Bookings) ByDeposit(ctx context.Context, code string) (event string, k Booking, err error) {
	var id string
	err = b.db.QueryRow(ctx, byCodeSQL, code).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", k, ErrNone
	case err != nil:
		return "", k, fmt.Errorf("bookings: find a deposit: %w", err)
	}
	if event, k, err = b.About(ctx, id); err == nil && k.Deposit == nil {
		k.Deposit = k.Withdrawn
	}
	return event, k, err
}
