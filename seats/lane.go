package seats

import (
	"context"
	"fmt"
	"runtime"

	"github.com/jackc/pgx/v5"
)

// batchCommands is the most commands one batch carries.
const batchCommands = 512

// besideSwift is the fewest commands that are sent beside a swift batch. Most of a small batch is what any batch costs,
// as much as some sixty claims: it is cheaper to let it grow until the other has ended, and that is soon.
const besideSwift = 64

// command is one try to change seats. It is decided as a whole, under the lock, by decide.
type command struct {
	holder ID    // in whose name
	seats  []int // to lock, besides those the holder has
	decide func(*batch) (Hold, error)

	claim   bool    // it claims seats: see swift.go
	sells   bool    // it sells what its holder has: see slot.go
	from    ID      // another holder whose seats it moves; none for most
	ofList  bool    // it is about seats kept for those who wait: see kept.go
	entries []int64 // of the wait list, that are offered something
	keys    []ID    // purchase keys it counts tickets for; see purchase.go
	choice  *choice // for claims that leave the choice of seats to us; see best.go
	key     string  // idempotency key, empty if none
	wish    string  // hash of what was asked for, kept beside the key

	write  func(*pgx.Batch) // queues what commits with the seats; nil for nothing
	visit  *visit           // the session it comes from; nil if none
	late   bool             // they are the best there are, expired ones included; see left.go
	missed int              // how often the seats chosen for it were gone; see best.go
	tries  int              // batches that failed with it
	lost   bool             // the first of them with its connection, so that the server may still be at it
	answer chan answer      // has room for the one answer
}

type answer struct {
	hold Hold
	err  error
}

// lane is where the commands of an event wait while batches are being written.
//
// Two batches are under way at most: while one is written, the next one takes its locks and is decided. It starts
// only after the other has all its locks, so first come stays first served, and is written only after the other has
// ended, so versions come in the same order. Two swift batches (see swift.go) have no seat and no holder in common:
// both are written at once, and the counter row puts them in an order.
//
// Whoever finds the lane at rest sends a swift batch in their own goroutine: another one would wake another processor for
// it (seen: a quarter of the time that a lone claim took here). Whoever comes meanwhile starts the goroutine of the lane.
type lane struct {
	waiting []*command
	running bool
	crowd   bool          // the last batch was of several commands
	leads   *turn         // under way in the goroutine of who asked for it, and nobody else has come; nil for none
	want    int           // ring arrived when so many wait; 0 for never
	arrived chan struct{} // has room for one
}

// do puts a command into the event's lane and waits for its answer. If ctx ends first the command may still be done.
func (s *Sale) do(ctx context.Context, c *command) (Hold, error) {
	a := s.doAll(ctx, []*command{c})[0]
	return a.hold, a.err
}

// doAll puts commands into the lane at one moment, in their order, and waits for their answers.
func (s *Sale) doAll(ctx context.Context, commands []*command) []answer {
	if s.put(ctx, commands) {
		s.lead()
	}
	answers := make([]answer, len(commands))
	for i, c := range commands {
		select {
		case answers[i] = <-c.answer:
		case <-ctx.Done():
			answers[i].err = fmt.Errorf("seats: event %d: wait for an answer: %w", s.Event.ID, ctx.Err())
		}
	}
	return answers
}

// put puts commands into the lane. It tells whether whoever brought them is to lead.
func (s *Sale) put(ctx context.Context, commands []*command) (lead bool) {
	for _, c := range commands {
		c.answer, c.visit = make(chan answer, 1), visitOf(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.lane
	l.waiting = append(l.waiting, commands...)
	if lead = !l.running; lead {
		l.running = true
		s.office.lanes.Add(1)
	}
	s.follow()
	if l.want > 0 && len(l.waiting) >= l.want {
		l.want = 0
		l.arrived <- struct{}{}
	}
	return lead
}

// follow has the lane run behind the turn that leads, once somebody waits. The lane is locked.
func (s *Sale) follow() {
	if l := &s.lane; l.leads != nil && len(l.waiting) > 0 {
		go s.run(l.leads)
		l.leads = nil
	}
}

// lead sends the first batch of a lane that rested, if it is swift. Anything else goes the way of a crowd.
func (s *Sale) lead() {
	s.mu.Lock()
	crowd := s.lane.crowd
	s.mu.Unlock()
	if crowd {
		runtime.Gosched() // who is about to come comes along; who is alone would only be moved to another processor
	}
	commands, _ := s.take(nil)
	t := s.now.Load().swift(commands, nil)
	if t == nil {
		s.comeAgain(commands)
		go s.run(nil)
		return
	}
	defer s.led(t)
	s.mu.Lock()
	s.lane.leads = t
	s.follow()
	s.mu.Unlock()
	s.end(t)
}

// led has the lane rest after a turn, unless somebody came meanwhile.
func (s *Sale) led(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follow(); s.lane.leads == t {
		s.lane.leads, s.lane.running = nil, false
		s.office.lanes.Done()
	}
}

// run carries batch after batch while commands wait. While one is under way the next one gathers: the busier the event,
// the larger its batches.
func (s *Sale) run(before *turn) {
	defer s.office.lanes.Done()
	for {
		runtime.Gosched() // who is about to come comes along
		commands, rest := s.take(before)
		switch {
		case rest:
			return
		case len(commands) == 0:
			before = nil // it has ended
			continue
		}
		before = s.now.Load().start(commands, before) // whose plan has all seats that commands name
	}
}

// start sends commands on their way as one turn, beside the one that is under way. It returns when that has ended.
func (s *Sale) start(commands []*command, before *turn) *turn {
	t := s.swift(commands, before)
	beside := t != nil && before != nil && before.swift
	if before != nil && before.swift && !beside {
		<-before.ended // it may have its locks yet to take
	}
	if t == nil {
		t = s.begin(commands, before)
	}
	switch {
	case beside:
		t.beside = before
	case before != nil:
		<-before.ended
		t.unsure = before.err != nil
	}
	go s.end(t)
	if beside {
		<-before.ended
	}
	return t
}

// take returns the commands of the next batch: all that wait, if nothing is under way. Else as soon as there are
// half as many as in the batch under way, or as many if that is a swift one (seen: 6 % more claims of 256 people); or
// none, when that has ended before. It tells whether the lane may rest.
func (s *Sale) take(before *turn) (commands []*command, rest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.lane
	if want := before.enough(); len(l.waiting) < want {
		l.want = want
		s.mu.Unlock()
		select {
		case <-before.ended:
		case <-l.arrived:
		}
		s.mu.Lock()
		l.want = 0
		select {
		case <-l.arrived: // both happened
		default:
		}
	}
	n := min(len(l.waiting), batchCommands)
	if n == 0 {
		l.running = before != nil
		return nil, !l.running
	}
	l.crowd = n > 1
	commands = l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return commands, false
}

// enough is how many commands are worth a batch of their own while this one is under way; 0 if there is none.
func (t *turn) enough() int {
	switch {
	case t == nil:
		return 0
	case t.swift:
		return max(besideSwift, len(t.batch.commands))
	default:
		return max(1, len(t.batch.commands)/2)
	}
}

// comeAgain puts commands at the head of the lane. The lane is running: their batch has not ended yet.
func (s *Sale) comeAgain(commands []*command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane.waiting = append(commands, s.lane.waiting...)
}
