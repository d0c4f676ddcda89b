package shop

import (
	"slices"

	"github.com/usherbox/usher/seats"
)

// Whole fills in what a sale lacks, so that a page with a hole in it is still a page: no plan is an empty one, a seat
// the map does not know is blocked, and a hold has only seats of the plan.
func (s Sale) Whole() Sale {
	if s.Plan == nil {
		s.Plan = &seats.Plan{}
	}
	if missing := len(s.Plan.Seats) - len(s.Map.States); missing > 0 {
		s.Map.States = append(slices.Clone(s.Map.States), slices.Repeat([]seats.State{seats.Blocked}, missing)...)
	}
	if missing := len(s.Plan.Categories) - len(s.Map.Counts.Free); missing > 0 {
		s.Map.Counts.Free = append(slices.Clone(s.Map.Counts.Free), make([]int, missing)...)
	}
	if s.Hold != nil && slices.ContainsFunc(s.Hold.Seats, s.Foreign) {
		h := *s.Hold
		h.Seats = slices.DeleteFunc(slices.Clone(h.Seats), s.Foreign)
		s.Hold = &h
	}
	return s
}

func (s Sale) Foreign(idx int) bool { return idx < 0 || idx >= len(s.Plan.Seats) }

// whole is the message with only the seats of the plan to take.
func (m *Message) whole(s Sale) *Message {
	if m == nil || !slices.ContainsFunc(m.Nearest, s.Foreign) {
		return m
	}
	return &Message{Text: m.Text, Nearest: slices.DeleteFunc(slices.Clone(m.Nearest), s.Foreign)}
}
