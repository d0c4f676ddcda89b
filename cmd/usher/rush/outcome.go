package rush

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// granted books a claim that won, and sees to what the person does with the seats.
func (r *run) granted(who int32, h *holdAnswer, sent, received int64) error {
	r.hold(1) // until it is clear what comes next
	defer r.hold(-1)
	p := &r.people[who]
	for _, idx := range h.Idx {
		if int(idx) >= len(r.house.seats) || idx < 0 {
			r.books.lie("person %d got seat %d, which the event does not have", who, idx)
			return nil
		}
	}
	p.claim.grant = r.books.grant(who, h, sent, received)
	r.finish(who, got)
	r.holds(who, h)
	if w := &p.claim.wish; !w.isWhat(r.house, h) {
		r.books.lie("person %d asked for %s and got %s", who, w.json(), r.house.names(h.Idx))
	}
	if p.cookie == "" {
		r.books.lie("person %d got %s and no cookie to come back with", who, r.house.names(h.Idx))
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

// isWhat tells whether a hold is what was asked for.
func (w *wish) isWhat(h *house, a *holdAnswer) bool {
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
	w := &p.claim.wish
	switch a.Error.Code {
	case "taken":
		r.books.refusedSeats(r.house, who, a.Error.Seats, sent, received)
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

// The time it takes somebody to see that a seat is gone and to look for another. Without it everybody would ask for the
// same seat at the same moment, again and again, which only programs do.
const (
	quickest = 100 * time.Millisecond
	slowest  = 500 * time.Millisecond
)

// repeat sends a granted claim again, as somebody does who did not wait for the answer: it must be the same.
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
		r.books.lie("person %d had %s, repeated the claim with its key and was told %s", who, r.house.names(g.seats), a.Hold.Seats)
		r.books.grant(who, a.Hold, sent, received)
	}
	r.settle(who, a.Hold)
	return nil
}

func (r *run) release(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	sent := wall()
	status, _, err := l.ask(ctx, request{method: http.MethodDelete, path: r.house.claims, cookie: p.cookie})
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
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: "/events/" + r.house.slug + "/hold/extension", cookie: p.cookie})
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
