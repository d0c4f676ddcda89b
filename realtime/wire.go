package realtime

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/usherbox/usher/seats"
)

// The first byte of a message; docs/wire-format.md describes each. Numbers are unsigned LEB128 unless they have a width.
const (
	typeHello  = 1
	typeSnap   = 2
	typeDelta  = 3
	typeAudit  = 4
	typeResync = 5
	typePing   = 6
	typePong   = 7
	typeMove   = 8
	typeMine   = 9
)

// format is the version of the wire format that this program speaks. A page that asks for another one is told so before
// it has a socket; within a format messages may only get longer, and new types may come.
const format = 1

var le = binary.LittleEndian

func begin(kind byte, epoch uint32) []byte {
	return le.AppendUint32(append(make([]byte, 0, 64), kind), epoch)
}

// hello tells a page which run of the database it sees, how far it is, the time there, how long news may wait for its
// frame and which format the rest is in.
func hello(epoch uint32, version int64, now time.Time, tick time.Duration) []byte {
	b := binary.AppendUvarint(begin(typeHello, epoch), uint64(version))
	b = le.AppendUint64(b, math.Float64bits(milliseconds(now)))
	return append(binary.AppendUvarint(b, uint64(tick.Milliseconds())), format)
}

// snap is the whole map: two bits a seat.
func snap(epoch uint32, s seats.Bitmap) []byte {
	return appendMap(binary.AppendUvarint(begin(typeSnap, epoch), uint64(s.Version)), s)
}

// audit lets a page find out whether its map is ours, by the checksum of what a SNAP of that version has after it.
func audit(epoch uint32, s seats.Bitmap) []byte {
	b := binary.AppendUvarint(begin(typeAudit, epoch), uint64(s.Version))
	return le.AppendUint32(b, crc32.ChecksumIEEE(appendMap(nil, s)))
}

func appendMap(b []byte, s seats.Bitmap) []byte {
	return append(appendCounts(binary.AppendUvarint(b, uint64(s.Seats)), s.Counts), s.Bits...)
}

// delta is what changed between two versions: for each seat the gap to the one before and its state.
func delta(epoch uint32, d seats.Delta) []byte {
	b := binary.AppendUvarint(begin(typeDelta, epoch), uint64(d.From))
	b = appendCounts(binary.AppendUvarint(b, uint64(d.To)), d.Counts)
	last := 0
	for _, c := range d.Changes {
		b = binary.AppendUvarint(b, uint64(c.Idx-last)<<2|uint64(c.State.Bits()))
		last = c.Idx
	}
	return b
}

func pong(epoch uint32, sent uint64, now time.Time) []byte {
	return le.AppendUint64(le.AppendUint64(begin(typePong, epoch), sent), math.Float64bits(milliseconds(now)))
}

// move tells a page that this node closes: connect again, at a moment of your own choice within so long.
func move(epoch uint32, within time.Duration) []byte {
	return binary.AppendUvarint(begin(typeMove, epoch), uint64(within.Milliseconds()))
}

// mine tells a page what the person before it holds: until when, in ms since 1970, how often that may be made longer, and
// which seats. Nothing held has the time 0 and no seats.
func mine(epoch uint32, h seats.Hold) []byte {
	b := begin(typeMine, epoch)
	if len(h.Seats) == 0 {
		return append(b, 0, 0, 0)
	}
	b = binary.AppendUvarint(b, uint64(h.ExpiresAt.UnixMilli()))
	b = binary.AppendUvarint(b, uint64(h.ExtensionsLeft))
	b = binary.AppendUvarint(b, uint64(len(h.Seats)))
	last := 0
	for _, idx := range h.Seats {
		b = binary.AppendUvarint(b, uint64(idx-last))
		last = idx
	}
	return b
}

func appendCounts(b []byte, c seats.Counts) []byte {
	b = binary.AppendUvarint(b, uint64(len(c.Free)))
	for i := range c.Free {
		for _, n := range []int{c.Free[i], c.Held[i], c.Sold[i], c.Blocked[i]} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b
}

func milliseconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }
