package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
)

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
		return &seats.Refusal{Code: CodeKey, Message: "This form was sent before with other content. Nothing else was changed. Load the page again, then choose."}
	}
	return err
}

// execAnd runs a statement, and the statements of also if it changed a row. It reports whether it did.
func (o *Orders) execAnd(ctx context.Context, also seats.Also, sql string, args ...any) (changed bool, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		if changed = err == nil && tag.RowsAffected() > 0; !changed {
			return err
		}
		return also.Run(ctx, tx)
	})
	return changed && err == nil, err
}

// mostResent is how many mails about one order go out in an hour.
const mostResent = 5

const resentSQL = `SELECT count(*) FROM mail WHERE order_id = $1 AND created_at > clock_timestamp() - interval '1 hour'`

const resendSQL = `INSERT INTO mail (order_id, kind) VALUES ($1, 'confirmation')`

// Resend sends the mail about an order once more. A repeat with its key sends nothing.
//
// Errors: idempotency.ErrNoKey; a *seats.Refusal if it was requested too often; the database's.
func (o *Orders) Resend(ctx context.Context, order Order, key string) error {
	return o.ResendAnd(ctx, order, key, nil)
}

// ResendAnd is Resend with something that commits with it.
func (o *Orders) ResendAnd(ctx context.Context, order Order, key string, also seats.Also) error {
	k, err := keyOf(order.ID, key, "resend")
	if err != nil {
		return err
	}
	if order.Email == "" {
		return &seats.Refusal{Code: CodeNoAddress, Message: "This order has no e-mail address. Nothing was sent. Its tickets are on this page."}
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		var recent int
		if err := tx.QueryRow(ctx, resentSQL, order.ID).Scan(&recent); err != nil {
			return err
		}
		if recent >= mostResent {
			return &seats.Refusal{Code: CodeOften, Message: fmt.Sprintf("%d mails about this order went out within an hour. Look among unwanted mail, and try again later. Your tickets are on this page.", recent)}
		}
		if _, err := tx.Exec(ctx, resendSQL, order.ID); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: resend: %w", err)
	}
	if first {
		o.mailWritten()
	}
	return nil
}
