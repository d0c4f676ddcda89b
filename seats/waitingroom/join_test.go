package waitingroom_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// given is every place that was given, by what it is.
type given struct {
	mu     sync.Mutex
	places map[waitingroom.Place]int
	failed []error
}

// crowd has n people join on these nodes, beside each other.
func (g *given) crowd(t testing.TB, nodes []*node, workers, n int) {
	t.Helper()
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			r := nodes[w%len(nodes)].room
			for range n {
				p, _, err := r.Join(t.Context(), seats.NewID(), "")
				g.mu.Lock()
				if err != nil {
					g.failed = append(g.failed, err)
				} else {
					g.places[p]++
				}
				g.mu.Unlock()
			}
		})
	}
	all.Wait()
}

// wrong says what is against the promise that places are unique and without gaps, given what the room counted.
func (g *given) wrong(lobby, line int64) (problems []string) {
	count := map[waitingroom.Kind]int64{}
	for p, times := range g.places {
		count[p.Kind]++
		if times > 1 {
			problems = append(problems, "a place was given twice")
		}
		if p.Kind == waitingroom.Lobby && p.Index > lobby || p.Kind == waitingroom.Line && p.Index > line || p.Index < 1 {
			problems = append(problems, "a place is beyond what the room counted")
		}
	}
	if count[waitingroom.Lobby] != lobby || count[waitingroom.Line] != line {
		problems = append(problems, "the places have gaps")
	}
	return problems
}

func TestPlacesAreUniqueAndGaplessAcrossTheMomentTheLobbyCloses(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour)})
	nodes := []*node{h.node(t, true), h.node(t, false), h.node(t, true)}
	g := &given{places: map[waitingroom.Place]int{}}
	var crowd sync.WaitGroup
	crowd.Go(func() { g.crowd(t, nodes, 60, 60) })
	eventually(t, "a thousand joined", func() bool { return h.one(t, `SELECT lobby FROM room`) > 1000 })
	if err := h.c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	frozen := int64(-1)
	eventually(t, "the lobby closed", func() bool { return h.one(t, `SELECT count(*) FROM room WHERE phase <> 'lobby'`) == 1 })
	frozen = h.one(t, `SELECT lobby FROM room`)
	crowd.Wait()
	lobby, line := h.one(t, `SELECT lobby FROM room`), h.one(t, `SELECT line FROM room`)
	if lobby != frozen {
		t.Errorf("the lobby had %d when it closed and %d later", frozen, lobby)
	}
	for _, problem := range g.wrong(lobby, line) {
		t.Error(problem)
	}
	for _, err := range g.failed {
		t.Error(err)
	}
	if lobby+line != 3600 || line == 0 {
		t.Errorf("%d in the lobby and %d in line are not 3,600 people around the closing", lobby, line)
	}
	eventually(t, "all numbers are known", func() bool {
		for p := range g.places {
			if nodes[0].room.Number(p) == 0 {
				return false
			}
		}
		return true
	})
	seen := map[int64]bool{}
	for p := range g.places {
		n := nodes[0].room.Number(p)
		if seen[n] || n < 1 || n > lobby+line || (n <= lobby) != (p.Kind == waitingroom.Lobby) {
			t.Fatalf("place %+v has number %d, which is another's or was not given", p, n)
		}
		seen[n] = true
	}
}

func TestTheCheckOfPlacesCatchesPlantedOnes(t *testing.T) {
	t.Parallel()
	one, two := waitingroom.Place{Kind: waitingroom.Lobby, Index: 1}, waitingroom.Place{Kind: waitingroom.Lobby, Index: 2}
	for name, bad := range map[string]map[waitingroom.Place]int{"twice": {one: 2, two: 1}, "gap": {one: 1}, "beyond": {one: 1, {Kind: waitingroom.Lobby, Index: 3}: 1}} {
		if len((&given{places: bad}).wrong(2, 0)) == 0 {
			t.Errorf("%s was not noticed", name)
		}
	}
}

func TestTenTabsAndALostAnswerShareOnePlace(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour)})
	n, who := h.node(t, false), seats.NewID()
	var tabs sync.WaitGroup
	var mu sync.Mutex
	places := map[waitingroom.Place]bool{}
	for range 10 {
		tabs.Go(func() {
			p, _, err := n.room.Join(t.Context(), who, "")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			places[p] = true
			mu.Unlock()
		})
	}
	tabs.Wait()
	if len(places) != 1 {
		t.Errorf("ten tabs of one browser have the places %v", places)
	}
	p, token, err := n.room.Join(t.Context(), who, "")
	if err != nil || !places[p] {
		t.Errorf("asked again: %v, %v", p, err)
	}
	other := h.node(t, false)
	if again, same, err := other.room.Join(t.Context(), who, token); err != nil || again != p || same != token {
		t.Errorf("on another node the place is %v, %v instead of %v", again, err, p)
	}
	if got := h.one(t, `SELECT lobby FROM room`); got != 1 {
		t.Errorf("the lobby counts %d", got)
	}
}

func TestJoin_NeedsAnOpenRoom(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{LobbyOpensAt: in(time.Hour), OpensAt: in(2 * time.Hour)})
	n := h.node(t, false)
	if _, _, err := n.room.Join(t.Context(), seats.NewID(), ""); !errors.Is(err, waitingroom.ErrNotYet) {
		t.Errorf("before the lobby: %v", err)
	}
	if err := h.c.End(t.Context(), "evening", "It rains."); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.room.Join(t.Context(), seats.NewID(), ""); !errors.Is(err, waitingroom.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

func TestOnePersonHasOneNumberWithHoweverManyBrowsers(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{OpensAt: in(time.Hour), Entry: waitingroom.EntryEmail})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	if _, _, err := nodes[0].room.Join(t.Context(), seats.NewID(), ""); !errors.Is(err, waitingroom.ErrEmail) {
		t.Errorf("without an address: %v", err)
	}
	if _, _, err := nodes[0].room.JoinAs(t.Context(), seats.NewID(), "", "made up"); !errors.Is(err, waitingroom.ErrNoPlace) {
		t.Errorf("with a made up invitation: %v", err)
	}
	const people = 12 // with 96 browsers: the race detector has slots for 256 threads, and under more of them it may end itself
	g := &given{places: map[waitingroom.Place]int{}}
	var all sync.WaitGroup
	for person := range people {
		for browser := range 8 {
			all.Go(func() {
				r := nodes[browser%2].room
				invitation, err := r.Invitation(t.Context(), " Ann"+string(rune('a'+person))+"@Example.org")
				if err != nil {
					t.Error(err)
					return
				}
				p, _, err := r.JoinAs(t.Context(), seats.NewID(), "", invitation)
				if err != nil {
					t.Error(err)
				}
				g.mu.Lock()
				g.places[p] = 1
				g.mu.Unlock()
			})
		}
	}
	all.Wait()
	for _, problem := range g.wrong(people, 0) {
		t.Error(problem)
	}
	if lobby := h.one(t, `SELECT lobby FROM room`); lobby != people {
		t.Errorf("%d people are %d in the lobby", people, lobby)
	}
}

// queueUp has n people come one after the other while the room is locked, and then all of them get a place. They come
// back in the order in which they came.
func (h *fixture) queueUp(t *testing.T, room *waitingroom.Room, n int, join func(holder seats.ID, i int) (waitingroom.Place, string, error)) []*person {
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

func TestJoin_PlacesFollowTheOrderOfArrival(t *testing.T) {
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
		if err := n.rooms.Look(t.Context()); err != nil {
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
