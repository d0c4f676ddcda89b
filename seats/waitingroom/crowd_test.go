package waitingroom_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

// evenings gives the room of a fixture a second event, and returns its sale on each node.
func (h *fixture) evenings(t testing.TB, nodes []*node) (second []*seats.Sale) {
	t.Helper()
	p, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Night", StartsAt: *in(1e15)}, p); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE event SET room_id = (SELECT id FROM room)`)
	for _, n := range nodes {
		sale, err := n.office.Sale(t.Context(), "night")
		if err != nil {
			t.Fatal(err)
		}
		second = append(second, sale)
	}
	return second
}

// deadlocks is how often the database had to end a deadlock in this fixture.
func (h *fixture) deadlocks(t testing.TB) int64 {
	t.Helper()
	h.exec(t, `SELECT pg_stat_clear_snapshot()`)
	return h.one(t, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
}

func TestRoom_CrowdInTwoEventsDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	const slots, people = 12, 60
	h := build(t, waitingroom.NewRoom{Slots: slots})
	nodes := []*node{h.node(t, false), h.node(t, false), h.node(t, false)}
	nights := h.evenings(t, nodes)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, nodes[0].room, people)
	h.calls(t, people)
	for _, n := range nodes {
		n.read(t)
	}
	var entered atomic.Int64
	var all sync.WaitGroup
	for w := range 24 {
		all.Go(func() {
			n, night := nodes[w%3], nights[w%3]
			for range 50 {
				p := crowd[rand.IntN(people)]
				v, err := n.room.Enter(t.Context(), p.holder, p.token)
				if err != nil {
					t.Error(err)
					return
				}
				if !v.Inside {
					continue
				}
				entered.Add(1)
				sale := n.sale
				if rand.IntN(2) == 0 {
					sale = night
				}
				_, _ = sale.Claim(t.Context(), p.holder, "", seats.ClaimRequest{Area: "Places", Quantity: 1 + rand.IntN(2)}) // two at once may be over the limit
				switch rand.IntN(3) {
				case 0:
					_, _ = seatstest.Order(t.Context(), h.db, sale, p.holder) // another worker may have let the seats go
				case 1:
					_, _ = sale.Release(t.Context(), p.holder)
				}
				if _, err := n.room.Leave(t.Context(), p.holder, p.token); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entered.Load() < slots {
		t.Errorf("only %d came in", entered.Load())
	}
	if d := h.deadlocks(t); d != 0 {
		t.Errorf("the database undid %d of them because two waited for each other", d)
	}
	h.wantBooks(t)
}

func TestOfTwoBrowsersOfOnePersonOneIsInsideHoweverOftenBothTry(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 100, OpensAt: in(1e13), Entry: waitingroom.EntryEmail})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	const people = 15
	var browsers [people][2]*person
	for i := range browsers {
		for b := range browsers[i] {
			invitation, err := nodes[b].room.Invitation(t.Context(), string(rune('a'+i))+"@example.org")
			if err != nil {
				t.Fatal(err)
			}
			p := &person{holder: seats.NewID()}
			if p.place, p.token, err = nodes[b].room.JoinAs(t.Context(), p.holder, "", invitation); err != nil {
				t.Fatal(err)
			}
			browsers[i][b] = p
		}
		if browsers[i][0].place != browsers[i][1].place {
			t.Fatalf("one person has the places %+v and %+v", browsers[i][0].place, browsers[i][1].place)
		}
	}
	if err := h.c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if err := n.rooms.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all are called", func() bool {
		h.exec(t, `UPDATE room SET ticked_at = '-infinity'`)
		for _, n := range nodes {
			if err := n.rooms.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return h.one(t, `SELECT serving FROM room`) == people
	})
	for _, n := range nodes {
		n.read(t)
	}
	var inside [people][2]atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		for i := range browsers {
			for b, p := range browsers[i] {
				all.Go(func() {
					v, err := nodes[b].room.Enter(t.Context(), p.holder, p.token)
					if err != nil {
						t.Error(err)
					}
					if v.Inside {
						inside[i][b].Add(1)
					} else if v.Why != waitingroom.WhyUsed {
						t.Errorf("a visitor with a copied number got %+v", v)
					}
				})
			}
		}
	}
	all.Wait()
	for i := range inside {
		if a, b := inside[i][0].Load(), inside[i][1].Load(); (a == 0) == (b == 0) || a+b != 8 {
			t.Errorf("the two browsers of person %d were let in %d and %d times; one should be, each time", i, a, b)
		}
	}
	if n := h.one(t, `SELECT count(*) FROM admission`); n != people {
		t.Errorf("%d numbers have %d admissions", people, n)
	}
	if n := h.one(t, `SELECT count(*) FROM slot WHERE holder IS NOT NULL`); n != people {
		t.Errorf("%d people have %d slots", people, n)
	}
	h.wantBooks(t)
}

func TestRoom_FailsClosedWithoutAnyOfItsTables(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"room", "slot", "called", "admission"} {
		h := build(t, waitingroom.NewRoom{Slots: 10})
		n := h.node(t, false)
		h.exec(t, `UPDATE room SET phase = 'paused'`)
		crowd := joinAll(t, n.room, 4)
		h.calls(t, 4)
		n.read(t)
		if v := crowd[0].enter(t, n.room); !v.Inside {
			t.Fatalf("while everything was there a visitor got %+v", v)
		}
		h.exec(t, `ALTER TABLE `+table+` RENAME TO gone`)
		for _, p := range crowd[1:] {
			if v, err := n.room.Enter(t.Context(), p.holder, p.token); v.Inside || err == nil {
				t.Errorf("without %s a visitor got %+v, %v", table, v, err)
			}
			if _, err := n.sale.Claim(t.Context(), p.holder, "", seats.ClaimRequest{Area: "Places", Quantity: 1}); err == nil {
				t.Errorf("without %s a visitor claimed without being let in", table)
			}
			if v := n.room.Look(t.Context(), p.holder, p.token); v.Number == 0 {
				t.Errorf("without %s a number was forgotten", table)
			}
		}
		h.exec(t, `ALTER TABLE gone RENAME TO `+table)
		if in := h.one(t, `SELECT count(*) FROM slot WHERE expires_at > clock_timestamp()`); in != 1 {
			t.Errorf("without %s %d came in", table, in-1)
		}
		for _, p := range crowd[1:] {
			if v := p.enter(t, n.room); !v.Inside {
				t.Errorf("when %s was there again a visitor got %+v", table, v)
			}
		}
		h.wantBooks(t)
	}
}
