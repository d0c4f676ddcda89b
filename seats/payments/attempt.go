package payments

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/tracing"
)

// The steps of a payment, each one call to the provider.
const (
	stepAuthorize = "authorize"
	stepCapture   = "capture"
	stepVoid      = "void"
	stepRefund    = "refund"
	stepLook      = "look"
)

// callTime is the longest call to a provider. It is shorter than the first pause before another node tries, so two calls
// of one attempt are rare. If they meet, the provider knows them by their key.
const callTime = 12 * time.Second

// attempt is a call that is due, and stays due until its answer is stored.
type attempt struct {
	id       int64
	step     string
	refundID seats.ID // only of a refund
	amount   int64    // of the refund
	before   int64    // amount of the refunds of the payment that the provider made before
	tries    int      // including this one
}

// key returns the idempotency key of the call.
func (a attempt) key() string { return "usher-" + a.step + "-" + strconv.FormatInt(a.id, 10) }

// The first pause is longer than callTime.
var attemptBackoff = jobs.Backoff{First: 20 * time.Second, Most: 2 * time.Minute}

// During a try no other node begins one, unless the trying node is silent for 15 seconds.
const takeAttemptSQL = `
UPDATE intention i
   SET tries = tries + 1, tried_at = clock_timestamp(),
       next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[least(tries + 1, cardinality($2))])
 WHERE i.id = (SELECT id FROM intention WHERE payment_id = $1 AND done_at IS NULL ORDER BY id LIMIT 1)
   AND done_at IS NULL AND (tried_at IS NULL OR tried_at < clock_timestamp() - interval '15 seconds')
RETURNING i.id, i.step, i.refund_id, coalesce((SELECT amount FROM refund WHERE id = i.refund_id), 0),
          coalesce((SELECT sum(CASE WHEN by_hand THEN by_credit ELSE amount END) FROM refund WHERE payment_id = i.payment_id AND (by_hand OR done_at IS NOT NULL) AND NOT elsewhere AND id <> i.refund_id), 0)::bigint, i.tries`

// take counts a try of the first open attempt of a payment, and returns the zero attempt if there is none.
func (ps *Payments) take(ctx context.Context, payment seats.ID) (a attempt, err error) {
	err = ps.db.QueryRow(ctx, takeAttemptSQL, payment, attemptBackoff.Seconds()).Scan(&a.id, &a.step, &a.refundID, &a.amount, &a.before, &a.tries)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return a, fmt.Errorf("payments: take an attempt: %w", err)
	}
	return a, nil
}

const triedAttemptSQL = `UPDATE intention SET tried_at = NULL, error = $2 WHERE id = $1`

// work makes the open attempts of a payment, as far as possible. A failed one stays open, and any node repeats it. A
// provider that is down is no error.
func (ps *Payments) work(ctx context.Context, payment seats.ID) error {
	_, err := ps.workDue(ctx, payment.String())
	return err
}

// workDue is work for the payment of a key, and returns the number of its tries.
func (ps *Payments) workDue(ctx context.Context, key string) (tried int, err error) {
	payment, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx) // the attendee may leave; the payment goes on
	defer ps.Wake()
	for again := true; again; tried++ {
		a, err := ps.take(ctx, payment)
		if err != nil || a.id == 0 {
			return tried, err
		}
		again, err = ps.tryTraced(ctx, payment, a)
		said := ""
		if err != nil {
			said = err.Error()
			ps.jobs.attempts.Failed(payment.String()+" "+a.step, a.tries, attemptBackoff.After(a.tries), err)
		}
		if _, e := ps.db.Exec(ctx, triedAttemptSQL, a.id, said); e != nil {
			return tried, errors.Join(err, e)
		}
		if err != nil && !IsDown(err) {
			return tried, err
		}
	}
	return tried, nil
}

// downError is a call with an unknown result, or with one that is not what was asked for.
type downError struct{ err error }

func (e *downError) Error() string { return e.err.Error() }
func (e *downError) Unwrap() error { return e.err }

const authorizeAttemptSQL = `SELECT id FROM intention WHERE payment_id = $1 AND step = 'authorize'`

// authorizeKey returns the key with which a payment was authorized.
func (ps *Payments) authorizeKey(ctx context.Context, p Payment) (string, error) {
	a := attempt{step: stepAuthorize}
	err := ps.db.QueryRow(ctx, authorizeAttemptSQL, p.ID).Scan(&a.id)
	return a.key(), err
}

func (ps *Payments) tryTraced(ctx context.Context, id seats.ID, a attempt) (again bool, err error) {
	ctx, span := tracing.Start(ctx, "payment "+a.step)
	defer func() { tracing.End(span, err) }()
	span.SetAttributes(tracing.Tries.Int(a.tries))
	return ps.try(ctx, id, a)
}

// try makes the call of an attempt and stores the result. It reports whether another attempt follows at once.
func (ps *Payments) try(ctx context.Context, id seats.ID, a attempt) (again bool, err error) {
	p, err := ps.find(ctx, paymentByIDSQL, id)
	if err != nil {
		return false, err
	}
	if p.Mandate != (seats.ID{}) {
		defer ps.jobs.cards.Wake()
	}
	if p.Till != nil && p.Over() { // a node that gave it up may have died before its seats were free
		if err := ps.release(ctx, p); err != nil {
			return false, err
		}
	}
	switch a.step {
	case stepAuthorize:
		return ps.authorize(ctx, p, a)
	case stepCapture:
		return ps.capture(ctx, p, a)
	case stepVoid:
		return ps.void(ctx, p, a)
	case stepLook:
		return ps.look(ctx, p, a)
	}
	return ps.refund(ctx, p, a)
}

// Home returns the address of the pages of an event, to which a provider leads back.
func (ps *Payments) Home(ctx context.Context, event string) string {
	if ps.HomeOf != nil && event != "" {
		return ps.HomeOf(ctx, event)
	}
	return ps.home
}

// call asks the provider, outside of transactions.
func (ps *Payments) call(ctx context.Context, p Payment, key string, refund int64, ask func(Provider, context.Context, Charge) (Standing, error)) (Standing, error) {
	provider := ps.providers[p.Method]
	if credit := ps.providers[Credit]; p.Credit > 0 && credit != nil && provider != nil {
		provider = parts{credit, provider}
	}
	if provider == nil {
		return Standing{}, &downError{fmt.Errorf("payments: %s: %w", p.Method, ErrNoProvider)}
	}
	token, home := "", ps.Home(ctx, p.Event)
	if p.Mandate != (seats.ID{}) && p.Reference == "" {
		m, err := ps.KnownMandate(ctx, p.Mandate)
		if err != nil {
			return Standing{}, err
		}
		if token = m.Token; token == "" {
			return Standing{Stand: Declined, Amount: p.Amount, Currency: p.Currency, Reason: "no card is kept for it any more."}, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	ctx, span := tracing.Start(ctx, "payment provider")
	span.SetAttributes(tracing.Method.String(p.Method))
	standing, err := ask(provider, ctx, Charge{
		Token: token, Reader: p.reader(), Key: key, Payment: p.ID, Order: p.Order, Account: p.Account, Credit: p.Credit, Before: p.before, Slow: p.slow && !p.Shared() && !p.ChangesTypes(), Reference: p.Reference, Amount: p.Amount, Currency: p.Currency, Refund: refund,
		Name: p.Name, Email: p.Email, What: p.what(), Back: home + "/payments/" + p.Code,
	})
	tracing.End(span, err)
	if err != nil {
		return standing, &downError{fmt.Errorf("payments: %s: %w", p.Method, err)}
	}
	return standing, nil
}

// what returns the line on the attendee's statement.
func (p Payment) what() string {
	title := p.Title
	if p.Agreed != nil && p.Agreed.Set != nil {
		title = p.Agreed.Set.Name
	}
	ctx := text.For(context.Background(), p.Language)
	return text.T(ctx, "%s, %s", title, text.Some(len(p.Seats)*len(p.orders()), "%d ticket", "%d tickets"))
}
