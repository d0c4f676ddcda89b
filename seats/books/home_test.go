package books_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
)

func (h *house) home(t *testing.T) overview.Home {
	t.Helper()
	home, err := overview.New(organizers.New(h.db, func() {}), h.orders).Home(t.Context(), h.member, true)
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// openToday is a house with orders of one day, and its home: another one if midnight passed in Berlin while they were placed.
func openToday(t *testing.T) (h *house, home overview.Home, today string) {
	t.Helper()
	for {
		h = openMixed(t)
		home = h.home(t)
		today = home.Now.In(home.Zone()).Format(time.DateOnly)
		if h.number(t, `SELECT count(*) FROM orders WHERE (created_at AT TIME ZONE 'Europe/Berlin')::date::text <> $1`, today) == 0 {
			return h, home, today
		}
	}
}

// The home of the desk says what tickets cost that hold, of the orders of today. The books of the day say what came for them: so they differ by
// what is not paid yet, by what was given back of tickets that hold, and by what was kept: of cancelled tickets, donations and postage.
func TestHome_SalesOfTodayAgreeWithTheBooksOfTheDay(t *testing.T) {
	t.Parallel()
	h, home, today := openToday(t)
	if len(home.Sales) != 1 {
		t.Fatalf("the home has %+v", home.Sales)
	}
	var tickets int
	var came int64
	if err := h.books.Postings(t.Context(), h.member, books.Filter{From: today, To: today}, func(p books.Posting) {
		tickets += p.Tickets
		came += p.Amount
	}); err != nil {
		t.Fatal(err)
	}
	day := h.report(t, books.Filter{From: today, To: today}, books.ByDay).Total
	if day.Total() != came || day.Tickets != tickets {
		t.Errorf("the postings of the day come to %d and %d tickets, its report says %+v", came, tickets, day)
	}
	kept, waived := h.number(t, `SELECT sum(kept) FROM orders`), h.number(t, `SELECT sum(waived) FROM orders`)
	due := h.number(t, `SELECT sum(greatest(0, total - paid - kept - waived)) FROM orders WHERE method = 'invoice' AND received < total`)
	if kept == 0 || waived == 0 || due == 0 {
		t.Fatalf("nothing was kept, waived or is due: %d, %d, %d", kept, waived, due)
	}
	said := home.Sales[0]
	if said.Currency != "EUR" || said.Tickets != tickets || said.Amount != came-kept+waived+due {
		t.Errorf("the home says %+v; the books have %d tickets and %d, of which %d was kept, and %d was waived, %d is due", said, tickets, came, kept, waived, due)
	}
	if live, worth := h.number(t, `SELECT count(*) FROM ticket WHERE revoked_at IS NULL`), h.number(t, `SELECT sum(price + fee) FROM ticket WHERE revoked_at IS NULL`); int64(said.Tickets) != live || said.Amount != worth {
		t.Errorf("the home says %+v; %d tickets of %d hold", said, live, worth)
	}
	if holds := h.number(t, `SELECT count(DISTINCT order_id) FROM ticket WHERE revoked_at IS NULL`); int64(said.Orders) != holds {
		t.Errorf("the home says %d orders, %d have tickets that hold", said.Orders, holds)
	}
	sum := int64(0)
	for _, hour := range said.Hours {
		sum += hour
	}
	if sum != said.Amount {
		t.Errorf("the hours come to %d, the day to %d", sum, said.Amount)
	}
	// A day later, what was ordered is of that day: cancelled or not, it is no sale of the next one.
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '1 day'`)
	if home = h.home(t); len(home.Sales) != 0 {
		t.Errorf("the day after, the home says %+v", home.Sales)
	}
}
