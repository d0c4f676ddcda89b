package seats

import (
	"time"

	"github.com/jackc/pgx/v5"
)

const liveSessionsSQL = `
SELECT live.token
  FROM unnest($1::text[]) AS asked(token),
       LATERAL (SELECT token FROM session WHERE session.token = asked.token AND expires_at > clock_timestamp() OFFSET 0) live`

// queueVisits asks, with the locks, whether the sessions that this node only remembers are still there: another
// node may have ended them.
func (b *batch) queueVisits(q *pgx.Batch) {
	var keys []string
	for _, c := range b.commands {
		if c.visit != nil && c.visit.trusted {
			keys = append(keys, c.visit.found)
		}
	}
	if len(keys) == 0 {
		return
	}
	b.visits = make(map[string]bool, len(keys))
	q.Queue(liveSessionsSQL, keys).Query(func(rows pgx.Rows) error {
		var key string
		_, err := pgx.ForEachRow(rows, []any{&key}, func() error {
			b.visits[key] = true
			return nil
		})
		return err
	})
}

// ended tells whether the command's session ended behind this node's back.
func (b *batch) ended(c *command) bool {
	if c.visit == nil || !c.visit.trusted || b.visits[c.visit.found] {
		return false
	}
	c.visit.store.forget(c.visit.found)
	return true
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
	if len(keys) > 0 && !Planted("session forgotten") {
		q.Queue(sql, keys, data, ends)
	}
}

// rememberVisits keeps in memory what was just written.
func (b *batch) rememberVisits() {
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			c.visit.store.remember(c.visit.fresh.key, c.visit.fresh.data)
		}
	}
}
