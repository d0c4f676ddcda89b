package seats

import "math"

// nearestReach is how far along the section to look for seats in place of others.
const nearestReach = 300

// Nearest finds, for each of some seats, the closest free one of the same category in its section, as far as there
// are any.
func (s *Sale) Nearest(seats []int) []int { return s.nearest(seats) }

// nearest finds, for each seat, the closest available one of the same category in its section; one of an expired hold only
// if there is no other.
func (s *Sale) nearest(seats []int) (near []int) {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	for _, lost := range seats {
		at := &s.Plan.Seats[lost]
		section := s.Plan.Sections[at.Section]
		found, least, state := -1, math.Inf(1), Lapsed
		for idx := max(section.First, lost-nearestReach); idx < min(section.First+section.Count, lost+nearestReach); idx++ {
			other := &s.Plan.Seats[idx]
			is := s.seats.states[idx]
			if is.Shown() != Free || is == Lapsed && state == Free || other.Category != at.Category || contains(seats, idx) || contains(near, idx) {
				continue
			}
			x, y := other.X-at.X, other.Y-at.Y
			if d := x*x + y*y; d < least || is != state {
				found, least, state = idx, d, is
			}
		}
		if found >= 0 {
			near = append(near, found)
		}
	}
	return near
}
