package waitingroom_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// ticks is at how many times numbers were called, or could have been, since the count before.
type ticks struct {
	seen map[time.Time]bool
}

func (k *ticks) look(t testing.TB, h *fixture) int {
	t.Helper()
	var at *time.Time
	if err := h.db.QueryRow(h.ctx, `SELECT CASE WHEN isfinite(ticked_at) THEN ticked_at END FROM room`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	if at != nil {
		k.seen[*at] = true
	}
	return len(k.seen)
}

func TestRun_RefreshesEachSecondWithoutNotificationsWhilePeopleWait(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 3})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	joinAll(t, n.room, 200)
	n.run(t)
	if err := h.c.Resume(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	// Of itself, a loop that slept half a minute between two looks would come to two or three of them within the limit.
	k := ticks{seen: map[time.Time]bool{}}
	eventually(t, "eight ticks", func() bool { return k.look(t, h) >= 8 })
}

func TestTheLoopOfANodeKnowsWhenItMustLookNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		room waitingroom.NewRoom
		sql  string
		join int
		most time.Duration
	}{
		"people wait":                     {waitingroom.NewRoom{Slots: 3}, `UPDATE room SET phase = 'open', version = version + 1`, 5, time.Second},
		"open, and no visitor waits":      {waitingroom.NewRoom{Slots: 3}, `UPDATE room SET phase = 'open', version = version + 1`, 0, 2 * time.Second},
		"paused":                          {waitingroom.NewRoom{Slots: 3}, `UPDATE room SET phase = 'paused', version = version + 1`, 5, 2 * time.Second},
		"numbers are about to be drawn":   {waitingroom.NewRoom{OpensAt: in(time.Hour)}, `UPDATE room SET phase = 'drawing', closed_at = clock_timestamp(), version = version + 1`, 0, time.Second},
		"a lobby":                         {waitingroom.NewRoom{OpensAt: in(time.Hour)}, ``, 5, 2 * time.Second},
		"a lobby that closes in a moment": {waitingroom.NewRoom{OpensAt: in(time.Hour)}, `UPDATE room SET opens_at = clock_timestamp() + interval '100 milliseconds', version = version + 1`, 0, 150 * time.Millisecond},
	} {
		h := build(t, c.room)
		n := h.node(t, false)
		if c.sql != "" {
			h.exec(t, c.sql)
		}
		joinAll(t, n.room, c.join)
		n.read(t)
		n.room.Still()
		if pace := n.rooms.Pace(); pace > c.most {
			t.Errorf("%s: the loop sleeps %s; %s is what it may", name, pace, c.most)
		}
	}
}

func TestJoin_IsKnownToAllNodes(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 1})
	first, other := h.node(t, false), h.node(t, false)
	var looked atomic.Bool
	other.rooms.Changed = func(*waitingroom.Room) { looked.Store(true) }
	other.run(t)
	p := &person{holder: seats.NewID()}
	if v := p.enter(t, first.room); !v.Inside {
		t.Fatalf("the first got %+v", v)
	}
	eventually(t, "the other node sleeps", func() bool { return looked.Load() && other.rooms.Pace() == 30*time.Second })
	began := time.Now()
	if _, _, err := first.room.Join(t.Context(), seats.NewID(), ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another node knows that people wait", func() bool { return other.room.State().Phase == waitingroom.PhaseOpen })
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("another node learned after %s that people wait: by its own look, and not by a notification", took)
	}
}

func TestNoNumberIsCalledByANodeThatDoesNotKnowOfAPauseYet(t *testing.T) {
	t.Parallel()
	for _, act := range []struct {
		name string
		do   func(*fixture) error
	}{
		{"pause", func(h *fixture) error { return h.c.Pause(h.ctx, "evening", "Wait.") }},
		{"end", func(h *fixture) error { return h.c.End(h.ctx, "evening", "Over.") }},
	} {
		h := build(t, waitingroom.NewRoom{Slots: 50})
		n := h.node(t, false)
		h.exec(t, `UPDATE room SET phase = 'open', version = version + 1`)
		joinAll(t, n.room, 100)
		n.read(t)
		if err := act.do(h); err != nil {
			t.Fatal(err)
		}
		if err := n.room.Tick(t.Context()); err != nil { // it knows an open room in which people wait
			t.Fatal(err)
		}
		if serving, calls := h.one(t, `SELECT serving FROM room`), h.one(t, `SELECT count(*) FROM called`); serving != 0 || calls != 0 {
			t.Errorf("after %s, a node that had not heard of it called up to %d, in %d calls", act.name, serving, calls)
		}
		if version := h.one(t, `SELECT version FROM room`); n.room.State().Version != version {
			t.Errorf("after %s the node that tried knows version %d, not %d", act.name, n.room.State().Version, version)
		}
	}
}
