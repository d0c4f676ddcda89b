package seats

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Sale is one event as this node knows it: what its row and its plan said when they were read last, neither of
// which ever changes in a Sale, and its works. When an event is changed, Office.Sale returns another Sale with the
// same works.
type Sale struct {
	Event Event
	Plan  *Plan

	labels    map[string]int // idx by label
	stretches *stretches
	*works
}

// works is what runs of an event on this node: its map, and the lane in which its commands travel.
type works struct {
	office *Office
	room   atomic.Int64 // the waiting room of the event, as a batch saw it last; 0 for none
	listed atomic.Bool  // somebody waits for seats that come back, as a batch saw it last
	onSale atomic.Bool  // seats may be claimed, as this node read last
	stale  atomic.Bool  // the event changed, and could not be read since
	seats  seatMap
	now    atomic.Pointer[Sale] // the Sale that was made last

	looks Batches[*command] // claims that are looked up: see look.go

	mu   sync.Mutex
	lane lane // guarded by mu
}

func newSale(o *Office, e Event, p *Plan) *Sale {
	s := &Sale{Event: e, Plan: p, works: &works{office: o, lane: lane{arrived: make(chan struct{}, 1)}}}
	s.onSale.Store(e.Status == OnSale)
	s.know(p)
	s.seats.of, s.seats.open = s.stretches.of, make([]int32, len(s.stretches.all))
	s.now.Store(s)
	s.looks = Batches[*command]{Most: mostLooks, Ends: func(n int) { o.lanes.Add(n) }, Send: func(ctx context.Context, commands []*command) {
		s.now.Load().lookUp(ctx, commands) // whose plan has all seats that commands name
	}}
	return s
}

// know prepares what is looked up in a plan.
func (s *Sale) know(p *Plan) {
	s.stretches, s.labels = newStretches(p), make(map[string]int, len(p.Seats))
	for idx := range p.Seats {
		s.labels[p.Label(idx)] = idx
	}
}

// Seat returns the idx of the seat with this label.
func (s *Sale) Seat(label string) (idx int, ok bool) {
	idx, ok = s.labels[label]
	return idx, ok
}

// named says seats in a sentence, those of one row together: "Stalls, row C, seats 12 and 13, and Stalls, row D,
// seat 1".
func (s *Sale) named(seats []int) string {
	var groups []string
	for from := 0; from < len(seats); {
		to := from + 1
		for to < len(seats) && s.Plan.sameRow(seats[from], seats[to]) {
			to++
		}
		groups = append(groups, s.Plan.group(seats[from:to]))
		from = to
	}
	return joined(groups, ", and ")
}

// wasOrWere is the verb that fits so many seats.
func wasOrWere(seats []int) string {
	if len(seats) == 1 {
		return " was"
	}
	return " were"
}

func (p *Plan) sameRow(a, b int) bool {
	return p.Seats[a].Section == p.Seats[b].Section && p.Seats[a].Row == p.Seats[b].Row
}

// group says seats of one row: "Stalls, row C, seats 12, 13 and 14".
func (p *Plan) group(seats []int) string {
	if len(seats) == 1 {
		return p.Words(seats[0])
	}
	numbers := make([]string, len(seats))
	for i, idx := range seats {
		numbers[i] = p.Seats[idx].Number
	}
	if p.Seats[seats[0]].Row == "" {
		return p.Sections[p.Seats[seats[0]].Section].Name + ", places " + joined(numbers, " and ")
	}
	return p.rowWords(seats[0]) + ", seats " + joined(numbers, " and ")
}

// joined lists parts as a sentence does, with another word before the last.
func joined(parts []string, last string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + last + parts[len(parts)-1]
}

// tickets counts in words people use: "1 ticket", "3 tickets".
func tickets(n int) string {
	if n == 1 {
		return "1 ticket"
	}
	return fmt.Sprintf("%d tickets", n)
}

// places counts in words people use: "1 seat", "3 seats".
func places(n int) string {
	if n == 1 {
		return "1 seat"
	}
	return fmt.Sprintf("%d seats", n)
}
