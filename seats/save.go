package seats

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// The guard: a seat changes hands when nobody holds it, when its time is up, or when its own holder acts. The row is
// the judge and the database is the clock. The constraint "every seat of a change passed the guard" undoes the whole
// batch if one row was refused, and so does a number of them that is null: the event is not what it was when the batch
// read it. The counter row comes last and stays locked until commit, so versions have no gap.
const changeSQL = `
WITH passed AS (
    UPDATE seat_state s
       SET state = n.state, holder = n.holder, expires_at = coalesce(n.expires_at, CASE WHEN n.state > 0 THEN 'infinity'::timestamptz END)
      FROM unnest($2::integer[], $3::smallint[], $4::uuid[], $5::timestamptz[], $6::uuid[], $12::tid[]) AS n(idx, state, holder, expires_at, by, at)
     WHERE s.ctid = n.at AND s.event_id = $1 AND s.idx = n.idx
       AND (s.holder IS NULL OR s.expires_at <= clock_timestamp() OR s.holder = n.by)
    RETURNING s.idx
), bump AS (
    UPDATE counter
       SET version = version + 1,
           free    = ARRAY(SELECT a + d FROM unnest(free, $7::integer[]) u(a, d)),
           held    = ARRAY(SELECT a + d FROM unnest(held, $8::integer[]) u(a, d)),
           sold    = ARRAY(SELECT a + d FROM unnest(sold, $9::integer[]) u(a, d)),
           blocked = ARRAY(SELECT a + d FROM unnest(blocked, $10::integer[]) u(a, d))
     WHERE event_id = $1 AND (SELECT count(*) FROM passed) >= 0  -- the seats first
    RETURNING version, free, held, sold, blocked, claims_from, sells
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, $2, $3, $4, free, held, sold, blocked, $11,
       CASE WHEN ($13 AND claims_from > clock_timestamp()) OR ($14 AND NOT sells) THEN NULL ELSE (SELECT count(*) FROM passed) END
  FROM bump
RETURNING version, at, free, held, sold, blocked`

const commitSQL = `COMMIT`

// save writes what the commands decided and commits, in one round trip.
func (b *batch) save(ctx context.Context, conn *pgx.Conn) error {
	var q pgx.Batch
	b.queueCounts(&q)
	b.queueSales(&q)
	b.queueHolds(&q) // before the counter row, as swift batches do: two nodes may make one holder's first hold
	b.queueStays(&q)
	b.queueExtended(&q)
	b.queueSessions(&q)
	b.queueRenewals(&q)
	b.queueChange(&q) // the counter row last
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
	var at []pgtype.TID
	delta := [4][]int32{}
	for i := range delta {
		delta[i] = make([]int32, len(b.sale.Plan.Categories))
	}
	for _, idx := range b.changed() {
		now, was := b.rows[idx], b.was[idx]
		c.Idx, c.State, c.Holder = append(c.Idx, int32(idx)), append(c.State, int16(now.state)), append(c.Holder, now.holder)
		ends, by, at = append(ends, now.expiresAt), append(by, b.dirty[idx]), append(at, now.at)
		category := b.sale.Plan.Seats[idx].Category
		delta[countOf(was.state)][category]--
		delta[countOf(now.state)][category]++
	}
	b.change = c // if the answer is lost, findCommit adds what only the database knows
	claims, sells := b.done(func(c *command) bool { return c.claim || len(c.entries) > 0 }), b.done(func(c *command) bool { return c.sells })
	q.Queue(changeSQL, b.sale.Event.ID, c.Idx, c.State, c.Holder, ends, by, delta[0], delta[1], delta[2], delta[3], b.id, at, claims, sells).
		QueryRow(func(r pgx.Row) error {
			err := r.Scan(&c.Version, &c.At, &c.Counts.Free, &c.Counts.Held, &c.Counts.Sold, &c.Counts.Blocked)
			b.change = c
			return err
		})
}

// done tells whether a command of some kind did what it was to do.
func (b *batch) done(kind func(*command) bool) bool {
	for i, c := range b.commands {
		if kind(c) && b.answers[i].err == nil {
			return true
		}
	}
	return false
}

// shutMeanwhile tells whether a batch met an event of another status than it had read.
func shutMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23502" && pg.TableName == "change" && pg.ColumnName == "passed"
}

// changed lists the seats that change, in the order of idx.
func (b *batch) changed() []int {
	idxs := make([]int, 0, len(b.dirty))
	for idx := range b.dirty {
		idxs = append(idxs, idx)
	}
	slices.Sort(idxs)
	return idxs
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
INSERT INTO hold (event_id, holder, id, seats, expires_at, lapsed, answers, extensions, bought, best, session_ends)
SELECT $1, h.holder, h.id, h.seats::integer[], h.expires_at, h.lapsed, h.answers, h.extensions, h.bought, h.best::integer[], h.session_ends
  FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::boolean[], $7::text[], $8::integer[], $9::integer[], $10::text[], $11::timestamptz[])
    AS h(holder, id, seats, expires_at, lapsed, answers, extensions, bought, best, session_ends)`

// Their rows are locked since they were read, so their places are theirs. Naming the event, too, would have the
// planner read all of its holds while it knows of few.
const updateHoldsSQL = `
UPDATE hold
   SET id = h.id, seats = h.seats::integer[], expires_at = h.expires_at, lapsed = h.lapsed, answers = h.answers, extensions = h.extensions, bought = h.bought, best = h.best::integer[], session_ends = h.session_ends
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::boolean[], $6::text[], $7::integer[], $8::integer[], $9::text[], $10::timestamptz[], $11::tid[])
    AS h(holder, id, seats, expires_at, lapsed, answers, extensions, bought, best, session_ends, at)
 WHERE hold.ctid = h.at AND hold.holder = h.holder`

// More time moves the end of the seats; what the map shows stays, so it is no version.
const extendSeatsSQL = `
UPDATE seat_state s
   SET expires_at = n.expires_at
  FROM unnest($2::integer[], $3::tid[], $4::uuid[], $5::timestamptz[]) AS n(idx, at, holder, expires_at)
 WHERE s.ctid = n.at AND s.event_id = $1 AND s.idx = n.idx AND s.holder = n.holder AND s.state IN (1, 3) /* held, paying */`

// queueExtended writes the new ends of seats that change nothing else; the others have theirs in the change.
func (b *batch) queueExtended(q *pgx.Batch) {
	var idxs []int32
	var at []pgtype.TID
	var holders []ID
	var ends []*time.Time
	for idx := range b.extended {
		if _, dirty := b.dirty[idx]; dirty {
			continue
		}
		r := b.rows[idx]
		idxs, at, holders, ends = append(idxs, int32(idx)), append(at, r.at), append(holders, r.holder), append(ends, r.expiresAt)
	}
	if len(idxs) > 0 {
		q.Queue(extendSeatsSQL, b.sale.Event.ID, idxs, at, holders, ends)
	}
}

// holdRows are the columns of hold rows to be written; seats as array text, because an array of arrays has one length.
type holdRows struct {
	holders, ids []ID
	seats        []string
	ends         []time.Time
	lapsed       []bool
	answers      []*string
	extensions   []int32
	bought       []int32
	best         []*string
	sessions     []*time.Time
	at           []pgtype.TID
}

func (r *holdRows) add(h *heldBy) {
	r.holders, r.ids, r.seats = append(r.holders, h.holder), append(r.ids, h.id), append(r.seats, arrayText(h.seats))
	r.ends, r.lapsed, r.answers = append(r.ends, h.expiresAt), append(r.lapsed, h.lapsed), append(r.answers, h.answers.text)
	r.extensions, r.bought, r.at = append(r.extensions, int32(h.extensions)), append(r.bought, int32(h.bought)), append(r.at, h.at)
	var best *string
	if len(h.best) > 0 {
		text := arrayText(h.best)
		best = &text
	}
	r.best, r.sessions = append(r.best, best), append(r.sessions, h.session)
}

func arrayText(numbers []int32) string {
	text := []byte{'{'}
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	return string(append(text, '}'))
}

func (b *batch) queueHolds(q *pgx.Batch) {
	var inserted, updated holdRows
	for _, holder := range slices.SortedFunc(maps.Keys(b.holds), ID.compare) {
		switch h := b.holds[holder]; {
		case !h.touched:
		case h.stored:
			updated.add(h)
		default:
			inserted.add(h)
		}
	}
	event := b.sale.Event.ID
	if r := &inserted; len(r.ids) > 0 {
		q.Queue(insertHoldsSQL, event, r.holders, r.ids, r.seats, r.ends, r.lapsed, r.answers, r.extensions, r.bought, r.best, r.sessions)
	}
	if r := &updated; len(r.ids) > 0 {
		q.Queue(updateHoldsSQL, r.holders, r.ids, r.seats, r.ends, r.lapsed, r.answers, r.extensions, r.bought, r.best, r.sessions, r.at)
	}
}
