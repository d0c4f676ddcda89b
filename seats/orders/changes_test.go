package orders_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
)

// changed returns the names of the orders that changed after a place, and the next place.
func (h *fixture) changed(t testing.TB, after paging.Place) (string, paging.Place) {
	t.Helper()
	list, next, more, err := h.orders.Changed(t.Context(), h.sale, paging.Page{After: after, Limit: 10})
	if err != nil || more {
		t.Fatal(more, err)
	}
	names := []string{}
	for _, o := range list {
		names = append(names, o.Name)
	}
	return strings.Join(names, " "), next
}

func (h *fixture) soldTo(t testing.TB, name string, seat int) orders.Order {
	t.Helper()
	return h.soldAtOffice(t, orders.OfficeForm{Key: name, Seats: []int{seat, seat + 1}, Method: payments.Cash, Name: name, Email: "x@example.org"})
}

func TestChanged_MissesNoTransactionThatCommitsLate(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	ann, bob := h.soldTo(t, "Ann", 0), h.soldTo(t, "Bob", 2)
	names, next := h.changed(t, paging.Place{})
	if names != "Ann Bob" {
		t.Fatalf("at first %q changed", names)
	}
	slow, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(t.Context())
	if _, err := slow.Exec(t.Context(), `UPDATE orders SET name = 'Anna' WHERE id = $1`, ann.ID); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE orders SET name = 'Bobby' WHERE id = $1`, bob.ID)
	if names, next = h.changed(t, next); names != "Bobby" {
		t.Fatalf("beside an open transaction %q changed", names)
	}
	var now time.Time
	if err := h.db.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&now); err != nil {
		t.Fatal(err)
	}
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, _ := h.changed(t, paging.Place{At: now}); names != "Anna" {
		t.Errorf("since a time before the commit %q changed", names)
	}
	if names, next = h.changed(t, next); names != "Anna" {
		t.Errorf("after the commit %q changed", names)
	}
	if names, _ := h.changed(t, next); names != "" {
		t.Errorf("%q comes twice", names)
	}
	_, _, _, err = h.orders.Changed(t.Context(), h.sale, paging.Page{After: paging.Place{N: next.N + 1}, Limit: 10})
	if !errors.Is(err, paging.ErrAhead) {
		t.Errorf("a place behind the last change is answered %v", err)
	}
}

func TestChanged_HasEveryKindOfChange(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	ann := h.soldTo(t, "Ann", 0)
	h.soldTo(t, "Bob", 2)
	_, next := h.changed(t, paging.Place{})
	for _, c := range []struct {
		what string
		do   func() error
	}{
		{"renamed", func() error {
			h.exec(t, `UPDATE orders SET name = 'Ann' || ' ' WHERE id = $1`, ann.ID)
			h.exec(t, `UPDATE orders SET name = 'Ann' WHERE id = $1`, ann.ID)
			return nil
		}},
		{"a name on a ticket", func() error { h.exec(t, `UPDATE ticket SET name = 'Zoe' WHERE id = $1`, ann.Tickets[0].ID); return nil }},
		{"moved", func() error {
			return h.orders.Move(t.Context(), h.sale, ann, orders.Moving{Key: "move", Tickets: []seats.ID{ann.Tickets[0].ID}, To: []int{9}}, nil)
		}},
		{"checked in", func() error {
			h.exec(t, `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) VALUES ($1, $2, 'k', 'Online', clock_timestamp(), true)`, h.sale.Event.ID, ann.Tickets[1].ID)
			return nil
		}},
		{"refunded", func() error {
			h.exec(t, `INSERT INTO refund (id, amount, reason, order_id, by_hand) VALUES (gen_random_uuid(), 1, 'x', $1, true)`, ann.ID)
			return nil
		}},
		{"paid out", func() error { h.exec(t, `UPDATE refund SET done_at = clock_timestamp()`); return nil }},
		{"sent to a friend", func() error {
			h.exec(t, `INSERT INTO ticket_transfer (id, event_id, order_id, ticket_id, code, sent_to) VALUES (gen_random_uuid(), $1, $2, $3, 'c', '')`, h.sale.Event.ID, ann.ID, ann.Tickets[1].ID)
			return nil
		}},
		{"cancelled", func() error {
			return h.orders.RevokeBy(t.Context(), h.sale, h.find(t, ann.Code), orders.Revoking{Used: true, Override: true}, ann.Tickets[1].ID)
		}},
	} {
		if err := c.do(); err != nil {
			t.Fatal(c.what, err)
		}
		var names string
		if names, next = h.changed(t, next); names != "Ann" {
			t.Errorf("%s: %q changed", c.what, names)
		}
	}
	h.exec(t, `UPDATE orders SET name = name`)
	if names, _ := h.changed(t, next); names != "" {
		t.Errorf("without a change %q changed", names)
	}
}

func TestChanged_HasEachOrderOnceInItsPages(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	for i, name := range []string{"A", "B", "C", "D", "E"} {
		h.soldTo(t, name, 2*i)
	}
	var names []string
	page := paging.Page{Limit: 2}
	for n := 0; ; n++ {
		list, next, more, err := h.orders.Changed(t.Context(), h.sale, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			names = append(names, o.Name)
		}
		if page.After = next; !more {
			break
		}
		if n == 0 { // A was read, E will be
			h.exec(t, `UPDATE orders SET email = 'new@example.org' WHERE name IN ('A', 'E')`)
		}
	}
	if got := strings.Join(names, ""); got != "ABCDAE" {
		t.Errorf("the pages have %s", got)
	}
}
