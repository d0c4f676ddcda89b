package waitlist_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
	"github.com/usherbox/usher/seats/waitlist"
)

func TestMain(m *testing.M) {
	// Each step of the machine is several rounds of several nodes: fewer tries than usual, unless a flag asks for more.
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
	seatstest.Main(m)
}

// failer is a test, or one try of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// fixture is one event in a database of its own.
type fixture struct {
	db    *pgxpool.Pool
	ctx   context.Context
	mu    sync.Mutex
	nodes []*node
	slug  string
	rung  atomic.Int64
	deaf  int64 // every so manieth notification is lost; 0: none
}

// node is one box office of several.
type node struct {
	office *seats.Inventory
	sale   *seats.Sale
	list   *waitlist.List
	orders *orders.Orders
	behind chan struct{} // something is in it when other nodes committed
	stop   func()
}

// hall is a plan of rows × 10 seats in section "Stalls" (category A up to the third row, then B) and an area "Floor" of
// places (category C).
func hall(rows, places int) *seats.Plan {
	p := &seats.Plan{Name: "Hall", Width: 400, Height: 100 + 40*float64(rows), Categories: []seats.Category{
		{Key: "A", Name: "Front", Price: 5000}, {Key: "B", Name: "Back", Price: 3000}, {Key: "C", Name: "Standing", Price: 1000},
	}}
	box := []seats.Point{{X: 0, Y: 0}, {X: 400, Y: 0}, {X: 400, Y: 400}}
	if rows > 0 {
		p.Sections = append(p.Sections, seats.Section{Name: "Stalls", Count: rows * 10, Outline: box})
	}
	for r := range rows {
		for n := range 10 {
			p.Seats = append(p.Seats, seats.Seat{
				ID: fmt.Sprint(r, "-", n), Row: string(rune('A' + r)), Number: fmt.Sprint(n + 1),
				Category: min(r/3, 1), X: 20 * float64(n), Y: 40 * float64(r+1),
			})
		}
	}
	if places > 0 {
		p.Sections = append(p.Sections, seats.Section{Name: "Floor", Area: true, First: rows * 10, Count: places, Outline: box})
	}
	for n := range places {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint("f", n), Section: len(p.Sections) - 1, Category: 2, Number: fmt.Sprint(n + 1)})
	}
	return p
}

// build makes an event that begins after some time, and as many nodes; they run their lists by themselves if live.
func build(t *testing.T, p *seats.Plan, begins time.Duration, nodes int, live bool) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ctx: t.Context()}
	h.event(t, "evening", p, begins)
	for range nodes {
		h.node(t, live)
	}
	return h
}

// event makes one more event, which the fixture is about from then on.
func (h *fixture) event(t failer, slug string, p *seats.Plan, begins time.Duration) {
	t.Helper()
	e := events.Settings{Name: "Evening", Slug: slug, StartsAt: time.Now().Add(begins), SeatsPerHolder: 6, TimeZone: "Europe/Vienna"}
	if _, err := events.Create(h.ctx, h.db, e, p); err != nil {
		t.Fatal(err)
	}
	h.slug = slug
	for _, n := range h.nodes {
		n.open(t, h)
	}
}

func (n *node) open(t failer, h *fixture) {
	t.Helper()
	var err error
	if n.sale, err = n.office.Sale(h.ctx, h.slug); err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) node(t *testing.T, live bool) *node {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	n := &node{office: seats.NewInventory(h.db, log), orders: orders.New(h.db), behind: make(chan struct{}, 1)}
	n.list = waitlist.New(h.db, n.office, log)
	n.office.Changed = n.list.Changed
	n.office.Committed = func(int64, int64) { h.ring(n) }
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = n.office.Run(ctx) })
	if live {
		done.Go(func() { _ = n.list.Run(ctx) })
	}
	n.open(t, h)
	done.Go(func() { // the feed of this node
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.behind:
				for _, s := range n.office.Open() {
					_ = s.CatchUp(ctx) // the next notification brings what this one missed
				}
			}
		}
	})
	n.stop = func() { cancel(); done.Wait() }
	t.Cleanup(n.stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes = append(h.nodes, n)
	return n
}

// ring notifies the nodes.
func (h *fixture) ring(from *node) {
	if h.deaf > 0 && h.rung.Add(1)%h.deaf == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.nodes {
		if n == from {
			continue
		}
		select {
		case n.behind <- struct{}{}:
		default:
		}
	}
}

func (h *fixture) exec(t failer, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(h.ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) count(t failer, sql string, args ...any) (n int) {
	t.Helper()
	if err := h.db.QueryRow(h.ctx, sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// hold has a new visitor hold these seats.
func (n *node) hold(t failer, idx ...int) seats.ID {
	t.Helper()
	who := seats.NewID()
	w := seats.ClaimRequest{}
	for _, i := range idx {
		w.Seats = append(w.Seats, n.sale.Plan.Label(i))
	}
	if _, err := n.sale.Claim(context.Background(), who, "", w); err != nil {
		t.Fatal(err)
	}
	return who
}

// fill has visitors hold every seat, six each. It returns the holder of each seat.
func (n *node) fill(t failer) map[int]seats.ID {
	t.Helper()
	has := map[int]seats.ID{}
	for from := 0; from < len(n.sale.Plan.Seats); from += 6 {
		var some []int
		for idx := from; idx < min(from+6, len(n.sale.Plan.Seats)); idx++ {
			some = append(some, idx)
		}
		who := n.hold(t, some...)
		for _, idx := range some {
			has[idx] = who
		}
	}
	return has
}

// joins adds an entry with a verified address.
func (n *node) joins(t failer, email string, w waitlist.Wanted) string {
	t.Helper()
	j, err := n.list.Join(context.Background(), n.sale, waitlist.NewEntry{Email: email, Wanted: w}, waitlist.Joining{Verified: email})
	if err != nil {
		t.Fatal(err)
	}
	return j.Code
}

func (n *node) entry(t failer, code string) waitlist.Entry {
	t.Helper()
	e, err := n.list.Find(context.Background(), code)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// buys takes the offer of an entry and orders its seats.
func (n *node) buys(t failer, code string) {
	t.Helper()
	who := seats.NewID()
	e := n.entry(t, code)
	hold, err := n.list.Take(context.Background(), n.sale, e, who)
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.orders.Place(context.Background(), n.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: e.Email, Method: payments.Door, Verified: e.Email})
	if err != nil {
		t.Fatal(err)
	}
}

// expire moves a holder's hold into the past and waits until its end was announced.
func (h *fixture) expire(t failer, n *node, holder seats.ID) {
	t.Helper()
	h.exec(t, `
		WITH over AS (UPDATE hold SET expires_at = date_trunc('second', clock_timestamp()) - interval '1 second' WHERE holder = $1 RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = o.expires_at FROM over o WHERE s.holder = o.holder`, holder)
	if err := n.office.Reload(h.ctx); err != nil { // makes the office look for holds that are over
		t.Fatal(err)
	}
	h.eventually(t, "the end of a hold is announced", func() bool {
		return h.count(t, `SELECT count(*) FROM hold WHERE holder = $1 AND NOT lapsed`, holder) == 0
	})
}

func (h *fixture) eventually(t failer, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatalf("after 30 seconds it is not so that %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// rounds has nodes without loops make rounds, first all at once, then one after the other until none has anything to do.
func (h *fixture) rounds(t failer) {
	t.Helper()
	errs := make([]error, len(h.nodes))
	var all sync.WaitGroup
	for i, n := range h.nodes {
		all.Go(func() { _, errs[i] = n.list.Round(h.ctx, h.slug) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		busy := false
		for _, n := range h.nodes {
			again, err := n.list.Round(h.ctx, h.slug)
			if err != nil {
				t.Fatal(err)
			}
			busy = busy || again
		}
		if !busy {
			return
		}
	}
	t.Fatal("the rounds of a wait list find no end")
}

// wantBooks holds every promise that is about one event against the database.
func (h *fixture) wantBooks(t failer) {
	t.Helper()
	if broken := h.books(t); broken != "" {
		t.Fatal(broken)
	}
}

// books says what is against the promises; nothing if all hold.
func (h *fixture) books(t failer) (broken string) {
	t.Helper()
	report, err := verify.Look(h.ctx, h.db, h.slug)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			broken += fmt.Sprintf("%s: %s\n", p.Name, f)
		}
	}
	return broken
}

// delayOffers keeps every offer waiting for its locks, on all nodes, until it is told to go on.
func (h *fixture) delayOffers(t failer) (goOn func()) {
	t.Helper()
	tx, err := h.db.Begin(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(h.ctx, `SELECT FROM hold WHERE event_id = (SELECT id FROM event WHERE slug = $1) AND holder = $2 FOR UPDATE`, h.slug, seats.ID{15: 2}); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback(h.ctx) } // nothing was written
}

// untilDelayed gives so many batches time to come to their locks, if they take any.
func (h *fixture) untilDelayed(batches int) {
	for end := time.Now().Add(40 * time.Millisecond); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		var waiting int
		err := h.db.QueryRow(h.ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil || waiting >= batches {
			return
		}
	}
}
