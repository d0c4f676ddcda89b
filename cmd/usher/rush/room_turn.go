package rush

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// stay is somebody inside: surely from one moment to another, by the box office's clock.
type stay struct {
	number      int64
	from, until int64
}

// turn is what somebody does who was called: look, as the page does, and come in.
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
		rm.tickets[who].state = isDone
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

// looksFor is how long somebody who was let in looks around, at least.
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

// stay books that somebody is inside from one moment to another. Who was not surely inside until then came in again. It
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

// outside books that somebody who was let in is told that they are not inside. If their time is over they ask to come in
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
	w := r.house.blind(1, r.random(who, 4))
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: r.house.claims, cookie: r.room.cookies(who), body: w.json()})
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Hold != nil {
		r.books.lie("person %d was not let in, claimed all the same and got %s", who, r.house.names(a.Hold.Idx))
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

// leave goes out of the sale, so that somebody else may come in.
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

// leaves books that somebody asks for something now after which they may not be inside any more.
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

// holds books that somebody inside holds seats, and so stays until that ends.
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
