package letters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of mail that this package writes.
const (
	MailUpcoming = "upcoming" // the event is soon
	MailThanks   = "thanks"
)

const atOnce = 500 // mails of one statement

// dueSQL lists what is to be written, as "kind event" and when. Clocks are those of the place.
const dueSQL = `
SELECT 'upcoming ' || e.id, due.at
  FROM event e` + settingsOf + `
 CROSS JOIN LATERAL (SELECT (e.starts_at - make_interval(hours => coalesce(l.hours, 24))) AT TIME ZONE e.time_zone AS clock, e.starts_at AT TIME ZONE e.time_zone AS starts) w
 CROSS JOIN LATERAL (SELECT CASE
       WHEN w.clock::time > '18:00' THEN w.clock::date + time '18:00'
       WHEN w.clock::time >= '10:00' THEN w.clock
       WHEN w.clock::date + time '10:00' <= w.starts - interval '1 hour' THEN w.clock::date + time '10:00'
       ELSE w.clock::date - interval '6 hours' END AT TIME ZONE e.time_zone AS at) due
 WHERE e.status NOT IN ('draft', 'cancelled') AND e.starts_at > clock_timestamp() AND e.starts_at < clock_timestamp() + interval '16 days'
   AND coalesce(l.remind, true) AND NOT EXISTS (SELECT FROM letter_run r WHERE r.event_id = e.id AND r.kind = 'upcoming')
 UNION ALL
SELECT 'thanks ' || e.id, due.at
  FROM event e` + settingsOf + ` LEFT JOIN event_page p ON p.event_id = e.id
 CROSS JOIN LATERAL (SELECT (((e.starts_at + make_interval(mins => coalesce(nullif(p.running, 0), 120))) AT TIME ZONE e.time_zone - interval '6 hours')::date
       + interval '34 hours') AT TIME ZONE e.time_zone AS at) due
 WHERE e.status NOT IN ('draft', 'cancelled') AND e.starts_at > clock_timestamp() - interval '45 days'
   AND l.thanks <> 'off' AND due.at > clock_timestamp() - interval '7 days' AND NOT EXISTS (SELECT FROM letter_run r WHERE r.event_id = e.id AND r.kind = 'thanks')`

// settingsOf are the settings of event e, its own or those of its series.
const settingsOf = `
  LEFT JOIN LATERAL (
       SELECT s.* FROM event_letters s WHERE s.event_id IN (e.id, (SELECT lead_id FROM series WHERE id = e.series_id))
        ORDER BY s.event_id = e.id DESC LIMIT 1) l ON true`

const isDueSQL = `SELECT at, l.thanks FROM (` + dueSQL + `) due(key, at), event e` + settingsOf + ` WHERE key = $1 AND e.id = $2 AND at <= clock_timestamp()`

// write writes some letters of an event, by its key of dueSQL.
func (l *Letters) write(ctx context.Context, key string) (n int, err error) {
	kind, id, _ := strings.Cut(key, " ")
	event, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("letters: %q: %w", key, err)
	}
	var at time.Time
	var thanks *Thanks
	err = l.db.QueryRow(ctx, isDueSQL, key, event).Scan(&at, &thanks)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil // another node ended it, or the organizer did
	}
	if err == nil && kind == MailUpcoming {
		err = l.db.QueryRow(ctx, remindSQL, event, at, atOnce).Scan(&n)
	} else if err == nil {
		err = l.db.QueryRow(ctx, thankSQL, event, at, *thanks == ThanksScanned, atOnce).Scan(&n)
	}
	if err == nil && n == 0 {
		_, err = l.db.Exec(ctx, endRunSQL, event, kind)
	}
	if err != nil {
		return 0, fmt.Errorf("letters: write %s: %w", kind, err)
	}
	l.MailWritten()
	return max(n, 1), nil
}

const endRunSQL = `INSERT INTO letter_run (event_id, kind) VALUES ($1, $2) ON CONFLICT DO NOTHING`

// reachable holds for orders that letters go to: with a ticket that was not sent to a friend. $1 is the event, $2 when the letters were due.
const reachable = `o.event_id = $1 AND o.state = 'confirmed' AND o.due_at IS NULL AND o.email <> '' AND o.created_at < $2
   AND EXISTS (SELECT FROM ticket t WHERE t.order_id = o.id AND t.revoked_at IS NULL AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))`

const remindSQL = `
WITH next AS (
    SELECT o.id FROM orders o WHERE ` + reachable + ` AND NOT EXISTS (SELECT FROM mail m WHERE m.order_id = o.id AND m.kind = 'upcoming')
     ORDER BY o.created_at, o.id LIMIT $3
), mails AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'upcoming' FROM next ON CONFLICT DO NOTHING
), friends AS (
    SELECT DISTINCT ON (lower(f.email)) f.id FROM ticket_transfer f JOIN ticket t ON t.id = f.ticket_id AND t.revoked_at IS NULL
     WHERE f.event_id = $1 AND f.accepted_at < $2 AND f.email <> ''
       AND NOT EXISTS (SELECT FROM mail m JOIN ticket_transfer g ON g.id = m.transfer_id WHERE g.event_id = $1 AND lower(g.email) = lower(f.email) AND m.kind = 'upcoming')
     ORDER BY lower(f.email), f.accepted_at LIMIT $3
), theirs AS (
    INSERT INTO mail (transfer_id, kind) SELECT id, 'upcoming' FROM friends ON CONFLICT DO NOTHING
)
SELECT (SELECT count(*) FROM next) + (SELECT count(*) FROM friends)`

const thankSQL = `
WITH next AS (
    SELECT o.id FROM orders o WHERE ` + reachable + ` AND NOT ` + hasUnsubscribed + ` AND NOT EXISTS (SELECT FROM mail m WHERE m.order_id = o.id AND m.kind = 'thanks')
       AND (NOT $3 OR EXISTS (SELECT FROM ticket t JOIN scan s ON s.ticket_id = t.id AND s.admitted WHERE t.order_id = o.id AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL)))
     ORDER BY o.created_at, o.id LIMIT $4
), mails AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'thanks' FROM next ON CONFLICT DO NOTHING
)
SELECT count(*) FROM next`
