package seats

import (
	"context"
	"errors"
)

// Lie gives a seat to a holder without looking who has it, as a wrong decision would.
func (s *Sale) Lie(ctx context.Context, holder ID, idx int) error {
	_, err := s.do(ctx, &command{holder: holder, seats: []int{idx}, decide: func(b *batch) (Hold, error) {
		end := b.now.Add(b.terms.holdLength)
		b.set(idx, holder, row{state: Held, holder: holder, expiresAt: &end})
		return Hold{}, nil
	}})
	return err
}

// ClaimInOrder lets claims come at one moment, one right behind the other, and returns what became of each.
func (s *Sale) ClaimInOrder(holders []ID, requests []ClaimRequest) ([]error, error) {
	commands := make([]*command, len(holders))
	for i, holder := range holders {
		c := &command{claim: true, holder: holder, request: requests[i].hash(), answer: make(chan answer, 1)}
		if err := s.understand(c, requests[i]); err != nil {
			return nil, err
		}
		c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
		commands[i] = c
	}
	s.mu.Lock()
	s.queue.waiting, s.queue.running = append(s.queue.waiting, commands...), true
	s.inventory.queues.Add(1)
	go s.run(nil)
	s.mu.Unlock()
	outcome := make([]error, len(commands))
	for i, c := range commands {
		outcome[i] = (<-c.answer).err
	}
	return outcome, nil
}

// ErrNotFast is what claims get that come again with locks.
var ErrNotFast = errNotFast

// ClaimFast has claims of one moment go through the fast path alone. It reports that they would come again with locks.
func (s *Sale) ClaimFast(ctx context.Context, holders []ID, requests []ClaimRequest) error {
	commands := make([]*command, len(holders))
	for i, holder := range holders {
		commands[i] = &command{claim: true, holder: holder, request: requests[i].hash()}
		if err := s.understand(commands[i], requests[i]); err != nil {
			return err
		}
	}
	t := s.fastPath(commands, nil)
	if t == nil {
		return errNotFast
	}
	return s.send(ctx, t)
}

// ClaimAgain claims a seat as the second try of a claim after a failed batch.
func (s *Sale) ClaimAgain(ctx context.Context, holder ID, idx int) error {
	c := &command{claim: true, holder: holder, seats: []int{idx}, tries: 1, visit: VisitOf(ctx)}
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	c.visit.begin()
	_, err := s.do(ctx, c)
	return err
}

// Expire announces the end of a hold.
func (s *Sale) Expire(ctx context.Context, holder ID) error { return s.expire(ctx, holder) }

// DecideLate decides a claim after a batch that looked at the map before something happened and takes its locks after that. It
// reports whether the claim is to choose again, and why not.
func (s *Sale) DecideLate(ctx context.Context, holder ID, w ClaimRequest, between func()) (again bool, err error) {
	c := &command{claim: true, holder: holder, request: w.hash()}
	if err := s.understand(c, w); err != nil {
		return false, err
	}
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	b := newBatch(s, []*command{c}, nil)
	between()
	conn, err := s.inventory.db.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	if err := lockBatches(ctx, conn.Conn(), b); err != nil {
		return false, err
	}
	b.decide()
	err = b.answers[0].err
	return errors.Is(err, errChooseAgain), errors.Join(err, rollback(conn.Conn()))
}
