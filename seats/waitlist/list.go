package waitlist

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
)

const (
	lookEvery = 30 * time.Second       // rounds of lists that nothing was heard of, and of nodes that died
	rest      = 200 * time.Millisecond // between two rounds of one event
	retry     = time.Second            // after a round that failed
)

// List is the wait lists of one node. Any number of nodes may run on one database; none of them is special.
type List struct {
	// Wrote is told after this node wrote mail. It must return at once.
	Wrote func()
	// Windows is how long an offer lasts when the sale ends after so much time.
	Windows func(left time.Duration) time.Duration
	// Order places an order that an entry agreed to; nil if that is left to other nodes. An error says why it was not placed,
	// a *seats.Refusal to the person: then they are asked as everybody else. It comes again if a node died meanwhile, and must
	// place one order then.
	Order func(ctx context.Context, s *seats.Sale, p Purchase) error

	db     *pgxpool.Pool
	office *seats.Office
	log    *slog.Logger
	wake   chan struct{}

	ordering sync.WaitGroup // orders that are being placed

	mu    sync.Mutex
	busy  map[string]bool      // slugs of events with orders being placed
	heard map[string]bool      // slugs of events that a round may do something for; true: the list itself changed
	has   map[string]bool      // slugs of events with entries that wait or are offered seats
	due   map[string]time.Time // by this node's clock: when something is to be done for an event by itself
	free  map[string]int       // seats that were free when a round ended: more of them may fit an entry
}

// New returns the node's wait lists. Run starts them; Office.Changed has to tell Changed.
func New(db *pgxpool.Pool, office *seats.Office, log *slog.Logger) *List {
	return &List{
		Wrote: func() {}, Windows: Windows, db: db, office: office, log: log, wake: make(chan struct{}, 1),
		heard: map[string]bool{}, has: map[string]bool{}, due: map[string]time.Time{}, free: map[string]int{}, busy: map[string]bool{},
	}
}

// Changed is told that the map of an event moved on. It returns at once.
func (l *List) Changed(s *seats.Sale) {
	keeps := s.Keeps()
	l.mu.Lock()
	defer l.mu.Unlock()
	if keeps || l.has[s.Event.Slug] {
		l.hear(s.Event.Slug, false)
	}
}

// Wake has the node make a round for an event soon: its list changed.
func (l *List) Wake(slug string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(slug, true)
}

// hear notes that a round may do something. mu is held.
func (l *List) hear(slug string, news bool) {
	l.heard[slug] = l.heard[slug] || news
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// Run makes rounds when something was heard, and each half minute for every list with waiting entries, until ctx is
// done. Safe on all nodes at once. Without entries there is one look at an empty index each half minute.
func (l *List) Run(ctx context.Context) error {
	defer l.ordering.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	looked := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-timer.C:
		}
		if time.Since(looked) >= lookEvery {
			looked = time.Now()
			if err := l.look(ctx); err != nil && ctx.Err() == nil {
				l.log.Warn("wait lists could not be looked at; the next look is in half a minute", "error", err)
			}
		}
		l.rounds(ctx)
		timer.Reset(max(rest, min(time.Until(looked.Add(lookEvery)), l.untilDue())))
		if seats.Sleep(ctx, rest) != nil {
			return ctx.Err()
		}
	}
}

// rounds makes a round for each event that something was heard of, or for which it is time.
func (l *List) rounds(ctx context.Context) {
	l.mu.Lock()
	heard := l.heard
	l.heard = map[string]bool{}
	for slug, at := range l.due {
		if time.Until(at) <= 0 {
			heard[slug] = true
			delete(l.due, slug)
		}
	}
	l.mu.Unlock()
	for slug, news := range heard {
		again, err := l.round(ctx, slug, news)
		if err != nil && ctx.Err() == nil {
			l.log.Warn("a round of a wait list failed; the next is in a second", "event", slug, "error", err)
			l.later(slug, retry)
		} else if again {
			l.later(slug, rest)
		}
	}
}

// later has a round made for an event after some time, if none is due before.
func (l *List) later(slug string, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now().Add(after)
	if due, has := l.due[slug]; !has || at.Before(due) {
		l.due[slug] = at
	}
}

func (l *List) untilDue() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	least := lookEvery
	for _, at := range l.due {
		least = min(least, time.Until(at))
	}
	return least
}

const listedSQL = `
SELECT e.slug FROM event e WHERE e.wait_list
 UNION
SELECT e.slug FROM offer o JOIN event e ON e.id = o.event_id WHERE o.state = 'open'`

// Entries without a confirmed address after a day.
const forgetSQL = `UPDATE entry SET state = 'over' WHERE state = 'new' AND joined_at < clock_timestamp() - interval '1 day'`

// look finds the lists with waiting entries.
func (l *List) look(ctx context.Context) error {
	if _, err := l.db.Exec(ctx, forgetSQL); err != nil {
		return fmt.Errorf("waitlist: forget: %w", err)
	}
	rows, err := l.db.Query(ctx, listedSQL)
	if err != nil {
		return fmt.Errorf("waitlist: look: %w", err)
	}
	slugs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("waitlist: look: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.has = make(map[string]bool, len(slugs))
	for _, slug := range slugs {
		l.has[slug] = true
		l.hear(slug, true)
	}
	return nil
}

// grew reports whether more seats are free than when it was asked last.
func (l *List) grew(slug string, free int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.free[slug]
	l.free[slug] = free
	return free > before
}

// knows notes whether anybody waits in the list of an event or is offered something.
func (l *List) knows(slug string, someone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if someone {
		l.has[slug] = true
	} else {
		delete(l.has, slug)
	}
}
