package rush

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
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
	ghosts  []ghost // claims with a lost answer
	longest int64   // how long a hold lasts, as far as it was said
}

// grant is a claim that was granted: these seats are the person's from when it was decided until the end of the hold.
type grant struct {
	who         int32
	seats       []int32
	hold        string // id
	total       int64  // minor units
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

// taken is the answer that another person has a seat.
type taken struct {
	sent, received int64
	seat, who      int32
}

// ghost is a claim with an unknown result: from the first moment at which it may have been decided until the last
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
	Total     int64     `json:"total"` // minor units
}

// grant books a granted claim.
func (b *books) grant(who int32, a *holdAnswer, sent, received int64) *grant {
	g := &grant{who: who, seats: a.Idx, hold: a.ID, total: a.Total, from: a.Now.UnixNano(), until: a.ExpiresAt.UnixNano()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock.learn(g.from, sent, received)
	b.longest = max(b.longest, g.until-g.from)
	b.grants = append(b.grants, g)
	return g
}

// over reports whether a hold may have ended at a moment of our clock.
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

func (b *books) refusedSeats(h *venue, who int32, labels []string, sent, received int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, label := range labels {
		if idx, known := h.labels[label]; known {
			b.taken = append(b.taken, taken{sent, received, idx, who})
		}
	}
}

// lost books a claim without an answer: it may hold seats from when it was sent until a hold
// that began when it was given up is over. The latter is known at the end.
func (b *books) lost(h *venue, w *claimBody, sent, received int64) {
	g := ghost{from: sent, until: received, scope: w.scope, size: w.size()}
	for _, label := range w.Seats {
		g.seats = append(g.seats, h.labels[label])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ghosts = append(b.ghosts, g)
}

// sold books an order without an answer: its seats may be sold.
func (b *books) sold(g *grant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ghosts = append(b.ghosts, ghost{from: g.from, until: forever, seats: g.seats, size: len(g.seats)})
}

// mayHave reports whether a claim with an unknown result may have a seat at some moment from one time to another, by the clock of the
// box office.
func (b *books) mayHave(h *venue, seat int32, from, to int64) bool {
	return slices.ContainsFunc(b.ghosts, func(g ghost) bool {
		first, last := b.lasts(&g)
		return first <= to && last >= from && g.may(h, seat)
	})
}

// lasts is from when until when a ghost may have its seats.
func (b *books) lasts(g *ghost) (from, until int64) {
	return g.from + b.clock.least, min(g.until+b.clock.most+b.longest, forever)
}

// may reports whether a ghost may have a seat: it named it, or left the choice and the seat was one of those.
func (g *ghost) may(h *venue, seat int32) bool {
	if len(g.seats) > 0 {
		return slices.Contains(g.seats, seat)
	}
	return g.scope.has(&h.seats[seat])
}

// within is how many seats of a scope a ghost may have.
func (g *ghost) within(h *venue, in scope) (n int) {
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

// judge tells from the books alone what was untrue: grants of one seat to two people at once (oversold), and refusals of
// what was free all the time from the request to the answer (lies). It is for the end, when all answers are in.
func (b *books) judge(h *venue) (oversold int) {
	bySeat := b.bySeat(len(h.seats))
	for idx, grants := range bySeat {
		oversold += b.judgeSeat(h, int32(idx), grants)
	}
	b.judgeTaken(h, bySeat)
	b.judgeSoldOut(h)
	return oversold
}

// bySeat sorts the grants by seat and then by time.
func (b *books) bySeat(seats int) [][]*grant {
	all := make([][]*grant, seats)
	slices.SortStableFunc(b.grants, func(x, y *grant) int { return cmp.Compare(x.from, y.from) })
	for _, g := range b.grants {
		for _, idx := range g.seats {
			all[idx] = append(all[idx], g)
		}
	}
	return all
}

// judgeSeat counts grants of a seat that another person still held.
func (b *books) judgeSeat(h *venue, idx int32, grants []*grant) (oversold int) {
	for i, g := range grants {
		for _, before := range grants[:i] {
			if before.who != g.who && before.earliest() > g.from {
				oversold++
				b.note("%s was sold twice: person %d has it until %s, person %d got it at %s",
					h.seats[idx].label, before.who, clockTime(before.earliest()), g.who, clockTime(g.from))
				break
			}
		}
	}
	return oversold
}

// judgeTaken looks for free seats that were called taken. On an event with strangers a seat may belong to a person outside of
// the books; after a lost answer, for a while, to the claim of that answer.
func (b *books) judgeTaken(h *venue, bySeat [][]*grant) {
	if h.strangers > 0 {
		return
	}
	for _, t := range b.taken {
		sent, received := t.sent+b.clock.least, t.received+b.clock.most
		had := slices.ContainsFunc(bySeat[t.seat], func(g *grant) bool {
			return g.who != t.who && g.from <= received && g.latest() >= sent
		})
		if !had && !b.mayHave(h, t.seat, sent, received) {
			b.lie("person %d was told that %s is taken, and it was free", t.who, h.seats[t.seat].label)
		}
	}
}

// judgeSoldOut looks for people who were refused although there was enough at each moment they might have been answered.
func (b *books) judgeSoldOut(h *venue) {
	courses := map[scope]*course{}
	for _, s := range b.soldOut {
		c := courses[s.scope]
		if c == nil {
			c = b.course(h, s.scope)
			courses[s.scope] = c
		}
		most := c.most(s.sent+b.clock.least, s.received+b.clock.most)
		if left := c.capacity - most; left >= int(s.wanted) {
			b.lie("a person asked for %d at %s and was told it is sold out, and at least %d were free", s.wanted, clockTime(s.received+b.clock.most), left)
		}
	}
}

// course is how many seats of a scope were taken over time.
type course struct {
	capacity int     // seats that were free before the crowd came
	at       []int64 // moments at which the number changed, ascending
	table    [][]int // table[k][i] is the largest number from change i on, over 2^k changes
}

// course adds up the grants of a scope, and what ghosts may have. Each counts for as long as it possibly lasted.
func (b *books) course(h *venue, in scope) *course {
	type step struct {
		at int64
		by int
	}
	var steps []step
	for _, g := range b.grants {
		n := 0
		for _, idx := range g.seats {
			if in.has(&h.seats[idx]) && h.seats[idx].free {
				n++
			}
		}
		if n > 0 {
			steps = append(steps, step{g.from, n}, step{g.latest() + 1, -n})
		}
	}
	for i := range b.ghosts {
		g := &b.ghosts[i]
		if n := g.within(h, in); n > 0 {
			from, until := b.lasts(g)
			steps = append(steps, step{from, n}, step{until + 1, -n})
		}
	}
	slices.SortFunc(steps, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
	c := &course{table: make([][]int, 1)}
	for i := range h.seats {
		if in.has(&h.seats[i]) && h.seats[i].free {
			c.capacity++
		}
	}
	taken := 0
	for _, s := range steps {
		taken += s.by
		c.at, c.table[0] = append(c.at, s.at), append(c.table[0], taken)
	}
	for k := 1; 1<<k <= len(c.at); k++ {
		row := make([]int, len(c.at)-1<<k+1)
		for i := range row {
			row[i] = max(c.table[k-1][i], c.table[k-1][i+1<<(k-1)])
		}
		c.table = append(c.table, row)
	}
	return c
}

// most is the largest number of taken seats from a moment to another.
func (c *course) most(from, to int64) int {
	after := func(moment int64) int {
		return sort.Search(len(c.at), func(i int) bool { return c.at[i] > moment })
	}
	first, last := max(after(from)-1, 0), after(to) // what holds at from began with the change before
	if last <= first {
		return 0 // nothing was taken yet
	}
	k := 0
	for 1<<(k+1) <= last-first {
		k++
	}
	return max(c.table[k][first], c.table[k][last-1<<k])
}

const (
	settleTries = 10
	settlePause = 300 * time.Millisecond
	announced   = 2 * time.Second // the end of a hold may be on the map only then
	visits      = 200             // holders who come back at the end to look at their seats
)

// moment is what the box office shows at the end, and between when and when it was asked, by its own clock.
type moment struct {
	from, to int64
	view     view
	event    eventAnswer
}

// compare puts the books beside what the box office shows once the crowd is gone: the map seat by seat, the counts, and
// what holders see who come back. The map may be behind for a moment; what is still wrong after some tries is untrue.
func (r *run) compare(ctx context.Context) error {
	l := newLine(r.url)
	defer l.close()
	var wrong []string
	for try := range settleTries {
		if try > 0 {
			if err := seats.Sleep(ctx, settlePause); err != nil {
				return err
			}
		}
		m, err := r.moment(ctx, l)
		if err != nil {
			return err
		}
		if wrong = r.differences(m); len(wrong) == 0 {
			break
		}
	}
	for _, w := range wrong {
		r.books.lie("%s", w)
	}
	return r.visit(ctx, l)
}

func (r *run) moment(ctx context.Context, l *line) (m moment, err error) {
	sent := wall()
	if err := get(ctx, l, "/events/"+r.venue.slug+"/map.bin"); err != nil {
		return m, err
	}
	if m.view, err = readView(slices.Clone(l.body)); err != nil {
		return m, err
	}
	if m.view.n != len(r.venue.seats) {
		return m, fmt.Errorf("rush: the map has %d seats and the event %d", m.view.n, len(r.venue.seats))
	}
	m.event, err = readEvent(ctx, l, r.venue.slug)
	m.from, m.to = sent+r.books.clock.least, wall()+r.books.clock.most
	return m, err
}

// differences lists what the box office shows and the books do not, and the other way round.
func (r *run) differences(m moment) (wrong []string) {
	b := r.books
	b.mu.Lock()
	defer b.mu.Unlock()
	surely, perhaps := make([]bool, m.view.n), make([]bool, m.view.n)
	for _, g := range b.grants {
		for _, idx := range g.seats {
			surely[idx] = surely[idx] || g.from < m.from && g.earliest() > m.to
			perhaps[idx] = perhaps[idx] || g.latest() > m.from || g.gone == 0 && g.until > m.from-int64(announced)
		}
	}
	least, most := 0, r.venue.strangers
	for i := range b.ghosts {
		if _, until := b.lasts(&b.ghosts[i]); until > m.from-int64(announced) {
			most += b.ghosts[i].size
		}
	}
	for idx := range surely {
		name := r.venue.seats[idx].label
		switch {
		case surely[idx] && m.view.isFree(idx):
			wrong = append(wrong, name+" is held by the books, and the map shows it free")
		case !perhaps[idx] && !m.view.isFree(idx) && r.venue.seats[idx].free && r.crowd.Own && !b.mayHave(r.venue, int32(idx), m.from-int64(announced), m.to):
			wrong = append(wrong, name+" is free by the books, and the map does not show it free")
		}
		if surely[idx] {
			least++
		}
		if perhaps[idx] {
			most++
		}
	}
	if n := m.event.Held + m.event.Sold; n < least || n > most && r.crowd.Own {
		wrong = append(wrong, fmt.Sprintf("the event counts %d seats as held or sold; by the books it is between %d and %d", n, least, most))
	}
	return wrong
}

// visit lets some of those who hold seats come back and look: they must find what they were told is theirs.
func (r *run) visit(ctx context.Context, l *line) error {
	step := max(1, len(r.books.grants)/visits)
	for i := 0; i < len(r.books.grants); i += step {
		g := r.books.grants[i]
		if err := r.visitOne(ctx, l, g); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) visitOne(ctx context.Context, l *line, g *grant) error {
	if g.order != "" {
		return r.visitOrder(ctx, l, g)
	}
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.venue.slug + "/hold", cookie: r.people[g.who].cookie})
	if err != nil || g.earliest() < wall()+r.books.clock.most { // it ended, perhaps while we asked
		return err
	}
	var a answer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Hold == nil || !slices.Equal(a.Hold.Idx, g.seats) {
		r.books.lie("person %d was granted %s until %s, came back and found %.200s", g.who, r.venue.names(g.seats), clockTime(g.until), l.body)
	}
	return nil
}
