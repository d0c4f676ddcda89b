package seats

import (
	"bytes"
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

// The end of a session releases what its visitor holds, because the visitor cannot come back for it, as if they had released it
// themselves. First the row says that the session is over, so that no claim of it wins from then on; then the seats are
// released; then the row is deleted. A node that dies on the way leaves a session that is over, whose holds end by
// themselves and whose seats a purge releases. Nothing else is locked while a session is. Seats in payment stay until that
// ends. Signing in and out gives a session another token and is not its end.

// holderIn reads the visitor from the data of a session, which is JSON.
const holderIn = `substring(encode(data, 'escape') FROM '"holder":"([0-9a-f-]{36})"')::uuid`

// A batch that saw the session has it locked until its claim is written.
const lockSessionSQL = `SELECT ` + holderIn + ` FROM session WHERE token = $1 FOR UPDATE`

const overSQL = `UPDATE session SET expires_at = least(expires_at, clock_timestamp()) WHERE token = $1`

const heldEventsSQL = `
SELECT e.slug
  FROM event e,
       LATERAL (SELECT seats FROM hold WHERE event_id = e.id AND holder = $1 AND cardinality(seats) > 0 OFFSET 0) h
 WHERE EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = e.id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = $1 AND s.state IN (1, 2) /* held, lapsed */)`

// endSession ends a session, releases its visitor's seats and deletes its row.
func (o *Office) endSession(ctx context.Context, key string) error {
	var holder *ID
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, lockSessionSQL, key).Scan(&holder); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, overSQL, key)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && holder != nil {
		err = o.releaseAll(ctx, *holder)
	}
	if err == nil {
		_, err = o.db.Exec(ctx, deleteSessionSQL, key)
	}
	if err != nil {
		return fmt.Errorf("seats: end session: %w", err)
	}
	return nil
}

// releaseAll releases what a visitor holds.
func (o *Office) releaseAll(ctx context.Context, holder ID) error {
	slugs, err := o.heldEvents(ctx, holder)
	if err != nil {
		return err
	}
	for _, slug := range slugs {
		if err := o.releaseIn(ctx, slug, holder); err != nil {
			return err
		}
	}
	return nil
}

func (o *Office) heldEvents(ctx context.Context, holder ID) ([]string, error) {
	rows, err := o.db.Query(ctx, heldEventsSQL, holder)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// releaseIn releases what a visitor holds of an event.
func (o *Office) releaseIn(ctx context.Context, slug string, holder ID) error {
	s, err := o.Sale(ctx, slug)
	if err != nil {
		return err
	}
	c := &command{holder: holder}
	c.decide = func(b *batch) (Hold, error) {
		hold, err := b.release(c, nil)
		if errors.Is(err, ErrNoHold) { // it was released meanwhile
			return Hold{}, nil
		}
		return hold, err
	}
	_, err = s.do(context.WithValue(ctx, visitKey{}, (*visit)(nil)), c) // whichever session the request came from
	return err
}

// Visitors of sessions who have seats that are not in payment, and whether their hold is over: then no other visitor claimed the seats
// since.
const leftHoldersSQL = `
SELECT h.holder, h.expires_at < statement_timestamp()
  FROM hold h
 WHERE h.session_ends IS NOT NULL
   AND EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = h.event_id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = h.holder AND s.state IN (1, 2) /* held, lapsed */)`

const endedSessionsSQL = `SELECT token, ` + holderIn + `, statement_timestamp() FROM session WHERE expires_at < statement_timestamp()`

const purgeSessionsSQL = `DELETE FROM session WHERE expires_at < $1 AND token <> ALL($2)`

// endSessions deletes the sessions that are over. It joins them with their seats itself: the planner is told to make plans
// for few rows. Those whose seats cannot be released stay, and so do those that a node left with a live hold when it died.
func (o *Office) endSessions(ctx context.Context) error {
	left := map[ID]bool{} // whether the hold is over
	var holder, of *ID
	var over bool
	var keys []string
	var key string
	var now *time.Time
	stay := []string{}
	rows, err := o.db.Query(ctx, leftHoldersSQL)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&holder, &over}, func() error {
			before, known := left[*holder]
			left[*holder] = over && (before || !known)
			return nil
		})
	}
	if err == nil {
		rows, err = o.db.Query(ctx, endedSessionsSQL)
	}
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&key, &of, &now}, func() error {
			if of == nil {
				return nil
			}
			if over, has := left[*of]; over {
				keys = append(keys, key)
			} else if has {
				stay = append(stay, key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("seats: find sessions that are over: %w", err)
	}
	var failed []error
	for _, key := range keys {
		if err := o.endSession(ctx, key); err != nil {
			failed, stay = append(failed, err), append(stay, key)
		}
	}
	if _, err := o.db.Exec(ctx, purgeSessionsSQL, now, stay); err != nil { // of none, nothing
		return fmt.Errorf("seats: purge sessions: %w", err)
	}
	if len(failed) > 0 {
		return fmt.Errorf("seats: %d sessions stay, the first because of: %w", len(failed), failed[0])
	}
	return nil
}

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

// A session that ended meanwhile, or had no row, is written as a new one.
const renameSessionSQL = `
WITH renamed AS (
    UPDATE session SET token = $1, data = $2, expires_at = greatest(expires_at, $3) WHERE token = $4 AND expires_at > clock_timestamp() RETURNING token
)
INSERT INTO session (token, data, expires_at)
SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM renamed) ON CONFLICT (token) DO NOTHING`

// Posted is a form that somebody sent with a key. It is answered once: a repeat gets the same answer, and does nothing.
// What changes seats, orders or money knows its keys by itself; this is for the rest.
type Posted struct {
	Who  []byte // hash of who sent it and where to: the key is theirs
	Key  string
	Wish []byte // hash of what it says
}

// PostedAnswer is what a form was answered.
type PostedAnswer struct {
	Status  int
	Header  map[string][]string
	Body    []byte
	Entered string // as whom the session went on; empty if as who it was
}

// ErrOtherPost says that a form came before with its key and said something else.
var ErrOtherPost = errors.New("this form was sent before with other content")

// Who began twelve seconds ago and said nothing since is not there any more: another one does it. A repeat waits longer
// than that (handlers.once).
const postSQL = `
INSERT INTO posted AS p (who, key, wish) VALUES ($1, $2, $3)
    ON CONFLICT (who, key) DO UPDATE SET since = clock_timestamp()
 WHERE p.wish = excluded.wish AND p.answer IS NULL AND p.since < clock_timestamp() - interval '12 seconds'`

const postedSQL = `SELECT wish, answer FROM posted WHERE who = $1 AND key = $2`

// Post begins to do what a form says. If it came before, first is false, and the answer is that of the first; nil while
// that one is still at it. ErrOtherPost, and the database's.
func (s *Sessions) Post(ctx context.Context, p Posted) (first bool, answer *PostedAnswer, err error) {
	tag, err := s.db.Exec(ctx, postSQL, p.Who, p.Key, p.Wish)
	if err != nil {
		return false, nil, fmt.Errorf("seats: post: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return true, nil, nil
	}
	var wish []byte
	err = s.db.QueryRow(ctx, postedSQL, p.Who, p.Key).Scan(&wish, &answer)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil, nil // it came to nothing, a moment ago
	case err != nil:
		return false, nil, fmt.Errorf("seats: look for a key: %w", err)
	case !bytes.Equal(wish, p.Wish):
		return false, nil, ErrOtherPost
	}
	return false, answer, nil
}

const answerPostSQL = `UPDATE posted SET answer = $3 WHERE who = $1 AND key = $2`

// Answer keeps what a form was answered, for its repeats.
func (s *Sessions) Answer(ctx context.Context, p Posted, answer PostedAnswer) error {
	if _, err := s.db.Exec(ctx, answerPostSQL, p.Who, p.Key, answer); err != nil {
		return fmt.Errorf("seats: keep an answer: %w", err)
	}
	return nil
}

const unpostSQL = `DELETE FROM posted WHERE who = $1 AND key = $2 AND answer IS NULL`

// Unpost forgets a form that came to nothing: its key may be sent again, with whatever it says then.
func (s *Sessions) Unpost(ctx context.Context, p Posted) error {
	if _, err := s.db.Exec(ctx, unpostSQL, p.Who, p.Key); err != nil {
		return fmt.Errorf("seats: forget a key: %w", err)
	}
	return nil
}
