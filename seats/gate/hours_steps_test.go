package gate_test

import (
	"errors"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/gate"
	"github.com/usherbox/usher/seats/seatstest"
)

// step is the next thing that somebody does, or that breaks.
func (h *hours) step() {
	w := h.people[h.random.IntN(len(h.people))]
	switch dice := h.random.IntN(24); {
	case dice == 0:
		h.come()
	case dice == 1:
		_ = seatstest.Cut(h.ctx, h.db) // it cuts itself, too
	case dice == 2:
		i := h.random.IntN(simNodes)
		h.nodes[i].stop()
		h.start(i)
	case dice == 3:
		h.away()
	case dice == 4:
		h.bubble.Ahead(time.Duration(h.random.Int64N(int64(20 * time.Second))))
	case dice < 7:
		h.steer()
	case dice < 9:
		h.leave(w)
	case dice < 13:
		h.claim(w)
	default:
		h.everybody()
	}
}

// everybody tries to come in, but those who were there an hour ago and went away.
func (h *hours) everybody() {
	for _, w := range h.people[max(0, len(h.people)-2*simCrowd):] {
		if h.random.IntN(6) > 1 && !w.slow || h.random.IntN(12) == 0 {
			h.enter(w)
		}
	}
}

// come has somebody new join, as often as it takes to get an answer.
func (h *hours) come() {
	w := &waiter{person: person{holder: seats.NewID()}, slow: h.random.IntN(3) == 0}
	for range 30 {
		var err error
		if w.place, w.token, err = h.node().room.Join(h.ctx, w.holder, ""); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	if h.planted == "a place is given twice" && len(h.people) > 0 {
		w.place = h.people[0].place
	}
	if who, given := h.whose[w.place]; given || w.token == "" {
		h.wrong("somebody joined and has place %+v, which %v has", w.place, who)
	}
	if w.place.Kind == gate.Lobby && h.frozen >= 0 {
		h.wrong("place %+v is of a lobby that closed with %d", w.place, h.frozen)
	}
	h.whose[w.place] = w.holder
	h.people = append(h.people, w)
}

// enter has somebody try to come in, and holds the answer against what everybody was told.
func (h *hours) enter(w *waiter) {
	if w.done {
		return
	}
	n := h.node()
	asked := h.now()
	v, err := n.room.Enter(h.ctx, w.holder, w.token)
	if h.planted == "somebody comes in before their turn" && err == nil && !v.Inside && v.Number > 0 {
		v = gate.Visit{Inside: true, Number: v.Number, Until: asked.Add(simIdle)}
		h.exec(h.t, `UPDATE slot SET epoch = 1, number = $2, holder = $1, since = clock_timestamp(), expires_at = clock_timestamp() + interval '30 s' WHERE slot = $3`, w.holder, v.Number, h.slots)
		h.exec(h.t, `INSERT INTO admission (room_id, epoch, number, holder) SELECT id, 1, $1, $2 FROM room ON CONFLICT DO NOTHING`, v.Number, w.holder)
	}
	switch {
	case err != nil:
		w.unsure = true
		return
	case v.Inside && h.bubble.Gone.Load():
		h.wrong("the database is gone, and %v was let in", w.holder)
	case v.Inside && h.paused && !w.inside && !w.unsure:
		h.wrong("the room is paused, and %v was let in", w.holder)
	case !v.Inside && w.inside && !w.unsure && asked.Before(w.until):
		h.wrong("%v is inside until %v, and at %v they are not: %s", w.holder, w.until, asked, v.Why)
	case v.Why == gate.WhyLate || v.Why == gate.WhyLeft:
		h.again(w)
		return
	}
	w.unsure = false
	if w.inside = v.Inside; v.Inside {
		w.until = v.Until
	}
}

// again has somebody join anew whose number is worth nothing any more.
func (h *hours) again(w *waiter) {
	place, token, err := h.node().room.Again(h.ctx, w.holder, w.token)
	if err != nil || place == w.place {
		return
	}
	if who, given := h.whose[place]; given {
		h.wrong("somebody joined again and has place %+v, which %v has", place, who)
	}
	h.whose[place] = w.holder
	w.place, w.token, w.inside, w.unsure = place, token, false, false
}

// claim has somebody take a place: they must be inside. Then they buy, let go, or go away.
func (h *hours) claim(w *waiter) {
	n := h.node()
	asked := h.now()
	var through bool // who comes then needs no slot
	if h.db.QueryRow(h.ctx, `SELECT phase = 'through' FROM room`).Scan(&through) != nil {
		return
	}
	hold, err := n.sale.Claim(h.ctx, w.holder, "", seats.Wish{Area: "Places", Quantity: 1})
	var refusal *seats.Refusal
	switch {
	case err == nil && !through && !w.inside && !w.unsure:
		h.wrong("%v was not let in, and claimed", w.holder)
	case errors.As(err, &refusal) && refusal.Code == seats.CodeWaitingRoom && w.inside && !w.unsure && asked.Before(w.until):
		h.wrong("%v is inside until %v, and may not claim at %v", w.holder, w.until, asked)
	case err != nil:
		return
	}
	if hold.ExpiresAt.After(w.until) {
		w.until = hold.ExpiresAt // who holds a seat stays
	}
	switch h.random.IntN(3) {
	case 0:
		if _, err := seatstest.Order(h.ctx, h.db, n.sale, w.holder); err == nil {
			w.inside, w.done = false, true
		}
	case 1:
		_, _ = n.sale.Release(h.ctx, w.holder)
		w.until = asked // how long their slot lasts then, nobody told them
	}
}

func (h *hours) leave(w *waiter) {
	left, err := h.node().room.Leave(h.ctx, w.holder, w.token)
	w.inside, w.unsure = w.inside && !left, w.unsure || err != nil
}

// steer is the organizer.
func (h *hours) steer() {
	what := h.random.IntN(4)
	if h.planted == "a pause is none" {
		what = 0
	}
	switch what {
	case 0:
		if h.c.Pause(h.ctx, "evening", "Wait.") == nil {
			h.paused = true
			if h.planted == "a pause is none" {
				h.exec(h.t, `UPDATE room SET phase = 'open', version = version + 1`)
			}
			h.wait()
		}
	case 1:
		if h.slots < 4 && h.c.Slots(h.ctx, "evening", h.slots+1) == nil {
			h.slots++
		}
	default:
		h.resume()
	}
}

// wait has somebody leave while the room is paused, and those who were called before try to come in.
func (h *hours) wait() {
	for _, w := range h.people {
		if w.inside {
			h.leave(w)
			break
		}
	}
	for _, w := range h.people {
		h.enter(w)
	}
}

func (h *hours) resume() {
	var nonsense *seats.Nonsense
	if err := h.c.Resume(h.ctx, "evening"); err == nil || errors.As(err, &nonsense) {
		h.paused = false
	}
}

// away has the database be gone for a while, and people try to come in meanwhile.
func (h *hours) away() {
	h.bubble.Gone.Store(true)
	for end := time.Now().Add(time.Duration(h.random.Int64N(int64(simBroken)))); time.Now().Before(end); {
		h.enter(h.people[h.random.IntN(len(h.people))])
		time.Sleep(5 * time.Second)
	}
	for _, n := range h.nodes { // their place is still known, and what everybody is shown
		for _, w := range h.people[max(0, len(h.people)-3):] {
			if v := n.room.Look(h.ctx, w.holder, w.token); v.Place != w.place && v.Place != (gate.Place{}) {
				h.wrong("while the database is gone, %v has place %+v and not %+v", w.holder, v.Place, w.place)
			}
		}
		if len(n.room.Status().JSON) == 0 {
			h.wrong("while the database is gone, nothing is shown")
		}
	}
	h.bubble.Gone.Store(false)
}
