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

// The first byte of a message. docs/wire-format.md describes each type.
const (
	TypeHello  = 1
	TypeSnap   = 2
	TypeDelta  = 3
	TypeAudit  = 4
	TypeResync = 5
	TypePing   = 6
	TypePong   = 7
	TypeMove   = 8
	TypeMine   = 9
	TypePrices = 10
)

// format is the version of the wire format. A page with another one gets no socket. Within a format, messages may only get
// longer, and new types may be added.
const format = 1

var le = binary.LittleEndian

func begin(kind byte, epoch uint32) []byte {
	return le.AppendUint32(append(make([]byte, 0, 64), kind), epoch)
}

// hello tells a page the run and version of the database, its time, the longest tick, and the format of the rest.
func hello(epoch uint32, version int64, now time.Time, tick time.Duration) []byte {
	b := binary.AppendUvarint(begin(TypeHello, epoch), uint64(version))
	b = le.AppendUint64(b, math.Float64bits(milliseconds(now)))
	return append(binary.AppendUvarint(b, uint64(tick.Milliseconds())), format)
}

// snap is the whole map, with two bits a seat.
func snap(epoch uint32, s seats.Bitmap) []byte {
	return appendMap(binary.AppendUvarint(begin(TypeSnap, epoch), uint64(s.Version)), s)
}

// audit lets a page check its map, by the checksum of the bytes that follow the version in a SNAP.
func audit(epoch uint32, s seats.Bitmap) []byte {
	b := binary.AppendUvarint(begin(TypeAudit, epoch), uint64(s.Version))
	return le.AppendUint32(b, crc32.ChecksumIEEE(appendMap(nil, s)))
}

func appendMap(b []byte, s seats.Bitmap) []byte {
	return append(appendCounts(binary.AppendUvarint(b, uint64(s.Seats)), s.Counts), s.Bits...)
}

// delta is the changes between two versions: for each seat the gap to the one before, and its state.
func delta(epoch uint32, d seats.Delta) []byte {
	b := binary.AppendUvarint(begin(TypeDelta, epoch), uint64(d.From))
	b = appendCounts(binary.AppendUvarint(b, uint64(d.To)), d.Counts)
	last := 0
	for _, c := range d.Changes {
		b = binary.AppendUvarint(b, uint64(c.Idx-last)<<2|uint64(c.State.Bits()))
		last = c.Idx
	}
	return b
}

func pong(epoch uint32, sent uint64, now time.Time) []byte {
	return le.AppendUint64(le.AppendUint64(begin(TypePong, epoch), sent), math.Float64bits(milliseconds(now)))
}

// move tells a page that this node shuts down: it should connect again at a random moment within the time.
func move(epoch uint32, within time.Duration) []byte {
	return binary.AppendUvarint(begin(TypeMove, epoch), uint64(within.Milliseconds()))
}

// mine tells a page what its visitor holds: until when, in ms since 1970, how many extensions are left, and the seats.
// Without a hold it has the time 0 and no seats.
func mine(epoch uint32, h seats.Hold) []byte {
	b := begin(TypeMine, epoch)
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

// prices tells a page which price list and phase count, and how many seats the phase may still sell, plus one; 0: any number.
func prices(epoch uint32, list int64, r seats.Running) []byte {
	b := binary.AppendUvarint(begin(TypePrices, epoch), uint64(list))
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.Phase)), uint64(r.Left+1))
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

// message is a message in JSON. It is decoded from the bytes, so that the two cannot differ.
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
	Counts  []Count  `json:"counts,omitempty"`  // by category
	States  string   `json:"states,omitempty"`  // one digit a seat
	Changes [][2]int `json:"changes,omitempty"` // seat and state

	Deadline   *uint64 `json:"deadline,omitempty"` // of a hold, ms since 1970
	Extensions *uint64 `json:"extensions_left,omitempty"`
	Idx        []int   `json:"idx,omitempty"`

	List  *int64  `json:"list,omitempty"`  // version of the price list
	Phase *uint64 `json:"phase,omitempty"` // 0: none
	Left  *uint64 `json:"left,omitempty"`  // seats that the phase may still sell; left out: any number
}

// Count is the seats of one category by state.
type Count struct {
	Free    uint64 `json:"free"`
	Held    uint64 `json:"held"`
	Sold    uint64 `json:"sold"`
	Blocked uint64 `json:"blocked"`
}

var errNotAMessage = errors.New("realtime: not a message of the wire format")

// decode reads a message to the page; errNotAMessage if it ends too early or is of no known type.
func decode(frame []byte) (m message, err error) {
	kind, epoch, r := Open(frame)
	m.Epoch = epoch
	switch kind {
	case TypeHello:
		m.Type, m.Version, m.Now, m.Tick, m.Format = "hello", r.version(), r.float(), new(r.Uvarint()), new(r.byte())
	case TypeSnap:
		m.Type, m.Version = "snap", r.version()
		n := r.Uvarint()
		m.Counts = r.Counts()
		m.States = r.states(n)
	case TypeDelta:
		m.Type, m.From, m.To = "delta", r.version(), r.version()
		m.Counts = r.Counts()
		m.Changes = r.changes()
	case TypeAudit:
		m.Type, m.Version, m.Sum = "audit", r.version(), new(r.Uint32())
	case TypePong:
		m.Type, m.Sent, m.Now = "pong", new(r.float()), r.float()
	case TypeMove:
		m.Type, m.Within = "move", new(r.Uvarint())
	case TypeMine:
		m.Type, m.Deadline, m.Extensions = "mine", new(r.Uvarint()), new(r.Uvarint())
		m.Idx = r.seats()
	case TypePrices:
		m.Type, m.List, m.Phase = "prices", r.version(), new(r.Uvarint())
		if left := r.Uvarint(); left > 0 {
			m.Left = new(left - 1)
		}
	default:
		return message{}, errNotAMessage
	}
	if r.Short {
		return message{}, errNotAMessage
	}
	return m, nil
}

// toJSON is a message in JSON.
func toJSON(frame []byte) []byte {
	m, err := decode(frame)
	if err != nil {
		return []byte("{}") // cannot happen for our own messages
	}
	text, err := json.Marshal(m)
	if err != nil {
		return []byte("{}") // a clock that is not a number
	}
	return text
}

// Reader reads the fields of a message. Once one is missing Short is true, and every field after it is zero.
type Reader struct {
	Rest  []byte // not read yet
	Short bool
}

// Open returns the type and epoch of a message, and a reader of the rest. A message without them has the type 0.
func Open(frame []byte) (kind byte, epoch uint32, r Reader) {
	if len(frame) < headLen {
		return 0, 0, Reader{Short: true}
	}
	return frame[0], le.Uint32(frame[1:]), Reader{Rest: frame[headLen:]}
}

func (r *Reader) take(n int) []byte {
	if n < 0 || n > len(r.Rest) {
		r.Short, r.Rest = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return taken
}

// Uvarint reads an unsigned LEB128 number.
func (r *Reader) Uvarint() uint64 {
	x, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Short, r.Rest = true, nil
		return 0
	}
	r.Rest = r.Rest[n:]
	return x
}

func (r *Reader) version() *int64 { return new(int64(r.Uvarint())) }

func (r *Reader) byte() byte { return r.take(1)[0] }

// Uint32 reads four bytes, little-endian.
func (r *Reader) Uint32() uint32 { return le.Uint32(r.take(4)) }

func (r *Reader) float() float64 { return math.Float64frombits(le.Uint64(r.take(8))) }

// Counts reads the seats of each category by state.
func (r *Reader) Counts() (all []Count) {
	for k := r.Uvarint(); k > 0 && !r.Short; k-- {
		all = append(all, Count{r.Uvarint(), r.Uvarint(), r.Uvarint(), r.Uvarint()})
	}
	return all
}

func (r *Reader) states(n uint64) string {
	if n > 4*uint64(len(r.Rest)) {
		r.Short = true
		return ""
	}
	packed, digits := r.take(int(n+3)/4), make([]byte, n)
	for i := range digits {
		digits[i] = '0' + packed[i/4]>>(2*(i%4))&3
	}
	return string(digits)
}

func (r *Reader) seats() (all []int) {
	idx := 0
	for k := r.Uvarint(); k > 0 && !r.Short; k-- {
		idx += int(r.Uvarint())
		all = append(all, idx)
	}
	return all
}

func (r *Reader) changes() (all [][2]int) {
	idx := 0
	for len(r.Rest) > 0 {
		entry := r.Uvarint()
		idx += int(entry >> 2)
		all = append(all, [2]int{idx, int(entry & 3)})
	}
	return all
}

// request is a message of a page: a PING with its clock, or a RESYNC with its version.
type request struct {
	kind  byte
	epoch uint32

	sent uint64 // PING: the page's clock, to be sent back as it came

	reason  byte // RESYNC: one of the reasons below
	version int64
	sum     uint32 // checksum of the page's map, for reasonAudit
}

// Reasons of a RESYNC.
const (
	reasonGap   = 1 // a delta starts after what it has
	reasonAudit = 2 // its map is not the one that an AUDIT is about
)

// maxRequest is the length of the longest message of a page.
const maxRequest = 1 + 4 + 1 + binary.MaxVarintLen64 + 4

var errNotARequest = errors.New("a page sends PING and RESYNC and nothing else")

// readRequest reads a message of a page. It ignores further bytes, which may belong to a later version.
func readRequest(m []byte) (a request, err error) {
	if len(m) < 6 {
		return a, errNotARequest
	}
	a.kind, a.epoch = m[0], le.Uint32(m[1:])
	switch rest := m[5:]; a.kind {
	case TypePing:
		if len(rest) < 8 {
			return request{}, errNotARequest
		}
		a.sent = le.Uint64(rest)
	case TypeResync:
		version, n := binary.Uvarint(rest[1:])
		if n <= 0 || len(rest) < 1+n+4 {
			return request{}, errNotARequest
		}
		a.reason, a.version, a.sum = rest[0], int64(version), le.Uint32(rest[1+n:])
	default:
		return request{}, errNotARequest
	}
	return a, nil
}
