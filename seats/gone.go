package seats

// gone refuses from memory what this node saw sold: a claim that names a sold seat, or that wants places where
// everything is sold. People who ask for what is plainly gone cost no round trip. Seats that are only held are
// never refused here.
//
// It is for people of whom nothing is stored yet: anybody else may be repeating a claim that won.
func (s *Sale) gone(c *command) *Refusal {
	if !c.visit.isNew() {
		return nil
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if c.choice != nil {
		free, known := s.countIn(c.choice.scope, m.counts.Free)
		held, _ := s.countIn(c.choice.scope, m.counts.Held)
		if sold, _ := s.countIn(c.choice.scope, m.counts.Sold); known && free+held == 0 && sold > 0 {
			return &Refusal{Code: CodeSoldOut, Message: "Everything here is sold. What you hold is still yours."}
		}
		return nil
	}
	var sold []int
	for _, idx := range c.seats {
		if m.states[idx] == Sold {
			sold = append(sold, idx)
		}
	}
	if len(sold) == 0 {
		return nil
	}
	return s.taken(sold)
}
