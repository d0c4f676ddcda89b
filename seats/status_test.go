package seats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func (b *bench) set(t *testing.T, to events.Change) seats.Event {
	t.Helper()
	e, err := events.SetStatus(t.Context(), b.inventory, "evening", to, nil)
	if err != nil {
		t.Fatalf("make it %s: %v", to.Status, err)
	}
	return e
}

func TestClaim_NeedsAnEventOnSaleOnEveryNode(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 10))
	_, other := node(t, b.db)
	ann := seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	tomorrow := time.Now().Add(24 * time.Hour)
	for _, to := range []events.Change{
		{Status: seats.Paused, Reason: "Payments are slow"}, {Status: seats.Closed}, {Status: seats.Scheduled, OpensAt: tomorrow},
	} {
		if to.Status == seats.Scheduled {
			b.set(t, events.Change{Status: seats.Closed})
		}
		b.set(t, to)
		for i, sale := range []*seats.Sale{b.sale, other} {
			for _, w := range []seats.ClaimRequest{{Seats: []string{"Stalls/A/2"}}, {Best: 2, Category: "A"}, {Area: "Floor", Quantity: 1}} {
				_, err := sale.Claim(t.Context(), seats.NewID(), "", w)
				r := wantRefusal(t, err, seats.CodeShut)
				if to.Reason != "" && !strings.Contains(r.Error(), to.Reason) {
					t.Errorf("node %d does not say why: %s", i, r.Message)
				}
			}
		}
		if _, err := b.sale.Extend(t.Context(), ann, ""); err != nil {
			t.Errorf("%s: who holds seats got no more time: %v", to.Status, err)
		}
		if to.Status != seats.Scheduled {
			b.set(t, events.Change{Status: seats.OnSale})
		}
	}
	b.set(t, events.Change{Status: seats.OnSale})
	if _, err := other.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/2"}}); err != nil {
		t.Errorf("it is on sale again, and another node refuses: %v", err)
	}
	wantBooks(t, b)
}

func TestAnEventIsOnSaleFromItsTimeOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{TimeZone: "Europe/Vienna", OpensAt: time.Date(2030, 3, 1, 9, 0, 0, 0, time.UTC)}, hall(2, 10))
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
	if r := wantRefusal(t, err, seats.CodeShut); !strings.Contains(r.Error(), "Fri 1 March 2030, 10:00\u00a0CET") {
		t.Errorf("it does not say when by the clock of the place: %s", r.Message)
	}
	if e := b.current(t); e.Status != seats.Scheduled {
		t.Fatalf("it is %s", e.Status)
	}
	b.set(t, events.Change{Status: seats.Scheduled, OpensAt: time.Now().Add(2 * time.Second)})
	for end := time.Now().Add(30 * time.Second); ; {
		_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
		if err == nil {
			break
		}
		if wantRefusal(t, err, seats.CodeShut); time.Now().After(end) {
			t.Fatal("its time came and claims are refused")
		}
		<-time.After(20 * time.Millisecond)
	}
	for end := time.Now().Add(30 * time.Second); b.current(t).Status != seats.OnSale; <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("its node still shows it as scheduled")
		}
	}
	wantBooks(t, b)
}

// current is the event as its node shows it to pages.
func (b *bench) current(t *testing.T) seats.Event {
	t.Helper()
	s, err := b.inventory.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return s.Event
}

// While a crowd claims on two nodes, the event is paused and opened again and again. No version that granted a
// claim may stand between a pause and the next opening: verify looks at each.
func TestNoClaimIsGrantedAfterAPauseWasCommitted(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(10, 900))
	_, other := node(t, b.db)
	stop := make(chan struct{})
	var crowd sync.WaitGroup
	for i := range 16 {
		sale := []*seats.Sale{b.sale, other}[i%2]
		crowd.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				w := seats.ClaimRequest{Area: "Floor", Quantity: 1}
				if n%2 == 0 {
					w = seats.ClaimRequest{Seats: []string{fmt.Sprintf("Floor/%d", 1+(i*57+n*13)%900)}}
				}
				_, err := sale.Claim(context.Background(), seats.NewID(), "", w)
				var refusal *seats.Conflict
				if err != nil && !errors.As(err, &refusal) {
					t.Errorf("claim: %v", err)
					return
				}
			}
		})
	}
	for range 12 {
		b.set(t, events.Change{Status: seats.Paused, Reason: "A look at the doors"})
		<-time.After(15 * time.Millisecond)
		b.set(t, events.Change{Status: seats.OnSale})
		<-time.After(25 * time.Millisecond)
	}
	close(stop)
	crowd.Wait()
	wantBooks(t, b)
}

func TestNothingOfACancelledEventIsSold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 10))
	ann := seats.NewID()
	hold := b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	b.set(t, events.Change{Status: seats.Cancelled, Reason: "The hall is under water"})
	_, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: ann, Order: seats.NewID(), Hold: hold.ID})
	wantRefusal(t, err, seats.CodeShut)
	_, err = b.sale.Sell(t.Context(), seats.Purchase{Holder: ann, Order: seats.NewID(), Seats: hold.Seats, Late: true})
	wantRefusal(t, err, seats.CodeShut)
	_, err = b.sale.Pay(t.Context(), seats.Purchase{Holder: ann, Order: seats.NewID()})
	wantRefusal(t, err, seats.CodeShut)
	if _, err := b.sale.Release(t.Context(), ann); err != nil {
		t.Errorf("seats of a cancelled event cannot be released: %v", err)
	}
	if _, err := events.SetStatus(t.Context(), b.inventory, "evening", events.Change{Status: seats.OnSale}, nil); err == nil {
		t.Error("it came back")
	}
	wantBooks(t, b)
}

func TestStatus_ImpossibleChangeIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Status: seats.Draft}, hall(2, 10))
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
	wantRefusal(t, err, seats.CodeShut)
	for _, to := range []events.Change{{Status: seats.Paused, Reason: "x"}, {Status: seats.Closed}, {Status: seats.Cancelled}} {
		_, err := events.SetStatus(t.Context(), b.inventory, "evening", to, nil)
		wantRefusal(t, err, seats.CodeChanged)
	}
	for _, to := range []events.Change{{Status: "sold"}, {Status: seats.Scheduled}, {Status: seats.Paused}, {Status: seats.Closed, Reason: "a\nb"}} {
		_, err := events.SetStatus(t.Context(), b.inventory, "evening", to, nil)
		var nonsense *seats.ValidationError
		if !errors.As(err, &nonsense) {
			t.Errorf("%+v got %v", to, err)
		}
	}
	if _, err := events.SetStatus(t.Context(), b.inventory, "nowhere", events.Change{Status: seats.OnSale}, nil); !errors.Is(err, seats.ErrNoEvent) {
		t.Errorf("no event got %v", err)
	}
	before := b.sale.Version()
	b.set(t, events.Change{Status: seats.Draft})
	if b.sale.Version() != before {
		t.Error("the same status was written once more")
	}
	if list, err := b.inventory.Events(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("attendees see the draft: %v, %v", list, err)
	}
	failing := func(q *pgx.Batch) { q.Queue(`SELECT 1/0`) }
	if _, err := events.SetStatus(t.Context(), b.inventory, "evening", events.Change{Status: seats.OnSale}, failing); err == nil {
		t.Error("what was to be committed with it failed, and it did not")
	}
	if e := b.current(t); e.Status != seats.Draft {
		t.Errorf("half of it was committed: it is %s", e.Status)
	}
}

func TestEdit_HoldsOnEveryNodeAndKeepsAgreedTerms(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Status: seats.Draft}, hall(2, 10))
	far, there := node(t, b.db)
	n := events.Of(b.current(t))
	n.Name, n.SeatsPerHolder, n.Strict = "Another evening", 2, true
	n.Questions = []seats.Question{{Kind: seats.AskText, Label: "Company", Choices: []string{}}}
	if _, err := events.Edit(t.Context(), b.inventory, "evening", n, []int64{700, 600, 500}, nil); err != nil {
		t.Fatal(err)
	}
	if err := there.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := far.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	if s.Event.Name != n.Name || s.Plan.Categories[0].Price != 700 || len(s.Event.Questions) != 1 || s.Event.PlanHash == there.Event.PlanHash {
		t.Errorf("another node has %+v at %d", s.Event, s.Plan.Categories[0].Price)
	}
	b.set(t, events.Change{Status: seats.OnSale})
	_, err = s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 3, Category: "A"})
	wantRefusal(t, err, seats.CodeLimit)
	b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 2, Category: "A"})
	n = events.Of(b.current(t))
	n.SeatsPerHolder, n.HoldLength, n.Venue = 1, time.Minute, "Elsewhere"
	if _, err := events.Edit(t.Context(), b.inventory, "evening", n, nil, nil); err != nil {
		t.Errorf("limits are for the organizer to lower: %v", err)
	}
	wantBooks(t, b) // though a visitor holds two, and for longer
	again := b.sale.Version()
	if _, err := events.Edit(t.Context(), b.inventory, "evening", n, nil, nil); err != nil || b.sale.Version() != again {
		t.Errorf("the same edit was a change: %v", err)
	}
	for what, edit := range map[string]func(*events.Settings) []int64{
		"prices":        func(*events.Settings) []int64 { return []int64{1, 2, 3} },
		"the currency":  func(n *events.Settings) []int64 { n.Currency = "CHF"; return nil },
		"the questions": func(n *events.Settings) []int64 { n.Questions = nil; return nil },
		"what happens to seats after their hold expires": func(n *events.Settings) []int64 { n.Strict = false; return nil },
	} {
		n := events.Of(b.current(t))
		prices := edit(&n)
		_, err := events.Edit(t.Context(), b.inventory, "evening", n, prices, nil)
		if r := wantRefusal(t, err, seats.CodeChanged); !strings.Contains(r.Error(), what) {
			t.Errorf("%s: %s", what, r)
		}
	}
	for _, edit := range []func(*events.Settings){
		func(n *events.Settings) { n.Name = "" }, func(n *events.Settings) { n.TimeZone = "Mars" }, func(n *events.Settings) { n.Currency = "euro" },
		func(n *events.Settings) { n.Venue = "a\nb" }, func(n *events.Settings) { n.HoldLength = time.Millisecond }, func(n *events.Settings) { n.StartsAt = time.Time{} },
	} {
		n := events.Of(b.current(t))
		edit(&n)
		var nonsense *seats.ValidationError
		if _, err := events.Edit(t.Context(), b.inventory, "evening", n, nil, nil); !errors.As(err, &nonsense) {
			t.Errorf("%+v got %v", n, err)
		}
	}
}
