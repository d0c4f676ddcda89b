package seats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Claims of people who hold nothing yet, for seats that look free and are asked for once: everything a batch does,
// in one statement and one round trip. The seats are met in the order of idx, as by any batch.
//
// The seats are looked up by their idx alone, without a join: the planner, who knows nothing of an event that was
// put on sale a minute ago, would rather read the whole house (seen 3 ms instead of 0.25 for one of 10,000 seats).
//
// It grants every claim, or does nothing at all: if the event is not on sale, no number passed; if one seat is not
// free the constraint "every seat of a change passed the guard" undoes it, and if one holder has a row that row's
// key. A seat whose end was not announced counts as held.
const swiftSQL = `
WITH terms AS MATERIALIZED (
    SELECT ends, to_json(ends)::text || '}]' AS tail
      FROM (SELECT clock_timestamp() + hold_length AS ends
              FROM event WHERE id = $1 AND $2::integer <= seats_per_holder AND room_id IS NULL AND NOT wait_list OFFSET 0) e
), passed AS (
    UPDATE seat_state
       SET state = 1 /* held */, holder = ($4::uuid[])[width_bucket(idx, $3::integer[])], expires_at = (SELECT ends FROM terms)
     WHERE event_id = $1 AND idx = ANY($3) AND EXISTS (SELECT FROM terms)
       AND (holder IS NULL OR $13 AND state = 2 /* lapsed */ AND expires_at <= clock_timestamp())
    RETURNING idx
), granted AS (
    INSERT INTO hold (event_id, holder, id, seats, expires_at, answers, best, session_ends)
    SELECT $1, h.holder, h.id, h.seats::integer[], terms.ends, h.answers || terms.tail, CASE WHEN h.best THEN h.seats::integer[] END, h.session_ends
      FROM terms, unnest($5::uuid[], $6::uuid[], $7::text[], $8::text[], $12::boolean[], $14::timestamptz[]) AS h(holder, id, seats, answers, best, session_ends)
     WHERE (SELECT count(*) FROM passed) = cardinality($3)
    RETURNING holder
), bump AS (
    UPDATE counter
       SET version = version + 1,
           free    = ARRAY(SELECT a - d FROM unnest(free, $9::integer[]) u(a, d)),
           held    = ARRAY(SELECT a + d FROM unnest(held, $9::integer[]) u(a, d))
     WHERE event_id = $1 AND EXISTS (SELECT FROM passed) AND (SELECT count(*) FROM granted) >= 0  -- the seats and the holds first
    RETURNING version, free, held, sold, blocked, claims_from
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, $3, $10, $4, free, held, sold, blocked, $11,
       CASE WHEN claims_from <= clock_timestamp() THEN (SELECT count(*) FROM passed) END
  FROM bump
RETURNING version, at, free, held, sold, blocked, (SELECT ends FROM terms), clock_timestamp()`

// errNotSwift sends the claims of a swift batch through the lane again, with locks: one of them met something.
var errNotSwift = errors.New("a swift claim met a seat that is not free, or a holder who is known")

// swift makes a turn of claims that need no locks beforehand; nil if one of the commands does.
func (s *Sale) swift(commands []*command, before *turn) *turn {
	if s.room.Load() != 0 || s.listed.Load() || !s.onSale.Load() || slices.ContainsFunc(commands, (*command).needsLocks) || before != nil && before.batch.sharesHolder(commands) {
		return nil
	}
	b := newBatch(s, commands, before)
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	coming := b.coming()
	for i, c := range commands {
		if len(c.seats) == 0 || b.holds[c.holder] != nil {
			return nil
		}
		for _, idx := range c.seats {
			if _, twice := b.dirty[idx]; twice || m.states[idx].Shown() != Free || coming(idx) {
				return nil
			}
		}
		b.take(i, slices.Sorted(slices.Values(c.seats)))
	}
	return &turn{batch: b, swift: true, ended: make(chan struct{})}
}

// chosen reports whether we choose the seats: then they must be available, and not only expired.
func (c *command) chosen() bool { return c.choice != nil }

// needsLocks tells of what is plain before anything is chosen: no claim, one that was tried before, or of somebody
// known.
func (c *command) needsLocks() bool {
	return !c.claim || c.missed > 0 || c.tries > 0 || c.visit != nil && !c.visit.isNew()
}

// take notes what a swift claim is about to have.
func (b *batch) take(i int, seats []int) {
	c := b.commands[i]
	h := &heldBy{holder: c.holder, id: NewID(), seats: seatsOf(seats)}
	for _, idx := range seats {
		b.dirty[idx], b.rows[idx] = c.holder, row{state: Held, holder: c.holder}
	}
	b.holds[c.holder] = h
	b.answers[i].hold = Hold{ID: h.id, Seats: seats, ExtensionsLeft: b.sale.Event.Extensions}
}

// send writes a swift turn, in one transaction with the new sessions.
func (s *Sale) send(ctx context.Context, t *turn) error {
	b := t.batch
	c, changed := &b.change, b.changed() // if the answer is lost, recover adds what only the database knows
	c.Idx, c.State, c.Holder = seatsOf(changed), make([]int16, len(changed)), make([]ID, len(changed))
	for i, idx := range changed {
		c.State[i], c.Holder[i] = int16(Held), b.dirty[idx]
	}
	var end, now time.Time
	var q pgx.Batch
	b.queueSessions(&q) // first: the counter row is not kept from others meanwhile
	queue := b.queueSwift
	if len(c.Idx) == 1 {
		queue = b.queueSwiftOne
	}
	queue(&q).QueryRow(func(r pgx.Row) error {
		return r.Scan(&c.Version, &c.At, &c.Counts.Free, &c.Counts.Held, &c.Counts.Sold, &c.Counts.Blocked, &end, &now)
	})
	err := s.office.db.SendBatch(ctx, &q).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows) || refused(err) || neverLeft(err):
		return errNotSwift
	case connectionLost(err):
		return s.recover(ctx, t, err)
	case err != nil:
		return err
	}
	t.granted(end, now)
	return nil
}

func (b *batch) queueSwift(q *pgx.Batch) *pgx.QueuedQuery {
	n, most := len(b.commands), 0
	holders, ids, seats, answers, best, sessions := make([]ID, n), make([]ID, n), make([]string, n), make([]*string, n), make([]bool, n), make([]*time.Time, n)
	for i, c := range b.byHolder() {
		h := b.holds[c.holder]
		most = max(most, len(h.seats))
		holders[i], ids[i], seats[i], answers[i] = h.holder, h.id, arrayText(h.seats), unfinished(c, h)
		best[i], sessions[i] = c.choice.ofBest(), c.visit.ends()
	}
	delta := make([]int32, len(b.sale.Plan.Categories))
	for _, idx := range b.change.Idx {
		delta[b.sale.Plan.Seats[idx].Category]++
	}
	return q.Queue(swiftSQL, b.sale.Event.ID, most, b.change.Idx, b.change.Holder, holders, ids, seats, answers, delta, b.change.State, b.id, best, !slices.ContainsFunc(b.commands, (*command).chosen), sessions)
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

// refused tells whether the walls in the schema stood up to a swift statement: a seat was not to be had, is not to be
// counted, or a holder has a hold already; or the event is not on sale; or a session
// ends before the hold would.
func refused(err error) bool {
	return shutMeanwhile(err) || isConstraint(err, "every seat of a change passed the guard") || isConstraint(err, "remaining is never negative") ||
		isConstraint(err, "hold_pkey") || isConstraint(err, "a hold ends no later than its session")
}

// granted completes the answers by what only the database knows.
func (t *turn) granted(end, now time.Time) {
	t.batch.newEnd = &end
	for i := range t.batch.answers {
		t.batch.answers[i].hold.ExpiresAt, t.batch.answers[i].hold.Now = end, now
	}
}

const endOfHoldSQL = `SELECT expires_at, clock_timestamp() FROM hold WHERE event_id = $1 AND holder = $2`

// recover resolves a lost answer: either the batch was committed after all, or nothing happened and it may come again.
func (s *Sale) recover(ctx context.Context, t *turn, lost error) error {
	committed, err := t.batch.findCommit(s.office.db)
	if err != nil {
		return errors.Join(lost, err)
	}
	if !committed {
		for _, c := range t.batch.commands {
			c.lost = true
		}
		return errNotSwift
	}
	var end, now time.Time
	if err := s.office.db.QueryRow(ctx, endOfHoldSQL, s.Event.ID, t.batch.commands[0].holder).Scan(&end, &now); err != nil {
		return fmt.Errorf("seats: event %d: read the end of holds whose answer was lost: %w", s.Event.ID, err)
	}
	t.granted(end, now)
	return nil
}

// unfinished is the answers a new hold keeps, as JSON of granted up to the time only the database knows; nil
// without a key.
func unfinished(c *command, h *heldBy) *string {
	if c.key == "" {
		return nil
	}
	key, err := json.Marshal(c.key)
	if err != nil {
		return nil
	}
	text := make([]byte, 0, 320)
	text = append(append(text, `[{"key":`...), key...)
	text = append(append(text, `,"wish":"`...), c.wish...) // a hash
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
