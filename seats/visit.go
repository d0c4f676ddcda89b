package seats

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Visit is the session of a request that changes seats. The batch looks whether its row is still there, renews it, or writes
// that of a newcomer with the claim that won (package sessions).
type Visit struct {
	Sessions interface { // what its node remembers
		Remember(key string, data []byte)
		Forget(key string)
	}
	Found    string   // the key of its row as it was found; empty if it was not
	Newcomer Newcomer // nothing is stored of the visitor; nil if something is

	fresh *session // of a newcomer
}

// Newcomer makes the session of a visitor with an id made a moment ago: the key of its row, its data and its end.
type Newcomer func() (key string, data []byte, end time.Time)

// SessionLength is how long a session lasts that holds nothing. One that does is renewed.
const SessionLength = 24 * time.Hour

// begin makes the session of a newcomer.
func (v *Visit) begin() {
	if v.isNew() {
		key, data, end := v.Newcomer()
		v.fresh = &session{key, data, end}
	}
}

// isNew reports whether the visitor has no stored session.
func (v *Visit) isNew() bool { return v != nil && v.Newcomer != nil }

// session is a session row.
type session struct {
	key  string
	data []byte
	end  time.Time
}

type visitKey struct{}

// WithVisit is the context of a request of this session; nil for one of no session.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitOf is the session that a request comes from; nil if none.
func VisitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

const liveSessionsSQL = `
SELECT live.token, live.expires_at
  FROM unnest($1::text[]) AS asked(token),
       LATERAL (SELECT token, expires_at FROM session WHERE session.token = asked.token AND expires_at > clock_timestamp() FOR KEY SHARE) live`

// queueVisits asks, with the locks, until when the sessions last. One that was found may have been ended since. It does not
// end before the batch is written: who ends it then finds the seats.
func (b *batch) queueVisits(q *pgx.Batch) {
	var keys []string
	for _, c := range b.commands {
		if c.visit != nil && c.visit.Found != "" {
			keys = append(keys, c.visit.Found)
		}
	}
	if len(keys) == 0 {
		return
	}
	b.visits = make(map[string]time.Time, len(keys))
	q.Queue(liveSessionsSQL, keys).Query(func(rows pgx.Rows) error {
		var key string
		var end time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &end}, func() error {
			b.visits[key] = end
			return nil
		})
		return err
	})
}

// ended tells whether the command's session ended behind this node's back.
func (b *batch) ended(c *command) bool {
	if c.visit == nil || c.visit.Found == "" {
		return false
	}
	if _, there := b.visits[c.visit.Found]; there {
		return false
	}
	c.visit.Sessions.Forget(c.visit.Found)
	return true
}

// bind notes that a hold is written with a new end: least(hold, session). A known session lasts at least as long as the hold
// from now on, and is written once in half of its length; the session of a newcomer stays what their cookie says.
func (b *batch) bind(c *command, h *heldBy) {
	switch end, there := b.visitEnd(c); {
	case !there:
		h.session = nil // that of an earlier hold in this row
	case end.Sub(b.now) < SessionLength/2 || end.Before(h.expiresAt):
		if c.visit.fresh == nil {
			end = b.now.Add(max(SessionLength, h.expiresAt.Sub(b.now)))
			if b.renewed == nil {
				b.renewed = map[string]time.Time{}
			}
			b.visits[c.visit.Found], b.renewed[c.visit.Found] = end, end
		}
		h.session = &end
	default:
		h.session = &end
	}
	if h.session != nil && h.expiresAt.After(*h.session) {
		h.expiresAt = *h.session
	}
	h.touched = true
	b.ends(h)
}

// visitEnd returns when the session of a command ends, if it has one.
func (b *batch) visitEnd(c *command) (end time.Time, there bool) {
	if ends := c.visit.ends(); ends != nil {
		return *ends, true
	}
	if c.visit == nil {
		return end, false
	}
	end, there = b.visits[c.visit.Found]
	return end, there
}

// ends returns when the new session of a newcomer ends; nil if there is none.
func (v *Visit) ends() *time.Time {
	if v == nil || v.fresh == nil {
		return nil
	}
	return &v.fresh.end
}

const renewSessionsSQL = `
UPDATE session SET expires_at = greatest(session.expires_at, n.ends)
  FROM unnest($1::text[], $2::timestamptz[]) AS n(token, ends)
 WHERE session.token = n.token`

// queueRenewals writes until when sessions last now. They are written in one order.
func (b *batch) queueRenewals(q *pgx.Batch) {
	if len(b.renewed) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(b.renewed))
	ends := make([]time.Time, len(keys))
	for i, key := range keys {
		ends[i] = b.renewed[key]
	}
	q.Queue(renewSessionsSQL, keys, ends)
}

const newSessionsSQL = `
INSERT INTO session (token, data, expires_at)
SELECT * FROM unnest($1::text[], $2::bytea[], $3::timestamptz[])`

// A batch before, whose answer was lost, may have written them.
const sessionsAgainSQL = newSessionsSQL + ` ON CONFLICT (token) DO NOTHING`

// queueSessions writes the new sessions of claims that won.
func (b *batch) queueSessions(q *pgx.Batch) {
	sql := newSessionsSQL
	var keys []string
	var data [][]byte
	var ends []time.Time
	for i, c := range b.commands {
		if c.visit == nil || c.visit.fresh == nil || b.answers[i].err != nil {
			continue
		}
		if c.tries > 0 {
			sql = sessionsAgainSQL
		}
		f := c.visit.fresh
		keys, data, ends = append(keys, f.key), append(data, f.data), append(ends, f.end)
	}
	if len(keys) > 0 {
		q.Queue(sql, keys, data, ends)
	}
}

// queueLostSessions writes, before seats are locked, the new sessions of claims whose first try was lost with its connection.
// The server may still be working on that try, which writes its sessions before it locks seats: a batch that did it the
// other way round could wait for it while it waits for the batch.
func (b *batch) queueLostSessions(q *pgx.Batch) {
	var keys []string
	var data [][]byte
	var ends []time.Time
	for _, c := range b.commands {
		if c.lost && c.visit != nil && c.visit.fresh != nil {
			f := c.visit.fresh
			keys, data, ends = append(keys, f.key), append(data, f.data), append(ends, f.end)
		}
	}
	if len(keys) > 0 {
		q.Queue(sessionsAgainSQL, keys, data, ends)
	}
}

// rememberVisits keeps in memory what was just written.
func (b *batch) rememberVisits() {
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			c.visit.Sessions.Remember(c.visit.fresh.key, c.visit.fresh.data)
		}
	}
}
