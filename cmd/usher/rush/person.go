package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// person is one attendee. There may be hundreds of thousands, so it is small.
type person struct {
	cookie string // the session, once there is one
	claim  *claim // under way or granted
	step   step
	end    end
	fate   fate
	repeat bool
	inside bool // was let in from the waiting room
	phone  bool // asks for the best seats
	bot    bool
	party  uint8
	tries  uint16
}

// claim is what a person asked for, and got.
type claim struct {
	claimBody claimBody
	body      []byte
	key       string
	grant     *grant // nil until it is granted
	payment   string // code of the payment that is under way
	until     int64  // when its hold ends, by the clock of the box office
}

// step is what a person does next.
type step uint8

const (
	stepLook step = iota
	stepClaim
	stepRepeat
	stepRelease
	stepExtend
	stepDetails
	stepConfirm
	stepPaid

	// Of a waiting room.
	stepJoin
	stepTurn
	stepEarly
	stepLeaveLine
	stepLeave
)

// fate is what a person does with the seats.
type fate uint8

const (
	keeps fate = iota
	givesUp
	letsExpire
)

// end is how it ended for a person.
type end uint8

const (
	under end = iota // way
	got
	toldSoldOut
	refused
	away // did not come when called
	failed
)

// person makes the one of this number.
func (c *Crowd) person(random *rand.Rand) person {
	p := person{party: 1, step: c.firstStep(), repeat: random.Float64() < c.Repeat}
	if c.Scenario == Places || c.Scenario == Stadium || c.Scenario == Room {
		p.party = c.party(random)
		p.phone = random.Float64() < c.Phones
	}
	switch share := random.Float64(); {
	case share < c.GiveUp:
		p.fate = givesUp
	case share < c.GiveUp+c.Expire:
		p.fate = letsExpire
	}
	return p
}

// firstStep is how people begin: some look at the map before they claim.
func (c *Crowd) firstStep() step {
	switch c.Scenario {
	case Room:
		return stepJoin
	case FirstFree, Stadium:
		return stepLook
	}
	return stepClaim
}

// answer is what the box office says to a claim.
type answer struct {
	Hold  *holdAnswer
	Error *struct {
		Code, Message string
		Seats         []string
	}
}

// errAnswer is an answer that no attendee should get.
type errAnswer struct {
	status int
	body   string
}

func (e *errAnswer) Error() string { return fmt.Sprintf("rush: answered %d %.200s", e.status, e.body) }

// act does the next thing a person has in mind, on a connection.
func (r *run) act(ctx context.Context, l *line, who int32) error {
	switch r.people[who].step {
	case stepLook:
		return r.look(ctx, l, who)
	case stepClaim:
		return r.claim(ctx, l, who)
	case stepRepeat:
		return r.repeat(ctx, l, who)
	case stepRelease:
		return r.release(ctx, l, who)
	case stepDetails:
		return r.details(ctx, l, who)
	case stepConfirm:
		return r.confirm(ctx, l, who)
	case stepPaid:
		return r.paid(ctx, l, who)
	case stepJoin:
		return r.join(ctx, l, who)
	case stepTurn:
		return r.turn(ctx, l, who)
	case stepEarly:
		return r.early(ctx, l, who)
	case stepLeaveLine:
		return r.leaveLine(ctx, l, who)
	case stepLeave:
		return r.leave(ctx, l, who)
	default:
		return r.extend(ctx, l, who)
	}
}

// look reads the map and decides what to claim.
func (r *run) look(ctx context.Context, l *line, who int32) error {
	p := &r.people[who]
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.venue.slug + "/map.bin"})
	if err != nil {
		return err
	}
	v, err := readView(l.body)
	if status != http.StatusOK || err != nil || v.n != len(r.venue.seats) || len(v.free) != len(r.venue.categories) {
		return &errAnswer{status, fmt.Sprintf("no map of the event: %v", err)}
	}
	random := r.random(who, int(p.tries))
	w := r.venue.first(v, int(p.tries), random)
	if r.crowd.Scenario == Stadium || r.crowd.Scenario == Room {
		w = r.venue.pointOrBest(v, int(p.party), int(p.tries), p.phone, random)
	}
	r.decide(who, w)
	r.next(who, stepClaim, r.thinks(who, 0.5+random.Float64()))
	return nil
}

// thinks is how long a person thinks, a share of the usual time. Programs do not.
func (r *run) thinks(who int32, share float64) time.Duration {
	if r.people[who].bot {
		return 0
	}
	return time.Duration(share * float64(r.crowd.Think))
}

// decide makes a body the person's next claim, with a key of its own.
func (r *run) decide(who int32, w claimBody) {
	p := &r.people[who]
	p.claim = &claim{claimBody: w, body: w.json(), key: fmt.Sprintf("rush-%x-%d-%d", r.crowd.Seed, who, p.tries)}
	p.tries++
}

func (r *run) claim(ctx context.Context, l *line, who int32) error {
	p := &r.people[who]
	if p.claim == nil {
		r.decide(who, r.venue.blind(int(p.party), r.random(who, 0)))
	}
	a, sent, received, err := r.ask(ctx, l, who)
	if err != nil {
		r.books.lost(r.venue, &p.claim.claimBody, sent, received)
		return err
	}
	if a.Hold != nil {
		return r.granted(who, a.Hold, sent, received)
	}
	return r.refused(who, &a, sent, received)
}

// ask sends the person's claim and reads the answer to it.
func (r *run) ask(ctx context.Context, l *line, who int32) (a answer, sent, received int64, err error) {
	p := &r.people[who]
	sent = wall()
	status, cookie, err := l.ask(ctx, request{method: http.MethodPost, path: r.venue.claims, cookie: p.cookie, key: p.claim.key, body: p.claim.body})
	if err == nil && status == http.StatusPreconditionRequired { // the box office checks browsers
		if err = r.browse(ctx, l, who); err == nil {
			status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: r.venue.claims, cookie: p.cookie, key: p.claim.key, body: p.claim.body})
		}
	}
	received = wall()
	if p.cookie == "" { // without a cookie the box office cannot know the person again: the first grant is lost
		for range l.doubts {
			r.books.lost(r.venue, &p.claim.claimBody, sent, received)
		}
	}
	if err != nil {
		return a, sent, received, err
	}
	r.claims.Add(1)
	err = json.Unmarshal(l.body, &a)
	won := status == http.StatusCreated && a.Hold != nil
	lost := a.Error != nil && (status == http.StatusConflict || status == http.StatusForbidden && r.room != nil && a.Error.Code == "waiting_room" || status == http.StatusTooManyRequests && (r.crowd.OneAddress || !r.crowd.Own))
	if err != nil || !won && !lost {
		return a, sent, received, &errAnswer{status, string(l.body)}
	}
	p.cookie = merge(p.cookie, cookie)
	return a, sent, received, nil
}

// granted books a claim that won, and sees to what the person does with the seats.
func (r *run) granted(who int32, h *holdAnswer, sent, received int64) error {
	r.hold(1) // until it is clear what comes next
	defer r.hold(-1)
	p := &r.people[who]
	for _, idx := range h.Idx {
		if int(idx) >= len(r.venue.seats) || idx < 0 {
			r.books.lie("person %d got seat %d, which the event does not have", who, idx)
			return nil
		}
	}
	p.claim.grant = r.books.grant(who, h, sent, received)
	r.finish(who, got)
	r.holds(who, h)
	if w := &p.claim.claimBody; !w.isWhat(r.venue, h) {
		r.books.lie("person %d asked for %s and got %s", who, w.json(), r.venue.names(h.Idx))
	}
	if p.cookie == "" {
		r.books.lie("person %d got %s and no cookie to come back with", who, r.venue.names(h.Idx))
		return nil
	}
	if p.repeat {
		r.hold(1)
		r.next(who, stepRepeat, 0)
		return nil
	}
	r.settle(who, h)
	return nil
}

// isWhat reports whether a hold is what was asked for.
func (w *claimBody) isWhat(h *venue, a *holdAnswer) bool {
	if len(a.Idx) != w.size() {
		return false
	}
	for _, idx := range a.Idx {
		if p := &h.seats[idx]; !w.scope.has(p) || len(w.Seats) > 0 && !slices.Contains(w.Seats, p.label) {
			return false
		}
	}
	return true
}

// settle is what a person does with the seats.
func (r *run) settle(who int32, h *holdAnswer) {
	length := h.ExpiresAt.Sub(h.Now)
	if r.people[who].fate != keeps {
		r.back.Add(1)
	}
	switch r.people[who].fate {
	case givesUp:
		r.hold(1)
		r.next(who, stepRelease, min(length/4, time.Second))
	case keeps:
		if r.crowd.Buy {
			r.hold(1)
			r.next(who, stepDetails, 0)
			return
		}
		if left := r.crowd.Over - time.Duration(r.now()); length < left+time.Minute {
			r.next(who, stepExtend, length/2)
		}
	}
}

// refused books a claim that lost; the person tries again or goes home.
func (r *run) refused(who int32, a *answer, sent, received int64) error {
	p := &r.people[who]
	w := &p.claim.claimBody
	switch a.Error.Code {
	case "taken":
		r.taken.Add(1)
		r.books.refusedSeats(r.venue, who, a.Error.Seats, sent, received)
	case "sold_out":
		r.books.refusedAll(soldOut{sent, received, w.scope, int16(w.size())})
		if w.last {
			r.finish(who, toldSoldOut)
			return nil
		}
	case "limit":
		if p.party > 1 {
			p.party, p.claim = 1, nil
			again := r.crowd.firstStep()
			if again == stepJoin {
				again = stepLook
			}
			r.next(who, again, 0)
			return nil
		}
		r.finish(who, refused)
		return nil
	case "waiting_room":
		r.outside(who, sent, received)
		return nil
	case "too_many": // mostly the network holds as many seats as it may: as soon as others order there are more
		r.waited.Add(1)
		r.next(who, stepClaim, retryAfter)
		return nil
	default:
		r.finish(who, refused)
		return nil
	}
	if p.tries > mostTries {
		r.finish(who, refused)
		return nil
	}
	r.next(who, stepLook, quickest+time.Duration(r.random(who, int(p.tries)).Int64N(int64(slowest-quickest))))
	return nil
}

// retryAfter is how long a person waits whose network holds as many seats as it may, as Retry-After says.
const retryAfter = 6 * time.Second

// The time a person needs to see that a seat is taken and to look for another. Without it all of them would ask for the
// same seat at the same moment, again and again, which only programs do.
const (
	quickest = 100 * time.Millisecond
	slowest  = 500 * time.Millisecond
)

// repeat sends a granted claim again, as after an impatient reload: the answer must be the same.
func (r *run) repeat(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	g := p.claim.grant
	a, sent, received, err := r.ask(ctx, l, who)
	if err != nil {
		return err
	}
	if a.Hold == nil {
		r.books.lie("person %d repeated a granted claim with its key and was refused: %s", who, a.Error.Message)
		return nil
	}
	same := a.Hold.ID == g.hold && slices.Equal(a.Hold.Idx, g.seats) && a.Hold.ExpiresAt.UnixNano() == g.until
	if !same {
		r.books.lie("person %d had %s, repeated the claim with its key and was told %s", who, r.venue.names(g.seats), a.Hold.Seats)
		r.books.grant(who, a.Hold, sent, received)
	}
	r.settle(who, a.Hold)
	return nil
}

func (r *run) release(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	sent := wall()
	status, _, err := l.ask(ctx, request{method: http.MethodDelete, path: r.venue.claims, cookie: p.cookie})
	r.books.released(p.claim.grant, sent, wall()) // after an error perhaps
	if err != nil {
		return err
	}
	if status != http.StatusNoContent && status != http.StatusNotFound { // 404: the time ran out and others have the seats
		return &errAnswer{status, string(l.body)}
	}
	if p.inside {
		r.hold(1)
		r.next(who, stepLeave, 0)
	}
	return nil
}

// extend asks for more time, and goes on doing so. Who is refused has the seats until the time that was said.
func (r *run) extend(ctx context.Context, l *line, who int32) error {
	p := &r.people[who]
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: "/events/" + r.venue.slug + "/hold/extension", cookie: p.cookie})
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if status == http.StatusOK && a.Hold != nil {
		r.books.extended(p.claim.grant, a.Hold)
		r.settle(who, a.Hold)
	}
	return nil
}

// details are the fields of the checkout.
type details struct {
	Hold   string   `json:"hold"`
	Seats  []string `json:"seats"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Born   string   `json:"born"`
	Method string   `json:"method"`
	Total  int64    `json:"total"` // as the hold's answer has it, minor units
}

// orderAnswer is what the box office says to an order.
type orderAnswer struct {
	Order *struct {
		Code    string `json:"code"`
		State   string `json:"state"`
		Tickets []struct {
			Idx int32 `json:"idx"`
		} `json:"tickets"`
	} `json:"order"`
}

// details opens the page of the checkout.
func (r *run) details(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.venue.slug + "/checkout", cookie: r.people[who].cookie, page: true})
	if err != nil {
		return err
	}
	if r.late(who, status) {
		return nil
	}
	if status != http.StatusOK {
		return &errAnswer{status, string(l.body)}
	}
	r.hold(1)
	r.next(who, stepConfirm, r.thinks(who, r.random(who, 0).Float64()))
	return nil
}

// confirm sends the order. From then on the seats are the person's for good.
func (r *run) confirm(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	g := p.claim.grant
	body, err := json.Marshal(details{
		Hold: g.hold, Seats: r.venue.called(g.seats), Name: fmt.Sprintf("Person %d", who), Email: fmt.Sprintf("person%d@example.org", who),
		Born: "1990-12-31", Method: r.crowd.method(), Total: g.total,
	})
	if err != nil {
		return err
	}
	r.leaves(who)
	order := request{method: http.MethodPost, path: "/events/" + r.venue.slug + "/orders", cookie: p.cookie, body: body}
	status, _, err := l.ask(ctx, order)
	if err == nil && status == http.StatusPreconditionRequired { // the box office checks browsers
		if err := r.browse(ctx, l, who); err != nil {
			return err
		}
		order.cookie = p.cookie
		status, _, err = l.ask(ctx, order)
	}
	if err != nil {
		r.books.sold(g)
		return err
	}
	if r.late(who, status) {
		return nil
	}
	if status == http.StatusAccepted && r.crowd.Pays {
		return r.pay(ctx, l, who)
	}
	var a orderAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || status != http.StatusCreated || a.Order == nil {
		return &errAnswer{status, string(l.body)}
	}
	r.orders.Add(1)
	r.lastOrder.Store(r.now())
	r.books.bought(g, a.Order.Code)
	if !a.sells(g.seats) {
		r.books.lie("person %d ordered %s and got other tickets: %.300s", who, r.venue.names(g.seats), l.body)
	}
	return nil
}

// late reports whether a person is refused because their hold ended before they ordered, so that others may have the seats.
func (r *run) late(who int32, status int) bool {
	return (status == http.StatusNotFound || status == http.StatusConflict) && r.books.over(r.people[who].claim.grant, wall())
}

// sells reports whether an order holds and has a ticket for each of these seats, and for no other.
func (a orderAnswer) sells(seats []int32) bool {
	var idx []int32
	for _, t := range a.Order.Tickets {
		idx = append(idx, t.Idx)
	}
	want := slices.Clone(seats)
	slices.Sort(idx)
	slices.Sort(want)
	return a.Order.State == "confirmed" && slices.Equal(idx, want)
}

// bought books seats that are sold: no other person may get them.
func (b *books) bought(g *grant, order string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.order, g.until = order, forever
}

// visitOrder looks at an order by its link: it must be there, with its tickets.
func (r *run) visitOrder(ctx context.Context, l *line, g *grant) error {
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/orders/" + g.order})
	if err != nil {
		return err
	}
	var a orderAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Order == nil || !a.sells(g.seats) {
		r.books.lie("person %d ordered %s, came back and found %.200s", g.who, r.venue.names(g.seats), l.body)
	}
	return nil
}

// called are the names of seats, as claims and orders say them.
func (h *venue) called(seats []int32) []string {
	labels := make([]string, len(seats))
	for i, idx := range seats {
		labels[i] = h.seats[idx].label
	}
	return labels
}
