package books_test

import (
	"errors"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
)

func TestCompare_CountsWhatWasSoldAtTheSameDistance(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	now := h.report(t, books.Filter{Event: "evening"}, books.ByDay).Total
	c, err := h.books.Compare(t.Context(), h.member, "evening-2", "")
	if err != nil || len(c.Rows) != 2 || c.Rows[0].Event.Slug != "evening-2" || c.Rows[1].Event.Slug != "evening" || c.Before < 365*24*time.Hour {
		t.Fatalf("the comparison is %+v, %v", c, err)
	}
	if c.Rows[1].Now != now || c.Rows[1].Then.Tickets != 0 {
		t.Errorf("the earlier one has %+v, and %+v at the distance a day longer ago", c.Rows[1].Now, c.Rows[1].Then)
	}
	// A year before, its start was as far away when all of that was sold.
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '1 day' WHERE slug = 'evening'`)
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '1 hour' WHERE slug = 'evening-2'`)
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '2 days' WHERE method = 'cash'`)
	c, err = h.books.Compare(t.Context(), h.member, "evening-2", "evening")
	if err != nil || c.Before != 0 || c.Rows[1].Then.Tickets != 1 || c.Rows[1].Then.Gross == 0 || c.Rows[1].Now != now {
		t.Errorf("after both began the comparison is %+v, %v", c, err)
	}
	if _, err := h.books.Compare(t.Context(), h.member, "evening-2", "nothing"); !errors.Is(err, seats.ErrNoEvent) {
		t.Errorf("with an event that is not there: %v", err)
	}
	if c, err := h.books.Compare(t.Context(), h.member, "evening", ""); err != nil || len(c.Rows) != 1 {
		t.Errorf("the first one is compared with %+v, %v", c.Rows, err)
	}
}
