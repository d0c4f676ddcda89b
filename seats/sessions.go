package seats

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
)

// Sessions keeps browser sessions. A row is inserted once and from then on only updated, so that a session that was
// ended is never brought back by a request that was still under way.
//
// The key of a row is a hash of the token, so that who reads the table is nobody's visitor. A token may say when it was
// made, before a dot; then its row stands beside those that were made with it. A crowd of newcomers writes to the end of
// the index, and not to each of its pages.
type Sessions struct {
	// Office releases the seats of a session that is ended. Set it before use; without it a session ends alone.
	Office *Office

	db DB

	mu     sync.Mutex
	recent map[string][]byte // data by key, for requests that change seats; see Act
}

// SessionLength is how long a session lasts that holds nothing. One that does is renewed.
const SessionLength = 24 * time.Hour

// recentSessions is how many sessions a node remembers.
const recentSessions = 1 << 16

// NewSessions returns the store.
func NewSessions(db DB) *Sessions { return &Sessions{db: db, recent: map[string][]byte{}} }

// keyOf is the key of the row of a token.
func keyOf(token string) string {
	made, _, dated := strings.Cut(token, ".")
	if !dated {
		made = ""
	}
	sum := sha256.Sum256([]byte(token))
	return made + base64.RawURLEncoding.EncodeToString(sum[:])
}

// visit is the session of one request that changes seats.
type visit struct {
	store    *Sessions
	found    string   // the key of the row as it was found, if it was; the batch looks whether it is still there
	newcomer Newcomer // nothing is stored of whom it is about; nil if something is
	fresh    *session // new, to be written in the same transaction as the claim
}

// Newcomer makes the session of somebody with a holder made a moment ago: its token, its data and its end.
type Newcomer func() (token string, data []byte, end time.Time)

// Newcomer tells that the request of this context, prepared by Act, comes from a newcomer. start is called when their
// claim may win.
func (s *Sessions) Newcomer(ctx context.Context, start Newcomer) {
	if v := visitOf(ctx); v != nil {
		v.newcomer = start
	}
}

// begin makes the session of a newcomer.
func (v *visit) begin() {
	if v.isNew() {
		token, data, end := v.newcomer()
		v.fresh = &session{keyOf(token), data, end}
	}
}

// isNew tells whether nothing is stored of whom a request is about.
func (v *visit) isNew() bool { return v != nil && v.newcomer != nil }

// session is a session row.
type session struct {
	key  string
	data []byte
	end  time.Time
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
	key, v := keyOf(token), visitOf(ctx)
	if v != nil {
		if data, found = s.recall(key); found {
			v.found = key
			return data, true, nil
		}
	}
	err = s.db.QueryRow(ctx, findSessionSQL, key).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("seats: find session: %w", err)
	}
	s.remember(key, data)
	if v != nil {
		v.found = key
	}
	return data, true, nil
}

// A token is random: the only row it can meet is our own, written by a try whose answer was lost.
const insertSessionSQL = `
INSERT INTO session (token, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`

// A session that was renewed keeps its end, and one that is over stays over.
const updateSessionSQL = `
UPDATE session SET data = $2, expires_at = greatest(expires_at, $3) WHERE token = $1 AND expires_at > clock_timestamp()`

// CommitCtx writes a session: a new one is inserted; one that was found is updated; one that has ended meanwhile stays
// ended.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, end time.Time) error {
	sql, key, v := insertSessionSQL, keyOf(token), visitOf(ctx)
	args := []any{key, data, end}
	if r := renameOf(ctx); r != nil && r.from != "" {
		sql, args = renameSessionSQL, append(args, r.from)
	} else if v != nil && v.found == key {
		sql = updateSessionSQL
	}
	s.forget(key)
	if _, err := s.db.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("seats: write session: %w", err)
	}
	if v != nil {
		v.found = key
	}
	return nil
}

const renewSessionSQL = `
UPDATE session SET expires_at = clock_timestamp() + $4::interval
 WHERE token = $1 AND expires_at > clock_timestamp() AND expires_at < clock_timestamp() + $4::interval / 2
   AND EXISTS (SELECT FROM hold WHERE event_id = $2 AND holder = $3 AND NOT lapsed)`

// Renew lets a session last its whole length from now if less than half is left and its holder holds seats of the event.
func (s *Sessions) Renew(ctx context.Context, token string, event int64, holder ID) error {
	if _, err := s.db.Exec(ctx, renewSessionSQL, keyOf(token), event, holder, SessionLength); err != nil {
		return fmt.Errorf("seats: renew session: %w", err)
	}
	return nil
}

const deleteSessionSQL = `DELETE FROM session WHERE token = $1`

// DeleteCtx ends a session and releases what it holds, unless it only gets another token: see Rename.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	key := keyOf(token)
	s.forget(key)
	if r := renameOf(ctx); r != nil {
		r.from = key
		return nil
	}
	if s.Office != nil {
		return s.Office.endSession(ctx, key)
	}
	if _, err := s.db.Exec(ctx, deleteSessionSQL, key); err != nil {
		return fmt.Errorf("seats: end session: %w", err)
	}
	return nil
}

func (s *Sessions) recall(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.recent[key]
	return data, ok
}

// remember keeps a session in memory; in a full memory any other one gives way.
func (s *Sessions) remember(key string, data []byte) {
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

func (s *Sessions) forget(key string) {
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
