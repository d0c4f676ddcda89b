// Package sessions keeps browser sessions in the database (sessions.go), ends them (end.go), finds those of an account (account.go), and
// renews them in a batch of claims (batch.go). A session of a request that
// changes seats travels with the batch: seats.Visit.
package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Sessions keeps browser sessions. A row is inserted once and from then on only updated, so that a session that was
// ended is never brought back by a request that was still under way.
//
// The key of a row is a hash of the token, so that a leaked table gives access to no session. A token may begin with the time
// it was made and a dot, and so does its key. So a crowd of new visitors writes to the end of the index, and not to each of
// its pages.
type Sessions struct {
	db     seats.DB
	office *seats.Inventory // releases the seats of a session that is ended; nil: a session ends alone

	mu     sync.Mutex
	recent map[string][]byte // data by key, for requests that change seats; see Act
}

// recentSessions is how many sessions a node remembers.
const recentSessions = 1 << 16

// New returns the store. office releases the seats of a session that is ended; without it a session ends alone.
func New(db seats.DB, office *seats.Inventory) *Sessions {
	return &Sessions{db: db, office: office, recent: map[string][]byte{}}
}

// keyOf is the key of the row of a token.
func keyOf(token string) string {
	made, _, dated := strings.Cut(token, ".")
	if !dated {
		made = ""
	}
	sum := sha256.Sum256([]byte(token))
	return string(base64.RawURLEncoding.AppendEncode(append(make([]byte, 0, 64), made...), sum[:]))
}

// Newcomer makes the session of a visitor with an id made a moment ago: its token, its data and its end.
type Newcomer func() (token string, data []byte, end time.Time)

// Newcomer marks the request of this context, prepared by Act, as that of a new visitor. start is called when the claim may
// succeed.
func (s *Sessions) Newcomer(ctx context.Context, start Newcomer) {
	if v := seats.VisitOf(ctx); v != nil {
		v.Newcomer = func() (string, []byte, time.Time) {
			token, data, end := start()
			return keyOf(token), data, end
		}
	}
}

// Act prepares the context of a request that changes seats: its session costs no round trip of its own. One that this
// node remembers is checked by the batch, under the same lock as the seats. A new one is written by the batch, with the
// claim that won, or not at all.
func (s *Sessions) Act(ctx context.Context) context.Context {
	return seats.WithVisit(ctx, &seats.Visit{Sessions: s})
}

const findSessionSQL = `SELECT data FROM session WHERE token = $1 AND expires_at > clock_timestamp()`

// FindCtx returns the data of a session, and whether there is one.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	key, v := keyOf(token), seats.VisitOf(ctx)
	if v != nil {
		if data, found = s.recall(key); found {
			v.Found = key
			return data, true, nil
		}
	}
	err = s.db.QueryRow(ctx, findSessionSQL, key).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("sessions: find session: %w", err)
	}
	s.Remember(key, data)
	if v != nil {
		v.Found = key
	}
	return data, true, nil
}

// A token is random: a conflict can only be with our own row, if the answer of an earlier try was lost.
const insertSessionSQL = `
INSERT INTO session (token, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`

// A session that was renewed keeps its end, and one that is over stays over.
const updateSessionSQL = `
UPDATE session SET data = $2, expires_at = greatest(expires_at, $3) WHERE token = $1 AND expires_at > clock_timestamp()`

// CommitCtx writes a session: a new one is inserted; one that was found is updated; one that has ended meanwhile stays
// ended.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	sql, key, v := insertSessionSQL, keyOf(token), seats.VisitOf(ctx)
	args := []any{key, data, end}
	r := renameOf(ctx)
	renames := r != nil && r.from != ""
	if renames {
		sql, args = renameSessionSQL, append(args, r.from)
	} else if v != nil && v.Found == key {
		sql = updateSessionSQL
	}
	s.Forget(key)
	tag, err := s.db.Exec(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("sessions: write session: %w", err)
	}
	if renames && tag.RowsAffected() == 0 {
		return seats.ErrSessionEnded
	}
	if v != nil {
		v.Found = key
	}
	return nil
}

const renewSessionSQL = `
UPDATE session SET expires_at = clock_timestamp() + $4::interval
 WHERE token = $1 AND expires_at > clock_timestamp() AND expires_at < clock_timestamp() + $4::interval / 2
   AND EXISTS (SELECT FROM hold WHERE event_id = $2 AND holder = $3 AND NOT lapsed)`

// Renew lets a session last its whole length from now if less than half is left and its holder holds seats of the event.
func (s *Sessions) Renew(ctx context.Context, token string, event int64, holder seats.ID) error {
	if _, err := s.db.Exec(ctx, renewSessionSQL, keyOf(token), event, holder, seats.SessionLength); err != nil {
		return fmt.Errorf("sessions: renew session: %w", err)
	}
	return nil
}

const deleteSessionSQL = `DELETE FROM session WHERE token = $1`

// DeleteCtx ends a session and releases what it holds, unless it only gets another token: see Rename.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	key := keyOf(token)
	s.Forget(key)
	if r := renameOf(ctx); r != nil {
		r.from = key
		return nil
	}
	return s.end(ctx, key)
}

func (s *Sessions) recall(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.recent[key]
	return data, ok
}

// Remember keeps a session in memory; in a full memory any other one gives way.
func (s *Sessions) Remember(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= recentSessions {
		for other := range s.recent {
			delete(s.recent, other)
			break
		}
	}
	s.recent[key] = data
}

// Forget makes the next request read the session again.
func (s *Sessions) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recent, key)
}

// Find is FindCtx for callers without a context.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx for callers without a context.
func (s *Sessions) Commit(token string, data []byte, end time.Time) error {
	return s.CommitCtx(context.Background(), token, data, end)
}

// Delete is DeleteCtx for callers without a context.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// rename is the replacement of a session's token under way.
type rename struct{ from string }

type renameKey struct{}

// Rename prepares the context of a request that gives its session another token. The session manager deletes the session
// and commits it anew; here the row only gets another key, and keeps what it holds.
func (s *Sessions) Rename(ctx context.Context) context.Context {
	return context.WithValue(ctx, renameKey{}, &rename{})
}

func renameOf(ctx context.Context) *rename {
	r, _ := ctx.Value(renameKey{}).(*rename)
	return r
}

// A session that got another token meanwhile, by a request of the same browser at the same moment, is written as a new one. One that is over
// is not brought back.
const renameSessionSQL = `
WITH renamed AS (
    UPDATE session SET token = $1, data = $2, expires_at = greatest(expires_at, $3) WHERE token = $4 AND expires_at > clock_timestamp() RETURNING token
), added AS (
    INSERT INTO session (token, data, expires_at)
    SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM renamed) AND NOT EXISTS (SELECT FROM session WHERE token = $4 AND expires_at <= clock_timestamp())
        ON CONFLICT (token) DO NOTHING
    RETURNING token
)
SELECT token FROM renamed UNION ALL SELECT token FROM added`
