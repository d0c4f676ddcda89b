package organizers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What may be wrong with the key of a form.
var (
	ErrNoKey    = errors.New("the form has no key")
	ErrOtherKey = errors.New("this form was sent before with other content")
)

const useKeySQL = `INSERT INTO desk_key (organizer_id, key, wish) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

const usedKeySQL = `SELECT wish FROM desk_key WHERE organizer_id = $1 AND key = $2`

// Once notes that a member sent a form with a key, in the transaction that does what it asks. It tells whether this is
// the first time; if not, do nothing and answer as then. wish is all that the form says.
//
// Errors: ErrNoKey if there is none; ErrOtherKey if it came before with another wish; the database's.
func Once(ctx context.Context, tx pgx.Tx, m Member, key string, wish ...any) (first bool, err error) {
	if key == "" || len(key) > 200 {
		return false, ErrNoKey
	}
	text, err := json.Marshal(wish)
	if err != nil {
		return false, fmt.Errorf("organizers: use a key: %w", err)
	}
	hash := sha256.Sum256(text)
	tag, err := tx.Exec(ctx, useKeySQL, m.Organizer, key, hash[:])
	if err != nil {
		return false, fmt.Errorf("organizers: use a key: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return true, nil
	}
	var used []byte
	if err := tx.QueryRow(ctx, usedKeySQL, m.Organizer, key).Scan(&used); err != nil {
		return false, fmt.Errorf("organizers: look for a key: %w", err)
	}
	if !bytes.Equal(used, hash[:]) {
		return false, ErrOtherKey
	}
	return false, nil
}
