package realtime

import (
	"bytes"
	"context"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// inBubble opens an event of so many places on a node with the test's clock.
func inBubble(t *testing.T, places int, does func(t *testing.T, n *bubbleNode)) {
	t.Helper()
	dsn := seatstest.DSN(t) + " pool_max_conns=4"
	synctest.Test(t, func(t *testing.T) {
		db := connect(t, dsn)
		defer db.Close()
		n := openInBubble(t, db, places)
		defer n.stop()
		does(t, n)
	})
}

func openInBubble(t *testing.T, db *pgxpool.Pool, places int) *bubbleNode {
	t.Helper()
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, room(places)); err != nil {
		t.Fatal(err)
	}
	return startBubbleNode(t, db, "evening")
}

// bystander is a page that reads whatever comes at once, and counts it.
type bystander struct {
	page
	conn *websocket.Conn
	gone chan struct{}
}

func (n *bubbleNode) bystander(t *testing.T) *bystander {
	t.Helper()
	b := &bystander{page: page{frames: map[string]int{}}, conn: n.dial(t, ""), gone: make(chan struct{})}
	go func() {
		defer close(b.gone)
		for {
			_, frame, err := b.conn.Read(context.Background())
			if err != nil {
				return
			}
			if err := b.take(frame); err != nil {
				t.Error(err)
			}
		}
	}()
	return b
}

func (p *page) take(frame []byte) error {
	m, err := decode(frame)
	if err != nil {
		return err
	}
	p.frames[m.Type]++
	return p.apply(m)
}

func (b *bystander) leave() {
	_ = b.conn.CloseNow()
	<-b.gone
}

// framesOfASecond is how many frames each of three pages got for fifty changes in a second; the second is how many ticks that
// were, and one for the change after a rest.
func framesOfASecond(t *testing.T, least time.Duration) (got []int, ticks int) {
	t.Helper()
	inBubble(t, 60, func(t *testing.T, n *bubbleNode) {
		n.hub.pace.least = least
		pages := []*bystander{n.bystander(t), n.bystander(t), n.bystander(t)}
		defer func() {
			for _, p := range pages {
				p.leave()
			}
		}()
		time.Sleep(maxTick)
		for range 50 {
			take(t, &n.node, seats.NewID(), 1)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(maxTick)
		synctest.Wait()
		for _, p := range pages {
			if wrong := p.wrong(n.sale.Snapshot()); wrong != "" {
				t.Error(wrong)
			}
			got = append(got, p.frames["delta"])
		}
	})
	return got, int(time.Second/minTick) + 1
}

func TestASocketGetsOneFrameATickHoweverManySeatsChange(t *testing.T) {
	t.Parallel()
	got, ticks := framesOfASecond(t, minTick)
	t.Logf("50 changes in a second came in %v frames; there are %d ticks", got, ticks)
	for _, frames := range got {
		if frames > ticks || frames < ticks/2 {
			t.Errorf("a page got %d frames in %d ticks", frames, ticks)
		}
	}
	if got, ticks := framesOfASecond(t, time.Nanosecond); got[0] <= ticks {
		t.Errorf("a hub that sends every change by itself is not noticed: %d frames in %d ticks", got[0], ticks)
	}
}

// readsSlowly is a page that reads a message each ten seconds while a seat is taken each second, a minute long. It tells in
// how many deltas that came.
func readsSlowly(t *testing.T, end func(net.Conn) net.Conn) (deltas int) {
	t.Helper()
	inBubble(t, 70, func(t *testing.T, n *bubbleNode) {
		n.pipes.end = end
		conn := n.dial(t, "")
		defer func() { _ = conn.CloseNow() }()
		p := page{frames: map[string]int{}}
		read := func() {
			_, frame, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := p.take(frame); err != nil {
				t.Error(err)
			}
		}
		for p.states == nil {
			read()
		}
		for range 6 {
			for range 10 {
				take(t, &n.node, seats.NewID(), 1)
				time.Sleep(time.Second)
			}
			read()
		}
		for p.version < 60 {
			read()
		}
		if n.hub.Watchers(n.sale) != 1 {
			t.Error("a page that reads slowly is not there any more")
		}
		if wrong := p.wrong(n.sale.Snapshot()); wrong != "" {
			t.Error(wrong)
		}
		deltas = p.frames["delta"]
	})
	return deltas
}

func TestSocket_SlowReaderGetsMissedChangesInOneFrame(t *testing.T) {
	t.Parallel()
	plain := func(c net.Conn) net.Conn { return c }
	if deltas := readsSlowly(t, plain); deltas > 8 {
		t.Errorf("60 changes took %d frames", deltas)
	}
	if deltas := readsSlowly(t, hoard); deltas <= 8 {
		t.Errorf("a hub that keeps a queue for each page is not noticed: 60 changes took %d frames", deltas)
	}
}

// hoarder is a connection that takes everything at once and keeps it until the page reads it, as a queue would.
type hoarder struct {
	net.Conn
	kept chan []byte
	done chan struct{}
	end  func()
}

func hoard(c net.Conn) net.Conn {
	h := &hoarder{Conn: c, kept: make(chan []byte, 1000), done: make(chan struct{})}
	h.end = sync.OnceFunc(func() { close(h.done) })
	go func() {
		for {
			select {
			case b := <-h.kept:
				if _, err := c.Write(b); err != nil {
					return
				}
			case <-h.done:
				return
			}
		}
	}()
	return h
}

func (h *hoarder) Write(b []byte) (int, error) {
	select {
	case h.kept <- bytes.Clone(b):
		return len(b), nil
	case <-h.done:
		return 0, net.ErrClosed
	}
}

func (h *hoarder) SetWriteDeadline(time.Time) error { return nil }

func (h *hoarder) Close() error {
	h.end()
	return h.Conn.Close()
}

// deaf is a connection that never finishes a write: its reader reads nothing.
type deaf struct{ net.Conn }

func (deaf) SetWriteDeadline(time.Time) error { return nil }

// letGoAfter is how long a page stays that stops reading when a change is on its way; the most if it stays longer.
func letGoAfter(t *testing.T, most time.Duration, waits func(net.Conn) net.Conn) (stayed time.Duration) {
	t.Helper()
	inBubble(t, 30, func(t *testing.T, n *bubbleNode) {
		n.pipes.end = waits
		other := n.bystander(t)
		defer other.leave()
		conn := n.dial(t, "")
		defer func() { _ = conn.CloseNow() }()
		for range 2 { // HELLO and the map
			if _, _, err := conn.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		for n.hub.Watchers(n.sale) == 2 && time.Since(began) < most {
			if time.Since(began).Truncate(time.Second)%(5*time.Second) == 0 {
				take(t, &n.node, seats.NewID(), 1) // news that it does not take is no progress
			}
			time.Sleep(time.Second)
		}
		stayed = time.Since(began)
		synctest.Wait()
		if other.version < 2 || n.hub.Watchers(n.sale) == 0 {
			t.Errorf("beside it a page is at version %d; %d pages are left", other.version, n.hub.Watchers(n.sale))
		}
	})
	return stayed
}

func TestAPageThatReadsNothingIsLetGoAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	plain := func(c net.Conn) net.Conn { return c }
	if stayed := letGoAfter(t, time.Minute, plain); math.Abs((stayed - maxStall).Seconds()) > 1.5 {
		t.Errorf("it was let go after %v, want %v", stayed, maxStall)
	}
	if stayed := letGoAfter(t, 2*maxStall, func(c net.Conn) net.Conn { return deaf{c} }); stayed < 2*maxStall {
		t.Errorf("a hub that keeps dead readers is not noticed: after %v they were gone", stayed)
	}
}
