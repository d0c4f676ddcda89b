package main

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
)

// seen is a version of the map that a client saw.
type seen struct {
	epoch   uint32
	version uint64
}

// pictures are all versions of the map that anybody saw, at whichever node, by socket or by request: a version has one
// picture, and what was shown is never undone.
type pictures struct {
	seed maphash.Seed

	mu     sync.Mutex
	of     map[seen]uint64 // hash of states and counts
	newest uint64          // the highest version, of any epoch
}

func newPictures() *pictures { return &pictures{seed: maphash.MakeSeed(), of: map[seen]uint64{}} }

// note holds a picture against those of the same version. The error says what must not be.
func (p *pictures) note(m *picture) error {
	if !m.known {
		return nil
	}
	b := append([]byte(nil), m.states...)
	for _, c := range m.counts {
		for _, n := range []uint64{c.Free, c.Held, c.Sold, c.Blocked} {
			b = append(b, byte(n), byte(n>>8))
		}
	}
	at, hash := seen{m.epoch, m.version}, maphash.Bytes(p.seed, b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest = max(p.newest, m.version)
	if before, there := p.of[at]; there && before != hash {
		return fmt.Errorf("version %d of epoch %x was shown with other seats before", m.version, m.epoch)
	}
	p.of[at] = hash
	return nil
}

func (p *pictures) highest() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// lookAtMap fetches the map as a page does that opens: its counts are those of its seats, everybody saw that version so,
// and one node never shows an earlier one.
func (c *client) lookAtMap(ctx context.Context) {
	o := operation{kind: kindMap, holder: c.holder(), client: c.number, start: c.history.now(), tries: 1, node: c.node()}
	n := c.run.nodes[o.node]
	status, body, err := get(ctx, c.http, n.url()+"/events/"+eventSlug+"/map.bin")
	if err != nil || status == http.StatusServiceUnavailable {
		return // a page asks again when it wants to
	}
	o.status, o.end = status, c.history.now()
	c.history.add(o)
	var p picture
	if err := p.read(body); err != nil || status != http.StatusOK {
		c.history.violated("maps", "the map of node %d: %d, %v", n.number, status, err)
		return
	}
	if last := c.maps[o.node]; last.epoch == p.epoch && p.version < last.version {
		c.history.violated("maps", "node %d showed version %d, and then version %d", n.number, last.version, p.version)
	}
	c.maps[o.node] = seen{p.epoch, p.version}
	if err := c.run.pictures.note(&p); err != nil {
		c.history.violated("maps", "the map of node %d: %v", n.number, err)
	}
}
