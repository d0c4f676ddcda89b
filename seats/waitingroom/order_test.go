package waitingroom_test

import (
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// queueUp has n people come one after the other while nobody gets a place yet, and then all of them get one. They come
// back in the order in which they came.
func (h *house) queueUp(t *testing.T, room *waitingroom.Room, n int, join func(holder seats.ID, i int) (waitingroom.Place, string, error)) []*person {
	t.Helper()
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM room FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	people := make([]*person, n)
	var all sync.WaitGroup
	for i := range people {
		people[i] = &person{holder: seats.NewID()}
		all.Go(func() {
			var err error
			if people[i].place, people[i].token, err = join(people[i].holder, i); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			eventually(t, "the first one waits for the room", func() bool {
				return h.one(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
			})
			continue
		}
		eventually(t, "one more waits", func() bool { return room.Joining() == i })
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	return people
}

func TestWhoComesFirstHasTheFirstPlaceAlsoAmongThoseOfOneStatement(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{waitingroom.EntryBrowser, waitingroom.EntryEmail} {
		h := build(t, waitingroom.NewRoom{Slots: 5, OpensAt: in(time.Hour), Entry: entry})
		n := h.node(t, false)
		people := h.queueUp(t, n.room, 30, func(holder seats.ID, i int) (waitingroom.Place, string, error) {
			if entry == waitingroom.EntryBrowser {
				return n.room.Join(t.Context(), holder, "")
			}
			invitation, err := n.room.Invitation(t.Context(), string(rune('a'+i))+"@example.org")
			if err != nil {
				return waitingroom.Place{}, "", err
			}
			return n.room.JoinAs(t.Context(), holder, "", invitation)
		})
		for i, p := range people {
			if p.place.Index != int64(i+1) {
				t.Errorf("entered by %s, the person who came as number %d has place %d", entry, i+1, p.place.Index)
			}
			if v := n.room.Look(t.Context(), p.holder, p.token); v.Place != p.place {
				t.Errorf("what their browser keeps is place %+v, and they have %+v", v.Place, p.place)
			}
		}
	}
}

func TestEveryHolderHasTheNumberThatTheRecordGivesTheirPlace(t *testing.T) {
	t.Parallel()
	const lobby, late = 120, 20
	h := build(t, waitingroom.NewRoom{Slots: lobby + late, OpensAt: in(time.Hour)})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	crowd := joinAll(t, nodes[0].room, lobby)
	if err := h.c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if err := n.gate.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range joinAll(t, nodes[1].room, late) {
		p.number = lobby + p.place.Index
		crowd = append(crowd, p)
	}
	s := nodes[0].room.State()
	record, drawn := s.Record()
	if !drawn || waitingroom.Verify(&record) != nil {
		t.Fatalf("the record: %v, %v", drawn, waitingroom.Verify(&record))
	}
	numbers := record.Draw().Numbers()
	for _, p := range crowd[:lobby] {
		p.number = int64(numbers[p.place.Index-1])
	}
	h.exec(t, `UPDATE room SET serving = lobby + line, version = version + 1`)
	h.exec(t, `INSERT INTO called SELECT id, epoch, serving FROM room`)
	for i, n := range nodes {
		n.read(t)
		for _, p := range crowd {
			if v := n.room.Look(t.Context(), p.holder, p.token); v.Number != p.number {
				t.Errorf("place %+v has number %d, and by the record %d", p.place, v.Number, p.number)
			}
		}
		var all sync.WaitGroup
		for k, p := range crowd {
			if k%2 == i {
				all.Go(func() {
					if v := p.enter(t, n.room); !v.Inside || v.Number != p.number {
						t.Errorf("who has number %d got %+v", p.number, v)
					}
				})
			}
		}
		all.Wait()
	}
	for _, p := range crowd { // in the books they are who they were
		if n := h.one(t, `SELECT count(*) FROM admission a JOIN slot s USING (holder, number) WHERE holder = $1 AND number = $2`, p.holder, p.number); n != 1 {
			t.Errorf("number %d was let in %d times as its holder", p.number, n)
		}
	}
	h.wantBooks(t)
}
