package seats

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const beginSQL = `BEGIN`

// What the event allows, and then the holders, in one order for everybody: row by row in the order of the array. A
// row's place (ctid) cannot change while it is locked; the write finds it by that.
const lockHoldsSQL = `
SELECT extract(epoch FROM e.hold_length)::float8, extract(epoch FROM e.payment_length)::float8, e.seats_per_holder, e.extensions, e.strict, coalesce(e.room_id, 0), e.wait_list, (SELECT price_version FROM counter WHERE event_id = $1),
       CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason, clock_timestamp(), h.*
  FROM event e
  LEFT JOIN LATERAL (
       SELECT h.*
         FROM unnest($2::uuid[]) AS by(holder),
              LATERAL (SELECT ctid, holder, id, seats, expires_at, extensions, lapsed, answers, bought, best, session_ends
                         FROM hold WHERE event_id = $1 AND hold.holder = by.holder
                          FOR NO KEY UPDATE) h) h ON true
 WHERE e.id = $1`

// Then seats, those that are asked for and those the holders have, by idx. The counter row is locked last, by the
// write. Every writer takes its locks in this order, so no two can wait for each other. The clock is read after each
// lock: what is over by the last one is over.
const lockSeatsSQL = `
SELECT s.*, clock_timestamp()
  FROM (SELECT unnest($2::integer[])
        UNION
        SELECT unnest(h.seats)
          FROM unnest($3::uuid[]) AS by(holder),
               LATERAL (SELECT seats FROM hold WHERE event_id = $1 AND hold.holder = by.holder OFFSET 0) h
        ORDER BY 1) AS n(idx),
       LATERAL (SELECT ctid, idx, state, holder, CASE WHEN isfinite(expires_at) THEN expires_at END, type, phase, price
                  FROM seat_state WHERE event_id = $1 AND idx = n.idx
                   FOR NO KEY UPDATE) s`

// guard is the one condition under which a visitor is given a seat: no other holder has it, or the time of that holder is up.
// The row is the judge and the database is the clock. Every UPDATE that gives seats away has it; row.open is the same in Go.
const guard = `(s.holder IS NULL OR s.expires_at <= clock_timestamp())`

// A seat changes hands if it passes the guard, or in the name of its own holder. The constraint "every seat of a change passed
// the guard" undoes the whole batch if one row was refused, and so does a number of them that is null: the event is not what
// it was when the batch read it. The counter row comes last and stays locked until commit, so versions have no gap.
const changeSQL = `
WITH passed AS (
    UPDATE seat_state s
       SET state = n.state, holder = n.holder, expires_at = coalesce(n.expires_at, CASE WHEN n.state > 0 THEN 'infinity'::timestamptz END),
           type = n.type, phase = n.phase, price = n.price
      FROM unnest($2::integer[], $3::smallint[], $4::uuid[], $5::timestamptz[], $6::uuid[], $12::tid[], $15::smallint[], $16::smallint[], $17::bigint[])
        AS n(idx, state, holder, expires_at, by, at, type, phase, price)
     WHERE s.ctid = n.at AND s.event_id = $1 AND s.idx = n.idx
       AND (` + guard + ` OR s.holder = n.by)
    RETURNING s.idx
), bump AS (
    UPDATE counter
       SET version = version + 1,
           free    = ARRAY(SELECT a + d FROM unnest(free, $7::integer[]) u(a, d)),
           held    = ARRAY(SELECT a + d FROM unnest(held, $8::integer[]) u(a, d)),
           sold    = ARRAY(SELECT a + d FROM unnest(sold, $9::integer[]) u(a, d)),
           blocked = ARRAY(SELECT a + d FROM unnest(blocked, $10::integer[]) u(a, d)),
           quota   = CASE WHEN $18::integer[] IS NULL THEN quota ELSE ARRAY(SELECT a + coalesce(d, 0) FROM unnest(quota, $18) u(a, d)) END
     WHERE event_id = $1 AND (SELECT count(*) FROM passed) >= 0  -- the seats first
    RETURNING version, free, held, sold, blocked, claims_from, sells, price_version, quota
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, quota, passed)
SELECT $1, version, $2, $3, $4, free, held, sold, blocked, $11, quota,
       CASE WHEN ($13 AND claims_from > clock_timestamp()) OR ($14 AND NOT sells) OR NOT ($19::bigint IS NULL OR ` + pricesHold + `)
            THEN NULL ELSE (SELECT count(*) FROM passed) END
  FROM bump
RETURNING version, at, free, held, sold, blocked, quota`

// pricesHold is the guard of prices: the list and the phases by which a batch computed are those of this moment, and phases that it found
// full are. The counter row is locked, so that none of it changes before the commit.
const (
	pricesHold = `price_version = $19 AND ($20::timestamptz IS NULL OR clock_timestamp() >= $20) AND ($21::timestamptz IS NULL OR clock_timestamp() < $21)
                AND NOT coalesce(0 < ANY (quota[$22::integer:$23::integer]), false)`
	onePriceHolds = `price_version = $13` // of a list without phases
)

const commitSQL = `COMMIT`

// saveBatches writes what the commands decided and commits, in one round trip. Each class of rows is written by the id of the
// event, the counter rows last.
func saveBatches(ctx context.Context, conn *pgx.Conn, also TxHook, batches ...*batch) error {
	var q pgx.Batch
	each := func(queue func(*batch, *pgx.Batch)) {
		for _, b := range batches {
			queue(b, &q)
		}
	}
	each((*batch).queueCounts)
	each((*batch).queueUses)
	each((*batch).queueSeatCodes)
	each((*batch).queueResales) // before sales: a seat has one live ticket
	each((*batch).queueSales)
	also.queue(&q)
	each((*batch).queueHolds) // before the counter row, as fast-path batches do: two nodes may make one holder's first hold
	each((*batch).queueAdmission)
	each((*batch).queueExpired)
	each((*batch).queueExtended)
	each((*batch).queueSessions)
	each((*batch).queueRenewals)
	each((*batch).queueChange) // the counter row last
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
	var kinds, phases []int16
	var prices []*int64
	delta := [4][]int32{}
	for i := range delta {
		delta[i] = make([]int32, len(b.sale.Plan.Categories))
	}
	for _, idx := range b.changed() {
		now, was := b.rows[idx], b.was[idx]
		c.Idx, c.State, c.Holder = append(c.Idx, int32(idx)), append(c.State, int16(now.state)), append(c.Holder, now.holder)
		ends, by, at = append(ends, now.expiresAt), append(by, b.dirty[idx]), append(at, now.at)
		kinds, phases, prices = append(kinds, now.kind), append(phases, now.phase), append(prices, now.price)
		category := b.sale.Plan.Seats[idx].Category
		delta[was.state.Bits()][category]--
		delta[now.state.Bits()][category]++
	}
	b.change = c // if the answer is lost, findCommit adds what only the database knows
	claims, sells := b.done(func(c *command) bool { return c.claim && !c.early || len(c.entries) > 0 }), b.done(func(c *command) bool { return c.sells || c.takesBack })
	list, begins, until, first, last := b.checks()
	q.Queue(changeSQL, b.sale.Event.ID, c.Idx, c.State, c.Holder, ends, by, delta[0], delta[1], delta[2], delta[3], b.id, at, claims, sells,
		kinds, phases, prices, b.prices.delta, list, begins, until, first, last).
		QueryRow(func(r pgx.Row) error {
			err := r.Scan(c.counted()...)
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
	expired      []bool
	answers      []*string
	extensions   []int32
	bought       []int32
	best         []*string
	sessions     []*time.Time
	at           []pgtype.TID
}

func (r *holdRows) add(h *holdRow) {
	r.holders, r.ids, r.seats = append(r.holders, h.holder), append(r.ids, h.id), append(r.seats, arrayText(h.seats))
	r.ends, r.expired, r.answers = append(r.ends, h.expiresAt), append(r.expired, h.expired), append(r.answers, h.answers.text)
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
		q.Queue(insertHoldsSQL, event, r.holders, r.ids, r.seats, r.ends, r.expired, r.answers, r.extensions, r.bought, r.best, r.sessions)
	}
	if r := &updated; len(r.ids) > 0 {
		q.Queue(updateHoldsSQL, r.holders, r.ids, r.seats, r.ends, r.expired, r.answers, r.extensions, r.bought, r.best, r.sessions, r.at)
	}
}

// Claims of people who hold nothing yet, for seats that look free and are asked for once: everything a batch does,
// in one statement and one round trip. The seats are met in the order of idx, as by any batch.
//
// The seats are looked up by their idx alone, without a join: the planner, who knows nothing of an event that was
// put on sale a minute ago, would rather read the whole event (seen 3 ms instead of 0.25 for one of 10,000 seats).
//
// It grants every claim, or does nothing at all: if the event is not on sale, no number passed; if one seat is not
// free the constraint "every seat of a change passed the guard" undoes it, and if one holder has a row that row's
// key. A seat with an end that was not announced counts as held, so that it needs locks.
//
// The i-th holder gets the seats ($7)[($26)[i]] to ($7)[($26)[i+1]-1]. Parts of one array cost less than arrays written as
// text, and one unnest less than six (seen: 2 of 15 µs a seat). Type and price come once if all seats have the same.
const fastPathSQL = `
WITH terms AS MATERIALIZED (
    SELECT ends, to_json(ends)::text || '}]' AS tail
      FROM (SELECT clock_timestamp() + hold_length AS ends
              FROM event WHERE id = $1 AND $2::integer <= seats_per_holder AND room_id IS NULL AND NOT wait_list OFFSET 0) e
), passed AS (
    UPDATE seat_state s
       SET state = 1 /* held */, holder = ($4::uuid[])[width_bucket(s.idx, $3::integer[])], expires_at = (SELECT ends FROM terms),
           type = coalesce($24::smallint, ($15::smallint[])[width_bucket(s.idx, $3)]), phase = $17,
           price = coalesce($25::bigint, ($16::bigint[])[width_bucket(s.idx, $3)])
     WHERE s.event_id = $1 AND s.idx = ANY($3) AND EXISTS (SELECT FROM terms)
       AND ` + guard + ` AND (s.state = 0 /* free */ OR $13 AND s.state = 2 /* lapsed */)
    RETURNING s.idx
), granted AS (
    INSERT INTO hold (event_id, holder, id, seats, expires_at, answers, best, session_ends)
    SELECT $1, ($5::uuid[])[i], ($6::uuid[])[i], ($7::integer[])[($26::integer[])[i]:($26)[i + 1] - 1], terms.ends, h.answers || terms.tail,
           CASE WHEN ($12::boolean[])[i] THEN ($7)[($26)[i]:($26)[i + 1] - 1] END, ($14::timestamptz[])[i]
      FROM terms, (SELECT unnest($8::text[]) AS answers, generate_series(1, cardinality($5::uuid[])) AS i) h
     WHERE (SELECT count(*) FROM passed) = cardinality($3)
    RETURNING holder
), bump AS (
    UPDATE counter
       SET version = version + 1,
           free    = ARRAY(SELECT a - d FROM unnest(free, $9::integer[]) u(a, d)),
           held    = ARRAY(SELECT a + d FROM unnest(held, $9::integer[]) u(a, d)),
           quota   = CASE WHEN $18::integer[] IS NULL THEN quota ELSE ARRAY(SELECT a + coalesce(d, 0) FROM unnest(quota, $18) u(a, d)) END
     WHERE event_id = $1 AND EXISTS (SELECT FROM passed) AND (SELECT count(*) FROM granted) >= 0  -- the seats and the holds first
    RETURNING version, free, held, sold, blocked, claims_from, price_version, quota
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, quota, passed)
SELECT $1, version, $3, $10, $4, free, held, sold, blocked, $11, quota,
       CASE WHEN claims_from <= clock_timestamp() AND ` + pricesHold + ` THEN (SELECT count(*) FROM passed) END
  FROM bump
RETURNING version, at, free, held, sold, blocked, quota, (SELECT ends FROM terms), clock_timestamp()`

// errNotFast sends the claims of a fast-path batch through the queue again, with locks: one of them met something.
var errNotFast = errors.New("a fast-path claim met a seat that is not free, or a holder who is known")

// fastPath makes a batch of claims that need no locks beforehand; nil if one of the commands does.
func (s *Sale) fastPath(commands []*command, before *inFlight) *inFlight {
	if s.room.Load() != 0 || s.entryWaits.Load() || !s.onSale.Load() || slices.ContainsFunc(commands, (*command).needsLocks) || before != nil && before.batch.sharesHolder(commands) {
		return nil
	}
	b := newBatch(s, commands, before)
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	coming := b.coming()
	b.openPrices(s.latestTime())
	for i, c := range commands {
		if len(c.seats) == 0 || b.holds[c.holder] != nil || slices.ContainsFunc(c.mix, s.Prices.coded) || s.runs.partOf(c.seats) != nil || s.RefuseParty(c.seats) != nil || s.leavesRest(c) {
			return nil
		}
		for _, idx := range c.seats {
			if _, twice := b.dirty[idx]; twice || m.states[idx].Shown() != Free || coming(idx) {
				return nil
			}
		}
		b.take(i, slices.Sorted(slices.Values(c.seats)))
	}
	if !b.onePhase() {
		return nil
	}
	return &inFlight{batch: b, fast: true, ended: make(chan struct{}), span: s.batchSpan(commands)}
}

// availableOnly reports whether the seats of some commands must be available, and not only expired: those that we choose, and those of
// shared rows, where what is left of the party of an expired hold goes with them.
func (b *batch) availableOnly() bool {
	t := b.sale.runs
	return slices.ContainsFunc(b.commands, func(c *command) bool {
		return c.choice != nil || slices.ContainsFunc(c.seats, func(idx int) bool { return t.sharing(t.of[idx]) != nil })
	})
}

// needsLocks tells of what is plain before anything is chosen: no claim, one that was tried before, or of a visitor
// known.
func (c *command) needsLocks() bool {
	return !c.claim || c.access != nil || c.missed > 0 || c.tries > 0 || c.visit != nil && !c.visit.isNew()
}

// take notes what a fast-path claim is about to have.
func (b *batch) take(i int, seats []int) {
	c := b.commands[i]
	h := &holdRow{holder: c.holder, id: NewID(), seats: seatsOf(seats)}
	fares := b.fares(seats, b.kindFor(c))
	for i, idx := range seats {
		b.price(fare{}, fares[i])
		b.dirty[idx], b.rows[idx] = c.holder, row{state: Held, holder: c.holder, fare: fares[i]}
	}
	b.holds[c.holder] = h
	b.answers[i].hold = Hold{ID: h.id, Seats: seats, Lines: b.sale.linesOf(seats, fares), ExtensionsLeft: b.sale.Event.Extensions}
}

// onePhase reports whether all seats of a fast-path batch have their price in one phase.
func (b *batch) onePhase() bool {
	if len(b.sale.Prices.Phases) == 0 {
		return true
	}
	var first *row
	for _, r := range b.rows {
		if first == nil {
			first = &r
		}
		if r.phase != first.phase {
			return false
		}
	}
	return true
}

// send writes a fast-path batch, in one transaction with the new sessions.
func (s *Sale) send(ctx context.Context, t *inFlight) error {
	b := t.batch
	c, changed := &b.change, b.changed() // if the answer is lost, recover adds what only the database knows
	c.Idx, c.State, c.Holder = seatsOf(changed), make([]int16, len(changed)), make([]ID, len(changed))
	for i, idx := range changed {
		c.State[i], c.Holder[i] = int16(Held), b.dirty[idx]
	}
	var end, now time.Time
	var q pgx.Batch
	b.queueSessions(&q) // first: the counter row is not kept from others meanwhile
	queue := b.queueFastPath
	if len(c.Idx) == 1 && len(b.sale.Prices.Phases) == 0 && b.prices.delta == nil {
		queue = b.queueFastPathOne
	}
	queue(&q).QueryRow(func(r pgx.Row) error {
		return r.Scan(append(c.counted(), &end, &now)...)
	})
	err := s.inventory.db.SendBatch(ctx, &q).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows) || refused(err) || neverLeft(err):
		return errNotFast
	case connectionLost(err):
		return s.recover(t, err)
	case err != nil:
		return err
	}
	t.granted(end, now)
	return nil
}

func (b *batch) queueFastPath(q *pgx.Batch) *pgx.QueuedQuery {
	n, most := len(b.commands), 0
	holders, ids, answers, best, sessions := make([]ID, n), make([]ID, n), make([]*string, n), make([]bool, n), make([]*time.Time, n)
	seats, first := make([]int32, 0, len(b.change.Idx)), make([]int32, n+1)
	first[0] = 1
	for i, c := range b.byHolder() {
		h := b.holds[c.holder]
		most = max(most, len(h.seats))
		holders[i], ids[i], answers[i] = h.holder, h.id, unfinished(c, h)
		seats = append(seats, h.seats...)
		first[i+1] = int32(len(seats) + 1)
		best[i], sessions[i] = c.best, c.visit.ends()
	}
	if !slices.Contains(best, true) {
		best = nil
	}
	if !slices.ContainsFunc(sessions, func(end *time.Time) bool { return end != nil }) {
		sessions = nil
	}
	delta := make([]int32, len(b.sale.Plan.Categories))
	kinds, prices := make([]int16, len(b.change.Idx)), make([]int64, len(b.change.Idx))
	for i, idx := range b.change.Idx {
		delta[b.sale.Plan.Seats[idx].Category]++
		r := b.rows[int(idx)]
		kinds[i], prices[i] = r.kind, *r.price
	}
	kind, kinds := shared(kinds)
	price, prices := shared(prices)
	list, begins, until, open, last := b.checks()
	return q.Queue(fastPathSQL, b.sale.Event.ID, most, b.change.Idx, idArray(b.change.Holder), idArray(holders), idArray(ids), seats, answers, delta, b.change.State, b.id, best, !b.availableOnly(), sessions,
		kinds, prices, b.rows[int(b.change.Idx[0])].phase, b.prices.delta, list, begins, until, open, last, kind, price, first)
}

// shared returns the value that all have, or else each of them.
func shared[T comparable](all []T) (one *T, each []T) {
	if slices.ContainsFunc(all, func(v T) bool { return v != all[0] }) {
		return nil, all
	}
	return &all[0], nil
}

// neverLeft tells of a batch for which there was no connection: with locks it waits for one.
func neverLeft(err error) bool {
	_, none := errors.AsType[*pgconn.ConnectError](err)
	return none
}

// byHolder lists the commands in the order in which every writer makes holds.
func (b *batch) byHolder() []*command {
	sorted := slices.Clone(b.commands)
	slices.SortFunc(sorted, func(a, b *command) int { return a.holder.compare(b.holder) })
	return sorted
}

// refused tells whether the walls in the schema stood up to a fast-path statement: a seat was not to be had, is not to be
// counted, or a holder has a hold already; or the event is not on sale; or a session
// ends before the hold would.
func refused(err error) bool {
	return shutMeanwhile(err) || outOfQuota(err) || IsConstraint(err, "every seat of a change passed the guard") || IsConstraint(err, "remaining is never negative") ||
		IsConstraint(err, "hold_pkey") || IsConstraint(err, "a hold ends no later than its session")
}

// granted completes the answers by what only the database knows.
func (t *inFlight) granted(end, now time.Time) {
	t.batch.newEnd = &end
	t.batch.sale.noteTime(now)
	for i := range t.batch.answers {
		t.batch.answers[i].hold.ExpiresAt, t.batch.answers[i].hold.Now = end, now
	}
}

// unfinished is the answers a new hold keeps, as JSON of granted up to the time only the database knows; nil
// without a key.
func unfinished(c *command, h *holdRow) *string {
	if c.key == "" {
		return nil
	}
	key, err := json.Marshal(c.key)
	if err != nil {
		return nil
	}
	text := make([]byte, 0, 320)
	text = append(append(text, `[{"key":`...), key...)
	text = append(append(text, `,"wish":"`...), c.request...) // a hash
	text = h.id.append(append(text, `","hold":"`...))
	text = append(text, `","seats":[`...)
	for i, idx := range h.seats {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(idx), 10)
	}
	head := string(append(text, `],"expires_at":`...))
	return &head
}

// A fast-path batch of one seat, where prices have no phases. One visitor claims alone, and the time is that of any statement:
// so this one has no arrays to take apart and nothing to count. Each part has its row only if the one before had: the
// seat passed the guard, the hold is there, the event counted it. The limit needs no check: it is never less than one seat
// (a constraint of event), and a visitor who bought tickets has a hold row, whose key refuses a second one.
// At one client it is worth 11 % of the claims per second (docs/decisions.md), and it shares the guard.
const fastPathOneSQL = `
WITH passed AS (
    UPDATE seat_state s
       SET state = 1 /* held */, holder = $3, expires_at = clock_timestamp() + e.hold_length, type = $11, phase = 0, price = $12
      FROM event e
     WHERE e.id = $1 AND e.room_id IS NULL AND NOT e.wait_list
       AND s.event_id = $1 AND s.idx = $2
       AND ` + guard + ` AND (s.state = 0 /* free */ OR $9 AND s.state = 2 /* lapsed */)
    RETURNING s.expires_at
), granted AS (
    INSERT INTO hold (event_id, holder, id, seats, expires_at, answers, best, session_ends)
    SELECT $1, $3, $4, ARRAY[$2], expires_at, $5::text || to_json(expires_at)::text || '}]', CASE WHEN $8 THEN ARRAY[$2] END, $10 FROM passed
    RETURNING expires_at
), bump AS (
    UPDATE counter
       SET version = version + 1, free[$6] = free[$6] - 1, held[$6] = held[$6] + 1
     WHERE event_id = $1 AND EXISTS (SELECT FROM granted)
    RETURNING version, free, held, sold, blocked, claims_from, price_version, quota
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, quota, passed)
SELECT $1, version, ARRAY[$2], '{1}'::smallint[], ARRAY[$3], free, held, sold, blocked, $7, quota, CASE WHEN claims_from <= clock_timestamp() AND ` + onePriceHolds + ` THEN 1 END
  FROM bump
RETURNING version, at, free, held, sold, blocked, quota, (SELECT expires_at FROM granted), clock_timestamp()`

func (b *batch) queueFastPathOne(q *pgx.Batch) *pgx.QueuedQuery {
	c, idx := b.commands[0], b.change.Idx[0]
	h := b.holds[c.holder]
	f := b.rows[int(idx)].fare
	return q.Queue(fastPathOneSQL, b.sale.Event.ID, idx, h.holder, h.id, unfinished(c, h), b.sale.Plan.Seats[idx].Category+1, b.id, c.best, !b.availableOnly(), c.visit.ends(),
		f.kind, *f.price, b.sale.Prices.Version)
}
