package realtime

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// act is one thing that happens in a world of two nodes and three pages.
type act struct {
	What       string
	Node, Page int
	N          int
}

// acts has the usual ones more than once.
var acts = []string{
	"claim", "claim", "claim", "release", // on a node
	"ring", "ring", "lose", "double", // about the oldest notification that was not delivered yet
	"rest", "rest", // N × 20 ms
	"read", "read", "read", // N messages by a page
	"return",              // a page connects again, to a node
	"fetch", "map", "map", // a page asks for map.bin; the answer it asked for arrives
	"keep", "restore", // the database, and another run of it begins with what was kept
	"notice", // the other node hears of that
}

func actsOf(t *rapid.T) []act {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
		return act{
			What: rapid.SampledFrom(acts).Draw(t, "what"), Node: rapid.IntRange(0, 1).Draw(t, "node"),
			Page: rapid.IntRange(0, 2).Draw(t, "page"), N: rapid.IntRange(1, 9).Draw(t, "n"),
		}
	}), 1, 40).Draw(t, "acts")
}

func TestReader_PageShowsTheMapOfItsVersion(t *testing.T) {
	t.Parallel()
	dsn := modelDB(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		if wrong := liveOn(t, dsn, runs, actsOf(rt), lie{}); wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// lie is a fault planted into a world, and a life that shows it.
type lie struct {
	name string
	hub  func(*world)           // done to the hubs after each act
	page func(*sheet, *message) // done by a page before it takes a message
	life []act
	told string // what is found
}

func claimed(n int) act           { return act{What: "claim", N: n, Page: n % 3} }
func rested() act                 { return act{What: "rest", N: 9} }
func said(what string, n int) act { return act{What: what, N: n} } // by the first page

var lies = []lie{
	{
		name: "the trailing edge is dropped", told: "ends at version 1",
		hub:  func(w *world) { w.each(func(h *topic) { h.changed = false }) },
		life: []act{said("read", 9), claimed(1), claimed(2)},
	}, {
		name: "the hub ignores the epoch", told: "ends at version",
		hub:  func(w *world) { w.each(func(h *topic) { h.frames.Load().epoch = 1 }) },
		life: []act{claimed(1), rested(), said("read", 9), claimed(2)},
	}, {
		name: "the hub believes that a page got what it did not", told: "found a gap",
		hub: func(w *world) {
			w.each(func(h *topic) {
				for _, s := range h.watchers {
					s.mu.Lock()
					if s.sent == 1 {
						s.sent = 2
					}
					s.mu.Unlock()
				}
			})
		},
		life: []act{said("read", 9), claimed(1), rested(), claimed(2), rested(), claimed(3)},
	}, {
		name: "a page ignores the epoch", told: "page", page: ignoreEpoch,
		life: []act{said("read", 9), said("keep", 1), claimed(1), rested(), said("restore", 1), claimed(2)},
	}, {
		name: "a page applies an old delta", told: "at version 2 it shows seat", page: applyOld,
		life: []act{said("read", 2), claimed(3), rested(), said("release", 1), said("map", 1), said("read", 1)},
	}, {
		name: "a page takes an older map", told: "found a gap", page: takeOldMap,
		life: []act{said("read", 2), said("fetch", 1), claimed(3), rested(), said("read", 9), said("map", 1), claimed(1), rested()},
	},
}

func TestTheModelFindsEveryPlantedFault(t *testing.T) {
	t.Parallel()
	for _, l := range lies {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dsn := modelDB(t)
			if wrong := liveOn(t, dsn, 1, l.life, lie{}); wrong != "" {
				t.Errorf("without the fault: %s", wrong)
			}
			if found := liveOn(t, dsn, 2, l.life, l); !strings.Contains(found, l.told) {
				t.Errorf("it was noticed as %q, want %q", found, l.told)
			}
		})
	}
}

// A reader who had not read, two changes, and a backup of before: the hub sent empty deltas without end until its next round.
func TestAMapThatIsReadAnewAtALowerVersionIsSentOnce(t *testing.T) {
	t.Parallel()
	life := []act{said("keep", 1), {What: "claim", Node: 1, N: 1}, {What: "claim", Node: 1, Page: 1, N: 1}, rested(), said("restore", 1)}
	if wrong := liveOn(t, modelDB(t), 1, life, lie{}); wrong != "" {
		t.Error(wrong)
	}
}

// The hub had told of the last change a moment ago and rested; what a page asked for meanwhile was the new map by the old name.
func TestAMapThatWasReadAnewIsNeverSentByItsOldEpoch(t *testing.T) {
	t.Parallel()
	life := []act{{What: "claim", Node: 1, N: 1}, rested(), {What: "ring"}, said("keep", 1), said("restore", 1), {What: "claim", Page: 1, N: 1}, said("read", 7)}
	if wrong := liveOn(t, modelDB(t), 1, life, lie{}); wrong != "" {
		t.Error(wrong)
	}
}

// A page came back while the hub rested: HELLO was of the new epoch and the delta after it of the old one.
func TestAPageThatReturnsBeforeTheNewMapIsGreetedByTheOldEpoch(t *testing.T) {
	t.Parallel()
	life := []act{
		said("keep", 1),
		{What: "claim", N: 1},
		rested(), said("read", 9),
		{What: "claim", Page: 1, N: 1},
		said("restore", 1), said("return", 1), said("read", 9),
	}
	if wrong := liveOn(t, modelDB(t), 1, life, lie{}); wrong != "" {
		t.Error(wrong)
	}
}

// liveOn plays a life in a bubble and says what was wrong in it.
func liveOn(t *testing.T, dsn string, run int, life []act, l lie) (wrong string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dsn, fmt.Sprintf("evening-%d", run), l)
		defer w.end()
		for _, d := range life {
			w.does(d)
			if l.hub != nil {
				l.hub(w)
			}
			w.look()
		}
		w.settle()
		wrong = strings.Join(w.wrong, "\n")
	})
	return wrong
}

func TestAnEpochIsThereOnlyAfterAllItsMaps(t *testing.T) {
	t.Parallel()
	db := connect(t, modelDB(t))
	defer db.Close()
	writer, reader := seats.NewInventory(db, quiet()), seats.NewInventory(db, quiet())
	for _, slug := range []string{"one", "two"} {
		if _, err := events.Create(t.Context(), db, events.Settings{Name: slug, StartsAt: time.Unix(2e9, 0)}, room(3)); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Sale(t.Context(), slug); err != nil {
			t.Fatal(err)
		}
		sale, err := writer.Sale(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `UPDATE lifetime SET began = began + interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	before, _ := reader.Open()[0].At()
	told := 0
	reader.Changed = func(*seats.Sale) {
		told++
		for _, s := range reader.Open() {
			if epoch, version := s.At(); epoch == before || version != 1 {
				t.Errorf("pages of %s are told of epoch %d (before: %d) with version %d, want 1", s.Event.Slug, epoch, before, version)
			}
		}
	}
	if err := reader.Reload(t.Context()); err != nil || told != 2 {
		t.Errorf("%d events were told of (%v), want 2", told, err)
	}
}
