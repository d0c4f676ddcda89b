package seats

import "github.com/jackc/pgx/v5"

// A swift batch of one seat. Somebody claims while nobody else does, and all that takes time is what any statement costs:
// so this one has no arrays to take apart and nothing to count. Each part has its row only if the one before had: the
// seat passed the guard, the hold is there, the event counted it. The limit needs no check: it is never less than one seat
// (a constraint of event), and a visitor who bought tickets has a hold row, whose key refuses a second one.
const swiftOneSQL = `
WITH passed AS (
    UPDATE seat_state
       SET state = 1 /* held */, holder = $3, expires_at = statement_timestamp() + event.hold_length
      FROM event
     WHERE event.id = $1 AND event.room_id IS NULL AND NOT event.wait_list
       AND seat_state.event_id = $1 AND seat_state.idx = $2
       AND (seat_state.holder IS NULL OR $9 AND seat_state.state = 2 /* lapsed */ AND seat_state.expires_at <= statement_timestamp())
    RETURNING expires_at
), granted AS (
    INSERT INTO hold (event_id, holder, id, seats, expires_at, answers, best, session_ends)
    SELECT $1, $3, $4, ARRAY[$2], expires_at, $5::text || to_json(expires_at)::text || '}]', CASE WHEN $8 THEN ARRAY[$2] END, $10 FROM passed
    RETURNING expires_at
), bump AS (
    UPDATE counter
       SET version = version + 1, free[$6] = free[$6] - 1, held[$6] = held[$6] + 1
     WHERE event_id = $1 AND EXISTS (SELECT FROM granted)
    RETURNING version, free, held, sold, blocked, claims_from
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, ARRAY[$2], '{1}'::smallint[], ARRAY[$3], free, held, sold, blocked, $7, CASE WHEN claims_from <= statement_timestamp() THEN 1 END
  FROM bump
RETURNING version, at, free, held, sold, blocked, (SELECT expires_at FROM granted), clock_timestamp()`

func (b *batch) queueSwiftOne(q *pgx.Batch) *pgx.QueuedQuery {
	c, idx := b.commands[0], b.change.Idx[0]
	h := b.holds[c.holder]
	return q.Queue(swiftOneSQL, b.sale.Event.ID, idx, h.holder, h.id, unfinished(c, h), b.sale.Plan.Seats[idx].Category+1, b.id, c.choice.ofBest(), !c.chosen(), c.visit.ends())
}
