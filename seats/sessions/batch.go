package sessions

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A batch that changes seats locks, writes and renews the sessions it comes from: see seats.Sessions.

const liveSessionsSQL = `
SELECT live.token, live.expires_at
  FROM unnest($1::text[]) AS asked(token),
       LATERAL (SELECT token, expires_at FROM session WHERE session.token = asked.token AND expires_at > clock_timestamp() FOR KEY SHARE) live`

// Lock finds which sessions have not ended, and keeps them until the batch is committed.
func (s *Sessions) Lock(q *pgx.Batch, keys []string, found func(key string, end time.Time)) {
	q.Queue(liveSessionsSQL, keys).Query(func(rows pgx.Rows) error {
		var key string
		var end time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &end}, func() error { found(key, end); return nil })
		return err
	})
}

const renewSessionsSQL = `
UPDATE session SET expires_at = greatest(session.expires_at, n.ends)
  FROM unnest($1::text[], $2::timestamptz[]) AS n(token, ends)
 WHERE session.token = n.token`

// Extend writes later ends.
func (s *Sessions) Extend(q *pgx.Batch, keys []string, ends []time.Time) {
	q.Queue(renewSessionsSQL, keys, ends)
}

const newSessionsSQL = `
INSERT INTO session (token, data, expires_at)
SELECT * FROM unnest($1::text[], $2::bytea[], $3::timestamptz[])`

// An earlier batch with a lost answer may have written them.
const sessionsAgainSQL = newSessionsSQL + ` ON CONFLICT (token) DO NOTHING`

// Insert writes new sessions. With again, an earlier try may have written them.
func (s *Sessions) Insert(q *pgx.Batch, sessions []seats.Session, again bool) {
	n := len(sessions)
	keys, data, ends := make([]string, n), make([][]byte, n), make([]time.Time, n)
	for i, n := range sessions {
		keys[i], data[i], ends[i] = n.Key, n.Data, n.End
	}
	sql := newSessionsSQL
	if again {
		sql = sessionsAgainSQL
	}
	q.Queue(sql, keys, data, ends)
}
