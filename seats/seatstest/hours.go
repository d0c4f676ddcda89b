package seatstest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	simSeed  = flag.Uint64("sim-seed", 1, "what happens in simulated hours; 0 is another one each time")
	simTimes = flag.Int("sim-times", 1, "how many times as long as usual simulated hours are")
)

// Hours pass in seconds, in a bubble with a database of its own. What people do in them, and what breaks, comes of a seed.
type Hours struct {
	*Bubble
	T      *testing.T // of the bubble
	DB     *pgxpool.Pool
	Seed   uint64
	Random *rand.Rand
	Times  int // how many times as long as usual they are to be

	// Fault names the fault that what people are told has; empty: none. With one, Said is what was found wrong.
	Fault string
	Said  []string

	began time.Time
}

// Through has hours pass in which nothing may be wrong.
func Through(t *testing.T, live func(h *Hours)) {
	t.Helper()
	seed := *simSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	through(t, seed, "", live)
}

// Notices lets hours with a fault pass, for several seeds because a seed does not decide all that happens: what is found
// wrong must name the fault.
func Notices(t *testing.T, fault, says string, live func(h *Hours)) {
	t.Helper()
	all := ""
	for seed := uint64(2); seed < 10 && !strings.Contains(all, says); seed += 2 {
		all += strings.Join(through(t, seed, fault, live), "\n")
	}
	if !strings.Contains(all, says) {
		t.Errorf("it is not noticed that %s: %s", fault, all)
	}
}

func through(t *testing.T, seed uint64, fault string, live func(h *Hours)) (said []string) {
	t.Helper()
	b := NewBubble(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12 * time.Hour) // a bubble begins at midnight, and what is offered by night lasts until the morning
		h := &Hours{
			Bubble: b, T: t, DB: b.Pool(t), Seed: seed, Random: rand.New(rand.NewPCG(seed, 1)), Times: *simTimes, Fault: fault, began: time.Now(),
		}
		t.Cleanup(h.DB.Close)
		live(h)
		t.Logf("-sim-seed %d: %v passed", seed, h.Passed())
		said = h.Said
	})
	return said
}

// Wrong tells what must not be, and how to see it again.
func (h *Hours) Wrong(format string, args ...any) {
	h.T.Helper()
	problem := fmt.Sprintf(format, args...)
	if h.Fault != "" {
		h.Said = append(h.Said, problem)
		return
	}
	h.T.Errorf("-sim-seed %d, after %v: %s", h.Seed, h.Passed(), problem)
}

// Found reports whether something wrong was found.
func (h *Hours) Found() bool { return h.T.Failed() || len(h.Said) > 0 }

// Passed is how long it has been going on.
func (h *Hours) Passed() time.Duration { return time.Since(h.began) }

// Rest lets some time pass, at most so much.
func (h *Hours) Rest(most time.Duration) { time.Sleep(h.some(most)) }

func (h *Hours) some(most time.Duration) time.Duration {
	return time.Duration(h.Random.Int64N(int64(most)))
}

// Wrongs puts the database's clock up to an hour before or behind all others.
func (h *Hours) Wrongs() { h.Ahead(h.some(2*time.Hour) - time.Hour) }

// Leaps has the database's clock jump ahead.
func (h *Hours) Leaps() { h.Ahead(h.some(20 * time.Second)) }

// Cuts cuts all connections to the database, the one that does it as well.
func (h *Hours) Cuts() { _ = Cut(h.T.Context(), h.DB) }
