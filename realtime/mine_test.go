package realtime

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
)

// opensAs is a page of a browser with a session.
func opensAs(t *testing.T, n *node, session string) *page {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), n.url+"/live", &websocket.DialOptions{HTTPHeader: http.Header{"Session": {session}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	p := &page{conn: conn, frames: map[string]int{}}
	p.awaits(t, "snap")
	return p
}

func TestMine_IsSentToTheHoldersPagesOnly(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	first, second, bob, stranger := opensAs(t, n, "ann"), opensAs(t, n, "ann"), opensAs(t, n, "bob"), opensAs(t, n, "")
	end := time.UnixMilli(1_900_000_000_123)
	n.hub.Mine(n.sale, "ann", seats.Hold{Seats: []int{0, 2}, ExpiresAt: end, ExtensionsLeft: 3}, true)
	for _, p := range []*page{first, second} {
		m := p.awaits(t, "mine")
		if int64(*m.Deadline) != end.UnixMilli() || *m.Extensions != 3 || !slices.Equal(m.Idx, []int{0, 2}) {
			t.Errorf("the page is told %+v", m)
		}
	}
	n.hub.Mine(n.sale, "ann", seats.Hold{}, true)
	for _, p := range []*page{first, second} {
		if m := p.awaits(t, "mine"); *m.Deadline != 0 || len(m.Idx) != 0 {
			t.Errorf("the page is told %+v, want nothing", m)
		}
	}
	n.hub.Mine(n.sale, "", seats.Hold{Seats: []int{1}, ExpiresAt: end}, true)
	take(t, n, seats.NewID(), 1)
	for _, p := range []*page{bob, stranger} {
		p.until(t, n.sale.Version())
		if p.frames["mine"] > 0 {
			t.Error("a page is told what another visitor holds")
		}
	}
}

// Pages of a session hang together in a list that each may leave at any time.
func TestHub_KnowsThePagesOfEachSession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := gauges{addresses: map[string]int{}, sessions: map[uint64]*watcher{}}
		var in []*watcher
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(in) == 0 || rapid.Bool().Draw(t, "comes") {
				w := &watcher{visitor: visitor{address: "here", session: uint64(rapid.IntRange(0, 3).Draw(t, "session"))}}
				if c.admit(w, maxSockets, maxSockets) {
					in = append(in, w)
				} else if w.visitor.session == 0 || c.pages(w.visitor.session) < socketsPerSession {
					t.Fatal("a page is sent away without need")
				}
			} else if rapid.Bool().Draw(t, "signs in") {
				c.rename(rapid.Uint64Range(0, 3).Draw(t, "from"), rapid.Uint64Range(0, 3).Draw(t, "to"))
			} else {
				i := rapid.IntRange(0, len(in)-1).Draw(t, "who leaves")
				c.dismiss(in[i])
				in = slices.Delete(in, i, i+1)
			}
			known := 0
			for _, first := range c.sessions {
				for w := first; w != nil; w = w.sibling {
					known++
					if w.visitor.session != first.visitor.session || !slices.Contains(in, w) {
						t.Fatal("a page is listed that left, or is of another session")
					}
				}
			}
			for _, w := range in {
				if w.visitor.session == 0 {
					known++
				}
			}
			if known != len(in) || c.all != len(in) || len(in) == 0 && len(c.addresses)+len(c.sessions) > 0 {
				t.Fatalf("%d pages are known of %d: %+v", known, len(in), c)
			}
		}
	})
}

func TestMine_ReachesTheVisitorsPagesOnEveryNode(t *testing.T) {
	t.Parallel()
	db := event(t, 3)
	here, there := startNode(t, db, false), startNode(t, db, false)
	ann, bob := opensAs(t, there, "ann"), opensAs(t, there, "bob")
	end := time.UnixMilli(1_900_000_000_123)
	here.hub.Mine(here.sale, "ann", seats.Hold{Seats: []int{0, 2}, ExpiresAt: end, ExtensionsLeft: 3}, true)
	if m := ann.awaits(t, "mine"); int64(*m.Deadline) != end.UnixMilli() || *m.Extensions != 3 || !slices.Equal(m.Idx, []int{0, 2}) {
		t.Errorf("a page on another node is told %+v", m)
	}
	here.hub.Renamed("ann", "ann signed in")
	here.hub.Mine(here.sale, "ann signed in", seats.Hold{}, true)
	if m := ann.awaits(t, "mine"); *m.Deadline != 0 || len(m.Idx) != 0 {
		t.Errorf("after signing in the page is told %+v, want nothing", m)
	}
	take(t, here, seats.NewID(), 1)
	bob.until(t, here.sale.Version())
	if bob.frames["mine"] > 0 {
		t.Error("a page is told what another visitor holds")
	}
}

func TestTell_SendsNotesInOrderAndDropsOversizedOnes(t *testing.T) {
	t.Parallel()
	b := NewNotifier("", quiet())
	var want []string
	for i := range 500 {
		note := fmt.Sprintf("%040d", i)
		want = append(want, note)
		b.Tell(note)
	}
	b.Tell(strings.Repeat("x", maxPayload))
	var got []string
	for notes := b.notesPayload(); notes != ""; notes = b.notesPayload() {
		if len(notes) > maxPayload {
			t.Errorf("a notification of %d bytes", len(notes))
		}
		got = append(got, strings.Split(notes, ",")...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d notes of %d came in order", len(got), len(want))
	}
}

func FuzzHear(f *testing.F) {
	h := NewHub()
	f.Add(h.holds(1, 2, mine(0, seats.Hold{Seats: []int{1}, ExpiresAt: time.UnixMilli(1)})))
	f.Add("a:0:x:y,::::,a:1:1:%")
	other := NewHub()
	f.Fuzz(func(_ *testing.T, notes string) { other.receiveNotes(notes) })
}
