package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"
)

// batchCommands is the most commands one batch carries.
const batchCommands = 512

// command is one try to change seats. It is decided as a whole, under the lock, by decide.
type command struct {
	holder ID    // the visitor or block that it acts for
	seats  []int // to lock, besides those the holder has
	decide func(*batch) (Hold, error)

	claim      bool       // it claims seats: see sql.go
	tidy       bool       // it leaves enough seats for the next party: see shared.go
	sells      bool       // it sells what its holder has: see attach.go
	resells    bool       // it needs to know which seats are offered back, besides those that sell: see resale.go
	takesBack  bool       // it gives seats that are offered back to their order again
	givesBack  bool       // it cancels tickets
	unblocks   bool       // it may take seats of blocks: see block.go
	block      ID         // to which its seats go back; none: they are free then
	blocks     map[int]ID // the same by seat; nil for most
	from       ID         // another holder; it moves their seats; none for most
	ofWaitlist bool       // it is about seats held for the waitlist: see waitlist.go
	entries    []int64    // of the waiting list, that are offered seats
	lock       Entries    // locks them
	keys       []ID       // purchase keys it counts tickets for; see allowance.go
	uses       []Use      // allowances it counts for; see allowance.go
	choice     *choice    // for claims that leave the choice of seats to us; see best.go
	best       bool       // it asks for the best seats, or takes a proposal of them
	access     *Access    // what codes of the visitor unlock; nil for most, see access.go
	early      bool       // a code lets it claim before the event is on sale
	mix        []int      // ticket types of a claim, of one seat each in the order of idx, or one of all; none: the usual one of each seat
	key        string     // idempotency key, empty if none
	request    string     // hash of what was asked for, kept beside the key

	write  func(*pgx.Batch) // queues what commits with the seats; nil for nothing
	visit  *Visit           // the session it comes from; nil if none
	late   bool             // they are the best there are, expired ones included; see claim.go
	missed int              // how often the seats chosen for it were gone; see best.go
	tries  int              // batches that failed with it
	lost   bool             // the first of them with its connection, so that the server may still be at it
	answer chan answer      // has room for the one answer
	span   trace.Span       // of the request, if that is traced; nil for most
}

type answer struct {
	hold Hold
	err  error
}

const (
	batchTime  = 10 * time.Second // the most time either half of a batch may take
	batchTries = 5                // how often a command travels in batches that fail before it is refused
	priceTries = 50               // the same if its price changed: each time a batch of another node went before it
)

// batchContext is the context of one half of a batch, or of what follows it: the first half may have taken all of its time.
func batchContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(forBatch(context.Background()), batchTime)
}

// inFlight is one batch on its way: begin locks and decides, end writes and answers. It keeps one connection between.
type inFlight struct {
	batch       *batch
	fast        bool          // it takes no locks beforehand: see sql.go
	concurrent  *inFlight     // the fast-path batch that was under way when this one was sent; it ends first
	afterFailed bool          // the batch before failed: what was refused because of it may be had after all
	conn        *pgxpool.Conn // nil if it could not begin
	err         error         // why
	version     atomic.Int64  // what it was committed as; 0 until then, and if it changed nothing
	ended       chan struct{} // closed when it was written and answered, or undone
	span        trace.Span    // nil if none of its commands is traced
}

// begin locks what the commands need and decides them. Nothing was decided when it fails, so it tries again by itself.
func (s *Sale) begin(commands []*command, before *inFlight) *inFlight {
	ctx, cancel := batchContext()
	defer cancel()
	if before != nil && (before.batch.sharesHolder(commands) || before.batch.sharesPerson(commands) || before.batch.sharesAllowance(commands)) {
		<-before.ended // a holder's first hold cannot be locked, and a person's new count cannot be read, before it is there
	}
	t := &inFlight{ended: make(chan struct{}), span: s.batchSpan(commands)}
	t.err = s.lock(ctx, t, commands, before)
	for tries := 1; retryable(t.err) && tries < batchTries || connectionLost(t.err) && Sleep(ctx, retryPause) == nil; tries++ {
		if errors.Is(t.err, errPrices) {
			s = s.latest(ctx)
		}
		t.err = s.lock(ctx, t, commands, before)
	}
	if t.err == nil {
		t.batch.decide()
	}
	return t
}

// lock takes a connection and, on it, the locks of a batch.
//
// The statement names cached on a connection survive a ROLLBACK, so a connection is given back in any case.
func (s *Sale) lock(ctx context.Context, t *inFlight, commands []*command, before *inFlight) (err error) {
	t.batch = newBatch(s, commands, before)
	if t.conn, err = s.inventory.db.Acquire(ctx); err != nil {
		return err
	}
	if err = lockBatches(ctx, t.conn.Conn(), t.batch); err != nil {
		s.inventory.count(err)
		err = errors.Join(err, rollback(t.conn.Conn()))
		t.conn.Release()
		t.conn = nil
	}
	return err
}

// end writes a batch and answers its commands. If it failed and may well succeed another time, they come again.
func (s *Sale) end(t *inFlight) {
	defer close(t.ended)
	defer func() { t.batch.before = nil }() // the batch before can be freed
	if t.err == nil {
		t.err = s.write(t)
		s.inventory.count(t.err)
	}
	t.release()
	if t.concurrent != nil {
		<-t.concurrent.ended
		t.concurrent = nil
	}
	t.endSpan()
	if t.err != nil {
		s.failed(t)
		return
	}
	t.batch.rememberVisits()
	t.version.Store(t.batch.change.Version)
	ctx, cancel := batchContext()
	defer cancel()
	s.committed(ctx, t.batch)
	s.answer(ctx, t)
}

// answer tells each command what became of it; those that are to choose other seats come again.
func (s *Sale) answer(ctx context.Context, t *inFlight) {
	var again []*command
	for i, c := range t.batch.commands {
		a := t.batch.answers[i]
		var refusal *Conflict
		if errors.Is(a.err, errChooseAgain) || t.afterFailed && c.choice != nil && errors.As(a.err, &refusal) {
			again = append(again, c)
			continue
		}
		c.answer <- a
	}
	if t.batch.behind {
		if err := s.CatchUp(ctx); err != nil {
			s.inventory.log.Warn("the map is behind until the next poll", "event", s.Event.ID, "error", err)
		}
	}
	s.requeue(again)
}

// latest brings this node to the newest version of the event, and returns its Sale.
func (s *Sale) latest(ctx context.Context) *Sale {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	if err := s.CatchUp(ctx); err != nil {
		s.inventory.log.Warn("the map is behind until the next poll", "event", s.Event.ID, "error", err)
	}
	return s.now.Load()
}

// errUnknown says that a batch may have been committed although its commands are refused.
var errUnknown = errors.New("the batch may have been committed")

// write writes a batch. Its error says whether that is open: see errUnknown.
func (s *Sale) write(t *inFlight) error {
	ctx, cancel := batchContext()
	defer cancel()
	if t.fast {
		return s.send(ctx, t)
	}
	err := saveBatches(ctx, t.conn.Conn(), nil, t.batch)
	if err == nil {
		return nil
	}
	if !connectionLost(err) {
		return errors.Join(err, rollback(t.conn.Conn()))
	}
	t.release() // it ended; the question needs another one
	if len(t.batch.dirty) == 0 {
		return errors.Join(err, errUnknown) // it is no version, so nothing is to be found
	}
	committed, open := t.batch.findCommit(s.inventory.db)
	if committed {
		return nil
	}
	return errors.Join(err, open)
}

// release gives the batch's connection back. What comes after a batch is written reads on connections of the pool: batches of
// many events that each kept one and waited for one more would wait for each other.
func (t *inFlight) release() {
	if t.conn != nil {
		t.conn.Release()
		t.conn = nil
	}
}

// failed sends the commands of a batch that was undone through the queue again, or refuses them.
func (s *Sale) failed(t *inFlight) {
	var again []*command
	err := fmt.Errorf("seats: event %d: batch of %d: %w", s.Event.ID, len(t.batch.commands), t.err)
	most := batchTries
	if outOfQuota(t.err) || shutMeanwhile(t.err) { // another node was faster, and this one may be behind it
		s.latest(context.Background())
		most = priceTries
	}
	for _, c := range t.batch.commands {
		if c.tries++; retryable(t.err) && c.tries < most {
			again = append(again, c)
			continue
		}
		c.answer <- answer{err: err}
	}
	switch {
	case len(again) > 0:
	case errors.Is(err, errUnknown):
		s.inventory.log.Error("a batch failed; its commands were refused, and it may have been committed", "error", err)
	default:
		s.inventory.log.Error("a batch failed; its commands were refused and nothing was changed", "error", err)
	}
	s.requeue(again)
}

// committed brings the map to the version of the batch, and tells pages and other nodes.
func (s *Sale) committed(ctx context.Context, b *batch) {
	if b.newEnd != nil {
		s.inventory.wakeExpiry(*b.newEnd)
	}
	for _, done := range b.resold {
		done()
	}
	if b.told {
		s.inventory.Told()
	}
	if b.change.Version == 0 {
		return
	}
	if s.seats.apply(b.change) {
		s.inventory.changed(s)
	} else if err := s.CatchUp(ctx); err != nil {
		s.inventory.log.Warn("the map is behind until the next poll", "event", s.Event.ID, "error", err)
	}
	s.inventory.Committed(s.Event.ID, b.change.Version)
}

// retryable reports whether another try of the same batch may well succeed: a deadlock (there should be none), or two
// nodes that made the same holder's first hold at once, or claims that need locks after all, or an event with a
// waiting room this node did not know, or with another wait list, status or price list than it knew.
func retryable(err error) bool {
	return deadlock(err) || IsConstraint(err, "hold_pkey") || errors.Is(err, errNotFast) || errors.Is(err, errRoom) || errors.Is(err, errEntryWaits) || errors.Is(err, errPrices) ||
		shutMeanwhile(err) || overLimitMeanwhile(err) || outOfQuota(err) || usedUpMeanwhile(err)
}

func deadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}

func (o *Inventory) count(err error) {
	if deadlock(err) {
		o.deadlocks.Add(1)
		o.log.Error("two batches waited for each other; one is tried again", "error", err)
	}
}

// retryPause is between tries on connections that are dead already; how often a database that is away is asked is up to
// package database.
const retryPause = 10 * time.Millisecond

// rollback ends a transaction with an error that is already known; a connection that is gone has ended it itself.
func rollback(conn *pgx.Conn) error {
	if conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}

// batch is one transaction: lock the rows, decide every command in the order it came, write what changed.
// The decisions are plain Go over rows that cannot change meanwhile; the guard in changeSQL checks each of them again.
type batch struct {
	sale       *Sale
	before     *inFlight // the one being written while this one is decided; nil if none
	room       int64     // the waiting room of the event, as far as this node knew when the batch began; 0 for none
	entryWaits bool      // an entry waits for seats that come back, as far as it knew; see waitlist.go
	commands   []*command
	answers    []answer // one per command

	// What the lock step read; decide keeps it up to date, so that a later command sees what an earlier one did.
	now       time.Time // the database's clock, read after the last lock was granted
	terms     terms
	rows      map[int]row
	admission Admission           // of the waiting room; nil if the event has none
	waits     map[int64]time.Time // entries of the wait list that still wait, of those that are offered something, and since when
	was       map[int]row         // rows as they were read, of those that change
	holds     map[ID]*holdRow
	visits    map[string]time.Time // when the sessions of this batch end, of those that are there; see attach.go
	renewed   map[string]time.Time // sessions that last longer from now on
	purchases counts               // tickets by purchase key; see allowance.go
	prices    pricing

	allowances counts // see allowance.go

	coded   map[int]seatCode // codes of seats, as read and decided since; see access.go
	recoded map[int]bool     // of which the code is to be written
	blocks  map[ID][]int32   // seats of blocks that seats go back to, and that are not over; see block.go
	groups  map[ID]bool      // blocks of groups; see block.go
	good    map[ID]int       // codes of claims that are good, with the tickets of one person before the sale

	resales       map[int]*resale // seats that are offered back, as read and decided since; see resale.go
	resalesBefore []*resale       // of the same seats, which ended earlier in this batch
	resold        []func()        // called once the seats are sold again

	asks   bool // a claim found too little on the map
	late   late // for those; see claim.go
	behind bool // the map lacks versions of other nodes

	// What is to be written.
	extended map[int]bool // seats with a later end
	dirty    map[int]ID   // idx → the holder for whom it changes
	lost     []lostSeat   // seats of shared rows that others took from expired holds: see shared.go
	newEnd   *time.Time   // the first end of the holds that are new or were extended
	over     []string     // what webhooks are told of holds that expired
	told     bool         // one was told
	id       ID
	change   Change // as committed
}

// terms are what the event allows, read with the locks so that a change of them holds on all nodes at once.
type terms struct {
	holdLength time.Duration
	payLength  time.Duration
	limit      int
	extensions int
	strict     bool  // time running out takes seats away
	room       int64 // the waiting room of the event; 0 if it has none
	status     Status
	opensAt    *time.Time // from when on it is on sale; nil: from the beginning
	reason     string     // of the status
	entryWaits bool       // an entry waits for seats that come back
	prices     int64      // the version of the price list
}

// row is a seat_state row.
type row struct {
	at        pgtype.TID // its place while it is locked
	state     State
	holder    ID
	expiresAt *time.Time // nil where it is null or infinity
	fare
}

func newBatch(s *Sale, commands []*command, before *inFlight) *batch {
	n := len(commands)
	b := &batch{
		sale: s, before: before, commands: commands, answers: make([]answer, n), id: NewID(),
		room: s.room.Load(), entryWaits: s.entryWaits.Load(), admission: s.admission(s.room.Load()), rows: make(map[int]row, n), was: map[int]row{}, holds: make(map[ID]*holdRow, n),
		dirty: make(map[int]ID, n), extended: map[int]bool{},
	}
	b.choose()
	return b
}

// sharesHolder reports whether one of the commands acts for a holder of this batch, or the wait list has its first
// hold in it.
func (b *batch) sharesHolder(commands []*command) bool {
	if h := b.holds[waitList]; h != nil && !h.stored {
		return true
	}
	for _, c := range commands {
		for _, holder := range []ID{c.holder, c.from} {
			if _, ours := b.holds[holder]; ours && holder != (ID{}) {
				return true
			}
		}
	}
	return false
}

// wanted gathers what to lock, each once.
func (b *batch) wanted() (holders []ID, seats []int32) {
	seats = []int32{}
	if b.entryWaits {
		holders = append(holders, waitList)
	}
	for _, c := range b.commands {
		if c.holder != (ID{}) {
			holders = append(holders, c.holder)
		}
		if c.from != (ID{}) {
			holders = append(holders, c.from)
		}
		if c.ofWaitlist {
			holders = append(holders, waitList)
		}
		for _, idx := range b.sale.runs.withShared(c.seats) {
			seats = append(seats, int32(idx))
		}
	}
	slices.SortFunc(holders, ID.compare)
	holders = slices.Compact(holders)
	slices.Sort(seats)
	return holders, slices.Compact(seats)
}

// lockBatches begins a transaction and takes every row that batches of different events may need, in one round trip. Each class
// of rows is locked by the id of the event.
func lockBatches(ctx context.Context, conn *pgx.Conn, batches ...*batch) error {
	type wanted struct {
		holders []ID
		seats   []int32
	}
	var q pgx.Batch
	wants := make([]wanted, len(batches))
	q.Queue(beginSQL)
	for i, b := range batches {
		w := &wants[i]
		w.holders, w.seats = b.wanted()
		q.Queue(lockHoldsSQL, b.sale.Event.ID, w.holders).Query(b.readHolds)
	}
	for i, b := range batches {
		if b.admission != nil {
			b.admission.Lock(&q, wants[i].holders)
		}
	}
	for _, b := range batches {
		b.queueEntries(&q)
		b.queueLostSessions(&q)
	}
	for i, b := range batches {
		q.Queue(lockSeatsSQL, b.sale.Event.ID, wants[i].seats, wants[i].holders).Query(b.readSeats)
	}
	for i, b := range batches {
		b.queuePurchases(&q)
		b.queueAllowances(&q)
		b.queueCodes(&q, wants[i].holders, wants[i].seats)
		b.queueBlocks(&q)
		b.queueGroups(&q)
		b.queueReadResales(&q, wants[i].holders, wants[i].seats)
		b.queueVisits(&q)
		b.queueAvailability(&q)
	}
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return err
	}
	for _, b := range batches {
		if err := errors.Join(b.checkRoom(), b.checkWaitlist(), b.checkPrices()); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) readHolds(rows pgx.Rows) error {
	var length, payment float64
	var at pgtype.TID
	var holder, id ID
	var seats, best []int32
	var end, session *time.Time
	var extensions, bought *int
	var expired *bool
	var text *string
	_, err := pgx.ForEachRow(rows, []any{
		&length, &payment, &b.terms.limit, &b.terms.extensions, &b.terms.strict, &b.terms.room, &b.terms.entryWaits, &b.terms.prices, &b.terms.status, &b.terms.opensAt, &b.terms.reason, &b.now, &at, &holder, &id, &seats, &end, &extensions, &expired, &text, &bought, &best, &session,
	}, func() error {
		b.terms.holdLength, b.terms.payLength = time.Duration(length*float64(time.Second)), time.Duration(payment*float64(time.Second))
		if end != nil { // else it is the event alone
			b.holds[holder] = &holdRow{
				at: at, holder: holder, id: id, seats: seats, expiresAt: *end, extensions: *extensions, expired: *expired,
				answers: answers{text: text}, bought: *bought, best: best, session: session, stored: true,
			}
		}
		seats, text, best, session = nil, nil, nil, nil
		return nil
	})
	return err
}

func (b *batch) readSeats(rows pgx.Rows) error {
	var idx int
	var r row
	_, err := pgx.ForEachRow(rows, []any{&r.at, &idx, &r.state, &r.holder, &r.expiresAt, &r.kind, &r.phase, &r.price, &b.now}, func() error {
		b.rows[idx] = r
		r.expiresAt, r.price = nil, nil
		return nil
	})
	return err
}

// decide answers the commands first come, first served.
func (b *batch) decide() {
	b.sale.noteTime(b.now)
	b.sale.seats.mu.RLock()
	b.openPrices(b.now)
	b.sale.seats.mu.RUnlock()
	for i, c := range b.commands {
		if b.ended(c) {
			b.answers[i].err = ErrSessionEnded
			continue
		}
		hold, err := c.decide(b)
		b.answers[i] = answer{hold, err}
		b.freeTooFew()
	}
}

// ends notes when a hold that is new or was extended ends.
func (b *batch) ends(h *holdRow) {
	if b.newEnd == nil || h.expiresAt.Before(*b.newEnd) {
		b.newEnd = &h.expiresAt
	}
}

// open reports whether any visitor may claim the seat: it is the guard, in Go.
func (r row) open(now time.Time) bool {
	return r.holder == ID{} || r.expiresAt != nil && !r.expiresAt.After(now)
}

// mayTake is the guard in Go for those who claim. While an entry waits, an expired seat goes to the list
// with the announcement of that, and only its last holder may take it again before; any visitor may take what
// expired before an entry waited.
func (b *batch) mayTake(r row, holder ID) bool {
	return r.open(b.now) && (!b.entryWaits || r.holder == ID{} || r.state == Expired || r.holder == holder || r.holder == waitList)
}

// set gives a seat another state for a holder. When several commands of a batch change one seat, the guard
// asks whether the first of them might: it is the one that met the row. A seat that would be free is kept while
// an entry waits.
func (b *batch) set(idx int, by ID, to row) {
	if _, dirty := b.dirty[idx]; !dirty {
		b.was[idx], b.dirty[idx] = b.rows[idx], by
	}
	if b.coded != nil {
		to = b.keepReserved(idx, to)
	}
	if b.entryWaits && to.holder == (ID{}) && b.rows[idx].holder != waitList {
		to = b.holdForWaitlist(idx)
	}
	if b.coded != nil {
		b.carryCode(idx, to)
	}
	b.noteLost(idx, by)
	to.at = b.rows[idx].at
	b.price(b.rows[idx].fare, to.fare)
	b.rows[idx] = to
}

// connectionLost reports whether an error leaves open what the server did.
func connectionLost(err error) bool {
	var pg *pgconn.PgError
	return err != nil && !errors.Is(err, pgx.ErrNoRows) && (!errors.As(err, &pg) || pg.Severity == "FATAL")
}

// A lost batch with locks has those of its seats until it has ended, one way or the other, even if the server still waits for others.
const waitForSeatSQL = `SELECT FROM seat_state WHERE event_id = $1 AND idx = $2 FOR NO KEY UPDATE`

// The counter row's lock is free again once the lost batch has ended. To lock is to write: this statement waits
// for a synchronous standby as the batch did, and once it is answered, a failover keeps what it found.
const waitForCounterSQL = `SELECT version FROM counter WHERE event_id = $1 FOR NO KEY UPDATE`

const findBatchSQL = `
SELECT version, at, free, held, sold, blocked, quota FROM change WHERE event_id = $1 AND version <= $2 AND batch = $3
 ORDER BY version DESC LIMIT 1`

// findCommit resolves a lost answer to COMMIT: it reports whether the batch is in the change log after all. An error, which is
// errUnknown, leaves that open.
func (b *batch) findCommit(db *pgxpool.Pool) (committed bool, err error) {
	if len(b.dirty) == 0 {
		return false, nil
	}
	ctx, cancel := batchContext()
	defer cancel()
	var version int64
	err = untilAnswered(ctx, func() error {
		if _, err := db.Exec(ctx, waitForSeatSQL, b.sale.Event.ID, b.changed()[0]); err != nil {
			return err
		}
		return db.QueryRow(ctx, waitForCounterSQL, b.sale.Event.ID).Scan(&version)
	})
	if err != nil {
		return false, fmt.Errorf("seats: %w: wait for a batch with a lost answer: %w", errUnknown, err)
	}
	c := &b.change
	err = db.QueryRow(ctx, findBatchSQL, b.sale.Event.ID, version, b.id).
		Scan(c.counted()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("seats: %w: find a batch with a lost answer: %w", errUnknown, err)
	}
	return true, nil
}

// untilAnswered asks again while connections break: the database may be starting again.
func untilAnswered(ctx context.Context, ask func() error) error {
	err := ask()
	for connectionLost(err) && Sleep(ctx, retryPause) == nil {
		err = ask()
	}
	return err
}

const endOfHoldSQL = `SELECT expires_at, clock_timestamp() FROM hold WHERE event_id = $1 AND holder = $2`

// recover resolves a lost answer: either the batch was committed after all, or nothing happened and it may come again.
func (s *Sale) recover(t *inFlight, lost error) error {
	committed, err := t.batch.findCommit(s.inventory.db)
	if err != nil {
		return errors.Join(lost, err)
	}
	if !committed {
		for _, c := range t.batch.commands {
			c.lost = true
		}
		return errNotFast
	}
	ctx, cancel := batchContext()
	defer cancel()
	var end, now time.Time
	err = untilAnswered(ctx, func() error {
		return s.inventory.db.QueryRow(ctx, endOfHoldSQL, s.Event.ID, t.batch.commands[0].holder).Scan(&end, &now)
	})
	if err != nil {
		return fmt.Errorf("seats: event %d: %w: read the end of holds with a lost answer: %w", s.Event.ID, errUnknown, err)
	}
	t.granted(end, now)
	return nil
}
