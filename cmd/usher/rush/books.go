package rush

import (
	"fmt"
	"sync"
	"time"
)

// books are everything the crowd was told that can be true or not. Times of grants are by the clock of the box office,
// in nanoseconds since 1970; sent and received are by ours. clock tells how far the two may be apart.
type books struct {
	mu      sync.Mutex
	clock   offset
	grants  []*grant
	soldOut []soldOut
	taken   []taken
	lies    []string // what went wrong, in words
	untrue  int
	doubt   int // seats of claims whose answer got lost: perhaps somebody's
}

// grant is a claim that was granted: these seats are the person's from when it was decided until the end of the hold.
type grant struct {
	who         int32
	seats       []int32
	hold        string // id
	order       string // code, once it was bought; empty until then
	from, until int64
	// Seats given back: no earlier than gone, no later than goneBy; 0 if they were not.
	gone, goneBy int64
}

// soldOut is a person told that there are fewer than wanted.
type soldOut struct {
	sent, received int64
	scope          scope
	wanted         int16
}

// taken is a person told that somebody else has a seat.
type taken struct {
	sent, received int64
	seat, who      int32
}

// offset is how far the clock of the box office is ahead of ours: at least and at most.
type offset struct {
	least, most int64
	known       bool
	fixed       bool // it is one clock
}

// sameClock is how far apart two readings of one clock may be: PostgreSQL counts in microseconds.
const sameClock = int64(time.Millisecond)

// learn narrows the offset, or widens it if a clock was set: the box office read its clock between sent and received.
func (o *offset) learn(there, sent, received int64) {
	if o.fixed {
		return
	}
	least, most := there-received, there-sent
	if o.known {
		least, most = max(o.least, least), min(o.most, most)
	}
	if least > most { // one of the clocks was set meanwhile: from now on anything between is possible
		least, most = min(o.least, there-received), max(o.most, there-sent)
	}
	o.least, o.most, o.known = least, most, true
}

// offsetLeast and offsetMost are how far the clock of the box office is ahead of ours.
func (b *books) offsetLeast() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock.least
}

func (b *books) offsetMost() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock.most
}

// holdAnswer is the hold of an answer.
type holdAnswer struct {
	ID        string    `json:"id"`
	ExpiresAt time.Time `json:"expires_at"`
	Now       time.Time `json:"now"`
	Seats     []string  `json:"seats"`
	Idx       []int32   `json:"idx"`
}

// grant books a granted claim.
func (b *books) grant(who int32, a *holdAnswer, sent, received int64) *grant {
	g := &grant{who: who, seats: a.Idx, hold: a.ID, from: a.Now.UnixNano(), until: a.ExpiresAt.UnixNano()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock.learn(g.from, sent, received)
	b.grants = append(b.grants, g)
	return g
}

// extended books that the hold of a grant ends later.
func (b *books) extended(g *grant, a *holdAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.until = a.ExpiresAt.UnixNano()
}

// released books that the seats of a grant were given back between sent and received.
func (b *books) released(g *grant, sent, received int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.gone, g.goneBy = sent+b.clock.least, received+b.clock.most
}

func (b *books) refusedAll(s soldOut) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.soldOut = append(b.soldOut, s)
}

func (b *books) refusedSeats(h *house, who int32, labels []string, sent, received int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, label := range labels {
		if idx, known := h.labels[label]; known {
			b.taken = append(b.taken, taken{sent, received, idx, who})
		}
	}
}

// lost books a claim whose answer never came: seats may be held by nobody who knows it.
func (b *books) lost(seats int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.doubt += seats
}

const mostLies = 20 // that are told in words

// lie books something untrue.
func (b *books) lie(format string, args ...any) {
	b.mu.Lock()
	b.untrue++
	b.mu.Unlock()
	b.note(format, args...)
}

// note keeps what went wrong in words, the first few times.
func (b *books) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lies) < mostLies {
		b.lies = append(b.lies, fmt.Sprintf(format, args...))
	}
}

// latest is the last moment at which the seats may have been the person's.
func (g *grant) latest() int64 {
	if g.gone != 0 {
		return min(g.until, g.goneBy)
	}
	return g.until
}

// earliest is the first moment at which the seats may have been free again.
func (g *grant) earliest() int64 {
	if g.gone != 0 {
		return min(g.until, g.gone)
	}
	return g.until
}

// clockTime writes a moment for people.
func clockTime(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000000") }
