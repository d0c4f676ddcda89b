package seats

import "context"

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
func (s *Sale) ClaimInOrder(holders []ID, wishes []Wish) ([]error, error) {
	commands := make([]*command, len(holders))
	for i, holder := range holders {
		c := &command{claim: true, holder: holder, wish: wishes[i].hash(), answer: make(chan answer, 1)}
		if err := s.understand(c, wishes[i]); err != nil {
			return nil, err
		}
		c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
		commands[i] = c
	}
	s.mu.Lock()
	s.lane.waiting, s.lane.running = append(s.lane.waiting, commands...), true
	s.office.lanes.Add(1)
	go s.run(nil)
	s.mu.Unlock()
	outcome := make([]error, len(commands))
	for i, c := range commands {
		outcome[i] = (<-c.answer).err
	}
	return outcome, nil
}

// ClaimAgain claims a seat as somebody does whose first batch failed.
func (s *Sale) ClaimAgain(ctx context.Context, holder ID, idx int) error {
	c := &command{claim: true, holder: holder, seats: []int{idx}, tries: 1, visit: visitOf(ctx)}
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	c.visit.begin()
	_, err := s.do(ctx, c)
	return err
}
