package seats_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// evenings makes n more events of the plan, and opens all of them on the node of the bench.
func evenings(t *testing.T, b *bench, n int, p *seats.Plan) []*seats.Sale {
	t.Helper()
	sales := []*seats.Sale{b.sale}
	for i := range n {
		e, err := events.Create(t.Context(), b.db, events.Settings{Name: fmt.Sprint("Evening ", i+2), StartsAt: time.Date(2030, 5, 2+i, 19, 0, 0, 0, time.UTC)}, p)
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.inventory.Sale(t.Context(), e.Slug)
		if err != nil {
			t.Fatal(err)
		}
		sales = append(sales, s)
	}
	return sales
}

func claimIn(t *testing.T, holder seats.ID, sales []*seats.Sale, labels ...string) []seats.Step {
	t.Helper()
	var steps []seats.Step
	for _, s := range sales {
		st, err := s.Claiming(holder, "", seats.ClaimRequest{Seats: labels})
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, st)
	}
	return steps
}

func TestTogether_IsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 5))
	sales := evenings(t, b, 2, hall(2, 5))
	one, other := seats.NewID(), seats.NewID()
	if _, err := sales[2].Claim(t.Context(), other, "", seats.ClaimRequest{Seats: []string{"Stalls/A/2"}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.inventory.Together(t.Context(), nil, claimIn(t, one, sales, "Stalls/A/1", "Stalls/A/2")...)
	wantRefusal(t, err, seats.CodeTaken)
	if refused := (*seats.StepError)(nil); !errors.As(err, &refused) || refused.Step != 2 || refused.Sale.Event.ID != sales[2].Event.ID {
		t.Errorf("the refusal is of %+v, want step 2", refused)
	}
	for _, s := range sales {
		if _, err := s.Hold(t.Context(), one); !errors.Is(err, seats.ErrNoHold) {
			t.Errorf("event %d: %v, want no hold", s.Event.ID, err)
		}
	}
	if _, err := b.inventory.Together(t.Context(), nil, claimIn(t, one, sales, "Stalls/A/1", "Stalls/A/3")...); err != nil {
		t.Fatal(err)
	}
	wantBooks(t, b)
}

// Each event counts its own extensions. One that has none left refuses all.
func TestTogether_ExtendsAllHoldsOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 5))
	sales := evenings(t, b, 2, hall(2, 5))
	if _, err := b.db.Exec(t.Context(), `UPDATE event SET extensions = 2 WHERE id = $1`, sales[2].Event.ID); err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	extend := func(key string) ([]seats.Hold, error) {
		return b.inventory.Together(t.Context(), nil, sales[0].Extending(who, key), sales[1].Extending(who, key), sales[2].Extending(who, key))
	}
	_, err := extend("none")
	if refused := (*seats.StepError)(nil); !errors.As(err, &refused) || !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("an extension of nothing got %v", err)
	}
	held, err := b.inventory.Together(t.Context(), nil, claimIn(t, who, sales, "Stalls/A/1", "Stalls/A/2")...)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"first", "first", "second"} {
		more, err := extend(key)
		if err != nil {
			t.Fatal(err)
		}
		for k, h := range more {
			if repeat := i == 1; h.ExpiresAt.After(held[k].ExpiresAt) == repeat || len(h.Seats) != 2 {
				t.Errorf("event %d, key %s: held until %s, and before until %s", k, key, h.ExpiresAt, held[k].ExpiresAt)
			}
		}
		held = more
	}
	if held[2].ExtensionsLeft != 0 {
		t.Fatalf("%d extensions are left, want none", held[2].ExtensionsLeft)
	}
	_, err = extend("third")
	wantRefusal(t, err, seats.CodePressure)
	if refused := (*seats.StepError)(nil); !errors.As(err, &refused) || refused.Step != 2 {
		t.Errorf("the refusal is %v, want that of step 2", err)
	}
	for k, s := range sales {
		h, err := s.Hold(t.Context(), who)
		if err != nil || !h.ExpiresAt.Equal(held[k].ExpiresAt) || h.ExtensionsLeft != held[k].ExtensionsLeft {
			t.Errorf("event %d: after a refusal the hold is %+v, %v, want %+v", k, h, err, held[k])
		}
	}
	wantBooks(t, b)
}

// An exchange: the seats of an order in one event come free, and others of another event are sold to it.
func TestTogether_SellsInOneEventAndGivesBackInAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 5))
	sales := evenings(t, b, 1, hall(2, 5))
	holder, order := seats.NewID(), seats.NewID()
	b.claim(t, holder, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	sold, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: holder, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	exchange := func() error {
		sell, err := sales[1].Selling(seats.Purchase{Holder: holder, Order: order})
		if err != nil {
			return err
		}
		_, err = b.inventory.Together(t.Context(), nil, sell, b.sale.GivingBack(holder, order, sold, nil, nil))
		return err
	}
	if err := exchange(); !errors.Is(err, seats.ErrNoHold) {
		t.Fatalf("an exchange for nothing: %v", err)
	}
	if got := b.sale.Snapshot().Counts; got.Sold[0] != 1 {
		t.Errorf("%d sold after an exchange for nothing, want 1", got.Sold[0])
	}
	if _, err := sales[1].Claim(t.Context(), holder, "", seats.ClaimRequest{Seats: []string{"Stalls/B/4"}}); err != nil {
		t.Fatal(err)
	}
	if err := exchange(); err != nil {
		t.Fatal(err)
	}
	if was, is := b.sale.Snapshot().Counts.Sold[0], sales[1].Snapshot().Counts.Sold[0]; was != 0 || is != 1 {
		t.Errorf("%d and %d sold after the exchange, want 0 and 1", was, is)
	}
	wantBooks(t, b)
}

// Visitors take overlapping sets of seats in overlapping sets of events, named in any order, on two nodes, among visitors of
// one event.
func TestTogether_NeverWaitsInACircle(t *testing.T) {
	t.Parallel()
	p := hall(2, 5)
	b := newBench(t, events.Settings{SeatsPerHolder: 4}, p)
	here := evenings(t, b, 4, p)
	second, _ := node(t, b.db)
	var there []*seats.Sale
	for _, s := range here {
		other, err := second.Sale(t.Context(), s.Event.Slug)
		if err != nil {
			t.Fatal(err)
		}
		there = append(there, other)
	}
	var wg sync.WaitGroup
	for i := range 32 {
		inventory, all := b.inventory, slices.Clone(here)
		if i%2 == 1 {
			inventory, all = second, slices.Clone(there)
		}
		wg.Go(func() {
			for range 12 {
				rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				some := all[:2+rand.IntN(len(all)-1)]
				holder, labels := seats.NewID(), []string{p.Label(rand.IntN(10)), p.Label(10 + rand.IntN(10))}
				if i%4 == 0 { // a visitor of one event
					some = some[:1]
				}
				if err := takeAndReturn(t, inventory, holder, some, labels); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := b.inventory.Deadlocks() + second.Deadlocks(); n != 0 {
		t.Errorf("%d deadlocks, want none", n)
	}
	for _, s := range here {
		if err := s.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantBooks(t, b)
}

// takeAndReturn claims, sells and gives back the seats in all of the events. Another visitor may have them.
func takeAndReturn(t *testing.T, inventory *seats.Inventory, holder seats.ID, sales []*seats.Sale, labels []string) error {
	t.Helper()
	var refusal *seats.Conflict
	if len(sales) == 1 {
		_, err := sales[0].Claim(t.Context(), holder, "", seats.ClaimRequest{Seats: labels})
		if err == nil {
			_, err = sales[0].Release(t.Context(), holder)
		}
		if errors.As(err, &refusal) {
			err = nil
		}
		return err
	}
	holds, err := inventory.Together(t.Context(), nil, claimIn(t, holder, sales, labels...)...)
	switch {
	case errors.As(err, &refusal):
		return nil
	case err != nil:
		return err
	}
	order := seats.NewID()
	var sell, back []seats.Step
	for i, s := range sales {
		st, err := s.Selling(seats.Purchase{Holder: holder, Order: order, Hold: holds[i].ID, Seats: holds[i].Seats, Keys: []seats.ID{holder}})
		if err != nil {
			return err
		}
		sell, back = append(sell, st), append(back, s.GivingBack(holder, order, holds[i].Seats, []seats.ID{holder}, nil))
	}
	if _, err = inventory.Together(t.Context(), nil, sell...); err != nil {
		return err
	}
	slices.Reverse(back)
	_, err = inventory.Together(t.Context(), nil, back...)
	return err
}
