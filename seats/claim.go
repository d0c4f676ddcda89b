package seats

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/tracing"
)

// ClaimRequest is what a claim asks for, in one of three ways: these seats; a quantity of places in an area; the best seats
// of a category or of all, together where possible. Asking for the best seats again replaces those seats by other ones, and
// so does a proposal of them (Propose).
type ClaimRequest struct {
	Seats    []string `json:"seats"` // labels
	Area     string   `json:"area"`  // name of the area
	Quantity int      `json:"quantity"`
	Best     int      `json:"best"`     // how many
	Category string   `json:"category"` // key; empty for all

	Type    string         `json:"type"`    // key of the ticket type of all of them; empty: the usual one of each seat
	Tickets map[string]int `json:"tickets"` // how many of each type, by key: in place of a number of places or of best seats

	Proposed bool     `json:"-"` // Seats are a proposal
	Sent     []string `json:"-"` // labels as the page sent them, before others were added for the party; nil: Seats
	Access   *Access  `json:"-"` // what codes of the visitor unlock
}

// Size is the number of seats that a request names or asks for.
func (w *ClaimRequest) Size() int {
	sum := 0
	for _, n := range w.Tickets {
		sum = min(sum, MaxSeats) + min(max(n, 0), MaxSeats+1)
	}
	return max(len(w.Seats), w.Quantity, w.Best, sum)
}

// Claim tries to take what is asked for, all of it or none, for the holder.
//
// A repeat with the same key gets the first answer if the first try won; a try that lost may be tried again.
// Errors: *ValidationError, *Conflict, or the database's.
func (s *Sale) Claim(ctx context.Context, holder ID, key string, w ClaimRequest) (Hold, error) {
	ctx, span := tracing.Start(ctx, "claim")
	hold, err := s.claim(ctx, holder, key, w)
	if span.IsRecording() {
		s.endSpan(span, w.Size(), err)
	}
	return hold, err
}

func (s *Sale) claim(ctx context.Context, holder ID, key string, w ClaimRequest) (Hold, error) {
	c := &command{claim: true, tidy: true, holder: holder, key: key, visit: VisitOf(ctx), access: w.Access}
	if err := s.understand(c, w); err != nil {
		return Hold{}, err
	}
	if err := s.precheck(ctx, c); err != nil {
		return Hold{}, s.withNearest(err)
	}
	c.visit.begin()
	c.request = w.hash()
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	hold, err := s.do(ctx, c)
	return hold, s.withNearest(err)
}

// precheck refuses what need not go through the queue: at once what this node saw sold, and after a read what seems to be
// taken or shut. It returns nil if the claim may still succeed.
func (s *Sale) precheck(ctx context.Context, c *command) error {
	if s.onSale.Load() {
		if refusal := s.refuseSold(c); refusal != nil && c.access == nil {
			return refusal
		}
		if refusal := s.refuseOrphans(c); refusal != nil {
			return refusal
		}
	}
	return s.lookUp(ctx, c)
}

// refuseSold refuses from memory what this node saw sold: a claim that names a sold seat, or that wants places where
// everything is sold. People who ask for what is plainly gone cost no round trip. Seats that are only held are
// never refused here.
//
// It is for visitors without a stored session: any other visitor may be repeating a claim that won.
func (s *Sale) refuseSold(c *command) *Conflict {
	if !c.visit.isNew() {
		return nil
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if c.choice != nil {
		free, known := s.countIn(c.choice.Scope, m.counts.Free)
		held, _ := s.countIn(c.choice.Scope, m.counts.Held)
		if sold, _ := s.countIn(c.choice.Scope, m.counts.Sold); known && free+held == 0 && sold > 0 {
			return &Conflict{Code: CodeSoldOut, Message: text.Mark("Everything here is sold. Your other seats are still held.")}
		}
		return nil
	}
	var sold []int
	for _, idx := range c.seats {
		if m.states[idx] == Sold {
			sold = append(sold, idx)
		}
	}
	if len(sold) == 0 {
		return nil
	}
	return s.taken(sold)
}

// Claims of newcomers that this node's map would refuse, or all of them while it thinks that the event is not on sale, are
// looked up together, beside the queue, in one statement that locks nothing and keeps no writer waiting. A claim that may
// still win goes on to the queue.

// mostLookups is the most claims that are looked up at once.
const mostLookups = 4096

// lookupTries is how often a lookup is tried while the database restarts.
const lookupTries = 20

// lookUp returns the refusal of a claim for which the database has nothing; nil if it may win. Only claims of visitors
// without a stored session are looked up: any other visitor may be repeating a claim that won, or name a seat of their own.
func (s *Sale) lookUp(ctx context.Context, c *command) error {
	if !c.visit.isNew() || c.access != nil || s.onSale.Load() && !s.doubtful(c) {
		return nil
	}
	c.answer = make(chan answer, 1)
	s.lookups.Come(c)
	select {
	case a := <-c.answer:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doubtful reports whether the map would refuse a claim.
func (s *Sale) doubtful(c *command) bool {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if c.choice != nil {
		free, known := s.countIn(c.choice.Scope, m.counts.Free)
		return known && free < c.choice.n
	}
	for _, idx := range c.seats {
		if m.states[idx].Shown() != Free {
			return true
		}
	}
	return false
}

// answerLookups answers claims that are looked up together.
func (s *Sale) answerLookups(ctx context.Context, commands []*command) {
	seen, err := s.readLookups(ctx, commands)
	for _, c := range commands {
		a := answer{err: err}
		if err == nil {
			a.err = seen.refuse(s, c)
		}
		c.answer <- a
	}
}

// seen is what the database says of some seats, at one moment.
type seen struct {
	terms terms // its status alone

	free []int // seats by category, as counted
	due  bool  // some hold's time is up and that was not announced: the counts may be too low
	open map[int]bool
}

const lookupSQL = `
SELECT CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason,
       c.free,
       EXISTS (SELECT FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp()),
       ARRAY(SELECT s.idx
               FROM unnest($2::integer[]) AS n(idx),
                    LATERAL (SELECT idx FROM seat_state s WHERE event_id = $1 AND idx = n.idx AND ` + guard + ` OFFSET 0) s)
  FROM counter c JOIN event e ON e.id = c.event_id
 WHERE c.event_id = $1`

func (s *Sale) readLookups(ctx context.Context, commands []*command) (seen, error) {
	asked := map[int]bool{}
	list := []int32{}
	for _, c := range commands {
		for _, idx := range c.seats {
			if !asked[idx] {
				asked[idx] = true
				list = append(list, int32(idx))
			}
		}
	}
	var got seen
	var open []int
	read := func() error {
		return s.inventory.db.QueryRow(ctx, lookupSQL, s.Event.ID, list).
			Scan(&got.terms.status, &got.terms.opensAt, &got.terms.reason, &got.free, &got.due, &open)
	}
	err := read()
	for tries := 1; connectionLost(err) && tries < lookupTries && Sleep(ctx, retryPause) == nil; tries++ {
		err = read()
	}
	got.open = make(map[int]bool, len(open))
	for _, idx := range open {
		got.open[idx] = true
	}
	if err != nil {
		return got, fmt.Errorf("seats: event %d: look at %d seats: %w", s.Event.ID, len(list), err)
	}
	return got, nil
}

// refuse returns why a claim cannot win; nil if it may.
func (seen seen) refuse(s *Sale, c *command) error {
	if seen.terms.status != OnSale {
		return refuseShut(s.Event.under(&seen.terms))
	}
	s.onSale.Store(true)
	if !s.doubtful(c) {
		return nil
	}
	if c.choice != nil {
		if seen.due || seen.free == nil {
			return nil
		}
		if left, known := s.countIn(c.choice.Scope, seen.free); known && left < c.choice.n {
			return soldOut(left, c.choice.n, 0)
		}
		return nil
	}
	var gone []int
	for _, idx := range c.seats {
		if !seen.open[idx] {
			gone = append(gone, idx)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if kept := slices.DeleteFunc(slices.Clone(gone), func(idx int) bool { return !s.Reserved(idx) }); len(kept) > 0 {
		return s.reservedFor(kept)
	}
	return s.taken(gone)
}

// hash tells requests apart: two of them have the same one only if they ask for the same. It is of the seats as they were sent: what is
// added to them depends on what the visitor has, and a repeat comes when they have more.
func (w ClaimRequest) hash() string {
	if len(w.Sent) > 0 {
		w.Seats = w.Sent
	}
	text := binary.AppendUvarint(make([]byte, 0, 128), uint64(len(w.Seats)))
	for _, label := range append([]string{w.Area, w.Category}, w.Seats...) {
		text = append(binary.AppendUvarint(text, uint64(len(label))), label...)
	}
	text = binary.AppendVarint(binary.AppendVarint(text, int64(w.Quantity)), int64(w.Best))
	if w.Type != "" || len(w.Tickets) > 0 {
		text = fmt.Appendf(text, "%q %v", w.Type, w.Tickets) // a map is written in the order of its keys
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// understand turns the words of a request into seats, or into a choice to be made.
func (s *Sale) understand(c *command, w ClaimRequest) error {
	ways := 0
	best := w.Best != 0 || w.Category != "" || len(w.Tickets) > 0 && w.Area == "" && len(w.Seats) == 0
	c.best = best || w.Proposed
	for _, asked := range []bool{len(w.Seats) > 0, w.Area != "" || w.Quantity != 0, best} {
		if asked {
			ways++
		}
	}
	if ways != 1 {
		return &ValidationError{Message: text.Mark("A claim names seats, or an area and a quantity, or how many of the best seats: one of the three. Nothing was changed.")}
	}
	if w.Type != "" || len(w.Tickets) > 0 {
		if err := s.understandTypes(c, w); err != nil {
			return err
		}
	}
	if len(w.Seats) > 0 {
		if len(w.Tickets) > 0 && len(c.mix) != len(w.Seats) {
			return &ValidationError{Message: text.Mark("You chose %s, and ticket types for %d. Nothing was changed."), Args: []any{text.Some(len(w.Seats), "%d seat", "%d seats"), len(c.mix)}}
		}
		return s.understandSeats(c, w.Seats)
	}
	n, at := w.Quantity, Scope{Section: -1, Category: -1}
	if w.Area != "" || w.Quantity != 0 {
		if at.Section = s.Plan.SectionNamed(w.Area); at.Section < 0 || !s.Plan.Sections[at.Section].Area {
			return &ValidationError{Unknown: true, Message: text.Mark("This event has no area “%s”. Nothing was changed."), Args: []any{w.Area}}
		}
	} else {
		n = w.Best
		if at.Category = s.Plan.CategoryKeyed(w.Category); at.Category < 0 && w.Category != "" {
			return &ValidationError{Unknown: true, Message: text.Mark("This event has no category “%s”. Nothing was changed."), Args: []any{w.Category}}
		}
	}
	if len(w.Tickets) > 0 {
		if n != 0 && n != len(c.mix) {
			return &ValidationError{Message: text.Mark("You chose %s, and ticket types for %d. Nothing was changed."), Args: []any{text.Some(n, "%d seat", "%d seats"), len(c.mix)}}
		}
		n = len(c.mix)
	}
	if n < 1 || n > len(s.Plan.Seats) {
		return &ValidationError{Message: text.Mark("You can’t choose %d seats. Choose 1 to %d. Nothing was changed."), Args: []any{n, s.Event.SeatsPerHolder}}
	}
	if n > s.Event.SeatsPerHolder {
		return &Conflict{Code: CodeLimit, Message: text.Mark("You asked for %d seats, and you can book up to %s. Nothing was changed. Ask for fewer."), Args: []any{n, text.Some(s.Event.SeatsPerHolder, "%d ticket", "%d tickets")}}
	}
	if at.not = s.closedTo(c); at.closes(s) {
		return s.notSoldHere(c, cmp.Or(w.Area, s.Plan.Categories[max(at.Category, 0)].Name))
	}
	c.choice = &choice{Scope: at, n: n, unlocked: c.access.seats(s), only: c.access.only()}
	return nil
}

func (s *Sale) understandSeats(c *command, labels []string) error {
	var seen map[int]bool
	if len(labels) > 1 {
		seen = make(map[int]bool, len(labels))
	}
	for _, label := range labels {
		idx, ok := s.Seat(label)
		if !ok {
			return &ValidationError{Unknown: true, Message: text.Mark("This event has no seat “%s”. Nothing was changed."), Args: []any{label}}
		}
		if seen[idx] {
			return &ValidationError{Message: text.Mark("Seat %s is named twice. Name each seat once. Nothing was changed."), Args: []any{label}}
		}
		if closed := s.closedTo(c); closed != "" && (Scope{not: closed}).closed(s.Plan.Seats[idx].Category) {
			return s.notSoldHere(c, s.Plan.SeatName(idx))
		}
		if seen != nil {
			seen[idx] = true
		}
		c.seats = append(c.seats, idx)
	}
	if limit := s.Event.SeatsPerHolder; len(labels) > limit {
		for _, idx := range c.seats {
			if row := s.Whole(idx); len(row) > limit {
				return &Conflict{Code: CodeLimit, Message: text.Mark("This table or row is sold whole. It has %d seats, and you can book up to %d."), Args: []any{len(row), limit}}
			}
			if r := s.runs.sharing(s.runs.of[idx]); r != nil && r.Least > limit {
				return &Conflict{Code: CodeLimit, Message: text.Mark("At this table or row, each party has at least %d seats, and you can book up to %d."), Args: []any{r.Least, limit}}
			}
		}
		return overLimit(limit, 0)
	}
	return s.RefusePart(c.seats)
}

// claim decides one claim under the lock.
func (b *batch) claim(c *command) (Hold, error) {
	h, live := b.live(c.holder)
	if h != nil && c.key != "" {
		if first, err := h.answers.to(c.key); err != nil || first != nil {
			return b.repeat(first, c, err)
		}
	}
	c.early = b.claimsEarly(c)
	if refusal := b.shut(); refusal != nil && !c.early {
		return Hold{}, refusal
	}
	if refusal := b.outside(c); refusal != nil && !c.early {
		return Hold{}, refusal
	}
	if c.choice != nil && c.seats == nil {
		return b.chooseLate(c)
	}
	if err := b.sale.RefusePart(c.seats); err != nil { // the plan may be newer than the one that the claim was understood by
		return Hold{}, err
	}
	var mine, taken, fresh []int
	for _, idx := range c.seats {
		switch r := b.rows[idx]; {
		case live && r.holder == c.holder && (r.state == Held || r.state == Paying):
			mine = append(mine, idx)
		case c.access.only() && b.blockOf(idx) == (ID{}):
			if c.choice == nil {
				return Hold{}, b.sale.outsideAllocation(idx)
			}
			taken = append(taken, idx)
		case b.reserved(idx, c):
			taken = append(taken, idx)
		case r.state == Blocked:
			fresh = append(fresh, idx)
		case b.mayTake(r, c.holder) && (c.choice == nil || c.late || r.holder == ID{}): // a map that is behind shows expired seats as available
			fresh = append(fresh, idx)
		default:
			taken = append(taken, idx)
		}
	}
	old := b.replaced(c)
	has := b.has(c.holder) - len(old)
	switch {
	case has+len(fresh)+len(taken) > b.terms.limit:
		return Hold{}, overLimit(b.terms.limit, has)
	case len(taken) > 0 && c.choice != nil, len(mine) > 0 && c.choice != nil:
		for _, idx := range taken {
			delete(c.choice.unlocked, idx)
		}
		c.seats, c.late, b.behind = nil, false, true
		c.missed++
		return Hold{}, errChooseAgain
	case len(taken) > 0:
		return Hold{}, b.refuseTaken(taken)
	case len(fresh) > 0 && live && b.offered(h):
		return Hold{}, &Conflict{Code: CodeLimit, Seats: b.still(h), Message: text.Mark("Your seats were offered to you, and are held longer than others. Order or remove them before you choose more.")}
	}
	if err := b.refuseParties(c, fresh, old); err != nil {
		return Hold{}, err
	}
	codes, err := b.codesFor(c, fresh, b.kindFor(c))
	if err != nil {
		return Hold{}, err
	}
	if err := b.refuseEarly(c, h, fresh, codes, has); err != nil {
		return Hold{}, err
	}
	return b.grant(c, h, live, fresh, old, codes)
}

// offered reports whether a hold lasts longer than any that a visitor makes: it was an offer, and seats that are added to it would be
// kept from others as long.
func (b *batch) offered(h *holdRow) bool {
	return h.expiresAt.After(b.now.Add(max(b.terms.holdLength, b.terms.payLength)))
}

// has returns how many tickets of the event count against the visitor's limit: seats they hold, and seats they bought.
func (b *batch) has(holder ID) int {
	h, live := b.live(holder)
	switch {
	case h == nil:
		return 0
	case live:
		return h.bought + len(b.still(h))
	default:
		return h.bought
	}
}

// replaced lists the held seats that a claim for the best seats replaces: those that the last such claim chose, and that it does not name.
func (b *batch) replaced(c *command) (old []int) {
	h, live := b.live(c.holder)
	if !c.best || !live {
		return nil
	}
	for _, idx := range h.best {
		if r := b.rows[int(idx)]; r.holder == c.holder && r.state == Held && !slices.Contains(c.seats, int(idx)) {
			old = append(old, int(idx))
		}
	}
	for _, idx := range b.sale.runs.tooFew(b.still(h), old) { // what is left of their party goes with them
		if b.rows[idx].state == Held && !slices.Contains(c.seats, idx) {
			old = append(old, idx)
		}
	}
	return old
}

// grant adds seats to the holder's hold and releases the old ones that they replace. The clock of a hold starts with its
// first seat; more seats never reset it. A claim after the time was up starts a new hold, and what it does not name is let
// go.
func (b *batch) grant(c *command, h *holdRow, live bool, fresh, old []int, codes map[int]seatCode) (Hold, error) {
	if !live {
		next := h.renew(c.holder, b.now.Add(b.terms.holdLength))
		if h != nil {
			for _, idx := range b.still(h) {
				if !slices.Contains(fresh, idx) {
					b.set(idx, c.holder, row{})
				}
			}
		}
		h = next
		b.holds[c.holder] = h
	}
	b.bind(c, h)
	for _, idx := range old {
		b.set(idx, c.holder, row{})
		h.keepSeats(slices.DeleteFunc(h.seats, func(i int32) bool { return int(i) == idx }))
	}
	fares := b.fresh(fresh, b.kindFor(c))
	for i, idx := range fresh {
		end := h.expiresAt
		by := c.holder
		if b.rows[idx].state == Blocked {
			by = b.rows[idx].holder // its block
		}
		b.set(idx, by, row{state: Held, holder: c.holder, expiresAt: &end, fare: fares[i]})
		if code := codes[idx]; code != b.coded[idx] {
			b.noteCode(idx, code)
		}
		h.seats = append(h.seats, int32(idx))
	}
	if c.best { // a seat that they chose by hand, and that a proposal names, stays one
		h.best = append(slices.DeleteFunc(h.best, func(idx int32) bool { return !slices.Contains(c.seats, int(idx)) }), seatsOf(fresh)...)
	}
	h.expired, h.touched = false, true
	slices.Sort(h.seats)
	answer := b.answerHold(h)
	if c.key != "" {
		return answer, h.answers.keep(granted{c.key, c.request, h.id, slices.Clone(h.seats), h.expiresAt})
	}
	return answer, nil
}

// repeat gives the first answer again.
func (b *batch) repeat(first *granted, c *command, err error) (Hold, error) {
	if err != nil {
		return Hold{}, err
	}
	if first.Request != c.request {
		return Hold{}, &Conflict{Code: CodeKey, Message: text.Mark("This key came before with another request. Nothing was changed. Use a new key for a new request.")}
	}
	h := Hold{ID: first.Hold, ExpiresAt: first.ExpiresAt, Now: b.now, Expired: !first.ExpiresAt.After(b.now)}
	for _, idx := range first.Seats {
		h.Seats = append(h.Seats, int(idx))
	}
	h.Lines = b.lines(h.Seats)
	if now, ok := b.holds[c.holder]; ok {
		h.ExtensionsLeft = max(0, b.terms.extensions-now.extensions)
	}
	return h, nil
}

// granted is the answer to a claim that won, to an extension or a release. It is kept in its holder's row until
// that is purged, so that a repeat of the claim gets the same answer.
type granted struct {
	Key       string    `json:"key"`
	Request   string    `json:"wish"` // what was asked for: of a claim its hash
	Hold      ID        `json:"hold"`
	Seats     []int32   `json:"seats"` // all seats of the hold, as the answer named them
	ExpiresAt time.Time `json:"expires_at"`
}

// answers are the latest answers to a holder's claims, the last one last. They are read only on demand.
type answers struct {
	text *string // as stored; nil if none
	list []granted
}

// seatsOf are seats as an answer keeps them.
func seatsOf(idxs []int) []int32 {
	seats := make([]int32, len(idxs))
	for i, idx := range idxs {
		seats[i] = int32(idx)
	}
	return seats
}

// answersKept is how many answers a row keeps. A repeat comes within seconds.
const answersKept = 32

// to finds the answer that a key got; nil if it got none.
func (a *answers) to(key string) (*granted, error) {
	if err := a.read(); err != nil {
		return nil, err
	}
	for i := range a.list {
		if a.list[i].Key == key {
			return &a.list[i], nil
		}
	}
	return nil, nil
}

// keep adds an answer.
func (a *answers) keep(g granted) error {
	if err := a.read(); err != nil {
		return err
	}
	a.list = append(a.list, g)
	a.list = slices.Clone(a.list[max(0, len(a.list)-answersKept):])
	text, err := json.Marshal(a.list)
	if err != nil {
		return fmt.Errorf("seats: keep an answer: %w", err)
	}
	written := string(text)
	a.text = &written
	return nil
}

func (a *answers) read() error {
	if a.list != nil || a.text == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(*a.text), &a.list); err != nil {
		return fmt.Errorf("seats: read the answers of a holder: %w", err)
	}
	return nil
}

// overLimit refuses a claim by a visitor with too many tickets for the limit.
func overLimit(limit, has int) *Conflict {
	tickets := text.Some(limit, "%d ticket", "%d tickets")
	if has > 0 {
		return &Conflict{Code: CodeLimit, Message: text.Mark("You can book up to %s. You already have %d."), Args: []any{tickets, has}}
	}
	return &Conflict{Code: CodeLimit, Message: text.Mark("You can book up to %s."), Args: []any{tickets}}
}

func (s *Sale) taken(seats []int) *Conflict {
	return &Conflict{Code: CodeTaken, Seats: seats, Message: oneOrMany(seats, text.Mark("Sorry, %s was just taken. Your other seats are still held."), text.Mark("Sorry, %s were just taken. Your other seats are still held.")), Args: []any{s.named(seats)}}
}

// A choice made by us takes available seats first. Seats of expired holds may be claimed by any visitor, but their last
// holder may still come back for them: they are chosen only when nothing else fits, the longest expired first.

// The map at the version of the counts shows every available seat and every expired one, but not since when a seat is
// expired, and not the holds with an end that was not announced yet. Those of all events are few, those of this one ever were
// many: OFFSET keeps the planner from reading the event's. Seats that another visitor took since still stand in such a hold.
const availabilitySQL = `
SELECT c.version, s.idx, s.expires_at
  FROM counter c
       LEFT JOIN LATERAL (
           SELECT s.idx, s.expires_at
             FROM (SELECT event_id, holder, seats FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp() OFFSET 0) overdue,
                  LATERAL (SELECT idx, holder, expires_at FROM seat_state WHERE event_id = $1 AND idx = ANY(overdue.seats) OFFSET 0) s
            WHERE overdue.event_id = $1 AND s.holder = overdue.holder
            UNION ALL
           SELECT idx, expires_at FROM seat_state WHERE event_id = $1 AND idx = ANY($2::integer[]) AND state = 2 /* lapsed */) s ON true
 WHERE c.event_id = $1`

// late is what the database says beside the map, for claims of a batch that found too few available seats.
type late struct {
	version int64             // of the event
	mapped  []int32           // seats that are expired on the map
	ends    map[int]time.Time // when expired seats expired
	expired []int             // the same seats, the longest expired first
	meant   map[int]bool      // seats that one claim tries in the next batch
	short   map[Scope]int     // the number that was not to be had last: see runs.norFor; and
	left    map[Scope]int     // what was
	grouped map[Scope]bool    // and whether rows sold whole or shared were left there
	soon    map[Scope]int     // the number that was to be had last only of seats meant for other claims
}

// ask makes the batch read what the map may lack. The map's lock is held.
func (b *batch) ask(m *seatMap) {
	if b.asks {
		return
	}
	b.asks = true
	b.late = late{mapped: []int32{}, ends: map[int]time.Time{}, meant: map[int]bool{}, short: map[Scope]int{}, left: map[Scope]int{}, grouped: map[Scope]bool{}, soon: map[Scope]int{}}
	for idx, state := range m.states {
		if state == Expired {
			b.late.mapped = append(b.late.mapped, int32(idx))
		}
	}
}

// queueAvailability reads it with the locks.
func (b *batch) queueAvailability(q *pgx.Batch) {
	if !b.asks {
		return
	}
	l := &b.late
	q.Queue(availabilitySQL, b.sale.Event.ID, l.mapped).Query(func(rows pgx.Rows) error {
		var idx *int
		var end *time.Time
		_, err := pgx.ForEachRow(rows, []any{&l.version, &idx, &end}, func() error {
			if idx != nil && end != nil {
				l.ends[*idx] = *end
				l.expired = append(l.expired, *idx)
			}
			return nil
		})
		slices.SortFunc(l.expired, func(a, b int) int {
			if by := l.ends[a].Compare(l.ends[b]); by != 0 {
				return by
			}
			return a - b
		})
		return err
	})
}

// chooseLate is for a claim for which choose found too few available seats. Either there are enough after all, and these
// are tried in the next batch, by this claim alone; or the refusal is the truth of this moment, provided that the batch
// before is committed.
func (b *batch) chooseLate(c *command) (Hold, error) {
	old := b.replaced(c)
	if has := b.has(c.holder) - len(old); has+c.choice.n > b.terms.limit {
		return Hold{}, overLimit(b.terms.limit, has)
	}
	l, at, n := &b.late, c.choice.Scope, c.choice.n
	known := c.choice.plain() // else other claims say nothing of this one
	if least, tried := l.short[at]; tried && known && b.sale.runs.norFor(n, least) {
		return Hold{}, b.sale.runs.noneLeft(l.left[at], n, len(old), l.grouped[at])
	}
	if least, tried := l.soon[at]; tried && known && b.sale.runs.norFor(n, least) {
		return Hold{}, errChooseAgain
	}
	m := &b.sale.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.version < l.version {
		b.behind = true
		return Hold{}, errChooseAgain
	}
	c.missed++
	if c.seats = b.bestLate(c.choice, func(idx int) bool { return !l.meant[idx] }); len(c.seats) == n {
		c.late = true
		for _, idx := range c.seats {
			l.meant[idx] = true
		}
		return Hold{}, errChooseAgain
	}
	c.seats = nil
	left := b.bestLate(c.choice, func(int) bool { return true })
	if len(left) == n {
		if known {
			l.soon[at] = n
		}
		return Hold{}, errChooseAgain
	}
	grouped := b.sale.groupedLeft(at)
	if known {
		l.short[at], l.left[at], l.grouped[at] = n, len(left), grouped
	}
	return Hold{}, b.sale.runs.noneLeft(len(left), n, len(old), grouped)
}

// bestLate picks seats at this point of the batch, of those for which may holds: available seats, and expired ones as far
// as those are too few, the longest expired first. If all of them are too few, it returns what there is. The map's lock is
// held, and the map is at the version of the counts.
func (b *batch) bestLate(c *choice, may func(idx int) bool) (seats []int) {
	m, t, coming := &b.sale.seats, b.sale.runs, b.coming()
	may = b.sale.may(c, may)
	available := func(idx int) bool {
		if _, ours := b.dirty[idx]; ours {
			return (b.rows[idx].holder == (ID{}) || b.rows[idx].state == Blocked && c.unlocked[idx]) && may(idx)
		}
		return (m.states[idx] == Free || m.states[idx] == Blocked && c.unlocked[idx]) && !coming(idx) && may(idx)
	}
	more := map[int32]int{} // beyond what the map shows
	for idx := range b.dirty {
		more[m.of[idx]]++
	}
	open := func(i int32) int { return int(m.open[i]) + more[i] }
	if c.unlocked != nil {
		open = func(i int32) int { return t.all[i].count }
	}
	for _, i := range t.in(c.Scope) {
		if len(seats) >= c.n {
			break
		}
		if open(i) == 0 || t.isGrouped(i) {
			continue
		}
		for idx := t.all[i].first; idx < t.all[i].first+t.all[i].count && len(seats) < c.n; idx++ {
			if available(idx) {
				seats = append(seats, idx)
			}
		}
	}
	if len(seats) >= c.n {
		return b.sale.best(c, available, open)
	}
	single := func(idx int) bool {
		return t.whole == nil && t.shared == nil || idx < len(t.of) && !t.isGrouped(t.of[idx])
	}
	for _, idx := range b.late.expired {
		if len(seats) == c.n {
			break
		}
		if single(idx) && b.sale.inScope(idx, c.Scope) && !available(idx) && b.expired(idx, m.states[idx], coming) && may(idx) {
			seats = append(seats, idx)
		}
	}
	for idx, state := range m.states { // expired ones with an end that was announced after the batch asked
		if len(seats) == c.n {
			break
		}
		if _, known := b.late.ends[idx]; state == Expired && !known && single(idx) && b.sale.inScope(idx, c.Scope) && !available(idx) && b.expired(idx, state, coming) && may(idx) {
			seats = append(seats, idx)
		}
	}
	if len(seats) < c.n && (t.whole != nil || t.shared != nil) {
		late := func(idx int) bool {
			_, ended := b.late.ends[idx]
			return available(idx) || (ended || m.states[idx] == Expired) && b.expired(idx, m.states[idx], coming) && may(idx)
		}
		for _, find := range []func(*choice, func(int) bool) []int{b.sale.wholeLate, b.sale.sharedLate} {
			if row := find(c, late); row != nil {
				return row
			}
		}
	}
	slices.Sort(seats)
	return seats
}

// expired reports whether a visitor may take a seat with a hold that had expired when the locks were taken.
func (b *batch) expired(idx int, shown State, coming func(int) bool) bool {
	if b.coded[idx].block != (ID{}) {
		return false // it goes back to its block
	}
	if _, ours := b.dirty[idx]; ours {
		return b.mayTake(b.rows[idx], ID{})
	}
	switch shown {
	case Expired:
		return !coming(idx)
	case Held, Paying: // its end was not announced
		return !b.entryWaits
	default:
		return false
	}
}

// inScope reports whether a seat is one of those that a choice may be made of.
func (s *Sale) inScope(idx int, at Scope) bool {
	if idx >= len(s.Plan.Seats) {
		return false // the plan has grown, and the claim comes again
	}
	seat := &s.Plan.Seats[idx]
	return (at.Section < 0 || seat.Section == at.Section) && (at.Category < 0 || seat.Category == at.Category)
}

// noneLeft is soldOut, or says that what is left is sold whole or shared.
func (t *runs) noneLeft(left, n, held int, grouped bool) *Conflict {
	if held == 0 && left == 0 && grouped {
		return t.onlyGrouped(n)
	}
	return soldOut(left, n, held)
}

// soldOut refuses a claim for n seats where so many are left. held is how many seats it was to replace.
func soldOut(left, n, held int) *Conflict {
	switch {
	case held > 0:
		return &Conflict{Code: CodeSoldOut, Message: text.Mark("There are no other seats like these. The seats you have are still held.")}
	case left == 0:
		return &Conflict{Code: CodeSoldOut, Message: text.Mark("Nothing is available here right now. Your other seats are still held. Seats in someone’s basket may be released.")}
	}
	return &Conflict{Code: CodeSoldOut, Message: text.Mark("Only %s available here, and you asked for %d. Your other seats are still held. Choose fewer."), Args: []any{text.Some(left, "%d seat is", "%d seats are"), n}}
}

// countIn sums the counts of a scope. It is not known for an area that shares its category with other seats.
func (s *Sale) countIn(at Scope, counts []int) (n int, known bool) {
	switch {
	case at.Section < 0 && at.Category < 0:
		return sum(counts), true
	case at.Section < 0:
		return counts[at.Category], true
	}
	category := s.runs.only[at.Section]
	if category < 0 || s.runs.seats[category] != s.Plan.Sections[at.Section].Count {
		return 0, false
	}
	return counts[category], true
}
