package realtime

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

// No node asks for changes here: what arrives was rung.
func TestAClaimOnOneNodeReachesAPageOnAnother(t *testing.T) {
	t.Parallel()
	db := event(t, 10)
	a, b := startNodePolling(t, db, false, time.Hour), startNodePolling(t, db, false, time.Hour)
	p := open(t, b, "")
	p.until(t, 0)
	for p.states == nil {
		p.next(t)
	}
	take(t, a, seats.NewID(), 2)
	p.until(t, 1)
	if p.states[0] != 1 || p.states[1] != 1 || p.states[2] != 0 {
		t.Errorf("the page shows %v, want the first two held", p.states)
	}
	for version := int64(2); version < 7; version++ {
		take(t, a, seats.NewID(), 1)
		p.until(t, version)
	}
}

func TestChange_ArrivesWithoutANotification(t *testing.T) {
	t.Parallel()
	db := event(t, 10)
	a, b := startNode(t, db, true), startNode(t, db, true)
	p := open(t, b, "")
	take(t, a, seats.NewID(), 1)
	p.until(t, 1)
}

func TestSocket_ReturningPageGetsOnlyTheMissedChanges(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 10), false)
	take(t, n, seats.NewID(), 1)
	take(t, n, seats.NewID(), 1)
	epoch, _ := n.sale.At()
	p := open(t, n, fmt.Sprintf("epoch=%d&v=1", epoch))
	p.epoch, p.version, p.states = epoch, 1, make([]byte, 10)
	p.until(t, 2)
	if p.frames["snap"] != 0 || p.frames["delta"] != 1 {
		t.Errorf("it was sent %v, want one delta", p.frames)
	}
	stranger := open(t, n, "epoch=1&v=1")
	stranger.until(t, 2)
	if stranger.frames["snap"] != 1 {
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
		_, _ = n.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Floor", Quantity: 1 + random.IntN(2)}) // a refusal changes nothing
	}
	if err := a.sale.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	truth := a.sale.Snapshot()
	for i, p := range pages {
		p.until(t, truth.Version)
		if wrong := p.wrong(truth); wrong != "" {
			t.Errorf("page %d: %s", i, wrong)
		}
	}
}

func TestALostDeltaIsNoticed(t *testing.T) {
	t.Parallel()
	s := sheet{epoch: 1, states: make([]byte, 3)}
	m, err := decode(delta(1, seats.Delta{From: 1, To: 2, Changes: []seats.SeatChange{{Idx: 2, State: seats.Held}}}))
	if err != nil || s.apply(m) == nil {
		t.Errorf("a page at version 0 took a delta from version 1 (%v)", err)
	}
}

func TestSocket_EarlyPingsAreAnswered(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "ws://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ping := append([]byte{opBinary, 0x80 | 13, 0, 0, 0, 0}, le.AppendUint64(begin(TypePing, 0), math.Float64bits(12.5))...)
	if _, err := conn.Write(append([]byte(knock), bytes.Repeat(ping, 20)...)); err != nil { // more than the buffer of a socket
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	r := bufio.NewReader(conn)
	if answer, err := http.ReadResponse(r, nil); err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	for {
		frame, err := readFrame(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := decode(frame); err != nil || m.Type == "pong" {
			if err != nil || *m.Sent != 12.5 {
				t.Errorf("the ping is answered with %+v (%v)", m, err)
			}
			return
		}
	}
}
