package waitingroom_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// model is what a room must do, said in a few lines; the machine does the same things to both.
type model struct {
	h      *fixture
	nodes  []*node
	people []*person
	inside map[*person]bool
	left   map[*person]bool

	phase   waitingroom.Phase
	lobby   int64
	joined  int64
	serving int64
	slots   int
	version int64
}

func (m *model) node(t *rapid.T) *node { return rapid.SampledFrom(m.nodes).Draw(t, "node") }

func (m *model) person(t *rapid.T) *person {
	if len(m.people) == 0 {
		t.Skip("the model has no visitor yet")
	}
	return rapid.SampledFrom(m.people).Draw(t, "person")
}

// join has a new visitor come. Their place is the next one of its kind.
func (m *model) join(t *rapid.T) {
	p := &person{holder: seats.NewID()}
	var err error
	if p.place, p.token, err = m.node(t).room.Join(m.h.ctx, p.holder, ""); err != nil {
		t.Fatal(err)
	}
	m.joined++
	want := waitingroom.Place{Room: p.place.Room, Epoch: 1, Kind: waitingroom.Lobby, Index: m.joined}
	if m.phase == waitingroom.PhaseLobby {
		m.lobby = m.joined
	} else {
		want.Kind, want.Index = waitingroom.Line, m.joined-m.lobby
	}
	if p.place != want {
		t.Fatalf("in %s, place %+v was given; the next one is %+v", m.phase, p.place, want)
	}
	m.people = append(m.people, p)
}

// enter has a visitor try to come in: they must be let in if, and only if, it is their turn and a slot is free.
func (m *model) enter(t *rapid.T) {
	p, n := m.person(t), m.node(t)
	v, err := n.room.Enter(m.h.ctx, p.holder, p.token)
	if err != nil {
		t.Fatal(err)
	}
	number := n.room.Number(p.place)
	may := m.phase == waitingroom.PhaseOpen && number > 0 && number <= m.serving && !m.left[p] && len(m.inside) < m.slots
	if v.Inside != (may || m.inside[p]) {
		t.Fatalf("in %s with serving %d and %d of %d inside, number %d (inside %v, left %v) got %+v", m.phase, m.serving, len(m.inside), m.slots, number, m.inside[p], m.left[p], v)
	}
	if v.Inside {
		m.inside[p] = true
	}
}

// leave has a visitor give up.
func (m *model) leave(t *rapid.T) {
	p, n := m.person(t), m.node(t)
	left, err := n.room.Leave(m.h.ctx, p.holder, p.token)
	if err != nil {
		t.Fatal(err)
	}
	if left != m.inside[p] {
		t.Fatalf("a visitor left: %v; they were inside: %v", left, m.inside[p])
	}
	delete(m.inside, p)
	m.left[p] = m.left[p] || n.room.Number(p.place) > 0
}

// claim has a visitor take a place and let it go again: it succeeds only inside.
func (m *model) claim(t *rapid.T) {
	p, n := m.person(t), m.node(t)
	_, err := n.sale.Claim(m.h.ctx, p.holder, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
	if m.inside[p] != (err == nil) {
		t.Fatalf("a claim of a visitor (inside: %v) got %v", m.inside[p], err)
	}
	if err != nil {
		return
	}
	if left, err := n.room.Leave(m.h.ctx, p.holder, p.token); left || err != nil {
		t.Fatalf("a visitor who holds seats left: %v, %v", left, err)
	}
	m.left[p] = true // they gave their number up; they stay until they let their seats go
	if _, err := n.sale.Release(m.h.ctx, p.holder); err != nil {
		t.Fatal(err)
	}
}

// control has the organizer do something.
func (m *model) control(t *rapid.T) {
	var err error
	switch what := rapid.SampledFrom([]string{"open", "pause", "resume", "more slots"}).Draw(t, "act"); {
	case what == "open" && m.phase == waitingroom.PhaseLobby:
		err, m.phase = m.h.c.Open(m.h.ctx, "evening", nil), waitingroom.PhaseOpen
	case what == "pause" && m.phase == waitingroom.PhaseOpen:
		err, m.phase = m.h.c.Pause(m.h.ctx, "evening", "Wait."), waitingroom.PhasePaused
	case what == "resume" && m.phase == waitingroom.PhasePaused:
		err, m.phase = m.h.c.Resume(m.h.ctx, "evening"), waitingroom.PhaseOpen
	case what == "more slots":
		m.slots++
		err = m.h.c.Slots(m.h.ctx, "evening", m.slots)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check has every node look, and holds what it sees against the model and against what it saw before.
func (m *model) check(t *rapid.T) {
	m.h.exec(t, `UPDATE room SET ticked_at = '-infinity'`) // without waiting for a second to pass
	for _, n := range m.nodes {
		if err := n.rooms.Look(m.h.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range m.nodes { // those before it may have moved the room on since the first looked
		if err := n.room.Read(m.h.ctx); err != nil {
			t.Fatal(err)
		}
		s := n.room.State()
		if s.Phase != m.phase || s.Lobby != m.lobby || s.Lobby+s.Line != m.joined || s.Slots != m.slots {
			t.Fatalf("a node knows %s, %d+%d, %d slots; it should be %s, %d of %d in the lobby, %d slots", s.Phase, s.Lobby, s.Line, s.Slots, m.phase, m.lobby, m.joined, m.slots)
		}
		if s.Serving < m.serving || s.Version < m.version || m.phase != waitingroom.PhaseOpen && s.Serving != m.serving {
			t.Fatalf("in %s, serving went from %d to %d", m.phase, m.serving, s.Serving)
		}
		m.serving, m.version = s.Serving, s.Version
		seen := map[int64]bool{}
		for _, p := range m.people {
			if k := n.room.Number(p.place); m.phase != waitingroom.PhaseLobby && (k < 1 || k > m.joined || seen[k] || (k <= m.lobby) != (p.place.Kind == waitingroom.Lobby)) {
				t.Fatalf("place %+v has number %d, which is another's or was not given", p.place, k)
			} else {
				seen[k] = true
			}
		}
	}
	if problems := m.h.books(t); len(problems) > 0 {
		t.Fatal(problems)
	}
}

func TestRoom_EqualsItsModel(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Slots: 2})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	rapid.Check(t, func(rt *rapid.T) {
		h.clear(t)
		for _, n := range nodes {
			n.room.Forget()
			n.read(t)
		}
		m := &model{h: h, nodes: nodes, inside: map[*person]bool{}, left: map[*person]bool{}, phase: waitingroom.PhaseLobby, slots: 2}
		rt.Repeat(map[string]func(*rapid.T){
			"join": m.join, "join too": m.join, "enter": m.enter, "enter too": m.enter, "leave": m.leave, "claim": m.claim, "control": m.control, "": m.check,
		})
	})
}

// clear makes the fixture as it was when it was built.
func (h *fixture) clear(t failer) {
	t.Helper()
	for _, table := range []string{"called", "admission", "presence", "control"} {
		h.exec(t, `DELETE FROM `+table)
	}
	h.exec(t, `DELETE FROM slot WHERE slot > 2`)
	h.exec(t, `UPDATE slot SET epoch = NULL, number = NULL, holder = NULL, expires_at = '-infinity'`)
	h.exec(t, `UPDATE room SET version = version + 1, phase = 'lobby', opens_at = clock_timestamp() + interval '1 hour', lobby = 0, line = 0, serving = 0, slots = 2,
		note = '', pace = '{}', outlook = '{}', closed_at = NULL, drawn_at = NULL, secret = NULL`)
}
