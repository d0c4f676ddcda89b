package bookings_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/plan"
)

// boxed is the theatre with a category of its own, the last one, for its ten boxes of four seats, which are sold whole.
func boxed() *seats.Plan {
	theatre, _ := plan.Named("theatre")
	p := *theatre
	p.Seats = slices.Clone(p.Seats)
	for i := range p.Seats {
		seat := &p.Seats[i]
		switch {
		case strings.HasPrefix(p.Sections[seat.Section].Name, "Boxes"):
			seat.Category = len(p.Categories) - 1
			if w := (seats.WholeRow{Section: seat.Section, Row: seat.Row}); !slices.Contains(p.Whole, w) {
				p.Whole = append(p.Whole, w)
			}
		case seat.Category == len(p.Categories)-1:
			seat.Category = 0
		}
	}
	return &p
}

func TestWholeTable_GroupGetsWholeTablesOrIsToldWhyNot(t *testing.T) {
	t.Parallel()
	h := openWith(t, boxed())
	boxes := len(h.sale.Plan.Categories) - 1
	told := func(err error, code, words string) {
		t.Helper()
		var refused *seats.Conflict
		if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %s: %s", err, code, words)
		}
	}
	ask := func(n, category int) error {
		_, err := h.bookings.Take(t.Context(), h.ann, key(), h.sale, bookings.Request{Contact: bookings.Contact{Name: "Eva Roth"}, Count: n, Category: category, Until: h.until})
		return err
	}
	told(ask(30, boxes), seats.CodeWholeTable, "exactly 30 seats")
	told(ask(44, boxes), seats.CodeSoldOut, "not so many seats")
	k := h.take(t, bookings.Request{Count: 32, Category: boxes})
	if len(k.Seats) != 32 {
		t.Fatalf("the group has %d seats", len(k.Seats))
	}
	told(h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, nil, 9), seats.CodeWholeTable, "exactly 9 seats")
	if err := h.bookings.Reduce(t.Context(), h.ann, key(), h.sale, k.ID, nil, 12); err != nil {
		t.Fatal(err)
	}
	if k = h.find(t, k.ID); len(k.Seats) != 12 || len(h.sale.WithWhole(k.Seats)) != 12 {
		t.Errorf("the group has the seats %v, want three boxes", k.Seats)
	}
	h.sound(t)
}
