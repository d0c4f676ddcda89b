package pricing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

func TestCheckTypes_HoldsTheRulesOfEachType(t *testing.T) {
	t.Parallel()
	adult, wheelchair := 0, 3
	types := []seats.TicketType{
		{Name: "Adult"},
		{Name: "Child", With: seats.With{Type: &adult, Each: 2}},
		{Name: "Group", Least: 3, Most: 4},
		{Name: "Wheelchair"},
		{Name: "Companion", With: seats.With{Accessible: true, Each: 1}},
		{Name: "Helper", With: seats.With{Type: &wheelchair}},
	}
	plan := &seats.Plan{Categories: []seats.Category{{}}, Seats: make([]seats.Seat, 10)}
	plan.Seats[9].Flags = seats.Accessible
	s := &seats.Sale{Plan: plan, Prices: seats.Prices{Types: types}.Indexed(plan.Categories)}
	for _, c := range []struct {
		types []int
		first int // seat
		wrong string
	}{
		{[]int{0, 0}, 0, ""},
		{[]int{0, 1, 1}, 0, ""},
		{[]int{1}, 0, "only with tickets of the type Adult"},
		{[]int{0, 1, 1, 1}, 0, "at most 2 tickets of the type Child"},
		{[]int{2, 2}, 0, "at least 3"},
		{[]int{2, 2, 2}, 0, ""},
		{[]int{2, 2, 2, 2, 2}, 0, "at most 4"},
		{[]int{4}, 0, "only with a wheelchair place"},
		{[]int{4, 3}, 8, ""},
		{[]int{4, 4, 3}, 7, "at most 1"},
		{[]int{4}, 9, "only with a wheelchair place"}, // the companion is not their own
		{[]int{5}, 0, "only with tickets of the type Wheelchair"},
		{[]int{5, 3}, 0, ""},
	} {
		var lines []seats.Line
		for i, kind := range c.types {
			lines = append(lines, seats.Line{Seat: c.first + i, Type: kind})
		}
		err := pricing.CheckTypes(s, lines)
		var refusal *seats.Conflict
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%v from seat %d: %v", c.types, c.first, err)
		case c.wrong != "" && (!errors.As(err, &refusal) || refusal.Code != pricing.CodeTypes || !strings.Contains(refusal.Error(), c.wrong)):
			t.Errorf("%v from seat %d: %v, want %q", c.types, c.first, err, c.wrong)
		}
	}
}
