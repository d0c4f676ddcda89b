package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sessions keeps browser sessions. A token is inserted once and from then on only updated, so that a session that was
// ended is never brought back by a request that was still under way.
type Sessions struct{ db DB }

// NewSessions returns the store; hand it tokens that are hashed already.
func NewSessions(db DB) *Sessions { return &Sessions{db} }

type seenKey struct{}

// Watch prepares a request's context, so that Commit can tell a session that was found from one that is new.
func (s *Sessions) Watch(ctx context.Context) context.Context {
	return context.WithValue(ctx, seenKey{}, map[string]bool{})
}

const findSessionSQL = `SELECT data FROM session WHERE token = $1 AND expires_at > clock_timestamp()`

// FindCtx returns the data of a session, and whether there is one.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	err = s.db.QueryRow(ctx, findSessionSQL, token).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("seats: find session: %w", err)
	}
	if seen, ok := ctx.Value(seenKey{}).(map[string]bool); ok {
		seen[token] = true
	}
	return data, true, nil
}

// A token is random: the only row it can meet is our own, written by a try whose answer was lost.
const insertSessionSQL = `
INSERT INTO session (token, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`

const updateSessionSQL = `UPDATE session SET data = $2, expires_at = $3 WHERE token = $1`

// CommitCtx writes a session: a new one is inserted, one that was found is updated, one that has ended meanwhile
// stays ended. A claim was granted just before: while the connection to the database is lost, it tries again.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	sql := insertSessionSQL
	if seen, ok := ctx.Value(seenKey{}).(map[string]bool); ok && seen[token] {
		sql = updateSessionSQL
	}
	_, err := s.db.Exec(ctx, sql, token, data, end)
	for tries := 0; connectionLost(err) && tries < sessionTries && pause(ctx); tries++ {
		_, err = s.db.Exec(ctx, sql, token, data, end)
	}
	if err != nil {
		return fmt.Errorf("seats: write session: %w", err)
	}
	return nil
}

const (
	sessionTries = 50
	retryPause   = 100 * time.Millisecond // while a database restarts
)

// pause waits before the next try; false if ctx ends first.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

const deleteSessionSQL = `DELETE FROM session WHERE token = $1`

// DeleteCtx ends a session.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	if _, err := s.db.Exec(ctx, deleteSessionSQL, token); err != nil {
		return fmt.Errorf("seats: end session: %w", err)
	}
	return nil
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
