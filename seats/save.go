package seats

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The guard: a seat changes hands when nobody holds it, when its time is up, or when its own holder acts. The row is
// the judge and the database is the clock. The constraint "every seat of a change passed the guard" undoes the whole
// batch if one row was refused. The counter row comes last and stays locked until commit, so versions have no gap.
const changeSQL = `
WITH passed AS (
    UPDATE seat_state s
       SET state = n.state, holder = n.holder, expires_at = coalesce(n.expires_at, CASE WHEN n.state > 0 THEN 'infinity'::timestamptz END)
      FROM unnest($2::integer[], $3::smallint[], $4::uuid[], $5::timestamptz[], $6::uuid[]) AS n(idx, state, holder, expires_at, by)
     WHERE s.event_id = $1 AND s.idx = n.idx
       AND (s.holder IS NULL OR s.expires_at <= clock_timestamp() OR s.holder = n.by)
    RETURNING s.idx
), bump AS (
    UPDATE counter
       SET version = version + 1,
           free    = (SELECT array_agg(a + d ORDER BY i) FROM unnest(free,    $7::integer[])  WITH ORDINALITY u(a, d, i)),
           held    = (SELECT array_agg(a + d ORDER BY i) FROM unnest(held,    $8::integer[])  WITH ORDINALITY u(a, d, i)),
           sold    = (SELECT array_agg(a + d ORDER BY i) FROM unnest(sold,    $9::integer[])  WITH ORDINALITY u(a, d, i)),
           blocked = (SELECT array_agg(a + d ORDER BY i) FROM unnest(blocked, $10::integer[]) WITH ORDINALITY u(a, d, i))
     WHERE event_id = $1 AND (SELECT count(*) FROM passed) >= 0  -- the seats first
    RETURNING version, free, held, sold, blocked
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, $2, $3, $4, free, held, sold, blocked, $11, (SELECT count(*) FROM passed)
  FROM bump
RETURNING version, at, free, held, sold, blocked`

const commitSQL = `COMMIT`

// save writes what the commands decided and commits, in one round trip.
func (b *batch) save(ctx context.Context, conn *pgx.Conn) error {
	var q pgx.Batch
	b.queueChange(&q)
	if err := b.queueHolds(&q); err != nil {
		return err
	}
	q.Queue(commitSQL)
	return conn.SendBatch(ctx, &q).Close()
}

func (b *batch) queueChange(q *pgx.Batch) {
	if len(b.dirty) == 0 {
		return
	}
	c := Change{}
	var ends []*time.Time
	var by []ID
	delta := [4][]int32{}
	for i := range delta {
		delta[i] = make([]int32, len(b.sale.Plan.Categories))
	}
	idxs := make([]int, 0, len(b.dirty))
	for idx := range b.dirty {
		idxs = append(idxs, idx)
	}
	slices.Sort(idxs)
	for _, idx := range idxs {
		now, was := b.rows[idx], b.was[idx]
		c.Idx, c.State, c.Holder = append(c.Idx, int32(idx)), append(c.State, int16(now.state)), append(c.Holder, now.holder)
		ends, by = append(ends, now.expiresAt), append(by, b.dirty[idx])
		category := b.sale.Plan.Seats[idx].Category
		delta[countOf(was.state)][category]--
		delta[countOf(now.state)][category]++
	}
	q.Queue(changeSQL, b.sale.Event.ID, c.Idx, c.State, c.Holder, ends, by, delta[0], delta[1], delta[2], delta[3], b.id).
		QueryRow(func(r pgx.Row) error {
			err := r.Scan(&c.Version, &c.At, &c.Counts.Free, &c.Counts.Held, &c.Counts.Sold, &c.Counts.Blocked)
			b.change = c
			return err
		})
}

// countOf is the place of a state's count among free, held, sold and blocked.
func countOf(s State) int {
	switch s.Shown() {
	case Held:
		return 1
	case Sold:
		return 2
	case Blocked:
		return 3
	default:
		return 0
	}
}

const insertHoldsSQL = `
INSERT INTO hold (event_id, holder, id, seats, expires_at, extensions, lapsed)
SELECT $1, h.* FROM jsonb_to_recordset($2)
    AS h(holder uuid, id uuid, seats integer[], expires_at timestamptz, extensions integer, lapsed boolean)`

const updateHoldsSQL = `
UPDATE hold
   SET id = h.id, seats = h.seats, expires_at = h.expires_at, extensions = h.extensions, lapsed = h.lapsed
  FROM jsonb_to_recordset($2)
    AS h(holder uuid, id uuid, seats integer[], expires_at timestamptz, extensions integer, lapsed boolean)
 WHERE hold.event_id = $1 AND hold.holder = h.holder`

const deleteHoldsSQL = `DELETE FROM hold WHERE event_id = $1 AND holder = ANY($2)`

const insertClaimsSQL = `
INSERT INTO claim (event_id, holder, key, wish, hold_id, seats, expires_at)
SELECT $1, c.* FROM jsonb_to_recordset($2)
    AS c(holder uuid, key text, wish bytea, hold_id uuid, seats integer[], expires_at timestamptz)`

// More time moves the end of the seats; what the map shows stays, so it is no version.
const extendSeatsSQL = `
UPDATE seat_state s
   SET expires_at = h.expires_at
  FROM jsonb_to_recordset($2) AS h(holder uuid, seats integer[], expires_at timestamptz)
 WHERE s.event_id = $1 AND s.idx = ANY(h.seats) AND s.holder = h.holder AND s.state = 1 /* held */`

func (b *batch) queueHolds(q *pgx.Batch) error {
	var inserted, updated, extended []*heldBy
	var deleted []ID
	for holder, h := range b.holds {
		switch {
		case !h.touched:
		case len(h.Seats) == 0 && h.stored:
			deleted = append(deleted, holder)
		case len(h.Seats) == 0:
		case h.stored:
			updated = append(updated, h)
		default:
			inserted = append(inserted, h)
		}
		if h.extended {
			extended = append(extended, h)
		}
	}
	event := b.sale.Event.ID
	for _, w := range []struct {
		sql  string
		n    int
		rows any
	}{
		{insertHoldsSQL, len(inserted), inserted},
		{updateHoldsSQL, len(updated), updated},
		{extendSeatsSQL, len(extended), extended},
		{insertClaimsSQL, len(b.kept), b.kept},
	} {
		if w.n == 0 {
			continue
		}
		rows, err := json.Marshal(w.rows)
		if err != nil {
			return err
		}
		q.Queue(w.sql, event, string(rows))
	}
	if len(deleted) > 0 {
		q.Queue(deleteHoldsSQL, event, deleted)
	}
	return nil
}

// The counter row's lock is free again once the lost batch has ended, one way or the other.
const waitForCounterSQL = `SELECT version FROM counter WHERE event_id = $1 FOR NO KEY UPDATE`

const findBatchSQL = `
SELECT version, at, free, held, sold, blocked FROM change WHERE event_id = $1 AND version <= $2 AND batch = $3
 ORDER BY version DESC LIMIT 1`

// findCommit resolves a lost answer to COMMIT: it tells whether the batch is in the change log after all.
func (b *batch) findCommit(db *pgxpool.Pool, lost error) bool {
	if !connectionLost(lost) || len(b.dirty) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()
	var version int64
	if err := db.QueryRow(ctx, waitForCounterSQL, b.sale.Event.ID).Scan(&version); err != nil {
		return false
	}
	c := &b.change
	err := db.QueryRow(ctx, findBatchSQL, b.sale.Event.ID, version, b.id).
		Scan(&c.Version, &c.At, &c.Counts.Free, &c.Counts.Held, &c.Counts.Sold, &c.Counts.Blocked)
	return err == nil
}
