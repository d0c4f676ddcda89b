package rush

import (
	"fmt"
	"math"
	"slices"
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
	ghosts  []ghost // claims whose answer got lost
	longest int64   // how long a hold lasts, as far as it was said
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

// ghost is a claim that perhaps won, and nobody knows: from the first moment at which it may have been decided until the last
// at which its hold may last.
type ghost struct {
	from, until int64
	seats       []int32 // that were named
	scope       scope   // where the choice was left to the box office
	size        int
}

// forever is the end of what was sold.
const forever = math.MaxInt64 / 2

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
	b.longest = max(b.longest, g.until-g.from)
	b.grants = append(b.grants, g)
	return g
}

// over tells whether a hold may have ended at a moment of our clock.
func (b *books) over(g *grant, at int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return at+b.clock.most >= g.until
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

// lost books a claim whose answer never came: seats may be held by nobody who knows it, from when it was sent until a hold
// that began when it was given up is over. The latter is known at the end.
func (b *books) lost(h *house, w *wish, sent, received int64) {
	g := ghost{from: sent, until: received, scope: w.scope, size: w.size()}
	for _, label := range w.Seats {
		g.seats = append(g.seats, h.labels[label])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ghosts = append(b.ghosts, g)
}

// sold books an order whose answer never came: its seats may be sold.
func (b *books) sold(g *grant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ghosts = append(b.ghosts, ghost{from: g.from, until: forever, seats: g.seats, size: len(g.seats)})
}

// mayHave tells whether a claim nobody knows of may have a seat at some moment from one time to another, by the clock of the
// box office.
func (b *books) mayHave(h *house, seat int32, from, to int64) bool {
	return slices.ContainsFunc(b.ghosts, func(g ghost) bool {
		first, last := b.lasts(&g)
		return first <= to && last >= from && g.may(h, seat)
	})
}

// lasts is from when until when a ghost may have its seats.
func (b *books) lasts(g *ghost) (from, until int64) {
	return g.from + b.clock.least, min(g.until+b.clock.most+b.longest, forever)
}

// may tells whether a ghost may have a seat: it named it, or left the choice and the seat was one of those.
func (g *ghost) may(h *house, seat int32) bool {
	if len(g.seats) > 0 {
		return slices.Contains(g.seats, seat)
	}
	return g.scope.has(&h.seats[seat])
}

// within is how many seats of a scope a ghost may have.
func (g *ghost) within(h *house, in scope) (n int) {
	if len(g.seats) == 0 {
		return g.size
	}
	for _, idx := range g.seats {
		if in.has(&h.seats[idx]) {
			n++
		}
	}
	return n
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
