package rush

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

const (
	nextLook  = 5 * time.Second  // the shortest time between two looks of a person who is next
	lobbyLook = 30 * time.Second // of a person in the lobby
	rarely    = 60 * time.Second // of a person far back
	stuck     = 2 * time.Minute  // without anything happening: they are not answered
	lastHolds = 30 * time.Minute // the same while the last seats are held, by people's clocks: as long as a room lets people stay by default
)

// onlooker stands for the waiting person who looks next.
const onlooker = -1

// startLooking has those who wait look for as long as the crowd is there.
func (r *run) startLooking() { r.schedule.add(turn{0, onlooker}) }

// lookOn is one look of a waiting person: all get the same answer. The next one looks after the pace of now,
// whether this one was answered or not.
func (r *run) lookOn(ctx context.Context, l *line, t turn) error {
	r.schedule.add(turn{max(t.at, r.now()-int64(time.Second)) + int64(r.lookEach()), onlooker})
	err := r.glance(ctx, l, t.at)
	r.answerAll()
	return err
}

// lookEach is the time from one look to the next, so that as many look as the page has look: a twentieth of the time one
// has to wait, between 5 and 60 s, made shorter as all times are. Of more than crowd.Looks a second the others are
// answered on the way, as the answer says they may be.
func (r *run) lookEach() time.Duration {
	rm := r.room
	rm.mu.Lock()
	s, joined := rm.shown, rm.joined.Load()
	rm.mu.Unlock()
	waiting := float64(max(1, joined-s.Serving))
	each := lobbyLook
	if s.Phase == "open" {
		each = rarely
		if s.Rate > 0 {
			each = min(rarely, max(nextLook, time.Duration(waiting/2/s.Rate*r.crowd.Faster/20*float64(time.Second))))
		}
	}
	rate := min(waiting/r.scaled(each).Seconds(), float64(r.crowd.Looks))
	return time.Duration(float64(time.Second) / rate)
}

// glance asks for the state of the room, on behalf of a person who is ready to ask since from.
func (r *run) glance(ctx context.Context, l *line, from int64) error {
	rm := r.room
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: rm.path + "/status"})
	if err != nil {
		return err
	}
	if status != http.StatusOK || l.etag == "" {
		return &errAnswer{status, string(l.body)}
	}
	rm.looks.add(time.Duration(r.now() - from))
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if _, known := rm.read[l.etag]; known {
		return nil
	}
	var s roomStatus
	if err := json.Unmarshal(l.body, &s); err != nil {
		return &errAnswer{status, string(l.body)}
	}
	rm.read[l.etag] = struct{}{}
	r.learn(&s)
	return nil
}

// learn takes in a new status. It needs rm.mu.
func (r *run) learn(s *roomStatus) {
	rm := r.room
	rm.served = append(rm.served, serving{s.At.UnixNano(), s.Serving})
	before := rm.shown
	if s.V < before.V {
		if s.Serving > before.Serving {
			r.books.lie("number %d was called at version %d of the room, and at version %d only %d", s.Serving, s.V, before.V, before.Serving)
		}
		return
	}
	if s.Serving < before.Serving || s.Line < before.Line || s.Lobby < before.Lobby {
		r.books.lie("the room went back from %d in the lobby, %d in line and %d called to %d, %d and %d",
			before.Lobby, before.Line, before.Serving, s.Lobby, s.Line, s.Serving)
	}
	if rm.frozen != 0 && s.Lobby != before.Lobby {
		r.books.lie("the lobby was closed with %d people, and had %d later", before.Lobby, s.Lobby)
	}
	if rm.frozen == 0 && s.Phase != "lobby" {
		rm.frozen = wall()
	}
	rm.shown = *s
	if s.Serving > before.Serving {
		rm.moved.Store(r.now())
	}
	if s.Draw != nil && !rm.drawn {
		r.draw(s.Draw)
	}
	if rm.drawn {
		for ; rm.called < s.Serving; rm.called++ {
			if who := rm.holderOf(rm.called + 1); who >= 0 {
				r.call(who)
			}
		}
	}
}

// draw makes the draw of the lobby from its record, sends some who try to come in before their turn, and some who go.
// It needs rm.mu.
func (r *run) draw(d *drawn) {
	rm := r.room
	rm.numbers, rm.drawn = d.numbers(), true
	rm.byNumber = make([]int32, len(rm.numbers))
	for i := range rm.byNumber {
		rm.byNumber[i] = -1
	}
	for i, who := range rm.lobby {
		if who < 0 || i >= len(rm.numbers) {
			continue
		}
		rm.byNumber[rm.numbers[i]-1] = who
		random := r.random(who, 2)
		switch share := random.Float64(); {
		case share < r.crowd.Early:
			r.bother(who, stepEarly, random.Int64N(int64(10*time.Minute)))
		case share < r.crowd.Early+leavesLine:
			r.bother(who, stepLeaveLine, random.Int64N(int64(20*time.Minute)))
		}
	}
}

// leavesLine is the share of the lobby that gives its place up.
const leavesLine = 0.02

func (r *run) bother(who int32, s step, after int64) {
	r.room.tickets[who].state = busy
	r.hold(1)
	r.next(who, s, r.scaled(time.Duration(after)))
}

// tellAll ends the wait of everybody who has nothing else to do. It needs rm.mu.
func (r *run) tellAll(how end) {
	for who := range r.room.tickets {
		if t := &r.room.tickets[who]; t.state == waits && t.kind != 0 {
			t.state = isDone
			r.finish(int32(who), how)
		}
	}
}

// answerAll ends the wait once all people came and are told that it is sold out, and that of a crowd without answers
// any more: then it is untrue that they wait for something.
func (r *run) answerAll() {
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if rm.shown.soldOut() && !rm.told && rm.came.Load() == int64(len(rm.tickets)) {
		rm.told = true
		r.tellAll(toldSoldOut)
	}
	patience := rm.shown.patience(r.crowd.Faster)
	if time.Duration(r.now()-rm.moved.Load()) < patience {
		return
	}
	r.books.lie("people wait, and no number was called and no person let in for %s: %d are called of %d, %d seats are free", patience, rm.shown.Serving, rm.shown.Lobby+rm.shown.Line, rm.shown.Free)
	rm.over = true
	r.tellAll(failed)
	rm.moved.Store(r.now())
}

// patience is how long nothing may happen until people wait for nothing.
func (s *roomStatus) patience(faster float64) time.Duration {
	if s.Free == 0 && s.Held > 0 {
		return max(stuck, time.Duration(float64(lastHolds)/faster))
	}
	return stuck
}

// stay is the time that a person surely spent inside, by the box office's clock.
type stay struct {
	number      int64
	from, until int64
}

// turn is the turn of a called person: look, as the page does, and come in.
func (r *run) turn(ctx context.Context, l *line, who int32) error {
	rm := r.room
	if err := r.glance(ctx, l, r.now()); err != nil {
		return err
	}
	rm.mu.Lock()
	soldOut, over := rm.shown.soldOut(), rm.over
	rm.mu.Unlock()
	if soldOut {
		r.finish(who, toldSoldOut)
		return nil
	}
	if over {
		r.finish(who, failed)
		return nil
	}
	from := r.now()
	a, err := r.enter(ctx, l, who)
	if err != nil {
		return err
	}
	rm.entries.add(time.Duration(r.now() - from))
	p := &r.people[who]
	switch {
	case a.Inside:
		rm.mu.Lock()
		rm.tickets[who].state, rm.tickets[who].in = isDone, cmp.Or(rm.tickets[who].in, r.now())
		rm.mu.Unlock()
		rm.moved.Store(r.now())
		p.cookie, p.inside = rm.cookies(who), true
		r.next(who, stepLook, r.scaled(looksFor+time.Duration(r.random(who, 3).Int64N(int64(2*looksFor)))))
	case a.Why == "full":
		r.next(who, stepTurn, r.scaled(nextLook*4/5+time.Duration(r.random(who, int(r.now()>>20)).Int64N(int64(nextLook*2/5)))))
	case a.Why == "late":
		rm.mu.Lock()
		rm.figures.Late++
		rm.mu.Unlock()
		r.finish(who, refused)
	default:
		r.books.lie("person %d was called with number %d and is not let in: %q", who, a.Number, a.Why)
		r.finish(who, refused)
	}
	return nil
}

// looksFor is how long a person inside looks around, at least.
const looksFor = 20 * time.Second

// enter asks to be let in, and books it.
func (r *run) enter(ctx context.Context, l *line, who int32) (a standing, err error) {
	rm := r.room
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: rm.path + "/admissions", cookie: rm.cookies(who)})
	received := wall()
	if err != nil {
		return a, err
	}
	if status != http.StatusOK || json.Unmarshal(l.body, &a) != nil {
		return a, &errAnswer{status, string(l.body)}
	}
	rm.mu.Lock()
	defer rm.mu.Unlock()
	t := &rm.tickets[who]
	if a.Number > 0 {
		if t.number != 0 && int64(t.number) != a.Number {
			r.books.lie("person %d had number %d and has %d now", who, t.number, a.Number)
		}
		t.number = uint32(a.Number)
	}
	if a.Inside {
		rm.stay(who, received+r.books.offsetMost(), a.Until.UnixNano())
	}
	return a, nil
}

// stay books that a person is inside from one moment to another. A person who was not surely inside before came in again. It
// needs rm.mu.
func (rm *room) stay(who int32, from, until int64) {
	s := rm.stays[who]
	if s != nil && s.until >= from {
		s.until = max(s.until, until)
		return
	}
	if s != nil {
		rm.past = append(rm.past, *s)
	}
	rm.stays[who] = &stay{number: rm.number(&rm.tickets[who]), from: from, until: until}
}

// outside books that a person who was let in is told to be outside. If their time is over they ask to come in
// again, as their page does.
func (r *run) outside(who int32, sent, received int64) {
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	s := rm.stays[who]
	if s == nil || s.until > received+r.books.offsetMost() {
		r.books.lie("person %d was inside, claimed at %s and was told that they are not", who, clockTime(sent+r.books.offsetLeast()))
		r.finish(who, refused)
		return
	}
	rm.figures.Slow++
	p := &r.people[who]
	p.inside, p.claim = false, nil
	rm.tickets[who].state = comes
	r.next(who, stepTurn, 0)
}

// early tries to come in, and to claim, before the turn; then the wait goes on.
func (r *run) early(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	a, err := r.enter(ctx, l, who)
	if err == nil && !a.Inside {
		err = r.claimOutside(ctx, l, who)
	}
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.figures.TriedEarly++
	t := &rm.tickets[who]
	switch n := rm.number(t); {
	case err != nil:
		t.state = isDone
	case rm.shown.soldOut():
		t.state = isDone
		r.finish(who, toldSoldOut)
	case a.Inside && n > rm.called && !t.called:
		t.state = waits // the judge sees whether they were called
	default:
		t.state = waits
		if t.called {
			r.call(who)
		}
	}
	return err
}

// claimOutside claims without having been let in.
func (r *run) claimOutside(ctx context.Context, l *line, who int32) error {
	w := r.venue.blind(1, r.random(who, 4))
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: r.venue.claims, cookie: r.room.cookies(who), body: w.json()})
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Hold != nil {
		r.books.lie("person %d was not let in, claimed all the same and got %s", who, r.venue.names(a.Hold.Idx))
	}
	return nil
}

// leaveLine gives a place up before its turn.
func (r *run) leaveLine(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	err := r.depart(ctx, l, r.room.cookies(who))
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	r.room.tickets[who].state = isDone
	if err == nil {
		r.room.figures.LeftLine++
		r.finish(who, away)
	}
	return err
}

// leave goes out of the sale, so that another person may come in.
func (r *run) leave(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	r.leaves(who)
	return r.depart(ctx, l, r.people[who].cookie)
}

func (r *run) depart(ctx context.Context, l *line, cookie string) error {
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: r.room.path + "/departure", cookie: cookie})
	if err == nil && status != http.StatusNoContent {
		err = &errAnswer{status, string(l.body)}
	}
	return err
}

// leaves books a request after which the person may be outside.
func (r *run) leaves(who int32) {
	if r.room == nil {
		return
	}
	now := wall() + r.books.offsetLeast()
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	if s := r.room.stays[who]; s != nil {
		s.until = min(s.until, now)
	}
}

// holds books that a person inside holds seats and so stays until that ends.
func (r *run) holds(who int32, h *holdAnswer) {
	if r.room == nil {
		return
	}
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	if s := r.room.stays[who]; s != nil {
		s.until = max(s.until, h.ExpiresAt.UnixNano())
	}
}
