package orders

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const useKeySQL = `INSERT INTO order_key (order_id, key, wish) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

const usedKeySQL = `SELECT wish FROM order_key WHERE order_id = $1 AND key = $2`

// useKey notes that a form with a key was sent. It tells whether it is the first time; a *seats.Refusal if it was sent
// with other content before.
func (o *Orders) useKey(ctx context.Context, order seats.ID, key string, wish ...any) (fresh bool, err error) {
	if key == "" || len(key) > 200 {
		return false, ErrNoKey
	}
	hash := hashOf(wish)
	tag, err := o.db.Exec(ctx, useKeySQL, order, key, hash)
	if err != nil {
		return false, fmt.Errorf("orders: use a key: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return true, nil
	}
	return false, o.sameWish(ctx, order, key, hash)
}

func (o *Orders) sameWish(ctx context.Context, order seats.ID, key string, hash []byte) error {
	var used []byte
	if err := o.db.QueryRow(ctx, usedKeySQL, order, key).Scan(&used); err != nil {
		return fmt.Errorf("orders: look for a key: %w", err)
	}
	if !bytes.Equal(used, hash) {
		return &seats.Refusal{Code: CodeKey, Message: "This form was sent before with other content. Nothing else was changed. Load the page again, then choose."}
	}
	return nil
}

func hashOf(wish []any) []byte {
	text, _ := json.Marshal(wish) // words and ids always marshal
	sum := sha256.Sum256(text)
	return sum[:]
}

// execAnd runs a statement, and what is to commit with it if that changed a row. It tells whether it did.
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

const resendSQL = `
WITH fresh AS (
    INSERT INTO order_key (order_id, key, wish) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING order_id
)
INSERT INTO mail (order_id, kind) SELECT order_id, 'confirmation' FROM fresh`

// Resend lets the mail about an order go out once more; a repeat with its key does not.
//
// Errors: ErrNoKey; a *seats.Refusal if that was asked too often; the database's.
func (o *Orders) Resend(ctx context.Context, order Order, key string) error {
	return o.ResendAnd(ctx, order, key, nil)
}

// ResendAnd is Resend with something that commits with it.
func (o *Orders) ResendAnd(ctx context.Context, order Order, key string, also seats.Also) error {
	if key == "" || len(key) > 200 {
		return ErrNoKey
	}
	if order.Email == "" {
		return &seats.Refusal{Code: CodeNoAddress, Message: "This order has no e-mail address. Nothing was sent. Its tickets are on this page."}
	}
	var recent int
	if err := o.db.QueryRow(ctx, resentSQL, order.ID).Scan(&recent); err != nil {
		return fmt.Errorf("orders: resend: %w", err)
	}
	if recent >= mostResent {
		return &seats.Refusal{Code: CodeOften, Message: fmt.Sprintf("%d mails about this order went out within an hour. Look among unwanted mail, and try again later. Your tickets are on this page.", recent)}
	}
	hash := hashOf([]any{"resend"})
	fresh, err := o.execAnd(ctx, also, resendSQL, order.ID, key, hash)
	if err != nil {
		return fmt.Errorf("orders: resend: %w", err)
	}
	if !fresh {
		return o.sameWish(ctx, order.ID, key, hash)
	}
	o.mailWritten()
	return nil
}
