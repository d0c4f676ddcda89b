package sales

import (
	"encoding/binary"

	"github.com/usherbox/usher/seats"
)

// Replay is the change log of an event as bytes, for a page that replays the sale as the map showed it.
//
//	byte     the form, 1
//	uvarint  how many seats the event has; all are free at first
//	uvarint  when the first change was, in ms since 1970
//	then for each visible change:
//	uvarint  how much later than the one before, in hundredths of a second
//	uvarint  how many seats
//	uvarint  for each seat, by idx: how far it is from the one before, times 4, and its state, 0 free, 1 held, 2 sold, 3 blocked
//
// Numbers are unsigned LEB128. A sale of 50,000 seats, one at a time, has about 200 KB.
type Replay struct {
	Version int64 // the last one in it

	begun  bool
	last   int64 // hundredths of a second since 1970, of the change before
	states []byte
	buffer []byte
}

const replayForm = 1

// NewReplay returns an empty replay of an event with n seats.
func NewReplay(n int) *Replay {
	return &Replay{states: make([]byte, n), buffer: binary.AppendUvarint([]byte{replayForm}, uint64(n))}
}

// add writes the visible part of one change.
func (r *Replay) add(c seats.Change) {
	r.Version = c.Version
	var seen []byte
	n, last := 0, 0
	for i, idx := range c.Idx {
		if more := int(idx) + 1 - len(r.states); more > 0 { // seats were added meanwhile
			r.states = append(r.states, make([]byte, more)...)
		}
		state := shown(seats.State(c.State[i]))
		if r.states[idx] == state {
			continue
		}
		r.states[idx] = state
		seen = binary.AppendUvarint(seen, uint64(int(idx)-last)<<2|uint64(state))
		n, last = n+1, int(idx)
	}
	if n == 0 {
		return
	}
	at := c.At.UnixMilli() / 10
	if !r.begun {
		r.begun, r.last = true, at
		r.buffer = binary.AppendUvarint(r.buffer, uint64(c.At.UnixMilli()))
	}
	r.buffer = binary.AppendUvarint(r.buffer, uint64(max(0, at-r.last)))
	r.buffer = append(binary.AppendUvarint(r.buffer, uint64(n)), seen...)
	r.last = max(r.last, at)
}

// Bytes is the replay. Without changes it only has the number of seats.
func (r *Replay) Bytes() []byte {
	if !r.begun {
		return append(r.buffer[:len(r.buffer):len(r.buffer)], 0)
	}
	return r.buffer
}

// shown is a state in two bits, as in the wire format.
func shown(s seats.State) byte {
	switch s.Shown() {
	case seats.Held:
		return 1
	case seats.Sold:
		return 2
	case seats.Blocked:
		return 3
	default:
		return 0
	}
}
