package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// room is the waiting room as the crowd knows it, and the crowd in front of it.
type room struct {
	path    string
	tickets []ticket
	joins   *latencies // from the arrival to the place
	looks   *latencies
	entries *latencies // of those called: from the request to enter to the answer
	joined  atomic.Int64
	came    atomic.Int64 // whether they got a place or not
	lastJoin,
	moved atomic.Int64 // when the crowd last got on, since its beginning
	opening sync.Once

	mu       sync.Mutex
	names    [2]string           // of the cookies for the visitor and for the place
	read     map[string]struct{} // tags of statuses that were read
	first    roomStatus          // the first status, from before anybody joined
	shown    roomStatus          // the newest
	served   []serving           // of every status
	frozen   int64               // when the lobby was first seen closed, by our clock; 0: it was not
	lobby    []int32             // the person at each place of the lobby, by index-1; -1: unknown
	line     []int32             // the same of the line
	numbers  []uint32            // of the lobby, by index-1, as we draw them; nil before
	byNumber []int32             // who has a number of the lobby, by number-1
	drawn    bool
	over     bool            // the wait is over for all
	told     bool            // everybody, that it is sold out
	called   int64           // numbers that the crowd was told
	stays    map[int32]*stay // the last of each
	past     []stay          // those before
	figures  RoomReport
	lost     int // joins without an answer
}

// roomStatus is what everybody is told, as far as a crowd wants to know.
type roomStatus struct {
	V          int64     `json:"v"`
	Epoch      int32     `json:"epoch"`
	Phase      string    `json:"phase"`
	Lobby      int64     `json:"lobby"`
	Line       int64     `json:"line"`
	Serving    int64     `json:"serving"`
	Free       int       `json:"free"`
	Held       int       `json:"held"`
	Sold       int       `json:"sold"`
	Rate       float64   `json:"rate"`
	Commitment string    `json:"commitment"`
	Draw       *drawn    `json:"draw"`
	At         time.Time `json:"at"`
}

// serving is up to which number people were called at a time of the box office's clock.
type serving struct{ at, number int64 }

// soldOut is what the page makes of a status.
func (s *roomStatus) soldOut() bool {
	return s.Phase == "ended" || s.Phase == "open" && s.Free == 0 && s.Held == 0 && s.Sold > 0
}

// standing is the position of a person, as the box office says it.
type standing struct {
	State  string    `json:"state"`
	Kind   string    `json:"kind"`
	Index  int64     `json:"index"`
	Number int64     `json:"number"`
	Inside bool      `json:"inside"`
	Why    string    `json:"why"`
	Until  time.Time `json:"until"`
}

func (r *run) newRoom(ctx context.Context, l *line) (*room, error) {
	c := r.crowd
	rm := &room{
		path: "/rooms/" + c.Room, tickets: make([]ticket, c.People), read: map[string]struct{}{}, stays: map[int32]*stay{},
		joins: newLatencies(), looks: newLatencies(), entries: newLatencies(),
	}
	r.room = rm
	if err := r.glance(ctx, l, r.now()); err != nil {
		return nil, fmt.Errorf("rush: the waiting room %q: %w", c.Room, err)
	}
	rm.first = rm.shown
	rm.drawn = rm.first.Lobby == 0 && (rm.first.Phase == "through" || rm.first.Phase == "open") // no lobby, so no draw: numbers are those of the line
	return rm, nil
}

// join is the first thing anybody does: the first contact gives a word to keep, the second, with it, a place.
func (r *run) join(ctx context.Context, l *line, who int32) error {
	defer r.room.came.Add(1)
	status, word, err := l.ask(ctx, request{method: http.MethodPost, path: r.room.path + "/places"})
	if err != nil {
		return err
	}
	if status != http.StatusTemporaryRedirect || word == "" {
		return &errAnswer{status, string(l.body)}
	}
	sent := wall()
	status, place, err := l.ask(ctx, request{method: http.MethodPost, path: r.room.path + "/places?again", cookie: word})
	var a standing
	if err == nil && (status != http.StatusCreated || place == "" || json.Unmarshal(l.body, &a) != nil || a.Index < 1 || a.Index > int64(2*r.crowd.People)) {
		err = &errAnswer{status, string(l.body)}
	}
	if err != nil {
		r.room.mu.Lock()
		r.room.lost++
		r.room.mu.Unlock()
		return err
	}
	if err := r.room.keep(who, word, place); err != nil {
		return err
	}
	r.placed(who, &a, sent)
	if n := r.room.joined.Add(1); n >= int64(float64(r.crowd.People)*lobbyShare) && r.crowd.Open != nil {
		r.room.opening.Do(func() { r.opened = r.crowd.Open(ctx) })
	}
	r.room.lastJoin.Store(r.now())
	r.room.moved.Store(r.now())
	return nil
}

// lobbyShare is the part of the crowd that comes before the lobby closes.
const lobbyShare = 0.9

// keep puts the cookies of a browser into its ticket.
func (rm *room) keep(who int32, word, place string) error {
	t := &rm.tickets[who]
	for i, cookie := range []string{word, place} {
		name, value, _ := strings.Cut(cookie, "=")
		rm.mu.Lock()
		if rm.names[i] == "" {
			rm.names[i] = name
		}
		same := rm.names[i] == name
		rm.mu.Unlock()
		if !same {
			return fmt.Errorf("rush: a cookie is called %s, and that of others %s", name, rm.names[i])
		}
		if err := []*cookieValue{&t.word, &t.place}[i].set(value); err != nil {
			return err
		}
	}
	return nil
}

// cookies are those that a browser sends.
func (rm *room) cookies(who int32) string {
	t := &rm.tickets[who]
	return rm.names[0] + "=" + t.word.String() + "; " + rm.names[1] + "=" + t.place.String()
}

// placed books the place of a person. A person who was called meanwhile is told.
func (r *run) placed(who int32, a *standing, sent int64) {
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	t := &rm.tickets[who]
	t.index, t.number, t.kind = uint32(a.Index), uint32(a.Number), placeLine
	by := &rm.line
	if a.Kind == "lobby" {
		t.kind, by = placeLobby, &rm.lobby
		if rm.frozen != 0 && sent > rm.frozen {
			r.books.lie("person %d got place %d of the lobby at %s, and it was closed at %s", who, a.Index, clockTime(sent), clockTime(rm.frozen))
		}
	}
	for int64(len(*by)) < a.Index {
		*by = append(*by, -1)
	}
	if other := (*by)[a.Index-1]; other >= 0 {
		rm.figures.Doubles++
		r.books.lie("person %d got place %d of the %s, and person %d has it", who, a.Index, a.Kind, other)
		return
	}
	(*by)[a.Index-1] = who
	if rm.drawn && t.kind == placeLobby && a.Index <= int64(len(rm.numbers)) {
		rm.byNumber[rm.numbers[a.Index-1]-1] = who
	}
	if n := rm.number(t); n > 0 && n <= rm.called {
		r.call(who)
	}
}

// number is the number of a person by our own draw; 0 before it. It needs rm.mu.
func (rm *room) number(t *ticket) int64 {
	switch {
	case !rm.drawn:
		return 0
	case t.kind == placeLine:
		return int64(len(rm.numbers)) + int64(t.index)
	case t.kind == placeLobby && int(t.index) <= len(rm.numbers):
		return int64(rm.numbers[t.index-1])
	}
	return 0
}

// holderOf returns the person with a number; -1 if unknown. It needs rm.mu.
func (rm *room) holderOf(number int64) int32 {
	at, of := number-1, rm.byNumber
	if number > int64(len(rm.numbers)) {
		at, of = number-int64(len(rm.numbers))-1, rm.line
	}
	if at < int64(len(of)) {
		return of[at]
	}
	return -1
}

// call tells a person that it is their turn: they see it at their next look. It needs rm.mu.
func (r *run) call(who int32) {
	t := &r.room.tickets[who]
	switch {
	case t.state == busy:
		t.called = true
	case t.state != waits:
	case t.absent:
		t.state = isDone
		r.finish(who, away)
	default:
		t.state = comes
		r.next(who, stepTurn, r.scaled(time.Duration(r.random(who, 1).Int64N(int64(nextLook)))))
	}
}

// scaled is how long a time of people is for the crowd.
func (r *run) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / r.crowd.Faster)
}

// ticket is the state of a waiting person: the cookies of the browser and the place. It holds no pointer, so
// that two million are one piece of memory of 120 bytes each.
type ticket struct {
	word, place    cookieValue // who they are, and their place
	index          uint32      // of the place, from 1
	number         uint32      // as the box office said it; 0 if it did not yet
	kind           uint8       // placeLobby, placeLine; 0 for no place yet
	state          uint8       // guarded by room.mu
	absent, called bool        // does not come when called; was called while busy
	in             int64       // when they were first let in, nanoseconds since the crowd began to come; 0: they were not
}

// Kinds of places.
const (
	placeLobby = 1
	placeLine  = 2
)

// What a person with a ticket is doing.
const (
	waits  = iota // and asks now and then
	busy          // gives their place up, or tries to come in too early
	comes         // was called and is on the way in
	isDone        // inside, or gone
)

// cookieValue is a short text of a fixed place.
type cookieValue struct {
	length uint8
	text   [63]byte
}

func (v *cookieValue) set(text string) error {
	if len(text) > len(v.text) {
		return fmt.Errorf("rush: a cookie of %d letters; a place cookie has %d at most here", len(text), len(v.text))
	}
	v.length = uint8(copy(v.text[:], text))
	return nil
}

func (v *cookieValue) String() string { return string(v.text[:v.length]) }

// merge is what a browser sends that had some cookies and was given others.
func merge(had, given string) string {
	if had == "" || given == "" {
		return had + given
	}
	kept := strings.Split(given, "; ")
	for old := range strings.SplitSeq(had, "; ") {
		name, _, _ := strings.Cut(old, "=")
		if !strings.HasPrefix(given, name+"=") && !strings.Contains(given, "; "+name+"=") {
			kept = append(kept, old)
		}
	}
	return strings.Join(kept, "; ")
}
