package waitingroom_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestALobbyClosesAtItsTimeAndItsDrawIsThePublishedOne(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Slots: 1000})
	nodes := []*node{h.node(t, true), h.node(t, true)}
	crowd := joinAll(t, nodes[0].room, 80)
	committed := nodes[0].room.State().Commitment
	h.exec(t, `UPDATE room SET opens_at = clock_timestamp() + interval '1 second', version = version + 1`)
	eventually(t, "the room opens", func() bool { return nodes[1].room.State().Phase == waitingroom.PhaseOpen })
	var p waitingroom.Published
	eventually(t, "it is shown", func() bool {
		p = waitingroom.Published{}
		return json.Unmarshal(nodes[1].room.Status().JSON, &p) == nil && p.Draw != nil
	})
	if wrong := waitingroom.Verify(p.Draw); len(wrong) > 0 || p.Draw.People != 80 || string(p.Draw.Commitment) != string(committed) {
		t.Errorf("the published draw of %d people: %v", p.Draw.People, wrong)
	}
	numbers := p.Draw.Draw().Numbers()
	for _, who := range crowd {
		place, err := nodes[1].rooms.Read(t.Context(), who.token, who.holder)
		if err != nil || nodes[1].room.Number(place) != int64(numbers[place.Index-1]) {
			t.Fatalf("place %+v has number %d, %v; by the published draw it is %d", place, nodes[1].room.Number(place), err, numbers[place.Index-1])
		}
	}
	eventually(t, "all are called and let in", func() bool {
		in := 0
		for _, who := range crowd {
			if who.enter(t, nodes[0].room).Inside {
				in++
			}
		}
		return in == len(crowd)
	})
	h.wantBooks(t)
}

// beaconOf has every node of a fixture ask this instead of drand.
func beaconOf(n *node, ask func(round uint64) ([]byte, error)) {
	n.rooms.Beacon = func(_ context.Context, _ string, round uint64) ([]byte, error) { return ask(round) }
}

func TestDraw_BeaconCountsIfItAnswersInTime(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Beacon: waitingroom.BeaconDrand, BeaconWait: 12 * time.Second})
		n := h.node(t, false)
		var asked atomic.Int64
		beaconOf(n, func(round uint64) ([]byte, error) {
			asked.Add(1)
			if !answers {
				return nil, errors.New("the beacon is silent")
			}
			return []byte("signature"), nil
		})
		n.run(t)
		joinAll(t, n.room, 10)
		if err := h.c.Open(t.Context(), "evening", nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the room opens", func() bool { return n.room.State().Phase == waitingroom.PhaseOpen })
		s := n.room.State()
		record, _ := s.Record()
		if wrong := waitingroom.Verify(&record); len(wrong) > 0 {
			t.Errorf("answers %v: %v", answers, wrong)
		}
		if kind := record.Beacon.Kind; answers != (kind == waitingroom.BeaconDrand) || !answers && kind != waitingroom.BeaconNone || asked.Load() == 0 {
			t.Errorf("answers %v: the record says %q after %d questions", answers, kind, asked.Load())
		}
		if answers && record.Beacon.Round != waitingroom.RoundAfter(*s.ClosedAt) {
			t.Errorf("round %d is not the first after the lobby closed", record.Beacon.Round)
		}
		if !answers && s.DrawnAt.Sub(*s.ClosedAt) < 12*time.Second {
			t.Errorf("it drew without a beacon after %s", s.DrawnAt.Sub(*s.ClosedAt))
		}
	}
}

func TestASmallSaleNeverSeesAWaitingRoomUntilTheSlotsAreFull(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 5})
	nodes := []*node{h.node(t, true), h.node(t, true)}
	var inside []*person
	for i := range 5 {
		p := &person{holder: seats.NewID()}
		v := p.enter(t, nodes[i%2].room)
		if p.token = v.Token; !v.Inside {
			t.Fatalf("person %d of 5 got %+v", i, v)
		}
		inside = append(inside, p)
		if again := p.enter(t, nodes[(i+1)%2].room); !again.Inside {
			t.Fatalf("on the other node they got %+v", again)
		}
	}
	next := &person{holder: seats.NewID()}
	v := next.enter(t, nodes[0].room)
	if next.token = v.Token; v.Inside || v.Place == (waitingroom.Place{}) {
		t.Fatalf("the sixth for five slots got %+v", v)
	}
	eventually(t, "people wait", func() bool { return nodes[1].room.State().Phase == waitingroom.PhaseOpen })
	if _, err := nodes[0].room.Leave(t.Context(), inside[0].holder, inside[0].token); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sixth is let in", func() bool { return next.enter(t, nodes[1].room).Inside })
	for _, p := range inside[1:4] {
		if _, err := nodes[0].room.Leave(t.Context(), p.holder, p.token); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "everybody is let through again", func() bool { return nodes[1].room.State().Phase == waitingroom.PhaseThrough })
	h.wantBooks(t)
}

func TestAPlaceIsKeptOverARestartOfAllNodesAndChangedKeys(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Slots: 1000})
	before := h.node(t, true)
	crowd := joinAll(t, before.room, 50)
	if err := h.c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "numbers are known", func() bool {
		crowd[0].number = before.room.Look(t.Context(), crowd[0].holder, crowd[0].token).Number
		return crowd[0].number > 0
	})
	for _, p := range crowd {
		p.number = before.room.Look(t.Context(), p.holder, p.token).Number
	}
	before.stop()
	if err := h.c.NewKey(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	after := h.node(t, true)
	for _, p := range crowd {
		if n := after.room.Look(t.Context(), p.holder, p.token).Number; n != p.number {
			t.Fatalf("number %d became %d", p.number, n)
		}
	}
	if _, token, err := after.room.Join(t.Context(), seats.NewID(), ""); err != nil || token[:6] == crowd[0].token[:6] {
		t.Errorf("the new key does not sign: %v", err)
	}
	if err := h.c.NewKey(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	revoked := h.node(t, false)
	if v := revoked.room.Look(t.Context(), crowd[0].holder, crowd[0].token); v.Place != (waitingroom.Place{}) {
		t.Error("a revoked key is still believed")
	}
}

func TestNumbersAreCalledWhileOneNodeOfThreeLives(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 50})
	nodes := []*node{h.node(t, true), h.node(t, true), h.node(t, true)}
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	joinAll(t, nodes[0].room, 500)
	nodes[0].stop()
	nodes[1].stop()
	if err := h.c.Resume(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a number is called though no one asks", func() bool { return h.one(t, `SELECT serving FROM room`) >= 10 })
	h.wantBooks(t)
}

func TestRoom_WithoutTheDatabaseTheStatusStays(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 50})
	n := h.node(t, true)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 20)
	if err := h.c.Resume(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a status with calls", func() bool { return n.room.State().Serving > 0 && n.room.Status().Version > 0 })
	status, serving := n.room.Status(), h.one(t, `SELECT serving FROM room`)
	n.db.Close() // what it has of the database is gone
	for _, p := range crowd {
		if v, err := n.room.Enter(t.Context(), p.holder, p.token); v.Inside || err == nil && v.Number <= serving {
			t.Fatalf("without a database number %d got %+v, %v", v.Number, v, err)
		}
		if v := n.room.Look(t.Context(), p.holder, p.token); v.Number == 0 {
			t.Error("a number was forgotten")
		}
	}
	if now := n.room.Status(); now.Version < status.Version || len(now.JSON) == 0 {
		t.Errorf("the status went from %d to %d", status.Version, now.Version)
	}
	if in := h.one(t, `SELECT count(*) FROM slot WHERE expires_at > clock_timestamp()`); in != 0 {
		t.Errorf("%d came in", in)
	}
}

func TestEveryControlIsKnownEverywhereAndWrittenDown(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 50})
	nodes := []*node{h.node(t, true), h.node(t, true)}
	everywhere := func(what string, ok func(waitingroom.State) bool) {
		t.Helper()
		eventually(t, what, func() bool { return ok(nodes[0].room.State()) && ok(nodes[1].room.State()) })
	}
	for _, step := range []struct {
		what string
		do   func() error
		seen func(waitingroom.State) bool
	}{
		{"open", func() error { return h.c.Open(t.Context(), "evening", nil) }, func(s waitingroom.State) bool {
			return s.Phase == waitingroom.PhaseOpen || s.Phase == waitingroom.PhaseThrough
		}},
		{"pause", func() error { return h.c.Pause(t.Context(), "evening", "Slow.") }, func(s waitingroom.State) bool { return s.Phase == waitingroom.PhasePaused && s.Note == "Slow." }},
		{"rate", func() error { return h.c.Rate(t.Context(), "evening", 2.5) }, func(s waitingroom.State) bool { return s.Rate == 2.5 }},
		{"slots", func() error { return h.c.Slots(t.Context(), "evening", 70) }, func(s waitingroom.State) bool { return s.Slots == 70 }},
		{"resume", func() error { return h.c.Resume(t.Context(), "evening") }, func(s waitingroom.State) bool { return s.Phase != waitingroom.PhasePaused && s.Note == "" }},
		{"end", func() error { return h.c.End(t.Context(), "evening", "Over.") }, func(s waitingroom.State) bool { return s.Phase == waitingroom.PhaseEnded }},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		everywhere(step.what, step.seen)
	}
	if n := h.one(t, `SELECT count(*) FROM slot`); n != 70 {
		t.Errorf("there are %d slots", n)
	}
	if n := h.one(t, `SELECT count(*) FROM control WHERE who = 'test'`); n != 7 {
		t.Errorf("%d of 7 acts were written down", n)
	}
	var nonsense *seats.ValidationError
	if err := h.c.Resume(t.Context(), "evening"); !errors.As(err, &nonsense) {
		t.Errorf("resume after the end: %v", err)
	}
	if err := h.c.Pause(t.Context(), "morning", ""); !errors.Is(err, waitingroom.ErrNoRoom) {
		t.Errorf("pause a room that is not there: %v", err)
	}
}
