package seats_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pricing"
)

// presale has the evening go on sale in an hour, and makes the code FRIENDS for two tickets of one person until then.
func presale(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, events.Settings{SeatsPerHolder: 6}, hall(4, 10))
	b.code(t, "FRIENDS", pricing.Code{Presale: true, PersonTickets: 2})
	for _, to := range []events.Change{{Status: seats.Paused, Reason: "The lights are out"}, {Status: seats.Scheduled, OpensAt: time.Now().Add(time.Hour)}} {
		if _, err := events.SetStatus(t.Context(), b.inventory, "evening", to, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.sale = latest(t, b.inventory)
	return b
}

// early claims seats of a row with a code.
func (b *bench) early(t *testing.T, s *seats.Sale, who seats.ID, access *seats.Access, labels ...string) (seats.Hold, error) {
	t.Helper()
	return s.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: labels, Access: access})
}

func TestPresale_LimitOfOnePersonHoldsAtTheClaimAndTheOrder(t *testing.T) {
	t.Parallel()
	b := presale(t)
	access, ann := b.access(t, "FRIENDS"), seats.NewID()
	if access.PresaleLimit() != 2 {
		t.Errorf("the page shows a limit of %d", access.PresaleLimit())
	}
	_, err := b.early(t, b.sale, ann, access, "Stalls/A/1", "Stalls/A/2", "Stalls/A/3")
	wantRefusal(t, err, seats.CodeLimit)
	_, err = b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Best: 3, Access: access})
	wantRefusal(t, err, seats.CodeLimit)
	hold, err := b.early(t, b.sale, ann, access, "Stalls/A/1", "Stalls/A/2")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.early(t, b.sale, ann, access, "Stalls/A/3")
	wantRefusal(t, err, seats.CodeLimit)

	person := []seats.ID{seats.NewID(), seats.NewID()} // by email and by account
	order := func(who seats.ID, hold seats.Hold, keys ...seats.ID) seats.Purchase {
		return seats.Purchase{Holder: who, Order: seats.NewID(), Hold: hold.ID, Seats: hold.Seats, Keys: keys}
	}
	if _, err := b.sale.Sell(t.Context(), order(ann, hold, person...)); err != nil {
		t.Fatal(err)
	}
	_, err = b.early(t, b.sale, ann, access, "Stalls/B/1")
	wantRefusal(t, err, seats.CodeLimit) // what the visitor bought counts
	again := seats.NewID()               // another browser of the same person
	hold, err = b.early(t, b.sale, again, access, "Stalls/B/1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.sale.Sell(t.Context(), order(again, hold, seats.NewID(), person[1]))
	wantRefusal(t, err, seats.CodePerson)
	_, err = b.sale.Pay(t.Context(), order(again, hold, person[0]))
	wantRefusal(t, err, seats.CodePerson)

	if _, err := events.SetStatus(t.Context(), b.inventory, "evening", events.Change{Status: seats.OnSale}, nil); err != nil {
		t.Fatal(err)
	}
	b.sale = latest(t, b.inventory)
	_, err = b.sale.Sell(t.Context(), order(again, hold, person[0]))
	wantRefusal(t, err, seats.CodePerson) // it was claimed in the presale
	later := seats.NewID()
	hold = b.claim(t, later, seats.ClaimRequest{Seats: []string{"Stalls/C/1", "Stalls/C/2", "Stalls/C/3", "Stalls/C/4"}})
	if _, err := b.sale.Sell(t.Context(), order(later, hold, person...)); err != nil {
		t.Errorf("in the sale, with six tickets together: %v", err)
	}
}

// Two browsers of one person order on two nodes at the same moment: neither order sees the other. One of them is refused.
func TestPresale_LimitOfOnePersonHoldsOnTwoNodesAtOnce(t *testing.T) {
	t.Parallel()
	b := presale(t)
	access, person := b.access(t, "FRIENDS"), seats.NewID()
	otherOffice, _ := node(t, b.db)
	lock, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback(context.Background()) }()
	var done sync.WaitGroup
	answers, orders := make([]error, 2), make([]func() error, 2)
	for i, s := range []*seats.Sale{b.sale, latest(t, otherOffice)} {
		who := seats.NewID()
		hold, err := b.early(t, s, who, access, fmt.Sprintf("Stalls/%c/1", 'A'+i), fmt.Sprintf("Stalls/%c/2", 'A'+i))
		if err != nil {
			t.Fatal(err)
		}
		p := seats.Purchase{Holder: who, Order: seats.NewID(), Hold: hold.ID, Seats: hold.Seats, Keys: []seats.ID{person}}
		orders[i] = func() error { _, err := s.Sell(t.Context(), p); return err }
	}
	if _, err := lock.Exec(t.Context(), `SELECT FROM counter FOR UPDATE`); err != nil { // both read counts before either is written
		t.Fatal(err)
	}
	for i, order := range orders {
		done.Go(func() { answers[i] = order() })
	}
	for waiting := 0; waiting < 2; {
		if err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	sold := 0
	for _, err := range answers {
		var refusal *seats.Conflict
		switch {
		case err == nil:
			sold++
		case !errors.As(err, &refusal) || refusal.Code != seats.CodePerson:
			t.Error(err)
		}
	}
	if sold != 1 {
		t.Errorf("%d of two orders of two tickets each were sold to the person", sold)
	}
}

func TestPresale_TheMostGenerousCodeCounts(t *testing.T) {
	t.Parallel()
	b := presale(t)
	b.code(t, "PATRONS", pricing.Code{Presale: true, PersonTickets: 4})
	for _, typed := range [][]string{{"FRIENDS", "PATRONS"}, {"PATRONS", "FRIENDS"}} {
		ann := seats.NewID()
		hold, err := b.early(t, b.sale, ann, b.access(t, typed...), "Stalls/A/1", "Stalls/A/2", "Stalls/A/3", "Stalls/A/4")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.sale.Pay(t.Context(), seats.Purchase{Holder: ann, Order: seats.NewID(), Hold: hold.ID, Seats: hold.Seats, Keys: []seats.ID{seats.NewID()}}); err != nil {
			t.Error(err)
		}
		if err := b.sale.StopPaying(t.Context(), ann, hold.Seats); err != nil {
			t.Fatal(err)
		}
		if _, err := b.sale.Release(t.Context(), ann); err != nil {
			t.Fatal(err)
		}
	}
}
