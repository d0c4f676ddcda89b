package gate_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/gate"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

var (
	simSeed  = flag.Uint64("sim-seed", 1, "what happens in simulated hours; an even one has a lobby first, 0 is another one each time")
	simWaves = flag.Int("sim-waves", 1, "crowds that come in simulated hours")
)

const (
	simNodes  = 2
	simCrowd  = 7
	simValid  = 2 * time.Minute
	simIdle   = 40 * time.Second
	simBroken = time.Minute // the longest that the database is gone
)

// waiter is somebody in simulated hours, and what they were told.
type waiter struct {
	person
	inside bool
	unsure bool      // they got no answer, and may be inside or not
	until  time.Time // inside at least until then, by the database's clock
	slow   bool      // they look seldom, and come in late when they are called
	done   bool      // they need not come in any more
}

// hours is a room of several nodes for hours that pass in seconds. Everything may break but what it promised.
type hours struct {
	house
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	began   time.Time
	bubble  *seatstest.Bubble
	nodes   [simNodes]*node
	serving [simNodes]int64
	people  []*waiter
	whose   map[gate.Place]seats.ID
	frozen  int64 // places of the lobby once it closed; negative before
	paused  bool
	slots   int

	// A bug that is planted into what people are told, by its name; none in earnest.
	planted string
	said    []string // what was found wrong where a bug is planted
}

// wrong tells what must not be, and how to see it again.
func (h *hours) wrong(format string, args ...any) {
	h.t.Helper()
	problem := fmt.Sprintf(format, args...)
	if h.planted != "" {
		h.said = append(h.said, problem)
		return
	}
	h.t.Errorf("-sim-seed %d, after %v: %s", h.seed, time.Since(h.began), problem)
}

// Hours of people who come in crowds, wait, come in, choose, buy, give up or go away, of an organizer who steers, and of nodes
// that die, connections that are cut, a database that is gone for a while and a clock of it that is wrong and jumps ahead.
func TestThroughHoursEverybodyIsLetInInTurnWhateverBreaks(t *testing.T) {
	t.Parallel()
	seed := *simSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	b := seatstest.NewBubble(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHours(t, b, seed, "")
		h.live(*simWaves)
		t.Logf("-sim-seed %d: %d people in %v", seed, len(h.people), time.Since(h.began))
	})
}

func newHours(t *testing.T, b *seatstest.Bubble, seed uint64, planted string) *hours {
	h := &hours{
		house: house{ctx: t.Context(), db: b.Pool(t)}, t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 2)), began: time.Now(),
		bubble: b, whose: map[gate.Place]seats.ID{}, frozen: -1, slots: 2, planted: planted,
	}
	h.c = gate.Control{DB: h.db, Who: "test"}
	b.Ahead(time.Duration(h.random.Int64N(int64(2*time.Hour))) - time.Hour)
	p, ok := plan.Named("conference")
	if !ok {
		t.Fatal("there is no plan for it")
	}
	if _, err := seats.CreateEvent(h.ctx, h.db, seats.NewEvent{Name: "Evening", StartsAt: time.Now().Add(1000 * time.Hour), HoldLength: time.Minute}, p); err != nil {
		t.Fatal(err)
	}
	n := gate.NewRoom{Name: "Evening", Events: []string{"evening"}, Slots: h.slots, Valid: simValid, Idle: simIdle, Stay: 5 * time.Minute}
	if seed%2 == 0 {
		opens := b.Now().Add(45 * time.Second)
		n.OpensAt = &opens
	}
	if _, err := h.c.Create(h.ctx, n); err != nil {
		t.Fatal(err)
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
	n := &node{db: h.db, office: office, gate: gate.New(h.db, "", log)}
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
func (h *hours) live(waves int) {
	long := 2 * time.Minute
	if h.planted == "a pause is none" {
		long = 10 * time.Minute // until somebody is called, and there is room for them, while it is paused
	}
	for range waves {
		for range simCrowd {
			h.come()
		}
		for end := time.Now().Add(long); time.Now().Before(end) && !h.found(); {
			h.step()
			time.Sleep(time.Duration(h.random.Int64N(int64(8 * time.Second))))
			if h.random.IntN(3) == 0 || h.planted != "" {
				h.look()
			}
		}
		if h.seed%2 == 1 { // everybody went home; a room that opened at a time goes on looking for them
			time.Sleep(time.Duration(h.random.Int64N(int64(2 * time.Hour))))
		}
	}
	if !h.found() {
		h.heal()
	}
	for _, n := range h.nodes {
		n.stop()
	}
	h.db.Close()
}

// found tells whether something wrong was found.
func (h *hours) found() bool { return h.t.Failed() || len(h.said) > 0 }

// node is one of those that run.
func (h *hours) node() *node { return h.nodes[h.random.IntN(simNodes)] }

func (h *hours) now() time.Time { return h.bubble.Now() }

// look holds the books against every promise, and what the nodes know against what they knew and told before.
func (h *hours) look() {
	for _, problem := range h.books(h.t) {
		h.wrong("%s", problem)
	}
	for i, n := range h.nodes {
		s := n.room.State()
		if h.planted == "serving goes back" && s.Serving > 1 {
			h.serving[i] = s.Serving + 1
		}
		if s.Serving < h.serving[i] {
			h.wrong("node %d called numbers up to %d, and now up to %d", i, h.serving[i], s.Serving)
		}
		h.serving[i] = s.Serving
		if s.Phase != gate.PhaseLobby && s.Mode == gate.ModeScheduled {
			if h.frozen >= 0 && s.Lobby != h.frozen {
				h.wrong("the lobby closed with %d, and has %d", h.frozen, s.Lobby)
			}
			h.frozen = s.Lobby
		}
	}
	h.numbers()
}

// numbers holds the numbers of all places against each other: each is one person's, the same on every node that knows it.
func (h *hours) numbers() {
	whose := map[int64]gate.Place{}
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
			h.wrong("place %+v has the numbers %v, and place %+v one of them", place, known, other)
		}
		whose[known[0]] = place
	}
}

// heal ends everything that is broken, and has everybody who is still there come in, one after the other leaving again.
func (h *hours) heal() {
	h.resume()
	within := 30 * time.Minute
	if h.planted != "" {
		within = 3 * time.Minute
	}
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(2 * time.Second) {
		waiting := 0
		for _, w := range h.people {
			h.enter(w)
			switch {
			case w.done:
			case w.inside && h.planted != "nobody ever leaves":
				_, _ = h.node().sale.Release(h.ctx, w.holder)
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
	h.wrong("nothing is broken any more, and within %v not everybody came in", within)
}

// What the hours find is only worth something if they find what is planted.
func TestPlantedBugsAreNoticedInSimulatedHours(t *testing.T) {
	t.Parallel()
	for planted, says := range map[string]string{
		"a place is given twice": "somebody joined and has place", "somebody comes in before their turn": "before their number was called",
		"a pause is none": "the room is paused, and", "serving goes back": "called numbers up to", "nobody ever leaves": "not everybody came in",
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			all := ""
			for seed := uint64(2); seed < 10 && !strings.Contains(all, says); seed += 2 { // what happens is not all in the seed
				b := seatstest.NewBubble(t)
				synctest.Test(t, func(t *testing.T) {
					h := newHours(t, b, seed, planted)
					h.live(1)
					all += strings.Join(h.said, "\n")
				})
			}
			if !strings.Contains(all, says) {
				t.Errorf("it is not noticed: %s", all)
			}
		})
	}
}
