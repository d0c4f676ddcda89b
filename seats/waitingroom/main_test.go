package waitingroom_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is one event with a room, in a database of its own.
type fixture struct {
	ctx context.Context // of the test
	dsn string
	db  *pgxpool.Pool
	c   waitingroom.Control
}

// failer is a test, or one try of a machine.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// build makes a fixture: an event "evening" of places without labels, covered by the room "evening".
func build(t testing.TB, n waitingroom.NewRoom) *fixture {
	t.Helper()
	h := &fixture{ctx: t.Context(), dsn: seatstest.DSN(t)}
	h.db = h.pool(t)
	h.c = waitingroom.Control{DB: h.db, Who: "test"}
	p, ok := plan.Named("conference")
	if !ok {
		t.Fatal("there is no plan for it")
	}
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	n.Name, n.Events = "Evening", []string{"evening"}
	if _, err := h.c.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *fixture) pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	db, err := database.Connect(context.Background(), h.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// node is one node of the fixture.
type node struct {
	db     *pgxpool.Pool
	office *seats.Inventory
	rooms  *waitingroom.Rooms
	room   *waitingroom.Room
	sale   *seats.Sale
	ends   []func()
	ended  bool
}

// node starts one more node. The loops of its rooms run only if it is told so: without them it does what it is asked, and
// no more.
func (h *fixture) node(t testing.TB, run bool) *node {
	t.Helper()
	db, log := h.pool(t), slog.New(slog.NewTextHandler(t.Output(), nil))
	office := seats.NewInventory(db, log)
	office.Admission = waitingroom.Admission
	n := &node{db: db, office: office, rooms: waitingroom.New(db, h.dsn, log)}
	n.rooms.Ended = office.Ended
	t.Cleanup(n.stop)
	n.start(office.Run)
	if run {
		n.run(t)
	}
	var err error
	if n.room, err = n.rooms.Room(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	if n.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	return n
}

// run starts the loops of the rooms.
func (n *node) run(t testing.TB) {
	t.Helper()
	n.start(n.rooms.Run)
}

func (n *node) start(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	n.ends = append(n.ends, func() { cancel(); <-done })
}

func (n *node) stop() {
	if !n.ended {
		n.ended = true
		for _, end := range n.ends {
			end()
		}
	}
}

func (h *fixture) exec(t failer, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(h.ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) one(t failer, sql string, args ...any) (n int64) {
	t.Helper()
	if err := h.db.QueryRow(h.ctx, sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// read has a node without loops look at the room.
func (n *node) read(t testing.TB) {
	t.Helper()
	if err := n.room.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition with a generous limit.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("it never came to be: %s", what)
		case <-tick.C:
		}
	}
}

func in(d time.Duration) *time.Time {
	at := time.Now().Add(d)
	return &at
}
