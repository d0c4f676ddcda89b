package realtime

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

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
