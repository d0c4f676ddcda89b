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
	var tokens []string
	for _, c := range b.commands {
		if c.visit != nil && c.visit.trusted {
			tokens = append(tokens, c.visit.found)
		}
	}
	if len(tokens) == 0 {
		return
	}
	b.visits = make(map[string]bool, len(tokens))
	q.Queue(liveSessionsSQL, tokens).Query(func(rows pgx.Rows) error {
		var token string
		_, err := pgx.ForEachRow(rows, []any{&token}, func() error {
			b.visits[token] = true
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

const insertSessionsSQL = `
INSERT INTO session (token, data, expires_at)
SELECT * FROM unnest($1::text[], $2::bytea[], $3::timestamptz[])
    ON CONFLICT (token) DO NOTHING`

// queueSessions writes the new sessions of claims that won.
func (b *batch) queueSessions(q *pgx.Batch) {
	var tokens []string
	var data [][]byte
	var ends []time.Time
	for i, c := range b.commands {
		if c.visit == nil || c.visit.fresh == nil || b.answers[i].err != nil {
			continue
		}
		f := c.visit.fresh
		tokens, data, ends = append(tokens, f.token), append(data, f.data), append(ends, f.end)
	}
	if len(tokens) > 0 && !Planted("session forgotten") {
		q.Queue(insertSessionsSQL, tokens, data, ends)
	}
}

// rememberVisits keeps in memory what was just written.
func (b *batch) rememberVisits() {
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			c.visit.store.remember(c.visit.fresh.token, c.visit.fresh.data)
		}
	}
}
