package credit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

// HoldRequest is what a hold is asked for.
type HoldRequest struct {
	ID     seats.ID // made up by the caller: a repeat finds the first hold
	Order  seats.ID // what it is to pay
	Email  string   // of the credit account
	Amount Amount
	Length time.Duration // after which an open hold may be voided
}

const takeSQL = `
WITH taken AS (
    UPDATE credit_account SET balance = balance - $4
     WHERE kind = 'attendee' AND email = $2 AND currency = $3 AND balance >= $4
    RETURNING id
), made AS (
    INSERT INTO credit_hold (id, account_id, currency, order_id, amount, expires_at)
    SELECT $1, id, $3, $5, $4, clock_timestamp() + make_interval(secs => $6) FROM taken
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
SELECT 'hold', taken.id, house.id, $3, $4, $1
  FROM taken, credit_account house
 WHERE house.kind = 'held' AND house.email IS NULL AND house.currency = $3`

// Hold sets credit aside. A repeat of the same request changes nothing and gets the same answer. ErrShort if there is not
// enough; ErrDiffers if the ID was used for something else; ErrVoided and ErrCaptured if that hold has ended.
func (l *Ledger) Hold(ctx context.Context, w HoldRequest) error {
	if err := l.ready(ctx, w.Amount); err != nil {
		return err
	}
	email, err := Address(w.Email)
	if err != nil {
		return err
	}
	done, err := l.db.Exec(ctx, l.take, w.ID, email, w.Amount.Currency, w.Amount.Minor, w.Order, w.Length.Seconds())
	switch {
	case repeated(err), err == nil && done.RowsAffected() == 0:
		return l.sameHold(ctx, w, email)
	case err != nil:
		return fmt.Errorf("credit: hold: %w", err)
	}
	return nil
}

// repeated reports whether a statement met what an earlier one with the same ID or key has written.
func repeated(err error) bool {
	p, ok := errors.AsType[*pgconn.PgError](err)
	return ok && p.Code == "23505"
}

const sameHoldSQL = `
SELECT h.state, h.order_id = $2 AND a.email = $3 AND h.currency = $4 AND h.amount = $5
  FROM credit_hold h JOIN credit_account a ON a.id = h.account_id
 WHERE h.id = $1`

// sameHold is the answer to a request that took nothing: the first one's if this is a repeat, else that there is too little.
func (l *Ledger) sameHold(ctx context.Context, w HoldRequest, email string) error {
	var state string
	var same bool
	err := l.db.QueryRow(ctx, sameHoldSQL, w.ID, w.Order, email, w.Amount.Currency, w.Amount.Minor).Scan(&state, &same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrShort
	case err != nil:
		return fmt.Errorf("credit: look for the first answer: %w", err)
	case !same:
		return ErrDiffers
	}
	return ended(state)
}

// ended says how a hold has ended; nil if it is open.
func ended(state string) error {
	switch state {
	case "captured":
		return ErrCaptured
	case "voided":
		return ErrVoided
	}
	return nil
}

// A payment voids its own hold when the seats are lost. A hold past its time belongs to a payment that was abandoned. A hold
// of a payment under way stays: the payment ends it. Its other part may take days.
const openHoldsSQL = `
SELECT h.id::text, h.expires_at FROM credit_hold h
 WHERE h.state = 'open' AND NOT EXISTS (SELECT FROM payment p WHERE p.id = h.id AND p.state IN ('open', 'authorized', 'sold'))`

const deleteLinksSQL = `DELETE FROM link WHERE since < clock_timestamp() - interval '1 day'`

// Jobs returns the jobs of credit: voiding expired holds, and deleting the addresses of old links.
func (l *Ledger) Jobs() []*jobs.Job {
	return []*jobs.Job{jobs.New("expired credit holds", openHoldsSQL, l.expire), jobs.Hourly("delete old credit links", func(ctx context.Context) error {
		_, err := l.db.Exec(ctx, deleteLinksSQL)
		return err
	})}
}

// expire voids a hold. It is safe beside a capture: the one that comes second finds the hold ended.
func (l *Ledger) expire(ctx context.Context, hold string) (int, error) {
	tag, err := l.db.Exec(ctx, voidSQL, hold, true)
	return int(tag.RowsAffected()), err
}
