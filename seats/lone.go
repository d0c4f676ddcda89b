package seats

// lone refuses a claim that would leave single free seats which nobody can sell to a pair, where the event forbids
// it and as many seats are free together elsewhere in the category. It looks at this node's map: the rule is a
// courtesy to the organizer, not a promise. It never stands in the way of the last seats.
func (s *Sale) lone(c *command) *Refusal {
	if !s.Event.NoLoneSeats || c.choice != nil {
		return nil
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	free := func(idx int) bool { return m.states[idx].Shown() == Free }
	left := s.leftAlone(c.seats, free)
	if len(left) == 0 {
		return nil
	}
	category := s.Plan.Seats[c.seats[0]].Category
	available := func(idx int) bool { return m.states[idx] == Free }
	instead := s.together(&choice{scope{-1, category}, len(c.seats)}, available, func(i int32) int { return int(m.open[i]) })
	if instead == nil || len(s.leftAlone(instead, free)) > 0 {
		return nil
	}
	return &Refusal{
		Code: CodeLone, Seats: c.seats, Nearest: instead,
		Message: s.named(left) + " would be left alone, and nobody comes to sit alone. Take " + s.named(instead) +
			" instead, or what is beside it too. What you hold is unchanged.",
	}
}

// leftAlone lists the free seats that would have no free seat beside them any more if these were taken.
func (s *Sale) leftAlone(taken []int, free func(int) bool) (left []int) {
	t := s.stretches
	for _, idx := range taken {
		for _, side := range []int{idx - 1, idx + 1} {
			if side < 0 || side >= len(t.of) || t.of[side] != t.of[idx] || !free(side) || contains(taken, side) || contains(left, side) {
				continue
			}
			at := t.all[t.of[side]]
			beyond := 2*side - idx
			if beyond < at.first || beyond >= at.first+at.count || !free(beyond) || contains(taken, beyond) {
				left = append(left, side)
			}
		}
	}
	return left
}
