package realtime

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// page is what a browser keeps: the map it was told of.
type page struct {
	conn *websocket.Conn
	sheet
	frames map[string]int
}

// sheet is a map as a page draws it, and the rules of docs/wire-format.md by which it changes.
type sheet struct {
	epoch   uint32
	version int64
	states  []byte
	counts  []Count
}

func open(t *testing.T, n *node, query string) *page {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), n.url+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	p := &page{conn: conn, frames: map[string]int{}}
	p.next(t)
	return p
}

// next reads one message and applies it, or says why it cannot be applied.
func (p *page) next(t *testing.T) message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, frame, err := p.conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(frame)
	if err != nil {
		t.Fatal(err)
	}
	p.frames[m.Type]++
	if err := p.apply(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// awaits reads until a message of a type comes.
func (p *page) awaits(t *testing.T, kind string) message {
	t.Helper()
	for {
		if m := p.next(t); m.Type == kind {
			return m
		}
	}
}

func (p *page) until(t *testing.T, version int64) {
	t.Helper()
	for p.version < version {
		p.next(t)
	}
}

func (s *sheet) apply(m message) error {
	switch {
	case m.Type == "snap" && (m.Epoch != s.epoch || *m.Version >= s.version):
		s.epoch, s.version, s.counts, s.states = m.Epoch, *m.Version, m.Counts, []byte(m.States)
		for i := range s.states {
			s.states[i] -= '0'
		}
	case m.Type == "delta" && m.Epoch != s.epoch:
		return fmt.Errorf("a delta of epoch %d reached a page of epoch %d", m.Epoch, s.epoch)
	case m.Type == "delta" && *m.From > s.version:
		return fmt.Errorf("a gap: the page is at %d and the delta starts at %d", s.version, *m.From)
	case m.Type == "delta" && *m.To > s.version:
		for _, c := range m.Changes {
			s.states[c[0]] = byte(c[1])
		}
		s.version, s.counts = *m.To, m.Counts
	}
	return nil
}

// wrong says where the sheet is not the map of the same version; empty if it is.
func (s *sheet) wrong(truth seats.Snapshot) string {
	if s.version != truth.Version {
		return fmt.Sprintf("it is at version %d, the truth at %d", s.version, truth.Version)
	}
	for idx, state := range truth.States {
		if s.states[idx] != state.Bits() {
			return fmt.Sprintf("at version %d it shows seat %d as %d, the truth is %v", s.version, idx, s.states[idx], state)
		}
	}
	for k, c := range s.counts {
		if t := truth.Counts; int(c.Free) != t.Free[k] || int(c.Held) != t.Held[k] || int(c.Sold) != t.Sold[k] || int(c.Blocked) != t.Blocked[k] {
			return fmt.Sprintf("at version %d it counts %v, the truth is %v", s.version, c, t)
		}
	}
	return ""
}
