package rush

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

const (
	nextLook  = 5 * time.Second  // how often the page of somebody asks who is about to be called, at most
	lobbyLook = 30 * time.Second // of somebody in the lobby
	rarely    = 60 * time.Second // of somebody far back
	stuck     = 2 * time.Minute  // without anything happening: they are not answered
)

// onlooker is whoever of those who wait looks next.
const onlooker = -1

// startLooking has those who wait look for as long as the crowd is there.
func (r *run) startLooking() { r.schedule.add(turn{0, onlooker}) }

// lookOn is one look of somebody who waits, whoever it is: all are told the same. The next one looks after the pace of now,
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

// glance asks how the room stands. Somebody wanted to know since from.
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

// learn takes a status on that nobody had read yet. It needs rm.mu.
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
			if who := rm.whose(rm.called + 1); who >= 0 {
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

// answerAll ends the wait once everybody came and is told that it is sold out, and that of a crowd that nobody answers
// any more: then it is untrue that they wait for something.
func (r *run) answerAll() {
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if rm.shown.soldOut() && !rm.told && rm.came.Load() == int64(len(rm.tickets)) {
		rm.told = true
		r.tellAll(toldSoldOut)
	}
	if time.Duration(r.now()-rm.moved.Load()) < stuck {
		return
	}
	r.books.lie("people wait, and nobody was called or let in for %s: %d are called of %d, %d seats are free", stuck, rm.shown.Serving, rm.shown.Lobby+rm.shown.Line, rm.shown.Free)
	rm.over = true
	r.tellAll(failed)
	rm.moved.Store(r.now())
}
