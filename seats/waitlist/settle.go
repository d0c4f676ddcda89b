package waitlist

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// mostMisses is how many offers an entry may leave without an answer: two at its rank, two more at the end.
const mostMisses = 4

// The outcome of an offer is the outcome of its hold: an order of it, or no seat left in it. An order of seats that
// are still available may come late, after the offer was counted as missed.
const settleSQL = `
WITH ended AS (
    SELECT o.id, CASE WHEN ordered.id IS NOT NULL THEN 'accepted' WHEN o.declined_at IS NOT NULL THEN 'declined' ELSE 'missed' END AS outcome
      FROM offer o LEFT JOIN orders ordered ON ordered.hold_id = o.hold_id
     WHERE o.event_id = $1
       AND (o.state = 'open' AND (ordered.id IS NOT NULL OR NOT EXISTS (
                SELECT FROM hold h WHERE h.event_id = $1 AND h.holder = o.holder AND h.id = o.hold_id AND NOT h.lapsed AND cardinality(h.seats) > 0))
         OR o.state = 'missed' AND o.ended_at > clock_timestamp() - interval '2 days' AND ordered.id IS NOT NULL)
), closed AS (
    UPDATE offer SET state = ended.outcome, ended_at = clock_timestamp() FROM ended WHERE offer.id = ended.id
    RETURNING offer.entry_id, ended.outcome
), moved AS (
    UPDATE entry n
       SET misses = n.misses + CASE c.outcome WHEN 'missed' THEN 1 ELSE 0 END,
           state  = CASE WHEN c.outcome = 'accepted' THEN 'served' WHEN c.outcome = 'declined' OR n.misses + 1 >= $2 THEN 'left' ELSE 'waiting' END,
           rank   = CASE WHEN c.outcome = 'missed' AND n.misses % 2 = 1 THEN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ELSE n.rank END,
           waits_since = clock_timestamp(), waits_in = pg_current_xact_id(), passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL, gather_until = NULL
      FROM closed c
     WHERE n.id = c.entry_id AND n.state IN ('offered', 'waiting')
    RETURNING n.id, n.event_id, c.outcome, n.state, n.misses
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail)
    SELECT event_id, id, outcome, CASE WHEN outcome <> 'missed' THEN '' WHEN state = 'left' THEN 'it left the list' WHEN misses % 2 = 1 THEN 'it keeps its rank' ELSE 'it waits at the end' END FROM moved
), told AS (
    INSERT INTO mail (entry_id, kind)
    SELECT id, CASE state WHEN 'left' THEN 'wait-left' ELSE 'wait-missed' END FROM moved WHERE outcome <> 'accepted'
)
SELECT id, outcome, state = 'waiting' FROM moved`

// The time until which they wait is over. Several entries are locked in the order of their ids, as a batch with offers locks
// them; the index by rank would meet them in another one.
const expireSQL = `
WITH due AS (
    SELECT id FROM entry WHERE event_id = $1 AND state = 'waiting' AND until <= clock_timestamp() ORDER BY id FOR NO KEY UPDATE
), gone AS (
    UPDATE entry SET state = 'over' FROM due WHERE entry.id = due.id RETURNING entry.id, event_id
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT event_id, id, 'over', 'the time until which it waited' FROM gone
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-left' FROM gone`

// settled is what a round found to be over.
type settled struct {
	resting map[int64]bool // entries that let an offer go by a moment before: others get the same seats first
	moved   bool           // the list is another one than before
	mail    bool
}

// settle writes down what became of the offers of an event.
func (l *List) settle(ctx context.Context, event int64) (found settled, err error) {
	found.resting = map[int64]bool{}
	rows, err := l.db.Query(ctx, settleSQL, event, mostMisses)
	if err != nil {
		return found, fmt.Errorf("waitlist: settle: %w", err)
	}
	var entry int64
	var outcome string
	var waits bool
	_, err = pgx.ForEachRow(rows, []any{&entry, &outcome, &waits}, func() error {
		found.moved, found.mail = true, found.mail || outcome != "accepted"
		if waits {
			found.resting[entry] = true
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("waitlist: settle: %w", err)
	}
	tag, err := l.db.Exec(ctx, expireSQL, event)
	if err != nil {
		return found, fmt.Errorf("waitlist: expire: %w", err)
	}
	found.mail = found.mail || tag.RowsAffected() > 0
	return found, nil
}

// The sale is over: no entry waits any more. An open offer lasts until its end.
const closeSQL = `
WITH waits AS (
    SELECT id FROM entry WHERE event_id = $1 AND state IN ('new', 'waiting') ORDER BY id FOR NO KEY UPDATE
), gone AS (
    UPDATE entry SET state = 'over' FROM waits WHERE entry.id = waits.id RETURNING entry.id, event_id
)
INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT event_id, id, 'over', 'the sale' FROM gone`
