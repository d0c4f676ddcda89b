package seats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sessions keeps browser sessions. A token is inserted once and from then on only updated, so that a session that was
// ended is never brought back by a request that was still under way.
type Sessions struct {
	db DB

	mu     sync.Mutex
	recent map[string][]byte // data by token, for requests that change seats; see Act
}

// recentSessions is how many sessions a node remembers.
const recentSessions = 1 << 16

// NewSessions returns the store; hand it tokens that are hashed already.
func NewSessions(db DB) *Sessions { return &Sessions{db: db, recent: map[string][]byte{}} }

// visit is the session of one request that changes seats.
type visit struct {
	store    *Sessions
	found    string       // the token as it was found, if it was
	trusted  bool         // found in memory: the batch looks whether it is still there
	newcomer bool         // nothing is stored of whom it is about
	start    func() error // makes the session of a newcomer, which is fresh then
	fresh    *session     // new, to be written in the same transaction as the claim
}

// Newcomer tells that the request of this context, prepared by Act, comes from somebody with a holder made a moment
// ago. start is called when their claim may win, and is to commit their session.
func (s *Sessions) Newcomer(ctx context.Context, start func() error) {
	if v := visitOf(ctx); v != nil {
		v.newcomer, v.start = true, start
	}
}

func (v *visit) begin() error {
	if v == nil || v.start == nil {
		return nil
	}
	return v.start()
}

// session is a session row.
type session struct {
	token string
	data  []byte
	end   time.Time
}

type visitKey struct{}

// Act prepares the context of a request that changes seats: its session costs no round trip of its own. One that this
// node remembers is checked by the batch, under the same lock as the seats. A new one is written by the batch, with the
// claim that won, or not at all.
func (s *Sessions) Act(ctx context.Context) context.Context {
	return context.WithValue(ctx, visitKey{}, &visit{store: s})
}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

const findSessionSQL = `SELECT data FROM session WHERE token = $1 AND expires_at > clock_timestamp()`

// FindCtx returns the data of a session, and whether there is one.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	v := visitOf(ctx)
	if v != nil {
		if data, found = s.recall(token); found {
			v.found, v.trusted = token, true
			return data, true, nil
		}
	}
	err = s.db.QueryRow(ctx, findSessionSQL, token).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("seats: find session: %w", err)
	}
	s.remember(token, data)
	if v != nil {
		v.found = token
	}
	return data, true, nil
}

// A token is random: the only row it can meet is our own, written by a try whose answer was lost.
const insertSessionSQL = `
INSERT INTO session (token, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`

const updateSessionSQL = `UPDATE session SET data = $2, expires_at = $3 WHERE token = $1`

// CommitCtx writes a session: a new one is inserted, or handed to the claim it comes with; one that was found is
// updated; one that has ended meanwhile stays ended.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	sql, v := insertSessionSQL, visitOf(ctx)
	switch {
	case v != nil && v.found == "":
		v.fresh = &session{token, data, end}
		return nil
	case v != nil && v.found == token:
		sql = updateSessionSQL
	}
	s.forget(token)
	if _, err := s.db.Exec(ctx, sql, token, data, end); err != nil {
		return fmt.Errorf("seats: write session: %w", err)
	}
	return nil
}

const deleteSessionSQL = `DELETE FROM session WHERE token = $1`

// DeleteCtx ends a session.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	s.forget(token)
	if _, err := s.db.Exec(ctx, deleteSessionSQL, token); err != nil {
		return fmt.Errorf("seats: end session: %w", err)
	}
	return nil
}

func (s *Sessions) recall(token string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.recent[token]
	return data, ok
}

// remember keeps a session in memory; in a full memory any other one gives way.
func (s *Sessions) remember(token string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= recentSessions {
		for other := range s.recent {
			delete(s.recent, other)
			break
		}
	}
	s.recent[token] = data
}

func (s *Sessions) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recent, token)
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
