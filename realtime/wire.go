package realtime

import (
	"encoding/binary"
	"encoding/json"
	"errors"
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

// message is a frame as people read it: the JSON twin of each type. It is made from the bytes, so the two cannot differ.
type message struct {
	Type    string   `json:"type"`
	Epoch   uint32   `json:"epoch"`
	Version *int64   `json:"version,omitempty"`
	From    *int64   `json:"from,omitempty"`
	To      *int64   `json:"to,omitempty"`
	Now     float64  `json:"now,omitempty"`     // ms since 1970, by the database's clock
	Tick    *uint64  `json:"tick,omitempty"`    // ms
	Format  *byte    `json:"format,omitempty"`  //
	Within  *uint64  `json:"within,omitempty"`  // ms
	Sent    *float64 `json:"sent,omitempty"`    // ms, by the page's clock
	Sum     *uint32  `json:"crc32,omitempty"`   //
	Counts  []count  `json:"counts,omitempty"`  // by category
	States  string   `json:"states,omitempty"`  // one digit a seat
	Changes [][2]int `json:"changes,omitempty"` // idx and state

	Deadline   *uint64 `json:"deadline,omitempty"` // of a hold, ms since 1970
	Extensions *uint64 `json:"extensions_left,omitempty"`
	Idx        []int   `json:"idx,omitempty"`
}

type count struct {
	Free    uint64 `json:"free"`
	Held    uint64 `json:"held"`
	Sold    uint64 `json:"sold"`
	Blocked uint64 `json:"blocked"`
}

var errNotAMessage = errors.New("realtime: not a message of the wire format")

// decode reads a message to the page; errNotAMessage if it ends too early or is of no known type.
func decode(frame []byte) (m message, err error) {
	if len(frame) < 5 {
		return m, errNotAMessage
	}
	m.Epoch = le.Uint32(frame[1:])
	r := numbers{rest: frame[5:]}
	switch frame[0] {
	case typeHello:
		m.Type, m.Version, m.Now, m.Tick, m.Format = "hello", r.version(), r.float(), new(r.next()), new(r.byte())
	case typeSnap:
		m.Type, m.Version = "snap", r.version()
		n := r.next()
		m.Counts = r.counts()
		m.States = r.states(n)
	case typeDelta:
		m.Type, m.From, m.To = "delta", r.version(), r.version()
		m.Counts = r.counts()
		m.Changes = r.changes()
	case typeAudit:
		m.Type, m.Version, m.Sum = "audit", r.version(), new(r.uint32())
	case typePong:
		m.Type, m.Sent, m.Now = "pong", new(r.float()), r.float()
	case typeMove:
		m.Type, m.Within = "move", new(r.next())
	case typeMine:
		m.Type, m.Deadline, m.Extensions = "mine", new(r.next()), new(r.next())
		m.Idx = r.seats()
	default:
		return message{}, errNotAMessage
	}
	if r.short {
		return message{}, errNotAMessage
	}
	return m, nil
}

// readable is a message as JSON, for people.
func readable(frame []byte) []byte {
	m, err := decode(frame)
	if err != nil {
		return []byte("{}") // our own messages are all known
	}
	text, err := json.Marshal(m)
	if err != nil {
		return []byte("{}") // a clock that is no number
	}
	return text
}

// numbers reads what messages are made of; short once something is missing, and then everything is zero.
type numbers struct {
	rest  []byte
	short bool
}

func (r *numbers) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *numbers) next() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

func (r *numbers) version() *int64 { return new(int64(r.next())) }

func (r *numbers) byte() byte { return r.take(1)[0] }

func (r *numbers) uint32() uint32 { return le.Uint32(r.take(4)) }

func (r *numbers) float() float64 { return math.Float64frombits(le.Uint64(r.take(8))) }

func (r *numbers) counts() (all []count) {
	for k := r.next(); k > 0 && !r.short; k-- {
		all = append(all, count{r.next(), r.next(), r.next(), r.next()})
	}
	return all
}

func (r *numbers) states(n uint64) string {
	if n > 4*uint64(len(r.rest)) {
		r.short = true
		return ""
	}
	packed, digits := r.take(int(n+3)/4), make([]byte, n)
	for i := range digits {
		digits[i] = '0' + packed[i/4]>>(2*(i%4))&3
	}
	return string(digits)
}

func (r *numbers) seats() (all []int) {
	idx := 0
	for k := r.next(); k > 0 && !r.short; k-- {
		idx += int(r.next())
		all = append(all, idx)
	}
	return all
}

func (r *numbers) changes() (all [][2]int) {
	idx := 0
	for len(r.rest) > 0 {
		entry := r.next()
		idx += int(entry >> 2)
		all = append(all, [2]int{idx, int(entry & 3)})
	}
	return all
}

// ask is what a page says: a PING with its clock, or a RESYNC with what it has.
type ask struct {
	kind  byte
	epoch uint32

	sent uint64 // PING: the page's clock, to be sent back as it came

	reason  byte // RESYNC: one of the reasons below
	version int64
	sum     uint32 // what the page's map comes to, for reasonAudit
}

// Why a page asks for the whole map.
const (
	reasonGap   = 1 // a delta starts after what it has
	reasonAudit = 2 // its map is not the one that an AUDIT is about
)

// mostAsk is how long the longest message of a page is.
const mostAsk = 1 + 4 + 1 + binary.MaxVarintLen64 + 4

var errNotAnAsk = errors.New("a page sends PING and RESYNC and nothing else")

// readAsk reads what a page says. Bytes after what this format knows belong to a later one.
func readAsk(m []byte) (a ask, err error) {
	if len(m) < 6 {
		return a, errNotAnAsk
	}
	a.kind, a.epoch = m[0], le.Uint32(m[1:])
	switch rest := m[5:]; a.kind {
	case typePing:
		if len(rest) < 8 {
			return ask{}, errNotAnAsk
		}
		a.sent = le.Uint64(rest)
	case typeResync:
		version, n := binary.Uvarint(rest[1:])
		if n <= 0 || len(rest) < 1+n+4 {
			return ask{}, errNotAnAsk
		}
		a.reason, a.version, a.sum = rest[0], int64(version), le.Uint32(rest[1+n:])
	default:
		return ask{}, errNotAnAsk
	}
	return a, nil
}
