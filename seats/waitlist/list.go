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
	"github.com/usherbox/usher/seats/events"
)

const (
	lookEvery = 30 * time.Second       // between rounds of lists without events, for what a dead node left undone
	rest      = 200 * time.Millisecond // between two rounds of one event
	retry     = time.Second            // after a round that failed
)

// List runs the waitlists of one node. Any number of nodes may run on one database; none of them is special.
type List struct {
	// Wrote is called after this node wrote mail. It must return at once.
	Wrote func()
	// Windows returns how long an offer is open, by the time left until the sale ends.
	Windows func(left time.Duration) time.Duration
	// Order places an order for an offer with a consent; nil leaves orders to other nodes. On an error the person gets an
	// ordinary offer, with the message of a *seats.Conflict. After a crash it is called again for the same offer, and must not
	// place a second order.
	Order func(ctx context.Context, s *seats.Sale, p Purchase) error

	db     *pgxpool.Pool
	office *seats.Inventory
	log    *slog.Logger
	wake   chan struct{}

	ordering sync.WaitGroup // orders that are being placed

	mu    sync.Mutex
	busy  map[string]bool      // slugs of events with orders being placed
	asked map[string]bool      // slugs of events that need a round; true: the waitlist itself changed
	has   map[string]bool      // slugs of events with waiting entries or open offers
	due   map[string]time.Time // by this node's clock: when an event needs its next round
	free  map[string]int       // available seats at the end of the last round: with more of them an entry may fit
}

// New returns the node's waitlists. Run starts them. Inventory.Changed must call Changed.
func New(db *pgxpool.Pool, office *seats.Inventory, log *slog.Logger) *List {
	return &List{
		Wrote: func() {}, Windows: Windows, db: db, office: office, log: log, wake: make(chan struct{}, 1),
		asked: map[string]bool{}, has: map[string]bool{}, due: map[string]time.Time{}, free: map[string]int{}, busy: map[string]bool{},
	}
}

// Changed notes that the map of an event changed. It returns at once.
func (l *List) Changed(s *seats.Sale) {
	keeps := s.HasWaitlisted()
	l.mu.Lock()
	defer l.mu.Unlock()
	if keeps || l.has[s.Event.Slug] {
		l.ask(s.Event.Slug, false)
	}
}

// Wake asks for a round for an event soon, because its waitlist changed.
func (l *List) Wake(slug string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ask(slug, true)
}

// ask asks for a round. The caller holds mu.
func (l *List) ask(slug string, changed bool) {
	l.asked[slug] = l.asked[slug] || changed
	select {
	case l.wake <- struct{}{}:
	default: // awake already
	}
}

// Run makes rounds when events ask for them, and each half minute for every list in use, until ctx is done. It is safe on
// all nodes at once. An unused waitlist costs one look at an empty index each half minute.
func (l *List) Run(ctx context.Context) error {
	defer l.ordering.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	looked := time.Time{}
	for {
		if time.Since(looked) >= lookEvery {
			looked = time.Now()
			if err := l.look(ctx); err != nil && ctx.Err() == nil {
				l.log.Warn("failed to find the waitlists in use; trying again in half a minute", "error", err)
			}
		}
		l.rounds(ctx)
		if seats.Sleep(ctx, rest) != nil {
			return ctx.Err()
		}
		timer.Reset(max(time.Millisecond, min(time.Until(looked.Add(lookEvery)), l.untilDue()))) // as the loop of seats (hold.go)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// rounds makes a round for each event that asked for one or is due.
func (l *List) rounds(ctx context.Context) {
	l.mu.Lock()
	asked := l.asked
	l.asked = map[string]bool{}
	for slug, at := range l.due {
		if time.Until(at) <= 0 {
			asked[slug] = true
			delete(l.due, slug)
		}
	}
	l.mu.Unlock()
	for slug, changed := range asked {
		again, err := l.round(ctx, slug, changed)
		if err != nil && ctx.Err() == nil {
			l.log.Warn("a waitlist round failed; trying again in a second", "event", slug, "error", err)
			l.later(slug, retry)
		} else if again {
			l.later(slug, rest)
		}
	}
}

// later schedules a round for an event, unless an earlier one is due.
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

// Entries with an address that was not verified within a day.
const forgetSQL = `UPDATE entry SET state = 'over' WHERE state = 'new' AND joined_at < clock_timestamp() - interval '1 day'`

// look finds the waitlists in use.
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
		l.ask(slug, true)
	}
	return nil
}

// grew reports whether more seats are available than at the last call.
func (l *List) grew(slug string, free int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.free[slug]
	l.free[slug] = free
	return free > before
}

// knows records whether a waitlist has waiting entries or open offers.
func (l *List) knows(slug string, inUse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if inUse {
		l.has[slug] = true
	} else {
		delete(l.has, slug)
	}
}

// The number of the advisory locks of wait lists, beside the event's. Houses of one database have different ones.
const lockNumber = 0x77616974

const (
	lockSQL   = `SELECT pg_try_advisory_lock($1 # (house_seed() % 2147483647)::integer, $2::integer)`
	unlockSQL = `SELECT pg_advisory_unlock($1 # (house_seed() % 2147483647)::integer, $2::integer)`
)

// round makes a round for an event, unless another node is making one. It reports whether another round is due soon. changed
// says that the waitlist itself may have changed, so that seats which were available before may fit now.
func (l *List) round(ctx context.Context, slug string, changed bool) (again bool, err error) {
	s, err := l.office.Sale(ctx, slug)
	if err != nil {
		return false, err
	}
	conn, err := l.db.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("waitlist: round: %w", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(ctx, lockSQL, lockNumber, s.Event.ID).Scan(&mine); err != nil {
		return false, fmt.Errorf("waitlist: round: %w", err)
	}
	if !mine {
		if changed {
			l.Wake(slug)
		}
		return true, nil // another node makes one, but it may have read the list before the last change
	}
	defer l.unlock(conn, s.Event.ID)
	if again, err = l.make(ctx, s, changed); err != nil {
		return again, err
	}
	ordering, err := l.order(ctx, s)
	return again || ordering, err
}

// unlock ends a round for all nodes. If that fails it closes the connection, which releases the lock too.
func (l *List) unlock(conn *pgxpool.Conn, event int64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, unlockSQL, lockNumber, event); err != nil {
		_ = conn.Conn().Close(ctx) // the pool drops a closed connection
	}
}

// make makes a round. The caller holds the advisory lock.
func (l *List) make(ctx context.Context, s *seats.Sale, changed bool) (again bool, err error) {
	event := s.Event.ID
	if err := s.CatchUp(ctx); err != nil {
		return false, err
	}
	found, err := l.settle(ctx, event)
	if err != nil {
		return false, err
	}
	if found.mail {
		l.Wrote()
	}
	st, err := l.standing(ctx, event)
	if err != nil {
		return false, err
	}
	l.knows(s.Event.Slug, st.inUse)
	changed = l.grew(s.Event.Slug, s.Remaining()) || changed
	open := st.open()
	if keep := open && st.inUse; keep != st.flagged {
		if err := events.SetWaitlist(ctx, l.db, event, keep); err != nil {
			return false, err
		}
		changed = true
	}
	switch {
	case !open:
		if _, err := l.db.Exec(ctx, closeSQL, event); err != nil {
			return false, fmt.Errorf("waitlist: close: %w", err)
		}
		return false, l.letGo(ctx, s, s.Waitlisted())
	case !st.waiting:
		return false, l.letGo(ctx, s, s.Waitlisted())
	case st.paused:
		return false, l.extendHold(ctx, s)
	case !changed && !found.moved && !s.HasWaitlisted():
		return false, nil
	}
	return l.give(ctx, s, st, found)
}

func (l *List) letGo(ctx context.Context, s *seats.Sale, list []int) error {
	if len(list) == 0 {
		return nil
	}
	return s.LetGo(ctx, list)
}

func (l *List) extendHold(ctx context.Context, s *seats.Sale) error {
	if !s.HasWaitlisted() {
		return nil
	}
	return s.ExtendWaitlistHold(ctx)
}

// standing is the state of an event's waitlist.
type standing struct {
	now     time.Time // of the database, before the list was read
	saw     string    // the pg_snapshot of that moment
	starts  time.Time // when the event starts, and the sale is over
	status  string    // of the event
	zone    string
	paused  bool // the waitlist or the event is paused: no offers are made
	flagged bool // batches reserve returned seats for the waitlist
	inUse   bool // there are waiting entries or open offers
	waiting bool // there are waiting entries
}

const standingSQL = `
SELECT clock_timestamp(), pg_current_snapshot()::text, e.starts_at, e.status, e.time_zone, coalesce(w.paused_at IS NOT NULL, false) OR e.status <> 'on sale' OR coalesce(e.opens_at > clock_timestamp(), false), e.wait_list,
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting') OR EXISTS (SELECT FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       EXISTS (SELECT FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting')
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.id = $1`

func (l *List) standing(ctx context.Context, event int64) (st standing, err error) {
	err = l.db.QueryRow(ctx, standingSQL, event).Scan(&st.now, &st.saw, &st.starts, &st.status, &st.zone, &st.paused, &st.flagged, &st.inUse, &st.waiting)
	if err != nil {
		return st, fmt.Errorf("waitlist: read the state: %w", err)
	}
	return st, nil
}

// open reports whether the sale may go on. A paused sale is open.
func (st standing) open() bool {
	return st.now.Before(st.starts) && st.status != string(seats.Closed) && st.status != string(seats.Cancelled)
}

// place is the time zone of the event.
func (st standing) place() *time.Location {
	if zone, err := time.LoadLocation(st.zone); err == nil {
		return zone
	}
	return time.UTC
}
