package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
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
	party  uint8
	tries  uint16
}

// claim is what a person asked for, and got.
type claim struct {
	wish  wish
	body  []byte
	key   string
	grant *grant // nil until it is granted
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
	letsLapse
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
		p.party = uint8(1 + random.IntN(6))
	}
	switch share := random.Float64(); {
	case share < c.GiveUp:
		p.fate = givesUp
	case share < c.GiveUp+c.Lapse:
		p.fate = letsLapse
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
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.house.slug + "/map.bin"})
	if err != nil {
		return err
	}
	v, err := readView(l.body)
	if status != http.StatusOK || err != nil || v.n != len(r.house.seats) || len(v.free) != len(r.house.categories) {
		return &errAnswer{status, fmt.Sprintf("no map of the event: %v", err)}
	}
	random := r.random(who, int(p.tries))
	w := r.house.first(v, int(p.tries), random)
	if r.crowd.Scenario == Stadium || r.crowd.Scenario == Room {
		w = r.house.pointOrBest(v, int(p.party), int(p.tries), random)
	}
	r.decide(who, w)
	r.next(who, stepClaim, time.Duration((0.5+random.Float64())*float64(r.crowd.Think)))
	return nil
}

// decide makes the wish the person's next claim, with a key of its own.
func (r *run) decide(who int32, w wish) {
	p := &r.people[who]
	p.claim = &claim{wish: w, body: w.json(), key: fmt.Sprintf("rush-%x-%d-%d", r.crowd.Seed, who, p.tries)}
	p.tries++
}

func (r *run) claim(ctx context.Context, l *line, who int32) error {
	p := &r.people[who]
	if p.claim == nil {
		r.decide(who, r.house.blind(int(p.party), r.random(who, 0)))
	}
	a, sent, received, err := r.ask(ctx, l, who)
	if err != nil {
		r.books.lost(r.house, &p.claim.wish, sent, received)
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
	status, cookie, err := l.ask(ctx, request{method: http.MethodPost, path: r.house.claims, cookie: p.cookie, key: p.claim.key, body: p.claim.body})
	if err == nil && status == http.StatusPreconditionRequired { // the box office checks browsers
		if err = r.browse(ctx, l, who); err == nil {
			status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: r.house.claims, cookie: p.cookie, key: p.claim.key, body: p.claim.body})
		}
	}
	received = wall()
	if p.cookie == "" { // nobody knows yet that it was the same person who asked before: what they got then is lost
		for range l.doubts {
			r.books.lost(r.house, &p.claim.wish, sent, received)
		}
	}
	if err != nil {
		return a, sent, received, err
	}
	r.claims.Add(1)
	err = json.Unmarshal(l.body, &a)
	won := status == http.StatusCreated && a.Hold != nil
	lost := a.Error != nil && (status == http.StatusConflict || status == http.StatusForbidden && r.room != nil && a.Error.Code == "waiting_room")
	if err != nil || !won && !lost {
		return a, sent, received, &errAnswer{status, string(l.body)}
	}
	p.cookie = merge(p.cookie, cookie)
	return a, sent, received, nil
}
