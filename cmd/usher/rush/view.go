package rush

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// view is the map as one person sees it, in the bytes it came in (docs/wire-format.md).
type view struct {
	n    int
	free []int // by category
	bits []byte
}

const (
	typeSnap  = 2
	typeDelta = 3
	freeBits  = 0
	heldBits  = 1
)

var errShort = errors.New("rush: a map ends too early")

// readView reads a SNAP.
func readView(b []byte) (v view, err error) {
	if len(b) < 5 || b[0] != typeSnap {
		return v, fmt.Errorf("rush: a map of %d bytes does not begin as one", len(b))
	}
	r := numbers{rest: b[5:]}
	r.next() // version
	v.n = int(r.next())
	v.free = r.counts()
	v.bits = r.rest
	if r.short || len(v.bits) != (v.n+3)/4 {
		return v, errShort
	}
	return v, nil
}

// numbers reads unsigned LEB128.
type numbers struct {
	rest  []byte
	short bool
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

// counts reads free, held, sold, blocked of each category and keeps the first.
func (r *numbers) counts() (free []int) {
	for k := min(r.next(), uint64(len(r.rest))); k > 0; k-- {
		free = append(free, int(r.next()))
		r.next()
		r.next()
		r.next()
	}
	return free
}

func (v view) state(idx int) byte { return v.bits[idx/4] >> (2 * (idx % 4)) & 3 }

func (v view) isFree(idx int) bool { return v.state(idx) == freeBits }

// first is the first free seat of the house after skipping some, or the last there is; -1 if there is none.
func (v view) first(skip int) int32 {
	found := int32(-1)
	for i := range v.n {
		if v.isFree(i) {
			if found = int32(i); skip == 0 {
				break
			}
			skip--
		}
	}
	return found
}

// pick finds n free seats as somebody who points at the map does: side by side near where they look, else the next free
// ones from there. nil if there are fewer.
func (v view) pick(h *house, n int, random *rand.Rand) []int32 {
	start := random.IntN(v.n)
	var run, any []int32
	for i := range v.n {
		idx := (start + i) % v.n
		if !v.isFree(idx) || h.seats[idx].area >= 0 {
			run = run[:0]
			continue
		}
		if len(any) < n {
			any = append(any, int32(idx))
		}
		if len(run) > 0 && (idx == 0 || h.seats[idx].row != h.seats[idx-1].row) {
			run = run[:0]
		}
		if run = append(run, int32(idx)); len(run) == n {
			return run
		}
		if i > nearby && len(any) == n {
			return any
		}
	}
	if len(any) < n {
		return nil
	}
	return any
}

// nearby is how many seats a person looks at for some side by side.
const nearby = 2000
