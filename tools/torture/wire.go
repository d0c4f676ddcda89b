package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/usherbox/usher/realtime"
)

// moveWithin is what a MOVE says: to connect again at a moment of one's own choice within so long.
func moveWithin(b []byte) time.Duration {
	kind, _, r := realtime.Open(b)
	if kind != realtime.TypeMove {
		return 0
	}
	return time.Duration(r.Uvarint()) * time.Millisecond
}

// picture is the map as one reader has it.
type picture struct {
	epoch   uint32
	version uint64
	states  []byte // two bits each, one byte a seat
	counts  []realtime.Count
	known   bool
}

var errWire = errors.New("it ends too early")

// read takes one message. The error says what must not be.
func (p *picture) read(b []byte) error {
	kind, epoch, r := realtime.Open(b)
	switch kind {
	case 0:
		return errWire
	case realtime.TypeSnap:
		return p.snap(epoch, &r)
	case realtime.TypeDelta:
		return p.delta(epoch, &r)
	case realtime.TypeAudit:
		return p.audit(epoch, &r)
	}
	return nil
}

func (p *picture) snap(epoch uint32, r *realtime.Reader) error {
	version, n := r.Uvarint(), int(r.Uvarint())
	counts := r.Counts()
	if r.Short || len(r.Rest) != (n+3)/4 || n != hallSeats {
		return fmt.Errorf("a SNAP of %d seats with %d bytes of them", n, len(r.Rest))
	}
	if p.known && p.epoch == epoch && version < p.version {
		return fmt.Errorf("a SNAP of version %d after version %d of the same epoch", version, p.version)
	}
	states := make([]byte, n)
	for i := range states {
		states[i] = r.Rest[i/4] >> (2 * (i % 4)) & 3
	}
	*p = picture{epoch, version, states, counts, true}
	return p.counted()
}

func (p *picture) delta(epoch uint32, r *realtime.Reader) error {
	from, to := r.Uvarint(), r.Uvarint()
	counts := r.Counts()
	switch {
	case r.Short:
		return errWire
	case !p.known || epoch != p.epoch:
		return fmt.Errorf("a DELTA of epoch %x on a map of epoch %x", epoch, p.epoch)
	case to <= p.version:
		return nil
	case from > p.version:
		return fmt.Errorf("a DELTA from version %d on a map of version %d: a gap", from, p.version)
	}
	idx := uint64(0)
	for len(r.Rest) > 0 {
		entry := r.Uvarint()
		if idx += entry >> 2; r.Short || idx >= uint64(len(p.states)) {
			return fmt.Errorf("a DELTA about seat %d", idx)
		}
		p.states[idx] = byte(entry & 3)
	}
	p.version, p.counts = to, counts
	return p.counted()
}

// counted holds the counts that came with a version against the seats of that version.
func (p *picture) counted() error {
	found := make([]realtime.Count, len(p.counts))
	for idx, state := range p.states {
		category := 0
		if idx >= hallRows*hallRow {
			category = 1
		}
		if category < len(found) {
			c := &found[category]
			*[]*uint64{&c.Free, &c.Held, &c.Sold, &c.Blocked}[state]++
		}
	}
	for i := range found {
		if found[i] != p.counts[i] {
			return fmt.Errorf("version %d came with the counts %v, and its seats count %v", p.version, p.counts, found)
		}
	}
	return nil
}

func (p *picture) audit(epoch uint32, r *realtime.Reader) error {
	version := r.Uvarint()
	if r.Short || len(r.Rest) < 4 || !p.known || epoch != p.epoch || version != p.version {
		return nil
	}
	b := binary.AppendUvarint(nil, uint64(len(p.states)))
	b = binary.AppendUvarint(b, uint64(len(p.counts)))
	for _, c := range p.counts {
		for _, n := range []uint64{c.Free, c.Held, c.Sold, c.Blocked} {
			b = binary.AppendUvarint(b, n)
		}
	}
	bits := make([]byte, (len(p.states)+3)/4)
	for i, s := range p.states {
		bits[i/4] |= s << (2 * (i % 4))
	}
	if crc32.ChecksumIEEE(append(b, bits...)) != r.Uint32() {
		return fmt.Errorf("the AUDIT of version %d is of another map", version)
	}
	return nil
}
