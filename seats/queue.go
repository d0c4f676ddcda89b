package seats

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// leastConcurrent is the fewest commands that are sent beside a fast-path batch. Most of a small batch is what any batch costs,
// as much as some sixty claims: it is cheaper to let it grow until the other has ended, and that is soon.
const leastConcurrent = 64

// commandQueue is where the commands of an event wait while batches are being written.
//
// Two batches are under way at most: while one is written, the next one takes its locks and is decided. It starts
// only after the other has all its locks, so first come stays first served, and is written only after the other has
// ended, so versions come in the same order. Two fast-path batches (see sql.go) have no seat and no holder in common:
// both are written at once, and the counter row puts them in an order.
//
// A caller that finds the queue at rest sends a fast-path batch in its own goroutine: another one would wake another processor for
// it (seen: a quarter of the time that a single claim took here). The next caller starts the goroutine of the queue.
type commandQueue struct {
	waiting []*command
	running bool
	crowd   bool          // the last batch was of several commands
	leads   *inFlight     // under way in its caller's goroutine, with no other caller yet; nil for none
	want    int           // signal arrived when so many wait; 0 for never
	arrived chan struct{} // has room for one
	missed  int           // waits for callers in a row for which too few came back, up to mostMissed
	skip    int           // batches that are not waited for, because of that
}

// do puts a command into the event's queue and waits for its answer. If ctx ends first the command may still be done.
func (s *Sale) do(ctx context.Context, c *command) (Hold, error) {
	a := s.doAll(ctx, []*command{c})[0]
	return a.hold, a.err
}

// doAll puts commands into the queue at one moment, in their order, and waits for their answers.
func (s *Sale) doAll(ctx context.Context, commands []*command) []answer {
	if s.enqueue(ctx, commands) {
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

// enqueue puts commands into the queue. It reports whether the caller leads.
func (s *Sale) enqueue(ctx context.Context, commands []*command) (lead bool) {
	for _, c := range commands {
		c.answer, c.visit = make(chan answer, 1), VisitOf(ctx)
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			c.span = span
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.queue
	l.waiting = append(l.waiting, commands...)
	if lead = !l.running; lead {
		l.running = true
		s.inventory.queues.Add(1)
	}
	s.follow()
	if l.want > 0 && len(l.waiting) >= l.want {
		l.want = 0
		l.arrived <- struct{}{}
	}
	return lead
}

// follow has the queue run behind the batch that leads, once a command waits. The queue is locked.
func (s *Sale) follow() {
	if l := &s.queue; l.leads != nil && len(l.waiting) > 0 {
		go s.run(l.leads)
		l.leads = nil
	}
}

// lead sends the first batch of a queue that rested, if it takes the fast path. Anything else goes the way of a crowd.
func (s *Sale) lead() {
	s.mu.Lock()
	crowd := s.queue.crowd
	s.mu.Unlock()
	if crowd {
		runtime.Gosched() // let callers that are about to come join; a single one would only move to another processor
	}
	commands, _ := s.dequeue(nil)
	t := s.now.Load().fastPath(commands, nil)
	if t == nil {
		s.requeue(commands)
		go s.run(nil)
		return
	}
	defer s.led(t)
	s.mu.Lock()
	s.queue.leads = t
	s.follow()
	s.mu.Unlock()
	s.end(t)
}

// led has the queue rest after a batch, unless a command came meanwhile.
func (s *Sale) led(t *inFlight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follow(); s.queue.leads == t {
		s.queue.leads, s.queue.running = nil, false
		s.inventory.queues.Done()
	}
}

// run carries batch after batch while commands wait. While one is under way the next one gathers: the busier the event,
// the larger its batches.
func (s *Sale) run(before *inFlight) {
	defer s.inventory.queues.Done()
	for {
		runtime.Gosched() // let callers that are about to come join
		commands, rest := s.dequeue(before)
		switch {
		case rest:
			return
		case len(commands) == 0:
			before = nil // it has ended
			continue
		}
		before = s.now.Load().start(commands, before) // its plan has all seats that commands name
	}
}

// start sends commands on their way as one batch, beside the one that is under way. It returns when that has ended.
func (s *Sale) start(commands []*command, before *inFlight) *inFlight {
	t := s.fastPath(commands, before)
	concurrent := t != nil && before != nil && before.fast
	if before != nil && before.fast && !concurrent {
		<-before.ended // it may have its locks yet to take
	}
	if t == nil {
		t = s.begin(commands, before)
	}
	switch {
	case concurrent:
		t.concurrent = before
	case before != nil:
		<-before.ended
		t.afterFailed = before.err != nil
	}
	go s.end(t)
	if concurrent {
		<-before.ended
	}
	return t
}

// dequeue returns the commands of the next batch: all that wait, if nothing is under way. Else as soon as there are
// half as many as in the batch under way, or as many if that is one of the fast path (seen: 6 % more claims of 256 people); or
// none, when that has ended before. It reports whether the queue may rest.
func (s *Sale) dequeue(before *inFlight) (commands []*command, rest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.queue
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
		s.gather(before, gatherTime)
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

// gatherTime is the most time that callers are waited for after a batch; 64 of one process need nearly as much.
const gatherTime = 200 * time.Microsecond

// mostLooks is how often it looks for them; where time stands still until all goroutines rest, as in synctest, no timer ends it.
const mostLooks = 5000

// mostMissed bounds how many batches go without a wait after waits for which too few came back: 64.
const mostMissed = 6

// gather waits a moment for callers that a batch has answered, if it has ended: clients that ask again at once are then in one batch with those
// that came meanwhile. Else they take turns in two batches of half the size, and most of a small batch is what any batch costs (seen: 1.4
// times the claims of 16 clients). Where fewer than half come back, it looks again only now and then. The queue is locked.
func (s *Sale) gather(before *inFlight, most time.Duration) {
	l := &s.queue
	select {
	case <-before.ended:
	default:
		return
	}
	if l.skip > 0 {
		l.skip--
		return
	}
	answered, came := len(before.batch.commands), len(l.waiting)
	all := min(came+answered, batchCommands)
	end := time.NewTimer(most)
	defer end.Stop()
	over := false
	for looks := 0; len(l.waiting) < all && !over && looks < mostLooks; looks++ {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
		select {
		case <-end.C:
			over = true
		default:
		}
	}
	if came = len(l.waiting) - came; 2*came >= answered || len(l.waiting) >= all {
		l.missed = 0
		return
	}
	l.missed = min(l.missed+1, mostMissed)
	l.skip = 1 << l.missed
}

// enough is how many commands are worth a batch of their own while this one is under way; 0 if there is none.
func (t *inFlight) enough() int {
	switch {
	case t == nil:
		return 0
	case t.fast:
		return max(leastConcurrent, len(t.batch.commands))
	default:
		return max(1, len(t.batch.commands)/2)
	}
}

// requeue puts commands at the head of the queue. The queue is running: their batch has not ended yet.
func (s *Sale) requeue(commands []*command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.waiting = append(commands, s.queue.waiting...)
}
