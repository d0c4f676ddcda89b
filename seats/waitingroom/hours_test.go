package waitingroom_test

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

const (
	simNodes  = 2
	simCrowd  = 7
	simValid  = 2 * time.Minute
	simIdle   = 40 * time.Second
	simWave   = 5 * time.Minute
	simBroken = time.Minute // the longest that the database is gone
)

// waiter is somebody in simulated hours, and what they were told.
type waiter struct {
	person
	inside bool
	unsure bool      // they got no answer, and may be inside or not
	until  time.Time // inside at least until then, by the database's clock
	holds  time.Time // seats, until then; by the same clock
	slow   bool      // they look seldom, and come in late when they are called
	done   bool      // they need not come in any more
}

// hours is a room of several nodes for hours that pass in seconds. Everything may break but what it promised.
type hours struct {
	*seatstest.Hours
	house
	nodes   [simNodes]*node
	serving [simNodes]int64
	people  []*waiter
	whose   map[waitingroom.Place]seats.ID
	frozen  int64 // places of the lobby once it closed; negative before
	paused  bool
	slots   int
}

// Hours of people who come in crowds, wait, come in, choose, buy, give up or go away, of an organizer who steers, and of nodes
// that die, connections that are cut, a database that is gone for a while and a clock of it that is wrong and jumps ahead. With
// an even seed the room has a lobby first; else people come again some hours later.
func TestThroughHoursEverybodyIsLetInInTurnWhateverBreaks(t *testing.T) {
	t.Parallel()
	seatstest.Through(t, live)
}

func newHours(s *seatstest.Hours) *hours {
	h := &hours{
		Hours: s, house: house{ctx: s.T.Context(), db: s.DB}, whose: map[waitingroom.Place]seats.ID{}, frozen: -1, slots: 2,
	}
	h.c = waitingroom.Control{DB: h.db, Who: "test"}
	h.Wrongs()
	p, ok := plan.Named("conference")
	if !ok {
		h.T.Fatal("there is no plan for it")
	}
	if _, err := seats.CreateEvent(h.ctx, h.db, seats.NewEvent{Name: "Evening", StartsAt: time.Now().Add(1000 * time.Hour), HoldLength: time.Minute}, p); err != nil {
		h.T.Fatal(err)
	}
	n := waitingroom.NewRoom{Name: "Evening", Events: []string{"evening"}, Slots: h.slots, Valid: simValid, Idle: simIdle, Stay: 5 * time.Minute}
	if h.Seed%2 == 0 {
		opens := h.Now().Add(45 * time.Second)
		n.OpensAt = &opens
	}
	if _, err := h.c.Create(h.ctx, n); err != nil {
		h.T.Fatal(err)
	}
	for i := range h.nodes {
		h.start(i)
	}
	return h
}

// start starts a node that knows nothing.
func (h *hours) start(i int) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	office := seats.NewOffice(h.db, log)
	n := &node{db: h.db, office: office, gate: waitingroom.New(h.db, "", log)}
	n.gate.Ended = office.Ended
	n.start(office.Run)
	n.start(n.gate.RunDeaf)
	h.nodes[i], h.serving[i] = n, 0
	for n.room == nil || n.sale == nil {
		room, err := n.gate.Room(h.ctx, "evening")
		sale, err2 := office.Sale(h.ctx, "evening")
		if errors.Join(err, err2) == nil {
			n.room, n.sale = room, sale
			return
		}
		time.Sleep(time.Second)
	}
}

// live has crowds come and things break, heals all of it, and wants everybody to have come in at last.
func live(s *seatstest.Hours) {
	h := newHours(s)
	for range h.Times {
		for range simCrowd {
			h.come()
		}
		end := time.Now().Add(simWave)
		for i := 0; time.Now().Before(end) && !h.Found(); i++ {
			switch i % 6 {
			case 2: // this and the other one would come too seldom by chance
				h.pause()
			case 5:
				h.everybody()
				h.claim(h.insider())
			default:
				h.step()
			}
			h.Rest(8 * time.Second)
			if h.Random.IntN(3) == 0 || h.Planted != "" {
				h.look()
			}
		}
		if h.Seed%2 == 1 { // everybody went home; a room that opened at a time goes on looking for them
			h.Rest(time.Hour)
		}
	}
	if !h.Found() {
		h.heal()
	}
	for _, n := range h.nodes {
		n.stop()
	}
}

// node is one of those that run.
func (h *hours) node() *node { return h.nodes[h.Random.IntN(simNodes)] }

// look holds the books against every promise, and what the nodes know against what they knew and told before.
func (h *hours) look() {
	for _, problem := range h.books(h.T) {
		h.Wrong("%s", problem)
	}
	for i, n := range h.nodes {
		s := n.room.State()
		if h.Planted == "serving goes back" && s.Serving > 1 {
			h.serving[i] = s.Serving + 1
		}
		if s.Serving < h.serving[i] {
			h.Wrong("node %d called numbers up to %d, and now up to %d", i, h.serving[i], s.Serving)
		}
		h.serving[i] = s.Serving
		if s.Phase != waitingroom.PhaseLobby && s.Mode == waitingroom.ModeScheduled {
			if h.frozen >= 0 && s.Lobby != h.frozen {
				h.Wrong("the lobby closed with %d, and has %d", h.frozen, s.Lobby)
			}
			h.frozen = s.Lobby
		}
	}
	h.numbers()
}

// numbers holds the numbers of all places against each other: each is one person's, the same on every node that knows it.
func (h *hours) numbers() {
	whose := map[int64]waitingroom.Place{}
	for place := range h.whose {
		var known []int64
		for _, n := range h.nodes {
			if number := n.room.Number(place); number > 0 {
				known = append(known, number)
			}
		}
		if len(known) == 0 {
			continue
		}
		if other, taken := whose[known[0]]; taken || slices.Min(known) != slices.Max(known) {
			h.Wrong("place %+v has the numbers %v, and place %+v one of them", place, known, other)
		}
		whose[known[0]] = place
	}
}

// heal ends everything that is broken, and has everybody who is still there come in, one after the other leaving again.
func (h *hours) heal() {
	h.resume()
	within := 30 * time.Minute
	if h.Planted != "" {
		within = 3 * time.Minute
	}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(2 * time.Second) {
		waiting := 0
		for _, w := range h.people {
			h.enter(w)
			switch {
			case w.done:
			case w.inside && h.Planted != "nobody ever leaves":
				h.letGo(w)
				h.leave(w)
				w.done = !w.inside
			default:
				waiting++
			}
		}
		if waiting == 0 {
			h.look()
			return
		}
	}
	h.Wrong("nothing is broken any more, and within %v not everybody came in", within)
}

// What the hours find is only worth something if they find what is planted.
func TestPlantedBugsAreNoticedInSimulatedHours(t *testing.T) {
	t.Parallel()
	for planted, says := range map[string]string{
		"a place is given twice":              "somebody joined and has place",
		"somebody comes in before their turn": "before their number was called",
		"a pause is none":                     "the room is paused, and",
		"serving goes back":                   "called numbers up to",
		"who holds seats leaves":              "holds seats until",
		"nobody ever leaves":                  "not everybody came in",
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			seatstest.Notices(t, planted, says, live)
		})
	}
}
