package seats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/usherbox/usher/seats/text"
)

// Hold is the seats one attendee has in one event, and until when.
type Hold struct {
	ID             ID
	Seats          []int  // in the order of idx
	Lines          []Line // the same, with types and prices
	ExpiresAt      time.Time
	Now            time.Time // the database's clock when this was read
	ExtensionsLeft int
	Expired        bool // time is up; the seats are still the holder's until another visitor claims them
}

// holdRow is a hold row inside a batch.
type holdRow struct {
	at         pgtype.TID // its place while it is locked
	holder     ID
	id         ID
	seats      []int32
	expiresAt  time.Time
	extensions int
	expired    bool
	answers    answers
	bought     int        // live tickets that are not offered back of the visitor's orders in the event
	session    *time.Time // the visitor's session lasts until then at least; nil for none
	best       []int32    // seats that the last request for the best seats chose

	stored  bool // it was in the table when the batch began
	touched bool // it is to be written
}

// renew returns a new hold in the visitor's row, which keeps its answers and what they bought. h is nil if they have no row.
func (h *holdRow) renew(holder ID, end time.Time) *holdRow {
	next := &holdRow{holder: holder, id: NewID(), expiresAt: end, touched: true}
	if h != nil {
		next.stored, next.at, next.answers, next.bought, next.session = h.stored, h.at, h.answers, h.bought, h.session
	}
	return next
}

// live returns the holder's hold if its time is not up.
func (b *batch) live(holder ID) (*holdRow, bool) {
	h, ok := b.holds[holder]
	return h, ok && len(h.seats) > 0 && !h.expired && h.expiresAt.After(b.now)
}

// still lists the seats of the hold that no other visitor took after it expired.
func (b *batch) still(h *holdRow) (seats []int) {
	for _, idx := range h.seats {
		if b.rows[int(idx)].holder == h.holder {
			seats = append(seats, int(idx))
		}
	}
	return seats
}

func (b *batch) answerHold(h *holdRow) Hold {
	seats := b.still(h)
	return Hold{
		ID: h.id, Seats: seats, Lines: b.lines(seats), ExpiresAt: h.expiresAt, Now: b.now, Expired: h.expired,
		ExtensionsLeft: max(0, b.terms.extensions-h.extensions),
	}
}

const holdSQL = `
SELECT h.id, h.expires_at, greatest(0, e.extensions - h.extensions), h.lapsed OR h.expires_at <= clock_timestamp(), clock_timestamp(),
       s.idx, s.type, s.phase, s.price
  FROM hold h JOIN event e ON e.id = h.event_id,
       LATERAL (SELECT array_agg(s.idx ORDER BY s.idx) AS idx, array_agg(s.type ORDER BY s.idx) AS type,
                       array_agg(s.phase ORDER BY s.idx) AS phase, array_agg(s.price ORDER BY s.idx) AS price
                  FROM seat_state s WHERE s.event_id = h.event_id AND s.idx = ANY(h.seats) AND s.holder = h.holder) s
 WHERE h.event_id = $1 AND h.holder = $2`

// Hold returns what the holder has. ErrNoHold if that is nothing.
func (s *Sale) Hold(ctx context.Context, holder ID) (Hold, error) {
	var h Hold
	var kinds, phases []int
	var prices []*int64
	err := s.inventory.db.QueryRow(ctx, holdSQL, s.Event.ID, holder).
		Scan(&h.ID, &h.ExpiresAt, &h.ExtensionsLeft, &h.Expired, &h.Now, &h.Seats, &kinds, &phases, &prices)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && len(h.Seats) == 0 {
		return Hold{}, ErrNoHold
	}
	if err != nil {
		return Hold{}, fmt.Errorf("seats: hold in event %d: %w", s.Event.ID, err)
	}
	h.Lines = s.Quote(h.Now, h.Seats, kinds)
	for i, price := range prices {
		if price != nil {
			h.Lines[i] = s.line(h.Seats[i], fare{kind: int16(kinds[i]), phase: int16(phases[i]), price: price})
		}
	}
	return h, s.readCodes(ctx, holder, h.Lines)
}

const holdingSQL = `
SELECT n.holder, cardinality(h.seats)
  FROM unnest($2::uuid[]) AS n(holder), LATERAL (SELECT seats, expires_at FROM hold WHERE event_id = $1 AND holder = n.holder OFFSET 0) h
 WHERE h.expires_at > clock_timestamp()`

// Holding is how many seats some visitors hold or are paying for now.
func (s *Sale) Holding(ctx context.Context, holders []ID) (map[ID]int, error) {
	holding := make(map[ID]int, len(holders))
	rows, _ := s.inventory.db.Query(ctx, holdingSQL, s.Event.ID, holders) // ForEachRow returns its error
	var holder ID
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&holder, &n}, func() error { holding[holder] = n; return nil }); err != nil {
		return nil, fmt.Errorf("seats: what visitors hold in event %d: %w", s.Event.ID, err)
	}
	return holding, nil
}

// A hold row names its seats until its holder gives them back or they are sold to them, also if another visitor has them by now.
const hadSQL = `SELECT id, seats FROM hold WHERE event_id = $1 AND holder = $2 AND cardinality(seats) > 0`

// Had returns what the holder chose and neither gave back nor bought, whether or not others took it since. ErrNoHold if
// that is nothing.
func (s *Sale) Had(ctx context.Context, holder ID) (id ID, seats []int, err error) {
	err = s.inventory.db.QueryRow(ctx, hadSQL, s.Event.ID, holder).Scan(&id, &seats)
	if errors.Is(err, pgx.ErrNoRows) {
		return id, nil, ErrNoHold
	}
	if err != nil {
		return id, nil, fmt.Errorf("seats: what was held in event %d: %w", s.Event.ID, err)
	}
	return id, seats, nil
}

// Extend gives a hold its whole length again, from now. Refused when its time is up, when the extensions are used
// up, and while no other seat is available. A repeat with the same key, if there is
// one, gets the first answer and uses nothing up; a *Conflict if the key came before with a claim.
func (s *Sale) Extend(ctx context.Context, holder ID, key string) (Hold, error) {
	return s.do(ctx, s.extending(holder, key))
}

func (s *Sale) extending(holder ID, key string) *command {
	c := &command{holder: holder, key: key, request: "extension"}
	c.decide = func(b *batch) (Hold, error) { return b.extend(c) }
	return c
}

func (b *batch) extend(c *command) (Hold, error) {
	h, live := b.live(c.holder)
	if h != nil && c.key != "" {
		if first, err := h.answers.to(c.key); err != nil || first != nil {
			return b.repeat(first, c, err)
		}
	}
	switch {
	case h == nil || len(b.still(h)) == 0:
		return Hold{}, ErrNoHold
	case b.terms.status == Cancelled:
		return Hold{}, b.calledOff()
	case !live:
		return Hold{}, &Conflict{Code: CodeExpired, Seats: b.still(h), Message: text.Mark("Your hold expired. You can hold seats again that are still available.")}
	case h.extensions >= b.terms.extensions:
		return Hold{}, &Conflict{Code: CodePressure, Message: text.Mark("You can’t extend your time again. Your seats are held until the time shown.")}
	case b.sale.Remaining() == 0:
		return Hold{}, &Conflict{Code: CodePressure, Message: text.Mark("You can’t extend your time, because no other seats are left. Your seats are held until the time shown.")}
	}
	if end := b.now.Add(b.terms.holdLength); end.After(h.expiresAt) { // an offer may last longer than that
		h.expiresAt = end
	}
	h.extensions++
	b.bind(c, h)
	for _, idx := range b.still(h) {
		if r := b.rows[idx]; r.state == Held || r.state == Paying {
			r.expiresAt = &h.expiresAt
			b.rows[idx], b.extended[idx] = r, true
		}
	}
	if c.key == "" {
		return b.answerHold(h), nil
	}
	return b.answerHold(h), h.answers.keep(granted{c.key, c.request, h.id, seatsOf(b.still(h)), h.expiresAt})
}

// Release gives seats of the holder back, all of them if none is named. It returns what is left; seats that the holder
// does not have are left alone, and of all of them those in payment. Of a row that is sold whole, all its seats go with one, and of a shared one those that are too few for a party. ErrNoHold if the holder has nothing.
func (s *Sale) Release(ctx context.Context, holder ID, seats ...int) (Hold, error) {
	return s.ReleaseOnce(ctx, holder, "", seats...)
}

// ReleaseOnce is Release for a visitor who may ask twice: a repeat with the same key gets the first answer, and
// gives nothing back that was claimed since; a *Conflict if the key came before with another request.
func (s *Sale) ReleaseOnce(ctx context.Context, holder ID, key string, seats ...int) (Hold, error) {
	for _, idx := range seats {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return Hold{}, &ValidationError{Unknown: true, Message: text.Mark("This event has no such seat. Nothing was changed.")}
		}
	}
	c := &command{holder: holder, key: key, request: fmt.Sprint("release ", seats)}
	seats = s.WithWhole(seats)
	c.decide = func(b *batch) (Hold, error) { return b.release(c, seats) }
	return s.do(ctx, c)
}

func (b *batch) release(c *command, seats []int) (Hold, error) {
	h, ok := b.holds[c.holder]
	if ok && c.key != "" {
		if first, err := h.answers.to(c.key); err != nil || first != nil {
			return b.repeat(first, c, err)
		}
	}
	if !ok || len(h.seats) == 0 {
		return Hold{}, ErrNoHold
	}
	var left []int32
	if len(seats) > 0 { // fewer than a party needs go with the others
		seats = slices.Concat(seats, b.sale.runs.tooFew(b.still(h), seats))
	}
	for _, idx := range b.still(h) {
		if b.rows[idx].state == Paying && slices.Contains(seats, idx) {
			return Hold{}, &Conflict{Code: CodePaying, Seats: []int{idx}, Message: text.Mark("These seats are being paid for. Finish or cancel the payment, then you can remove them.")}
		}
	}
	for _, idx := range b.still(h) {
		if r := b.rows[idx]; (r.state == Held || r.state == Expired) && (len(seats) == 0 || slices.Contains(seats, idx)) {
			b.set(idx, c.holder, row{})
			continue
		}
		left = append(left, int32(idx))
	}
	h.keepSeats(left)
	if c.key == "" {
		return b.answerHold(h), nil
	}
	return b.answerHold(h), h.answers.keep(granted{c.key, c.request, h.id, left, h.expiresAt})
}

// keepSeats leaves the holder only these. A row without seats stays for its answers, with nothing to announce.
func (h *holdRow) keepSeats(seats []int32) {
	h.seats, h.touched = seats, true
	h.best = slices.DeleteFunc(h.best, func(idx int32) bool { return !slices.Contains(seats, idx) })
	h.expired = h.expired || len(seats) == 0
}

const (
	mostExpired = 256              // holds ended in one pass
	expiryEvery = 30 * time.Second // a pass is made at least this often, for holds that other nodes left behind
)

const dueHoldsSQL = `
SELECT e.slug, h.holder
  FROM hold h JOIN event e ON e.id = h.event_id
 WHERE NOT h.lapsed AND h.expires_at <= statement_timestamp()  -- the statement's time, which an index can be asked for
 ORDER BY h.expires_at
 LIMIT $1`

const nextEndSQL = `SELECT min(expires_at), clock_timestamp() FROM hold WHERE NOT lapsed`

// expireHolds announces the end of holds until ctx is done. Correctness does not wait for it: the guard lets others
// claim a seat from the moment its time is up. It sleeps until the next hold ends and is safe on all nodes at once.
func (o *Inventory) expireHolds(ctx context.Context) error {
	return loop(ctx, o.wake, func() time.Duration {
		wait, err := o.expireDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.log.Warn("holds could not be ended; the next try is in a second", "error", err)
			return time.Second
		}
		return wait
	})
}

// loop calls look now, each time it is woken, and after the time that look returned, until ctx is done.
//
// It never waits for less than a millisecond: goroutines of one synctest bubble that meet timers which are over already crash the race
// detector of Go 1.26 (runtime.(*timer).unlockAndRun).
func loop(ctx context.Context, wake <-chan struct{}, look func() time.Duration) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(max(look(), time.Millisecond))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		case <-timer.C:
		}
	}
}

// expireDue ends the expired holds and returns how long until the next one.
func (o *Inventory) expireDue(ctx context.Context) (time.Duration, error) {
	o.nextEnd.Store(nil) // until it is read again, every new hold asks for one more look
	type due struct {
		Slug   string
		Holder ID
	}
	rows, err := o.db.Query(ctx, dueHoldsSQL, mostExpired)
	if err != nil {
		return 0, fmt.Errorf("seats: find holds that are over: %w", err)
	}
	over, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, fmt.Errorf("seats: find holds that are over: %w", err)
	}
	answers := make(chan error, len(over))
	for _, d := range over {
		s, err := o.Sale(ctx, d.Slug)
		if err != nil {
			return 0, err
		}
		go func() { answers <- s.expire(ctx, d.Holder) }()
	}
	for range over {
		err = errors.Join(err, <-answers)
	}
	if err != nil || len(over) == mostExpired {
		return 0, err
	}
	var end *time.Time
	var now time.Time
	if err := o.db.QueryRow(ctx, nextEndSQL).Scan(&end, &now); err != nil {
		return 0, fmt.Errorf("seats: find the next end of a hold: %w", err)
	}
	if end == nil {
		return expiryEvery, nil
	}
	o.nextEnd.Store(end)
	return min(max(end.Sub(now)+time.Millisecond, time.Millisecond), expiryEvery), nil
}

// wakeExpiry makes expireHolds look again now, if a hold with this end may be the next to end.
func (o *Inventory) wakeExpiry(end time.Time) {
	if next := o.nextEnd.Load(); next != nil && !end.Before(*next) {
		return
	}
	select {
	case o.wake <- struct{}{}:
	default: // it is awake already
	}
}

// expire announces the end of one hold, if its time is really up.
func (s *Sale) expire(ctx context.Context, holder ID) error {
	_, err := s.do(ctx, &command{holder: holder, decide: func(b *batch) (Hold, error) {
		h, live := b.live(holder)
		if h == nil || live || h.expired {
			return Hold{}, nil
		}
		b.toTell(h)
		for _, idx := range b.still(h) {
			if r := b.rows[idx]; (r.state == Held || r.state == Paying) && r.open(b.now) {
				b.set(idx, holder, b.afterExpiry(r))
			}
		}
		if b.terms.strict {
			h.keepSeats(nil)
		}
		h.expired, h.touched = true, true
		return Hold{}, nil
	}})
	return err
}

// tellExpiredSQL writes webhook deliveries, of an event for which a webhook asks for them.
const tellExpiredSQL = `SELECT tell($1, 'hold.expired', said::jsonb) FROM unnest($2::text[]) said WHERE listens($1, 'hold.expired')`

// toTell notes that a hold expires, with the seats that it still has. Seats held for the waitlist have no buyer to tell of.
func (b *batch) toTell(h *holdRow) {
	if h.holder == waitList {
		return
	}
	labels := []string{}
	for _, idx := range b.still(h) {
		labels = append(labels, b.sale.Plan.Label(idx))
	}
	said, err := json.Marshal(map[string]any{"hold": h.id, "seats": labels, "expired_at": h.expiresAt.UTC()})
	if err != nil {
		panic("seats: an expired hold has no text: " + err.Error()) // of values that all have one
	}
	b.over = append(b.over, string(said))
}

// queueExpired tells of the holds that expired. A batch without one has no such statement.
func (b *batch) queueExpired(q *pgx.Batch) {
	if len(b.over) > 0 {
		q.Queue(tellExpiredSQL, b.sale.Event.ID, b.over).Exec(func(tag pgconn.CommandTag) error {
			b.told = tag.RowsAffected() > 0
			return nil
		})
	}
}

// afterExpiry is what becomes of an expired seat: others may take it. In a strict event it has no holder, and while
// an entry waits, the seat is held for the waitlist.
func (b *batch) afterExpiry(r row) row {
	if b.terms.strict || b.entryWaits && r.holder != waitList {
		return row{}
	}
	return row{state: Expired, holder: r.holder, expiresAt: r.expiresAt, fare: fare{kind: r.kind}}
}

// Alias is as whom else a visitor holds seats of an event: those of a subscription have a holder of their own.
type Alias struct {
	Event  int64
	Holder ID
}

const heldEventsSQL = `
SELECT e.slug, h.holder
  FROM (SELECT id, $1::uuid FROM event UNION ALL SELECT * FROM unnest($2::bigint[], $3::uuid[])) AS by(event_id, holder) JOIN event e ON e.id = by.event_id,
       LATERAL (SELECT holder, seats FROM hold WHERE event_id = by.event_id AND holder = by.holder AND cardinality(seats) > 0 OFFSET 0) h
 WHERE EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = e.id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = h.holder AND s.state IN (1, 2) /* held, lapsed */)`

// ReleaseAll releases what a visitor holds in every event, also as another holder. Seats in payment stay.
func (o *Inventory) ReleaseAll(ctx context.Context, visitor ID) error {
	aliases, err := o.Aliases(ctx, nil)
	if err != nil {
		return err
	}
	var events []int64
	var holders []ID
	for _, as := range aliases(visitor) {
		events, holders = append(events, as.Event), append(holders, as.Holder)
	}
	rows, err := o.db.Query(ctx, heldEventsSQL, visitor, events, holders)
	if err != nil {
		return err
	}
	type held struct {
		Slug   string
		Holder ID
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[held])
	if err != nil {
		return err
	}
	for _, in := range list {
		if err := o.releaseIn(ctx, in.Slug, in.Holder); err != nil {
			return err
		}
	}
	return nil
}

// releaseIn releases what a visitor holds of an event.
func (o *Inventory) releaseIn(ctx context.Context, slug string, holder ID) error {
	s, err := o.Sale(ctx, slug)
	if err != nil {
		return err
	}
	c := &command{holder: holder}
	c.decide = func(b *batch) (Hold, error) {
		hold, err := b.release(c, nil)
		if errors.Is(err, ErrNoHold) { // it was released meanwhile
			return Hold{}, nil
		}
		return hold, err
	}
	_, err = s.do(WithVisit(ctx, nil), c) // whichever session the request came from
	return err
}
