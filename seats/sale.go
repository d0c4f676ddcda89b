package seats

import (
	"fmt"
	"sync"
)

// Sale is one event as this node runs it: its plan, its map, and the lane in which its commands travel.
type Sale struct {
	Event Event
	Plan  *Plan

	office *Office
	labels map[string]int // idx by label; never changes
	seats  seatMap

	// lane: commands wait here while a batch is being written; see lane.go.
	mu      sync.Mutex
	waiting []*command
	running bool
}

func newSale(o *Office, e Event, p *Plan) *Sale {
	s := &Sale{Event: e, Plan: p, office: o, labels: make(map[string]int, len(p.Seats))}
	for idx := range p.Seats {
		s.labels[p.Label(idx)] = idx
	}
	return s
}

// Seat returns the idx of the seat with this label.
func (s *Sale) Seat(label string) (idx int, ok bool) {
	idx, ok = s.labels[label]
	return idx, ok
}

// Total is what these seats cost together, in minor units.
func (s *Sale) Total(seats []int) (total int64) {
	for _, idx := range seats {
		total += s.Plan.Categories[s.Plan.Seats[idx].Category].Price
	}
	return total
}

// named lists labels for a sentence: "Stalls/C/12 and Stalls/C/13".
func (s *Sale) named(seats []int) string {
	switch len(seats) {
	case 0:
		return ""
	case 1:
		return s.Plan.Label(seats[0])
	}
	text := s.Plan.Label(seats[0])
	for _, idx := range seats[1 : len(seats)-1] {
		text += ", " + s.Plan.Label(idx)
	}
	return text + " and " + s.Plan.Label(seats[len(seats)-1])
}

// places counts in words people use: "1 seat", "3 seats".
func places(n int) string {
	if n == 1 {
		return "1 seat"
	}
	return fmt.Sprintf("%d seats", n)
}
