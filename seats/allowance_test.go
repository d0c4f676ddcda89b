package seats_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// waiting is how many backends of the database wait for a lock.
func (b *bench) waiting(t *testing.T) (n int) {
	t.Helper()
	if err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// comesToBe waits until something is so.
func comesToBe(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be: %s", what)
		}
	}
}

// One batch takes tickets from the last person and gives them to the first one, who has none yet.
func TestPurchases_NewPersonIsLockedInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	persons := []seats.ID{seats.NewID(), seats.NewID()}
	slices.SortFunc(persons, func(a, b seats.ID) int { return strings.Compare(a.String(), b.String()) })
	first, last := persons[0], persons[1]
	ann, bob, order := seats.NewID(), seats.NewID(), seats.NewID()
	hold := b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if _, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: ann, Order: order, Hold: hold.ID, Seats: hold.Seats, Keys: []seats.ID{last}}); err != nil {
		t.Fatal(err)
	}
	hold = b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
	selling, err := b.sale.Selling(seats.Purchase{Holder: bob, Order: seats.NewID(), Hold: hold.ID, Seats: hold.Seats, Keys: []seats.ID{first}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(t.Context()) }()
	if err := seats.LockPurchases(t.Context(), other, b.sale.Event.ID, first); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.inventory.Together(t.Context(), nil, b.sale.GivingBack(ann, order, []int{0}, []seats.ID{last}, nil), selling)
		done <- err
	}()
	comesToBe(t, "the batch waits for a person", func() bool { return b.waiting(t) == 1 })
	if _, err := other.Exec(t.Context(), `SET LOCAL lock_timeout = '100ms'`); err != nil {
		t.Fatal(err)
	}
	if err := seats.LockPurchases(t.Context(), other, b.sale.Event.ID, first, last); err != nil {
		t.Fatalf("the batch has the last person and waits for the first: %v", err)
	}
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for person, want := range map[seats.ID]int{first: 1, last: 0} {
		n := -1
		if err := b.db.QueryRow(t.Context(), `SELECT tickets FROM purchase_key WHERE key = $1`, person).Scan(&n); err != nil || n != want {
			t.Errorf("a person has %d tickets, want %d; %v", n, want, err)
		}
	}
}

func TestPurchases_WhatIsGivenBackMakesNoPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	ann, order, erased := seats.NewID(), seats.NewID(), seats.NewID()
	hold := b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if _, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: ann, Order: order, Hold: hold.ID, Seats: hold.Seats}); err != nil {
		t.Fatal(err)
	}
	if err := b.sale.GiveBack(t.Context(), ann, order, []int{0}, []seats.ID{erased}, nil); err != nil {
		t.Fatal(err)
	}
	n := -1
	if err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM purchase_key WHERE key = $1`, erased).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d counts were made of a person who was erased, %v", n, err)
	}
}
