package orders

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

// Steps of a payment, each one call to the provider.
const (
	stepAuthorize = "authorize"
	stepCapture   = "capture"
	stepVoid      = "void"
	stepRefund    = "refund"
	stepLook      = "look"
)

// callTime is the most one call to a provider may take. It is less than the first pause before another node tries, so
// that two calls of one intention are rare; if they meet, the provider knows them by their key.
const callTime = 12 * time.Second

// intention is a call that is to be made.
type intention struct {
	id       int64
	step     string
	refundID seats.ID // only of a refund
	amount   int64    // of the refund
	before   int64    // what we had the provider give back of the payment before this one
	tries    int      // this one included
}

// key is what the provider knows a repeat of the call by.
func (i intention) key() string { return "usher-" + i.step + "-" + strconv.FormatInt(i.id, 10) }

// The first pause is longer than callTime.
var intentionBackoff = jobs.Backoff{First: 20 * time.Second, Most: 2 * time.Minute}

// While a try is under way no other node begins one, unless the first node seems to be dead.
const takeIntentionSQL = `
UPDATE intention i
   SET tries = tries + 1, tried_at = clock_timestamp(),
       next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[least(tries + 1, cardinality($2))])
 WHERE i.id = (SELECT id FROM intention WHERE payment_id = $1 AND done_at IS NULL ORDER BY id LIMIT 1)
   AND done_at IS NULL AND (tried_at IS NULL OR tried_at < clock_timestamp() - interval '15 seconds')
RETURNING i.id, i.step, i.refund_id, coalesce((SELECT amount FROM refund WHERE id = i.refund_id), 0),
          coalesce((SELECT sum(amount) FROM refund WHERE payment_id = i.payment_id AND done_at IS NOT NULL AND NOT by_hand AND NOT elsewhere AND id <> i.refund_id), 0)::bigint, i.tries`

// take notes one more try of the first open intention of a payment; the zero intention if there is none.
func (o *Orders) take(ctx context.Context, payment seats.ID) (i intention, err error) {
	err = o.db.QueryRow(ctx, takeIntentionSQL, payment, intentionBackoff.Seconds()).Scan(&i.id, &i.step, &i.refundID, &i.amount, &i.before, &i.tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return i, nil
	}
	if err != nil {
		return i, fmt.Errorf("orders: take an intention: %w", err)
	}
	return i, nil
}

const triedIntentionSQL = `UPDATE intention SET tried_at = NULL, error = $2 WHERE id = $1`

// work carries out what is meant for a payment, and what follows from it, as far as it gets. What could not be done stays
// meant, and is tried again by whatever node comes first. A provider that is down is no error.
func (o *Orders) work(ctx context.Context, payment seats.ID) error {
	_, err := o.workDue(ctx, payment.String())
	return err
}

// workDue is work, for the payment of a key, and returns how many steps it tried.
func (o *Orders) workDue(ctx context.Context, key string) (tried int, err error) {
	payment, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx) // the attendee may leave, and the payment goes on
	defer o.jobs.payments.Wake()
	for again := true; again; tried++ {
		i, err := o.take(ctx, payment)
		if err != nil || i.id == 0 {
			return tried, err
		}
		again, err = o.carryOut(ctx, payment, i)
		said := ""
		if err != nil {
			said = err.Error()
			o.jobs.payments.Failed(payment.String()+" "+i.step, i.tries, intentionBackoff.After(i.tries), err)
		}
		if _, e := o.db.Exec(ctx, triedIntentionSQL, i.id, said); e != nil {
			return tried, errors.Join(err, e)
		}
		if down := (*downError)(nil); err != nil && !errors.As(err, &down) {
			return tried, err
		}
	}
	return tried, nil
}

// downError is a call of which nobody knows what became.
type downError struct{ err error }

func (e *downError) Error() string { return e.err.Error() }
func (e *downError) Unwrap() error { return e.err }

const authorizeIntentionSQL = `SELECT id FROM intention WHERE payment_id = $1 AND step = 'authorize'`

// authorizeKey is the key a payment was begun with.
func (o *Orders) authorizeKey(ctx context.Context, p Payment) (string, error) {
	i := intention{step: stepAuthorize}
	err := o.db.QueryRow(ctx, authorizeIntentionSQL, p.ID).Scan(&i.id)
	return i.key(), err
}

// carryOut makes the call of one intention and writes down what came of it. It tells whether something follows at once.
func (o *Orders) carryOut(ctx context.Context, id seats.ID, i intention) (again bool, err error) {
	p, err := o.onePayment(ctx, paymentByIDSQL, id)
	if err != nil {
		return false, err
	}
	if p.Form.Mandate != (seats.ID{}) {
		defer o.jobs.cards.Wake()
	}
	switch i.step {
	case stepAuthorize:
		return o.authorize(ctx, p, i)
	case stepCapture:
		return o.capture(ctx, p, i)
	case stepVoid:
		return o.void(ctx, p, i)
	case stepLook:
		return o.lookAt(ctx, p, i)
	}
	return o.refund(ctx, p, i)
}

// call asks the provider, with nothing open here.
func (o *Orders) call(ctx context.Context, p Payment, key string, refund int64, ask func(Payments, context.Context, Charge) (Standing, error)) (Standing, error) {
	provider := o.pay.by[p.Method]
	if provider == nil {
		return Standing{}, &downError{fmt.Errorf("orders: %s: %w", p.Method, ErrNoPayments)}
	}
	token := ""
	if p.Form.Mandate != (seats.ID{}) && p.Reference == "" {
		m, err := o.KnownMandate(ctx, p.Form.Mandate)
		if err != nil {
			return Standing{}, err
		}
		if token = m.Token; token == "" {
			return Standing{Stand: Declined, Amount: p.Amount, Currency: p.Currency, Reason: "no card is kept for it any more."}, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	standing, err := ask(provider, ctx, Charge{
		Token: token, Key: key, Payment: p.ID, Order: p.Order, Account: p.Form.Account, Reference: p.Reference, Amount: p.Amount, Currency: p.Currency, Refund: refund,
		Name: p.Form.Name, Email: p.Form.Email, What: p.what(), Back: o.pay.home + "/payments/" + p.Code,
	})
	if err != nil {
		return standing, &downError{fmt.Errorf("orders: %s: %w", p.Method, err)}
	}
	return standing, nil
}

// what is the line an attendee reads on a statement.
func (p Payment) what() string {
	if len(p.Form.Seats) == 1 {
		return p.Title + ", 1 ticket"
	}
	return fmt.Sprintf("%s, %d tickets", p.Title, len(p.Form.Seats))
}
