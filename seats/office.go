package seats

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// Office is the box office of one node: every event this node has open, and the loop that ends holds. Any number of
// nodes may run on one database; none of them is special.
type Office struct {
	// Changed is told after an event's map on this node moved on. It must return at once.
	Changed func(*Sale)
	// Committed is told of each version this node committed. It must return at once.
	Committed func(event, version int64)

	db        *pgxpool.Pool
	log       *slog.Logger
	epoch     atomic.Uint32
	wake      chan struct{}             // a new hold may end before the ones known
	nextEnd   atomic.Pointer[time.Time] // the end lapseHolds sleeps for; nil if none is known
	deadlocks atomic.Int64
	opening   chan struct{}  // an event may be on sale before the ones known
	lanes     sync.WaitGroup // running lanes

	reading sync.Mutex // held while an event is read, so that it is read once; nobody of another event waits for that

	mu    sync.RWMutex
	sales map[string]*Sale // guarded by mu
}

// NewOffice returns the node's office. Run starts it; set Changed and Committed before that.
func NewOffice(db *pgxpool.Pool, log *slog.Logger) *Office {
	return &Office{
		Changed:   func(*Sale) {},
		Committed: func(int64, int64) {},
		db:        db, log: log, wake: make(chan struct{}, 1), opening: make(chan struct{}, 1), sales: map[string]*Sale{},
	}
}

// Run ends holds whose time is up, notices events that are on sale from now on, and deletes what is long over,
// until ctx is done; then it waits for the commands that are under way.
func (o *Office) Run(ctx context.Context) error {
	defer o.lanes.Wait()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return o.lapseHolds(ctx) })
	g.Go(func() error { return o.purge(ctx) })
	g.Go(func() error { return o.awaitOpenings(ctx) })
	return g.Wait()
}

// Sale returns an event, opened on this node at its first use. ErrNoEvent if there is none.
func (o *Office) Sale(ctx context.Context, slug string) (*Sale, error) {
	if s := o.sale(slug); s != nil {
		return s, nil
	}
	s, err := o.open(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := s.CatchUp(ctx); err != nil { // no bell rang here for what was committed while it was read
		return nil, err
	}
	return o.sale(slug), nil
}

// open reads an event, unless somebody else did meanwhile.
func (o *Office) open(ctx context.Context, slug string) (*Sale, error) {
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
	err := o.see(ctx, func(tx pgx.Tx) error {
		event, err := EventBySlug(ctx, tx, slug)
		if err != nil {
			return err
		}
		plan, err := LoadPlan(ctx, tx, event.ID)
		if err != nil {
			return err
		}
		s = newSale(o, event, plan)
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
func (o *Office) sale(slug string) *Sale {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.sales[slug]
}

func (o *Office) put(slug string, s *Sale) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sales[slug] = s
}

// see reads several things as they are at one moment: an event and its plan may be replaced between two statements.
func (o *Office) see(ctx context.Context, read func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, o.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, read)
}

// Open lists the events this node has open.
func (o *Office) Open() []*Sale {
	o.mu.RLock()
	defer o.mu.RUnlock()
	open := make([]*Sale, 0, len(o.sales))
	for _, s := range o.sales {
		open = append(open, s)
	}
	return open
}

// Events lists every event that attendees may see, with its counts.
func (o *Office) Events(ctx context.Context) ([]Listing, error) {
	all, err := Events(ctx, o.db)
	return slices.DeleteFunc(all, func(l Listing) bool { return l.Status == Draft }), err
}

// Deadlocks is how many batches of this node the database undid because two waited for each other. There should be
// none.
func (o *Office) Deadlocks() int64 { return o.deadlocks.Load() }

// Ping tells whether the database answers.
func (o *Office) Ping(ctx context.Context) error {
	if err := o.db.Ping(ctx); err != nil {
		return fmt.Errorf("seats: ping: %w", err)
	}
	return nil
}

const readySQL = `INSERT INTO ready (written_at) VALUES (clock_timestamp()) ON CONFLICT (lone) DO UPDATE SET written_at = excluded.written_at`

// Ready returns nil if the database keeps what it is told: it writes a row, and waits until it is durable.
func (o *Office) Ready(ctx context.Context) error {
	if _, err := o.db.Exec(ctx, readySQL); err != nil {
		return fmt.Errorf("seats: write to see whether that works: %w", err)
	}
	return nil
}

// Reload is for the moment after a database connection was lost. If the database is no longer the same run of the same
// server, versions may have been given twice: every open map is read anew. Otherwise the change log is enough.
func (o *Office) Reload(ctx context.Context) error {
	epoch, err := o.readEpoch(ctx)
	if err != nil {
		return err
	}
	anew := o.epoch.Load() != 0 && o.epoch.Load() != epoch
	bring := (*Sale).CatchUp
	if anew {
		bring = func(s *Sale, ctx context.Context) error { return s.reload(ctx, epoch) }
	}
	o.reading.Lock() // what is being opened comes along
	open := o.Open()
	o.reading.Unlock()
	for _, s := range open {
		s.stale.Store(true)
		if err := bring(s, ctx); err != nil {
			return err
		}
		if err := o.reread(ctx, s.Event.Slug); err != nil {
			return err
		}
	}
	// Only now: no version of before may pass for one of this run.
	if o.epoch.Store(epoch); anew {
		for _, s := range open {
			o.changed(s)
		}
	}
	o.wakeLapse(time.Time{})
	return nil
}

func (o *Office) changed(s *Sale) { o.Changed(s) }

// The three functions may be executed by every role (PostgreSQL 15).
const epochSQL = `
SELECT hashtext(s.system_identifier::text || '/' || c.timeline_id::text || '/' || pg_postmaster_start_time()::text)
  FROM pg_control_system() s, pg_control_checkpoint() c`

// readEpoch reads the name of the run of the database server that versions belong to. It changes with a restart, a
// failover and a restore; a page that knows another epoch starts over from a snapshot.
func (o *Office) readEpoch(ctx context.Context) (uint32, error) {
	var hash int32
	if err := o.db.QueryRow(ctx, epochSQL).Scan(&hash); err != nil {
		return 0, fmt.Errorf("seats: read epoch: %w", err)
	}
	return uint32(hash) | 1, nil // zero means not read yet
}
