package customers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// changed returns the addresses of the customers that changed after a place, and the next place.
func (h *fixture) changed(t testing.TB, d *organizers.Desk, after paging.Place) (string, paging.Place) {
	t.Helper()
	list, next, more, err := h.all.Changed(t.Context(), d, h.ann, paging.Page{After: after, Limit: 20})
	if err != nil || more {
		t.Fatal(more, err)
	}
	return emails(list), next
}

func TestChanged_HasEveryKindOfChangeOfACustomerOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := organizers.New(h.db, func() {})
	zoe := h.sold(t, "Zoe", "zoe@example.org")
	h.sold(t, "Bob", "bob@example.org")
	first, next := h.changed(t, d, paging.Place{})
	if !strings.Contains(first, "zoe@example.org") || !strings.Contains(first, "bob@example.org") {
		t.Fatalf("at first %q changed", first)
	}
	var bob customers.Customer
	for _, c := range []struct {
		what, who string
		do        func() error
	}{
		{"another order", "zoe@example.org", func() error { h.sold(t, "Zoe", "ZOE@example.org"); return nil }},
		{"another name", "zoe@example.org", func() error {
			_, err := h.db.Exec(t.Context(), `UPDATE orders SET name = 'Zoë' WHERE id = $1`, zoe.ID)
			return err
		}},
		{"noted", "zoe@example.org", func() error {
			return h.all.SetNote(t.Context(), d, h.ann, "note", zoe.ID, customers.Note{Text: "prefers aisles"})
		}},
		{"without a note", "zoe@example.org", func() error { return h.all.SetNote(t.Context(), d, h.ann, "none", zoe.ID, customers.Note{}) }},
		{"imported", "ida@example.org", func() error {
			_, err := h.all.Import(t.Context(), d, h.ann, "import", []customers.Listed{{Line: 2, Email: "ida@example.org", Name: "Ida"}})
			return err
		}},
		{"first order of a list", "ida@example.org", func() error { h.sold(t, "Ida", "ida@example.org"); return nil }},
		{"merged", "bob@example.org", func() error {
			list, _, err := h.all.Find(t.Context(), h.ann, "bob@", 5)
			if err != nil {
				return err
			}
			bob = list[0]
			return h.all.Merge(t.Context(), d, h.ann, "merge", bob.ID, []seats.ID{zoe.ID})
		}},
	} {
		if err := c.do(); err != nil {
			t.Fatal(c.what, err)
		}
		var who string
		if who, next = h.changed(t, d, next); c.what == "merged" {
			if strings.Count(who, "@") != 1 {
				t.Errorf("after a merge %q changed", who)
			}
		} else if who != c.who {
			t.Errorf("%s: %q changed", c.what, who)
		}
	}
	if err := h.all.Separate(t.Context(), d, h.ann, "separate", zoe.ID, "bob@example.org"); err != nil {
		t.Fatal(err)
	}
	if who, after := h.changed(t, d, next); !strings.Contains(who, "zoe@example.org") || !strings.Contains(who, "bob@example.org") {
		t.Errorf("after a separation %q changed", who)
	} else if who, _ = h.changed(t, d, after); who != "" {
		t.Errorf("without a change %q changed", who)
	}
	other := h.ann
	if err := h.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Other') RETURNING id`).Scan(&other.Team); err != nil {
		t.Fatal(err)
	}
	if list, _, _, err := h.all.Changed(t.Context(), d, other, paging.Page{Limit: 20}); err != nil || len(list) != 0 {
		t.Errorf("another team sees %v, %v", list, err)
	}
}

func TestChanged_MissesNoCustomerOfATransactionThatCommitsLate(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := organizers.New(h.db, func() {})
	zoe, bob := h.sold(t, "Zoe", "zoe@example.org"), h.sold(t, "Bob", "bob@example.org")
	_, next := h.changed(t, d, paging.Place{})
	slow, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(context.WithoutCancel(t.Context()))
	if _, err := slow.Exec(t.Context(), `UPDATE orders SET name = 'Zoë' WHERE id = $1`, zoe.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE orders SET name = 'Bobby' WHERE id = $1`, bob.ID); err != nil {
		t.Fatal(err)
	}
	var who string
	if who, next = h.changed(t, d, next); who != "bob@example.org" {
		t.Fatalf("beside an open transaction %q changed", who)
	}
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if who, _ = h.changed(t, d, next); who != "zoe@example.org" {
		t.Errorf("after the commit %q changed", who)
	}
}

func TestChanged_HasEachCustomerOnceInItsPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	d := organizers.New(h.db, func() {})
	for i := range 9 {
		h.sold(t, "P", fmt.Sprintf("p%d@example.org", i%4))
	}
	seen := map[string]int{}
	for page, more := (paging.Page{Limit: 1}), true; more; {
		list, next, goesOn, err := h.all.Changed(t.Context(), d, h.ann, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			seen[c.Email]++
		}
		page.After, more = next, goesOn
	}
	if len(seen) != 4 || seen["p0@example.org"] != 1 || seen["p1@example.org"] != 1 {
		t.Errorf("the pages have %v", seen)
	}
}
