package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors about a key.
var (
	ErrNoKey    = errors.New("the form has no key")
	ErrOtherKey = errors.New("this form was sent before with other content")
)

// longest is the most bytes of a key.
const longest = 200

// Key names one request of a scope.
type Key struct {
	scope, name string
	request     []byte // SHA-256
}

// New returns the key of a request, which is anything that JSON can say. ErrNoKey if name is empty or too long.
func New(scope, name string, request ...any) (Key, error) {
	if name == "" || len(name) > longest {
		return Key{}, ErrNoKey
	}
	text, err := json.Marshal(request)
	if err != nil {
		return Key{}, fmt.Errorf("idempotency: hash a request: %w", err)
	}
	hash := sha256.Sum256(text)
	return Key{scope, name, hash[:]}, nil
}

const insertSQL = `INSERT INTO idempotency_key (scope, key, request, answer) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

// Take takes a key in the transaction of its change, before anything else, and reports whether this is the first
// request with it. It waits for another transaction that took the key, and a repeat gets that one's answer.
//
// Errors: ErrOtherKey if the key was used for another request; the database's.
func (k Key) Take(ctx context.Context, tx pgx.Tx, answer []byte) (first bool, earlier []byte, err error) {
	tag, err := tx.Exec(ctx, insertSQL, k.scope, k.name, k.request, answer)
	if err != nil {
		return false, nil, fmt.Errorf("idempotency: take a key: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return true, answer, nil
	}
	_, earlier, err = k.Find(ctx, tx)
	return false, earlier, err
}

const keepSQL = `UPDATE idempotency_key SET answer = $3 WHERE scope = $1 AND key = $2`

// SetAnswer replaces the answer of a key, in the transaction that took it.
func (k Key) SetAnswer(ctx context.Context, tx pgx.Tx, answer []byte) error {
	if _, err := tx.Exec(ctx, keepSQL, k.scope, k.name, answer); err != nil {
		return fmt.Errorf("idempotency: keep an answer: %w", err)
	}
	return nil
}

// Insert queues the row of a change that travels in a batch.
func (k Key) Insert(q *pgx.Batch, answer []byte) {
	q.Queue(insertSQL, k.scope, k.name, k.request, answer)
}

// A repeat is told only what a failover keeps. The row may be of a commit whose wait for the synchronous standby was cut off. A message in
// the log makes this statement, or its transaction, a write: its own commit comes after that one, and waits for the standby.
const findSQL = `SELECT request, answer, pg_logical_emit_message(true, 'usher', '')::text FROM idempotency_key WHERE scope = $1 AND key = $2`

// Find looks for an earlier request with the key, and returns its answer. Errors are those of Take.
func (k Key) Find(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (found bool, answer []byte, err error) {
	var request []byte
	err = db.QueryRow(ctx, findSQL, k.scope, k.name).Scan(&request, &answer, nil)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil, nil
	case err != nil:
		return false, nil, fmt.Errorf("idempotency: find a key: %w", err)
	case !bytes.Equal(request, k.request):
		return false, nil, ErrOtherKey
	}
	return true, answer, nil
}

const purgeSQL = `DELETE FROM idempotency_key WHERE created_at < clock_timestamp() - interval '30 days'`

// Purge deletes keys that are older than 30 days.
func Purge(ctx context.Context, db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
},
) error {
	if _, err := db.Exec(ctx, purgeSQL); err != nil {
		return fmt.Errorf("idempotency: purge: %w", err)
	}
	return nil
}
