package waitingroom_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/waitingroom"
)

// searches counts the statements that look for free slots.
type searches struct{ atomic.Int64 }

func (s *searches) note(sql string) {
	if strings.Contains(sql, "SKIP LOCKED") {
		s.Add(1)
	}
}

func (s *searches) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.note(data.SQL)
	return ctx
}

func (s *searches) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *searches) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *searches) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.note(data.SQL)
}

func (s *searches) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// counted is the room as a node knows it, with a count of its searches.
func (h *fixture) counted(t testing.TB) (*waitingroom.Room, *searches) {
	t.Helper()
	s := &searches{}
	config := h.db.Config()
	config.BeforeConnect, config.ConnConfig.Tracer = nil, s // a connection has one tracer, and the pool's own would be it
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	r, err := waitingroom.New(db, h.dsn, slog.New(slog.NewTextHandler(t.Output(), nil))).Room(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// To find a free slot costs as much as there are slots. When each of a crowd paid it, and a full room was asked by
// hundreds, no visitor came in any more.
func TestACrowdThatIsCalledAtOnceLooksForFreeSlotsTogether(t *testing.T) {
	t.Parallel()
	const slots, people = 50, 300
	h := build(t, waitingroom.NewRoom{Slots: slots})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, people)
	h.calls(t, people)
	room, searches := h.counted(t)
	// As long as the room is locked, every visitor waits.
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM room FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	visits := make([]waitingroom.Visit, people)
	var all sync.WaitGroup
	come := func(i int) {
		all.Go(func() {
			var err error
			if visits[i], err = room.Enter(t.Context(), crowd[i].holder, crowd[i].token); err != nil {
				t.Error(err)
			}
		})
	}
	come(0)
	eventually(t, "the first one waits for the room", func() bool {
		return h.one(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	for i := range people - 1 {
		come(i + 1)
	}
	eventually(t, "the others wait for the next statement", func() bool { return room.Asking() == people-1 })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	in, full := 0, 0
	for _, v := range visits {
		switch {
		case v.Inside:
			in++
		case v.Why == waitingroom.WhyFull:
			full++
		}
	}
	if in != slots || full != people-slots {
		t.Errorf("of %d people %d are inside and %d are told that it is full; there are %d slots", people, in, full, slots)
	}
	if s := searches.Load(); s == 0 || s > 10 {
		t.Errorf("%d people who came at once had free slots looked for %d times", people, s)
	}
	h.wantBooks(t)
	for i, p := range crowd[:5] { // those with the lowest numbers of a statement go first
		if v := p.enter(t, room); v.Inside != visits[i].Inside {
			t.Errorf("a visitor who got %+v gets %+v when they ask again", visits[i], v)
		}
	}
}

func TestEnter_ConcurrentRequestsLetAVisitorInOnce(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 3})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 3)
	h.calls(t, 3)
	n.read(t)
	var all sync.WaitGroup
	for range 40 {
		for _, p := range crowd {
			all.Go(func() {
				if v := p.enter(t, n.room); !v.Inside || v.Number != p.place.Index {
					t.Errorf("a called holder got %+v", v)
				}
			})
		}
	}
	all.Wait()
	for range 40 { // and so is another browser window that has lost the place
		for _, p := range crowd {
			for _, token := range []string{p.token, ""} {
				all.Go(func() {
					if v, err := n.room.Enter(t.Context(), p.holder, token); err != nil || !v.Inside || v.Number != p.place.Index {
						t.Errorf("who is inside got %+v, %v", v, err)
					}
				})
			}
		}
	}
	all.Wait()
	if n := h.one(t, `SELECT sum(entered) FROM admission`); n != 3 {
		t.Errorf("three people who asked 40 times at once came in %d times", n)
	}
	h.wantBooks(t)
}

func TestSlots_RemovedSlotsAreNotReused(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 4})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 4)
	h.calls(t, 4)
	n.read(t)
	for _, p := range crowd {
		p.enter(t, n.room)
	}
	if err := h.c.Slots(t.Context(), "evening", 2); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE slot SET expires_at = clock_timestamp() - interval '1 second'`)
	in := 0
	for _, p := range crowd {
		if v := p.enter(t, n.room); v.Inside {
			in++
		} else if v.Why != waitingroom.WhyFull {
			t.Errorf("a visitor without their slot got %+v", v)
		}
	}
	if in != 2 {
		t.Errorf("%d came back into two slots", in)
	}
	if n := h.one(t, `SELECT count(*) FROM slot WHERE slot > 2 AND expires_at > clock_timestamp()`); n != 0 {
		t.Errorf("%d of the slots that were taken away are used", n)
	}
	if _, err := n.room.Leave(t.Context(), crowd[0].holder, crowd[0].token); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another one comes back", func() bool { return crowd[2].enter(t, n.room).Inside || crowd[3].enter(t, n.room).Inside })
	h.wantBooks(t)
}
