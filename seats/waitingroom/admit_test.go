package waitingroom_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

// person is a visitor with a browser.
type person struct {
	holder seats.ID
	token  string
	place  waitingroom.Place
	number int64
}

// joinAll has n people join a room at once; they come back in the order of their places.
func joinAll(t testing.TB, r *waitingroom.Room, n int) []*person {
	t.Helper()
	people := make([]*person, n)
	const atOnce = 32 // for the race detector, which may end itself where more than 256 threads take turns
	var all sync.WaitGroup
	for first := range atOnce {
		all.Go(func() {
			for i := first; i < n; i += atOnce {
				p := &person{holder: seats.NewID()}
				var err error
				if p.place, p.token, err = r.Join(t.Context(), p.holder, ""); err != nil {
					t.Error(err)
				}
				people[i] = p
			}
		})
	}
	all.Wait()
	slices.SortFunc(people, func(a, b *person) int { return cmp.Compare(a.place.Index, b.place.Index) })
	return people
}

func (p *person) enter(t testing.TB, r *waitingroom.Room) waitingroom.Visit {
	t.Helper()
	v, err := r.Enter(t.Context(), p.holder, p.token)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// watchCap looks at the slots again and again until stop: it returns the most people seen inside at once.
func (h *fixture) watchCap(t testing.TB, stop <-chan struct{}) func() int64 {
	t.Helper()
	var most atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			var n int64
			if err := h.db.QueryRow(context.Background(), `SELECT count(*) FROM slot WHERE expires_at > clock_timestamp()`).Scan(&n); err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), n))
		}
	}()
	return func() int64 { <-done; return most.Load() }
}

// books says what in the tables is against the promises, whatever happened before.
func (h *fixture) books(t failer) (problems []string) {
	t.Helper()
	for what, sql := range map[string]string{
		"a visitor was let in before their number was called": `SELECT count(*) FROM admission a WHERE entered > 0 AND NOT EXISTS (
			SELECT FROM called c WHERE c.room_id = a.room_id AND c.epoch = a.epoch AND c.serving >= a.number AND c.at <= a.admitted_at)`,
		"a call went back":                    `SELECT count(*) FROM (SELECT at < lag(at) OVER (PARTITION BY room_id, epoch ORDER BY serving) AS back FROM called) c WHERE back`,
		"serving is not what was called last": `SELECT count(*) FROM room r WHERE serving <> coalesce((SELECT max(serving) FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch), 0)`,
		"a slot has no admission in the ledger": `SELECT count(*) FROM slot s WHERE holder IS NOT NULL AND NOT EXISTS (
			SELECT FROM admission a WHERE a.room_id = s.room_id AND a.epoch = s.epoch AND a.number = s.number AND a.holder = s.holder)`,
		"more are inside than there are slots": `SELECT count(*) FROM (SELECT FROM slot s JOIN room r ON r.id = s.room_id WHERE s.expires_at > clock_timestamp() GROUP BY r.id, r.slots HAVING count(*) > r.slots) x`,
		"a slot ends before the hold of its holder": `SELECT count(*) FROM slot s JOIN event e ON e.room_id = s.room_id JOIN hold h ON h.event_id = e.id AND h.holder = s.holder
			WHERE NOT h.lapsed AND h.expires_at > clock_timestamp() AND s.expires_at < h.expires_at`,
	} {
		if n := h.one(t, sql); n > 0 {
			problems = append(problems, fmt.Sprintf("%s (%d times)", what, n))
		}
	}
	return problems
}

func (h *fixture) wantBooks(t testing.TB) {
	t.Helper()
	for _, problem := range h.books(t) {
		t.Error(problem)
	}
}

// calls puts all people of a room in line and calls numbers up to serving. Its nodes run no loops.
func (h *fixture) calls(t testing.TB, serving int64) {
	t.Helper()
	h.exec(t, `UPDATE room SET phase = 'open', serving = $1, version = version + 1`, serving)
	h.exec(t, `INSERT INTO called SELECT id, epoch, $1 FROM room`, serving)
}

func TestNoMoreAreInsideThanThereAreSlotsAtAnyInstant(t *testing.T) {
	t.Parallel()
	const slots, people = 40, 400
	h := build(t, waitingroom.NewRoom{Slots: slots})
	nodes := []*node{h.node(t, false), h.node(t, false), h.node(t, false)}
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, nodes[0].room, people)
	h.calls(t, people)
	for _, n := range nodes {
		n.read(t)
	}
	stop := make(chan struct{})
	most := h.watchCap(t, stop)
	var in atomic.Int64
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for range 60 {
				p := crowd[rand.IntN(people)]
				v, err := nodes[w%3].room.Enter(t.Context(), p.holder, p.token)
				if err != nil {
					t.Error(err)
					return
				}
				if v.Inside {
					in.Add(1)
				}
				if v.Inside && rand.IntN(3) == 0 {
					if _, err := nodes[w%3].room.Leave(t.Context(), p.holder, p.token); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	close(stop)
	if n := most(); n > slots || n < slots {
		t.Errorf("%d were inside at once; there are %d slots", n, slots)
	}
	if in.Load() < slots {
		t.Errorf("only %d came in", in.Load())
	}
	h.wantBooks(t)
}

func TestOneNumberLetsOneHolderInHoweverOftenAndWhereverTheyTry(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 100})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, nodes[0].room, 20)
	h.calls(t, 20)
	for _, n := range nodes {
		n.read(t)
	}
	var all sync.WaitGroup
	for i := range 320 {
		all.Go(func() {
			p := crowd[i%20]
			v, err := nodes[i%2].room.Enter(t.Context(), p.holder, p.token)
			if err != nil || !v.Inside {
				t.Errorf("a called holder got %+v, %v", v, err)
			}
			// A copied cookie without the session it was made for is worth nothing.
			if v, err := nodes[i%2].room.Enter(t.Context(), seats.NewID(), p.token); err != nil || v.Inside {
				t.Errorf("a copied token let a visitor in: %+v, %v", v, err)
			}
			if v := nodes[i%2].room.Look(t.Context(), seats.NewID(), p.token); v.Place != (waitingroom.Place{}) {
				t.Errorf("a copied place is read as %+v", v)
			}
		})
	}
	all.Wait()
	if n := h.one(t, `SELECT count(*) FROM slot WHERE holder IS NOT NULL`); n != 20 {
		t.Errorf("20 numbers have %d slots", n)
	}
	if n := h.one(t, `SELECT count(*) FROM admission`); n != 20 {
		t.Errorf("20 numbers have %d admissions", n)
	}
	h.wantBooks(t)
}

func TestEnter_IdleVisitorKeepsTheNumberUntilGivingUp(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 2})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 4)
	h.calls(t, 4)
	n.read(t)
	a, b, c, d := crowd[0], crowd[1], crowd[2], crowd[3]
	if v := a.enter(t, n.room); !v.Inside {
		t.Fatalf("a: %+v", v)
	}
	if v := b.enter(t, n.room); !v.Inside {
		t.Fatalf("b: %+v", v)
	}
	if v := c.enter(t, n.room); v.Inside || v.Why != waitingroom.WhyFull {
		t.Errorf("c, with every slot taken: %+v", v)
	}
	h.exec(t, `UPDATE slot SET expires_at = clock_timestamp() - interval '1 second' WHERE holder = $1`, a.holder)
	if v := c.enter(t, n.room); !v.Inside {
		t.Errorf("c, after a was idle: %+v", v)
	}
	if v := a.enter(t, n.room); v.Why != waitingroom.WhyFull {
		t.Errorf("a, after c took its slot: %+v", v)
	}
	if left, err := n.room.Leave(t.Context(), b.holder, b.token); err != nil || !left {
		t.Errorf("b leaves: %v, %v", left, err)
	}
	if v := a.enter(t, n.room); !v.Inside {
		t.Errorf("a comes back: %+v", v)
	}
	if v := b.enter(t, n.room); v.Why != waitingroom.WhyLeft && v.Why != waitingroom.WhyFull {
		t.Errorf("b gave up: %+v", v)
	}
	h.exec(t, `UPDATE called SET at = at - interval '11 minutes'`)
	h.exec(t, `UPDATE admission SET admitted_at = admitted_at - interval '11 minutes'`)
	if _, err := n.room.Leave(t.Context(), a.holder, a.token); err != nil {
		t.Error(err)
	}
	if v := d.enter(t, n.room); v.Why != waitingroom.WhyLate {
		t.Errorf("d, called eleven minutes ago: %+v", v)
	}
	p, _, err := n.room.Again(t.Context(), d.holder, d.token)
	if err != nil || n.room.Number(p) != 5 {
		t.Errorf("d joins again: %+v, %v", p, err)
	}
	h.wantBooks(t)
}

func TestPauseMeansPause(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 5000})
	nodes := []*node{h.node(t, true), h.node(t, true)}
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, nodes[0].room, 1200)
	if err := h.c.Resume(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				p := crowd[rand.IntN(len(crowd))]
				if _, err := nodes[w%2].room.Enter(ctx, p.holder, p.token); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	entered := func() int64 {
		return h.one(t, `SELECT coalesce(sum(entered), 0) + 1000000 * (SELECT serving FROM room) FROM admission`)
	}
	for range 4 {
		before := entered()
		eventually(t, "a visitor comes in", func() bool { return entered() > before || h.one(t, `SELECT count(*) FROM admission`) > 1100 })
		if err := h.c.Pause(t.Context(), "evening", "The payment provider is slow."); err != nil {
			t.Fatal(err)
		}
		paused := entered()
		eventually(t, "all nodes know", func() bool {
			return nodes[0].room.State().Phase == waitingroom.PhasePaused && nodes[1].room.State().Phase == waitingroom.PhasePaused
		})
		if now := entered(); now != paused {
			t.Errorf("while the room was paused, what had been %d became %d", paused, now)
		}
		if err := h.c.Resume(t.Context(), "evening"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	all.Wait()
	h.wantBooks(t)
}

func TestClaim_NeedsASlotAndHoldersKeepTheirs(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 3})
	n, other := h.node(t, false), h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 3)
	h.calls(t, 2)
	n.read(t)
	request := seats.ClaimRequest{Area: "Places", Quantity: 2}
	outside, inside, third := crowd[2], crowd[0], crowd[1]
	for _, sale := range []*seats.Sale{n.sale, other.sale} {
		_, err := sale.Claim(t.Context(), outside.holder, "", request)
		wantRefusal(t, err)
	}
	for _, p := range []*person{inside, third} {
		if v := p.enter(t, n.room); !v.Inside {
			t.Fatalf("a called holder got %+v", v)
		}
	}
	hold, err := other.sale.Claim(t.Context(), inside.holder, "key", request)
	if err != nil {
		t.Fatal(err)
	}
	h.wantBooks(t)
	h.exec(t, `UPDATE slot SET expires_at = clock_timestamp() - interval '1 second' WHERE holder = $1`, third.holder)
	_, err = n.sale.Claim(t.Context(), third.holder, "", request)
	wantRefusal(t, err)
	if again, err := n.sale.Claim(t.Context(), inside.holder, "key", request); err != nil || again.ID != hold.ID {
		t.Errorf("a repeat got %+v, %v", again, err)
	}
	if left, err := n.room.Leave(t.Context(), inside.holder, inside.token); err != nil || left {
		t.Errorf("who holds seats left: %v, %v", left, err)
	}
	if _, err := seatstest.Order(t.Context(), h.db, n.sale, inside.holder); err != nil {
		t.Fatal(err)
	}
	if n := h.one(t, `SELECT count(*) FROM slot WHERE holder = $1`, inside.holder); n != 0 {
		t.Error("who bought is still inside")
	}
	if n := h.one(t, `SELECT count(*) FROM admission WHERE outcome = 'bought'`); n != 1 {
		t.Errorf("one bought, and the ledger says %d", n)
	}
	_, err = n.sale.Claim(t.Context(), inside.holder, "", request)
	wantRefusal(t, err)
	h.wantBooks(t)
}

func wantRefusal(t testing.TB, err error) {
	t.Helper()
	var refusal *seats.Conflict
	if !errors.As(err, &refusal) || refusal.Code != seats.CodeWaitingRoom {
		t.Errorf("who is not inside got %v", err)
	}
}

func TestSlots_FewerSlotsStopAdmissionUntilEnoughLeft(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 3})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 4)
	h.calls(t, 4)
	n.read(t)
	for _, p := range crowd[:3] {
		if v := p.enter(t, n.room); !v.Inside {
			t.Fatalf("a called holder got %+v", v)
		}
	}
	if err := h.c.Slots(t.Context(), "evening", 1); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE slot SET epoch = NULL, number = NULL, holder = NULL, expires_at = '-infinity' WHERE slot > 1`)
	if v := crowd[3].enter(t, n.room); v.Inside || v.Why != waitingroom.WhyFull {
		t.Errorf("with the one slot taken, the next got %+v", v)
	}
}

// A batch of claims locks the slots of its holders in their order. Here one has the first of two, and wants the second one
// while the room waits for the first: if the room had the second one already, they would wait for each other.
func TestSlots_AreLockedInTheOrderOfHolders(t *testing.T) {
	t.Parallel()
	first, second := seats.ID{1}, seats.ID{2} // in the slots 2 and 1
	const ago = `clock_timestamp() - make_interval(secs => $2)`
	for name, c := range map[string]struct {
		since [2]float64 // s ago, of each
		ends  string
		asks  func(*waitingroom.Room, context.Context, ...seats.ID) error
	}{
		"by a sign of life":              {[2]float64{1, 1}, `clock_timestamp() + interval '1 minute'`, (*waitingroom.Room).Shows},
		"by people with an expired slot": {[2]float64{1e6, 1}, `clock_timestamp() - interval '1 second'`, (*waitingroom.Room).ComesBack},
		"by people who were away awhile": {[2]float64{1, 1}, `clock_timestamp() - interval '1 second'`, (*waitingroom.Room).ComesBack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, waitingroom.NewRoom{Slots: 2})
			n := h.node(t, false)
			for i, holder := range []seats.ID{first, second} {
				h.exec(t, `UPDATE slot SET epoch = 1, number = $1, holder = $3, since = `+ago+`, expires_at = `+c.ends+` WHERE slot = 3 - $1`, i+1, c.since[i], holder)
			}
			batch, err := h.db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = batch.Rollback(context.Background()) }() // it is over, if all went well
			const lockSlot = `SELECT FROM slot WHERE holder = $1 FOR NO KEY UPDATE NOWAIT`
			if _, err := batch.Exec(t.Context(), lockSlot, first); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- c.asks(n.room, context.Background(), first, second) }()
			eventually(t, "the room waits for the batch", func() bool {
				return h.one(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
			})
			if _, err := batch.Exec(t.Context(), lockSlot, second); err != nil {
				t.Errorf("the room waits for the first slot and has the second one: %v", err)
			}
			if err := batch.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
