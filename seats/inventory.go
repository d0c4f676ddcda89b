package seats

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats/text"
)

// Inventory is the box office of one node: every event this node has open, and the loop that ends holds. Any number of
// nodes may run on one database; none of them is special.
type Inventory struct {
	// Changed is told after an event's map on this node moved on. It must return at once.
	Changed func(*Sale)
	// Committed is told of each version this node committed. It must return at once.
	Committed func(event, version int64)
	// Told is called after this node committed webhook deliveries about holds that expired. It must return at once.
	Told func()
	// Admission returns the part of a waiting room in a batch of an event. Without it, an event with a room admits no holder.
	Admission func(room, event int64) Admission
	// Resold queues what becomes of an order when seats that it offers back are sold again: their tickets end, and what was paid goes back.
	// It is called for a batch, and again if that is tried again. What it returns is called after the commit.
	Resold func(q *pgx.Batch, event int64, order ID, sold []Resale) (done func())
	// Aliases finds as whom else visitors hold seats: of these events, or of all if events is nil. See ReleaseAll.
	Aliases func(ctx context.Context, events []int64) (of func(visitor ID) []Alias, err error)

	db        *pgxpool.Pool
	log       *slog.Logger
	epoch     atomic.Uint32
	wake      chan struct{}             // a new hold may end before the ones known
	nextEnd   atomic.Pointer[time.Time] // the end expireHolds sleeps for; nil if none is known
	deadlocks atomic.Int64
	opening   chan struct{}  // an event may be on sale before the ones known
	queues    sync.WaitGroup // running queues

	reading sync.Mutex // held while an event is read, so that it is read once; other events do not wait for it

	mu    sync.RWMutex
	sales map[string]*Sale // guarded by mu
}

// NewInventory returns the inventory of a node. Run starts it; set its functions before that.
func NewInventory(db *pgxpool.Pool, log *slog.Logger) *Inventory {
	return &Inventory{
		Changed:   func(*Sale) {},
		Committed: func(int64, int64) {},
		Told:      func() {},
		Admission: func(int64, int64) Admission { return closed{} },
		Resold:    func(*pgx.Batch, int64, ID, []Resale) func() { return func() {} },
		Aliases: func(context.Context, []int64) (func(ID) []Alias, error) {
			return func(ID) []Alias { return nil }, nil
		},
		db: db, log: log, wake: make(chan struct{}, 1), opening: make(chan struct{}, 1), sales: map[string]*Sale{},
	}
}

// Run ends expired holds and notices events that are on sale from now on, until ctx is done; then it waits for the
// commands that are under way.
func (o *Inventory) Run(ctx context.Context) error {
	defer o.queues.Wait()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return o.expireHolds(ctx) })
	g.Go(func() error { return o.awaitOpenings(ctx) })
	return g.Wait()
}

// Sale returns an event, opened on this node at its first use. ErrNoEvent if there is none.
func (o *Inventory) Sale(ctx context.Context, slug string) (*Sale, error) {
	if s := o.sale(slug); s != nil {
		return s, nil
	}
	s, err := o.open(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := s.CatchUp(ctx); err != nil { // this node was not notified of what was committed while it was read
		return nil, err
	}
	return o.sale(slug), nil
}

// open reads an event, unless another goroutine did meanwhile.
func (o *Inventory) open(ctx context.Context, slug string) (*Sale, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	if s := o.sale(slug); s != nil {
		return s, nil
	}
	if o.epoch.Load() == 0 {
		epoch, err := o.readEpoch(ctx)
		if err != nil {
			return nil, err
		}
		o.epoch.Store(epoch)
	}
	var s *Sale
	err := o.atOneMoment(ctx, func(tx pgx.Tx) error {
		event, err := EventBySlug(ctx, tx, slug)
		if err != nil {
			return err
		}
		plan, err := LoadPlan(ctx, tx, event.ID)
		if err != nil {
			return err
		}
		prices, err := LoadPrices(ctx, tx, event.ID, plan)
		if err != nil {
			return err
		}
		s = newSale(o, event, plan, prices)
		return s.readMap(ctx, tx, o.epoch.Load())
	})
	if err != nil {
		return nil, err
	}
	o.put(slug, s)
	o.wakeOpening()
	return s, nil
}

// sale is an event that is open here; nil if it is not.
func (o *Inventory) sale(slug string) *Sale {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.sales[slug]
}

func (o *Inventory) put(slug string, s *Sale) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sales[slug] = s
}

// atOneMoment reads several things as they are at one moment: an event and its plan may be replaced between two statements.
func (o *Inventory) atOneMoment(ctx context.Context, read func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, o.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, read)
}

// Open lists the events this node has open.
func (o *Inventory) Open() []*Sale {
	o.mu.RLock()
	defer o.mu.RUnlock()
	open := make([]*Sale, 0, len(o.sales))
	for _, s := range o.sales {
		open = append(open, s)
	}
	return open
}

// Events lists every event that attendees may see, with its counts.
func (o *Inventory) Events(ctx context.Context) ([]Listing, error) {
	all, err := Events(ctx, o.db)
	return slices.DeleteFunc(all, func(l Listing) bool { return l.Status == Draft }), err
}

// Deadlocks is how many batches of this node the database undid because two waited for each other. There should be
// none.
func (o *Inventory) Deadlocks() int64 { return o.deadlocks.Load() }

// Ping returns nil if the database answers.
func (o *Inventory) Ping(ctx context.Context) error {
	if err := o.db.Ping(ctx); err != nil {
		return fmt.Errorf("seats: ping: %w", err)
	}
	return nil
}

const readySQL = `INSERT INTO ready (written_at) VALUES (clock_timestamp()) ON CONFLICT (lone) DO UPDATE SET written_at = excluded.written_at`

// Ready returns nil if the database keeps what it is told: it writes a row, and waits until it is durable.
func (o *Inventory) Ready(ctx context.Context) error {
	if _, err := o.db.Exec(ctx, readySQL); err != nil {
		return fmt.Errorf("seats: write to see whether that works: %w", err)
	}
	return nil
}

// reloadTime is the most time that Reload takes for one event. All of them together may take longer: a node has hundreds.
const reloadTime = 5 * time.Second

// Reload is for the moment after a database connection was lost. If the database is no longer the same run of the same
// server, versions may have been given twice: every open map is read anew. Otherwise the change log is enough. An event without an
// answer for five seconds is an error.
func (o *Inventory) Reload(ctx context.Context) error {
	within := func(read func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, reloadTime)
		defer cancel()
		return read(ctx)
	}
	var epoch uint32
	if err := within(func(ctx context.Context) (err error) { epoch, err = o.readEpoch(ctx); return err }); err != nil {
		return err
	}
	anew := o.epoch.Load() != 0 && o.epoch.Load() != epoch
	bring := (*Sale).CatchUp // which reads a stale event, too
	if anew {
		bring = func(s *Sale, ctx context.Context) error {
			if err := s.reload(ctx, epoch); err != nil {
				return err
			}
			return o.reloadEvent(ctx, s.Event.Slug)
		}
	}
	o.reading.Lock() // what is being opened comes along
	open := o.Open()
	o.reading.Unlock()
	for _, s := range open {
		s.stale.Store(true)
		if err := within(func(ctx context.Context) error { return bring(s, ctx) }); err != nil {
			return err
		}
	}
	// Only now: no version of before may pass for one of this run.
	if o.epoch.Store(epoch); anew {
		for _, s := range open {
			o.changed(s)
		}
	}
	o.wakeExpiry(time.Time{})
	return nil
}

func (o *Inventory) changed(s *Sale) { o.Changed(s) }

// The timeline is that of the WAL. The one of the last checkpoint is old until minutes after a promotion, and then the epoch
// would change while every connection lasts. All functions may be executed by every role (PostgreSQL 15).
const epochSQL = `
SELECT hashtext(s.system_identifier::text || '/' || CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END
                || '/' || pg_postmaster_start_time()::text)
  FROM pg_control_system() s`

// readEpoch reads the name of the run of the database server that versions belong to. It changes with a restart, a
// failover and a restore; a page that knows another epoch starts over from a snapshot.
func (o *Inventory) readEpoch(ctx context.Context) (uint32, error) {
	var hash int32
	if err := o.db.QueryRow(ctx, epochSQL).Scan(&hash); err != nil {
		return 0, fmt.Errorf("seats: read epoch: %w", err)
	}
	return uint32(hash) | 1, nil // zero means not read yet
}

// Sale is one event as this node knows it: what its row and its plan said when they were read last, neither of
// which ever changes in a Sale, and its state. When an event is changed, Inventory.Sale returns another Sale with the
// same state.
type Sale struct {
	Event  Event
	Plan   *Plan
	Prices *Prices

	labels map[string]int // idx by label
	runs   *runs
	*eventState
}

// eventState is what runs of an event on this node: its map, and the queue in which its commands travel.
type eventState struct {
	inventory  *Inventory
	room       atomic.Int64 // the waiting room of the event, as a batch saw it last; 0 for none
	entryWaits atomic.Bool  // an entry waits for seats that come back, as a batch saw it last
	onSale     atomic.Bool  // seats may be claimed, as this node read last
	stale      atomic.Bool  // the event changed, and could not be read since
	clock      atomic.Int64 // the database's, as a batch saw it last; microseconds
	seats      seatMap
	now        atomic.Pointer[Sale] // the Sale that was made last

	lookups Batches[*command] // claims that are looked up: see claim.go

	mu    sync.Mutex
	queue commandQueue // guarded by mu
}

func newSale(o *Inventory, e Event, p *Plan, prices *Prices) *Sale {
	s := &Sale{Event: e, Plan: p, Prices: prices, eventState: &eventState{inventory: o, queue: commandQueue{arrived: make(chan struct{}, 1)}}}
	s.onSale.Store(e.Status == OnSale)
	s.know(p)
	s.seats.of, s.seats.open = s.runs.of, make([]int32, len(s.runs.all))
	s.now.Store(s)
	s.lookups = Batches[*command]{Most: mostLookups, Ends: func(n int) { o.queues.Add(n) }, Send: func(ctx context.Context, commands []*command) {
		s.now.Load().answerLookups(ctx, commands) // its plan has all seats that commands name
	}}
	return s
}

// noteTime notes the time of the database. latestTime is the latest that was noted: where that is too early for the prices of a fast-path
// batch, its statement does nothing.
func (s *Sale) noteTime(now time.Time) {
	if micros := now.UnixMicro(); micros > s.clock.Load() {
		s.clock.Store(micros)
	}
}

func (s *Sale) latestTime() time.Time { return time.UnixMicro(s.clock.Load()) }

// know prepares what is looked up in a plan.
func (s *Sale) know(p *Plan) {
	s.runs, s.labels = newRuns(p), make(map[string]int, len(p.Seats))
	for idx := range p.Seats {
		s.labels[p.Label(idx)] = idx
	}
}

// Seat returns the idx of the seat with this label.
func (s *Sale) Seat(label string) (idx int, ok bool) {
	idx, ok = s.labels[label]
	return idx, ok
}

// seatNames are seats in a message, those of one row together: "Stalls, row C, seats 12 and 13, and Stalls, row D, seat 1".
type seatNames struct {
	plan  *Plan
	seats []int
}

func (s *Sale) named(seats []int) text.Local { return seatNames{s.Plan, seats} }

// In writes them in the language of the reader.
func (n seatNames) In(ctx context.Context) string {
	var groups []string
	for from := 0; from < len(n.seats); {
		to := from + 1
		for to < len(n.seats) && n.plan.sameRow(n.seats[from], n.seats[to]) {
			to++
		}
		groups = append(groups, n.plan.group(ctx, n.seats[from:to]))
		from = to
	}
	if len(groups) < 2 {
		return strings.Join(groups, "")
	}
	last := len(groups) - 1
	// Translators: the end of a list of seats, such as "Stalls, row C, seats 1 and 2, and Stalls, row D, seat 1".
	return text.T(ctx, "%[1]s, and %[2]s", strings.Join(groups[:last], text.T(ctx, ", ")), groups[last])
}

// oneOrMany is the one of two messages that fits so many seats.
func oneOrMany(seats []int, one, more string) string {
	if len(seats) == 1 {
		return one
	}
	return more
}

func (p *Plan) sameRow(a, b int) bool {
	return p.Seats[a].Section == p.Seats[b].Section && p.Seats[a].Row == p.Seats[b].Row
}

// group says seats of one row: "Stalls, row C, seats 12, 13 and 14".
func (p *Plan) group(ctx context.Context, seats []int) string {
	if len(seats) == 1 {
		return p.WordsIn(ctx, seats[0])
	}
	numbers := make([]string, len(seats))
	for i, idx := range seats {
		numbers[i] = p.Seats[idx].Number
	}
	seat, list := &p.Seats[seats[0]], text.List(ctx, numbers)
	section := p.SectionIn(ctx, seat.Section)
	switch {
	case seat.Row == "":
		return text.T(ctx, "%s, places %s", section, list)
	case OwnName(seat.Row):
		return text.T(ctx, "%s, %s, seats %s", section, seat.Row, list)
	}
	return text.T(ctx, "%s, row %s, seats %s", section, seat.Row, list)
}

// Joined lists parts of a sentence, with another word before the last.
func Joined(parts []string, last string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + last + parts[len(parts)-1]
}

// reloadEvent reads an event that is open here anew: a version of the change log said that it was changed, or its time came.
// Who asks for its Sale from now on gets what it is now.
func (o *Inventory) reloadEvent(ctx context.Context, slug string) error {
	o.reading.Lock()
	defer o.reading.Unlock()
	before := o.sale(slug)
	if before == nil {
		return nil
	}
	next := &Sale{Plan: before.Plan, labels: before.labels, runs: before.runs, eventState: before.eventState}
	err := o.atOneMoment(ctx, func(tx pgx.Tx) (err error) {
		if next.Event, err = EventBySlug(ctx, tx, slug); err != nil {
			return err
		}
		if next.Event.PlanHash != before.Event.PlanHash {
			if next.Plan, err = LoadPlan(ctx, tx, next.Event.ID); err != nil {
				return err
			}
			next.know(next.Plan)
		}
		next.Prices, err = LoadPrices(ctx, tx, next.Event.ID, next.Plan)
		return err
	})
	if err != nil {
		return err
	}
	next.seats.grow(next.runs)
	next.stale.Store(false)
	next.onSale.Store(next.Event.Status == OnSale)
	next.now.Store(next)
	o.put(slug, next)
	return nil
}

// awaitOpenings reads scheduled events anew when they are on sale, until ctx is done. It sleeps while none is
// scheduled.
func (o *Inventory) awaitOpenings(ctx context.Context) error {
	return loop(ctx, o.opening, func() time.Duration {
		if err := o.openDue(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("events whose sale begins could not be read; the next try is in a second", "error", err)
			return time.Second
		}
		return o.nextOpening()
	})
}

// openDue reads the scheduled events anew.
func (o *Inventory) openDue(ctx context.Context) error {
	for _, s := range o.Open() {
		if s.Event.Status != Scheduled {
			continue
		}
		if err := o.reloadEvent(ctx, s.Event.Slug); err != nil {
			return err
		}
	}
	return nil
}

// nextOpening is how long until the next event that is open here is on sale, by the clock of the database when it
// was read.
func (o *Inventory) nextOpening() time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, s := range o.Open() {
		if s.Event.Status == Scheduled {
			next = min(next, max(s.Event.OpensIn, 0)+time.Millisecond)
		}
	}
	return next
}

func (o *Inventory) wakeOpening() {
	select {
	case o.opening <- struct{}{}:
	default: // it is awake already
	}
}

// A hold that ended a day ago, has no seat any more and bought none was kept for its answers only. A row that a batch has
// locked is left to the next time.
const purgeHoldsSQL = `
DELETE FROM hold
 WHERE (event_id, holder) IN (
       SELECT h.event_id, h.holder
         FROM hold h
        WHERE h.lapsed AND h.bought = 0 AND h.expires_at < clock_timestamp() - interval '1 day'
          AND NOT EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                                 LATERAL (SELECT holder FROM seat_state WHERE event_id = h.event_id AND idx = n.idx OFFSET 0) s
                           WHERE s.holder = h.holder)
          FOR UPDATE SKIP LOCKED)`

// Purge deletes the rows of holds that ended a day ago and have no seat any more.
func (o *Inventory) Purge(ctx context.Context) error {
	if _, err := o.db.Exec(ctx, purgeHoldsSQL); err != nil {
		return fmt.Errorf("seats: purge: %w", err)
	}
	return nil
}
