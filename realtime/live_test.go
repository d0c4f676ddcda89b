package realtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// node is one running node: office, hub, feed, bell and a server with the socket.
type node struct {
	office *seats.Office
	hub    *Hub
	sale   *seats.Sale
	url    string
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func startNode(t *testing.T, db *pgxpool.Pool, silent bool) *node {
	t.Helper()
	dsn := db.Config().ConnString()
	n := &node{office: seats.NewOffice(db, quiet())}
	n.hub = NewHub(n.office)
	bell := NewBell(dsn, quiet())
	n.office.Changed = n.hub.Changed
	if !silent {
		n.office.Committed = bell.Ring
	}
	feed := NewFeed(dsn, n.office, n.hub, quiet())
	ctx, cancel := context.WithCancel(context.Background())
	runs := []func(context.Context) error{n.office.Run, n.hub.Run, feed.Run, bell.Run}
	done := make(chan error, len(runs))
	for _, run := range runs {
		go func() { done <- run(ctx) }()
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.hub.ServeLive(w, r, n.sale) }))
	t.Cleanup(func() {
		cancel()
		for range runs {
			<-done
		}
		server.Close()
	})
	var err error
	if n.sale, err = n.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	n.url = "ws" + strings.TrimPrefix(server.URL, "http")
	return n
}

// house makes an event of one area with n places.
func event(t *testing.T, places int) *pgxpool.Pool {
	t.Helper()
	db := seatstest.DB(t)
	p := &seats.Plan{
		Name: "Room", Width: 10, Height: 10, Categories: []seats.Category{{Key: "A", Name: "All"}},
		Sections: []seats.Section{{Name: "Floor", Area: true, Count: places, Outline: []seats.Point{{}, {X: 9}, {Y: 9}}}},
	}
	for i := range places {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint(i), Number: fmt.Sprint(i + 1)})
	}
	if _, err := seats.CreateEvent(t.Context(), db, seats.NewEvent{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, p); err != nil {
		t.Fatal(err)
	}
	return db
}

// page is what a browser keeps: the map it was told of.
type page struct {
	conn    *websocket.Conn
	epoch   uint32
	version int64
	states  []byte
	frames  map[byte]int
}

func open(t *testing.T, n *node, query string) *page {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), n.url+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	p := &page{conn: conn, frames: map[byte]int{}}
	p.next(t)
	return p
}

// next reads one message and applies it, or says why it cannot be applied.
func (p *page) next(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, m, err := p.conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.apply(m); err != nil {
		t.Fatal(err)
	}
}

func (p *page) apply(m []byte) error {
	kind, rest := m[0], m[5:]
	p.frames[kind]++
	number := func() int64 {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		return int64(v)
	}
	counts := func() {
		for range number() * 4 {
			number()
		}
	}
	p.epoch = le.Uint32(m[1:])
	switch kind {
	case typeSnap:
		p.version = number()
		p.states = make([]byte, number())
		counts()
		for i := range p.states {
			p.states[i] = rest[i/4] >> (2 * (i % 4)) & 3
		}
	case typeDelta:
		from, to := number(), number()
		counts()
		if from > p.version {
			return fmt.Errorf("a gap: the page is at %d and the delta starts at %d", p.version, from)
		}
		for idx := int64(0); len(rest) > 0; {
			entry := number()
			idx += entry >> 2
			p.states[idx] = byte(entry & 3)
		}
		p.version = to
	}
	return nil
}

func (p *page) until(t *testing.T, version int64) {
	t.Helper()
	for p.version < version {
		p.next(t)
	}
}

func take(t *testing.T, n *node, who seats.ID, quantity int) {
	t.Helper()
	if _, err := n.sale.Claim(t.Context(), who, "", seats.Wish{Area: "Floor", Quantity: quantity}); err != nil {
		t.Fatal(err)
	}
}

func TestAClaimOnOneNodeReachesAPageOnAnother(t *testing.T) {
	t.Parallel()
	db := event(t, 10)
	a, b := startNode(t, db, false), startNode(t, db, false)
	p := open(t, b, "")
	p.until(t, 0)
	for p.states == nil {
		p.next(t)
	}
	began := time.Now()
	take(t, a, seats.NewID(), 2)
	p.until(t, 1)
	if p.states[0] != 1 || p.states[1] != 1 || p.states[2] != 0 {
		t.Errorf("the page shows %v, want the first two held", p.states)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v, want less than a second", took)
	}
}

func TestAChangeArrivesWithoutTheBell(t *testing.T) {
	t.Parallel()
	db := event(t, 10)
	a, b := startNode(t, db, true), startNode(t, db, true)
	p := open(t, b, "")
	take(t, a, seats.NewID(), 1)
	p.until(t, 1)
}

func TestAPageThatComesBackIsToldOnlyWhatItMissed(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 10), false)
	take(t, n, seats.NewID(), 1)
	take(t, n, seats.NewID(), 1)
	p := open(t, n, fmt.Sprintf("epoch=%d&v=1", n.office.Epoch()))
	p.version, p.states = 1, make([]byte, 10)
	p.until(t, 2)
	if p.frames[typeSnap] != 0 || p.frames[typeDelta] != 1 {
		t.Errorf("it was sent %v, want one delta", p.frames)
	}
	stranger := open(t, n, "epoch=1&v=1")
	stranger.until(t, 2)
	if stranger.frames[typeSnap] != 1 {
		t.Errorf("a page of another epoch was sent %v, want a snapshot", stranger.frames)
	}
}

func TestEveryPageEndsOnTheTruth(t *testing.T) {
	t.Parallel()
	db := event(t, 40)
	a, b := startNode(t, db, false), startNode(t, db, false)
	pages := []*page{open(t, a, ""), open(t, b, ""), open(t, b, "epoch=0&v=0")}
	random := rand.New(rand.NewPCG(3, 4))
	people := make([]seats.ID, 8)
	for i := range people {
		people[i] = seats.NewID()
	}
	for range 200 {
		n, who := []*node{a, b}[random.IntN(2)], people[random.IntN(len(people))]
		if random.IntN(3) == 0 {
			_, _ = n.sale.Release(t.Context(), who) // nothing to give back is as good here
			continue
		}
		_, _ = n.sale.Claim(t.Context(), who, "", seats.Wish{Area: "Floor", Quantity: 1 + random.IntN(2)}) // a refusal changes nothing
	}
	if err := a.sale.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	truth := a.sale.Snapshot()
	for i, p := range pages {
		p.until(t, truth.Version)
		for idx, state := range truth.States {
			if p.states[idx] != bits(state) {
				t.Errorf("page %d shows seat %d as %d, the database says %v", i, idx, p.states[idx], state)
			}
		}
	}
}

func TestALostDeltaIsNoticed(t *testing.T) {
	t.Parallel()
	p := &page{states: make([]byte, 3), frames: map[byte]int{}}
	d := seats.Delta{From: 1, To: 2, Changes: []seats.SeatChange{{Idx: 2, State: seats.Held}}}
	if p.apply(delta(1, d)) == nil {
		t.Error("a page at version 0 took a delta from version 1")
	}
}

func TestAPageThatAsksTooMuchIsSentAway(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	p := open(t, n, "")
	if err := p.conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	for {
		_, _, err := p.conn.Read(t.Context())
		if err == nil {
			continue
		}
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("got %v, want a policy violation", err)
		}
		return
	}
}
