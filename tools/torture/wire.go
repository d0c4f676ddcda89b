package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// The messages of docs/wire-format.md, as far as they are about seats.
const (
	typeSnap  = 2
	typeDelta = 3
	typeAudit = 4
	typeMove  = 8
)

// moveWithin is what a MOVE says: to connect again at a moment of one's own choice within so long.
func moveWithin(b []byte) time.Duration {
	if len(b) < 6 || b[0] != typeMove {
		return 0
	}
	r := numbers{rest: b[5:]}
	return time.Duration(r.next()) * time.Millisecond
}

// picture is the map as one reader has it.
type picture struct {
	epoch   uint32
	version uint64
	states  []byte // two bits each, one byte a seat
	counts  []uint64
	known   bool
}

var errWire = errors.New("it ends too early")

// numbers reads unsigned LEB128.
type numbers struct {
	rest []byte
	err  error
}

func (r *numbers) next() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.err, r.rest = errWire, nil
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

func (r *numbers) counts() (list []uint64) {
	for k := min(r.next(), uint64(len(r.rest))) * 4; k > 0; k-- {
		list = append(list, r.next())
	}
	return list
}

// read takes one message. The error says what must not be.
func (p *picture) read(b []byte) error {
	if len(b) < 5 {
		return errWire
	}
	epoch, r := binary.LittleEndian.Uint32(b[1:]), &numbers{rest: b[5:]}
	switch b[0] {
	case typeSnap:
		return p.snap(epoch, r)
	case typeDelta:
		return p.delta(epoch, r)
	case typeAudit:
		return p.audit(epoch, r)
	}
	return nil
}

func (p *picture) snap(epoch uint32, r *numbers) error {
	version, n := r.next(), int(r.next())
	counts := r.counts()
	if r.err != nil || len(r.rest) != (n+3)/4 || n != hallSeats {
		return fmt.Errorf("a SNAP of %d seats with %d bytes of them", n, len(r.rest))
	}
	if p.known && p.epoch == epoch && version < p.version {
		return fmt.Errorf("a SNAP of version %d after version %d of the same epoch", version, p.version)
	}
	states := make([]byte, n)
	for i := range states {
		states[i] = r.rest[i/4] >> (2 * (i % 4)) & 3
	}
	*p = picture{epoch, version, states, counts, true}
	return p.counted()
}

func (p *picture) delta(epoch uint32, r *numbers) error {
	from, to := r.next(), r.next()
	counts := r.counts()
	switch {
	case r.err != nil:
		return r.err
	case !p.known || epoch != p.epoch:
		return fmt.Errorf("a DELTA of epoch %x on a map of epoch %x", epoch, p.epoch)
	case to <= p.version:
		return nil
	case from > p.version:
		return fmt.Errorf("a DELTA from version %d on a map of version %d: a gap", from, p.version)
	}
	idx := uint64(0)
	for len(r.rest) > 0 {
		entry := r.next()
		if idx += entry >> 2; r.err != nil || idx >= uint64(len(p.states)) {
			return fmt.Errorf("a DELTA about seat %d", idx)
		}
		p.states[idx] = byte(entry & 3)
	}
	p.version, p.counts = to, counts
	return p.counted()
}

// counted holds the counts that came with a version against the seats of that version.
func (p *picture) counted() error {
	found := make([]uint64, len(p.counts))
	for idx, state := range p.states {
		category := 0
		if idx >= hallRows*hallRow {
			category = 1
		}
		if at := category*4 + int(state); at < len(found) {
			found[at]++
		}
	}
	for i := range found {
		if found[i] != p.counts[i] {
			return fmt.Errorf("version %d came with the counts %v, and its seats count %v", p.version, p.counts, found)
		}
	}
	return nil
}

func (p *picture) audit(epoch uint32, r *numbers) error {
	version := r.next()
	if len(r.rest) < 4 || !p.known || epoch != p.epoch || version != p.version {
		return nil
	}
	b := binary.AppendUvarint(nil, uint64(len(p.states)))
	b = binary.AppendUvarint(b, uint64(len(p.counts)/4))
	for _, n := range p.counts {
		b = binary.AppendUvarint(b, n)
	}
	bits := make([]byte, (len(p.states)+3)/4)
	for i, s := range p.states {
		bits[i/4] |= s << (2 * (i % 4))
	}
	if crc32.ChecksumIEEE(append(b, bits...)) != binary.LittleEndian.Uint32(r.rest) {
		return fmt.Errorf("the AUDIT of version %d is of another map", version)
	}
	return nil
}
