package seats_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sales"
)

func TestBlock_TakesAllSeatsOrTheAvailableOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 10))
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0, 1, 2}, BlockTerms: seats.BlockTerms{Reason: "The lights stand there"}}); err == nil {
		t.Error("a held seat was blocked")
	}
	failing := seats.BlockRequest{Seats: []int{5}, Also: func(q *pgx.Batch) { q.Queue(`SELECT 1/0`) }}
	if _, err := b.sale.Block(t.Context(), failing); err == nil {
		t.Error("what was to be committed with it failed, and it did not")
	}
	done, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{2, 1, 0}, BlockTerms: seats.BlockTerms{Reason: "The lights stand there"}, Rest: true})
	if err != nil || !slices.Equal(done, []int{0, 2}) {
		t.Fatalf("of what is free it blocked %v, %v", done, err)
	}
	why, err := sales.New(b.db, nil).Blocked(t.Context(), b.sale, 0, 29)
	if err != nil || len(why) != 2 || why[0] != "The lights stand there" {
		t.Errorf("it is kept back because %v, %v", why, err)
	}
	_, err = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	wantRefusal(t, err, seats.CodeTaken)
	if _, err = b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0, 1}}); err == nil {
		t.Error("a held seat was unblocked")
	}
	if done, err = b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0, 1}, Rest: true}); err != nil || !slices.Equal(done, []int{0}) {
		t.Errorf("of what is blocked it unblocked %v, %v", done, err)
	}
	_, err = b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0, 1}, Rest: true})
	wantRefusal(t, err, seats.CodeTaken)
	for _, bad := range []seats.BlockRequest{{}, {Seats: []int{-1}}, {Seats: []int{1, 99}}, {Seats: []int{1}, BlockTerms: seats.BlockTerms{Reason: "a\nb"}}} {
		var nonsense *seats.ValidationError
		if _, err := b.sale.Block(t.Context(), bad); !errors.As(err, &nonsense) {
			t.Errorf("%+v got %v", bad, err)
		}
	}
	wantBooks(t, b)
}

func TestAWholeSectionIsClosedInStepsWhileACrowdClaims(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 1}, hall(1, 4500))
	var crowd sync.WaitGroup
	for range 8 {
		crowd.Go(func() {
			for range 30 {
				_, _ = b.sale.Claim(context.Background(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
			}
		})
	}
	floor, err := sales.Pick(b.sale, "Floor")
	if err != nil || len(floor) != 4500 {
		t.Fatal(len(floor), err)
	}
	audited := 0
	done, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: floor, Rest: true, Also: func(q *pgx.Batch) { audited++; q.Queue(`SELECT 1`) }})
	if err != nil {
		t.Fatal(err)
	}
	crowd.Wait()
	m := b.sale.Snapshot()
	if m.Counts.Free[2] != 0 || m.Counts.Blocked[2] != len(done) || m.Counts.Held[2] != 4500-len(done) {
		t.Errorf("blocked %d, and the map counts %+v", len(done), m.Counts)
	}
	if audited == 0 {
		t.Error("the change log does not say who did it")
	}
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: floor}); err == nil {
		t.Error("4,500 seats were to be blocked at once, all or none")
	}
	wantBooks(t, b)
}

func TestBoxOffice_SellsAvailableAndBlockedSeatsInEveryState(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 10))
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0}, BlockTerms: seats.BlockTerms{Reason: "For the box office"}}); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/3"}})
	b.set(t, events.Change{Status: seats.Closed})
	sell := func(idx ...int) error {
		_, err := b.sale.Sell(t.Context(), seats.Purchase{Order: seats.NewID(), Seats: idx, AtOffice: true})
		return err
	}
	if err := sell(0, 1); err != nil {
		t.Errorf("a blocked and a free seat: %v", err)
	}
	for _, idx := range [][]int{{0}, {2}, {3, 2}} {
		r := wantRefusal(t, sell(idx...), seats.CodeTaken)
		if len(r.Nearest) == 0 {
			t.Error("no seat instead")
		}
	}
	b.set(t, events.Change{Status: seats.Cancelled})
	wantRefusal(t, sell(5), seats.CodeShut)
	wantBooks(t, b)
}

func TestAMoveIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 10))
	order := seats.NewID()
	if _, err := b.sale.Sell(t.Context(), seats.Purchase{Order: order, Seats: []int{0, 1}, AtOffice: true}); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/B/2"}})
	err := b.sale.Move(t.Context(), order, []int{0, 1}, []int{10, 11}, nil)
	if r := wantRefusal(t, err, seats.CodeTaken); !slices.Equal(r.Seats, []int{11}) {
		t.Errorf("it names %v", r.Seats)
	}
	wantRefusal(t, b.sale.Move(t.Context(), seats.NewID(), []int{0}, []int{10}, nil), seats.CodeChanged)
	if err := b.sale.Move(t.Context(), order, []int{0, 1}, []int{13, 12}, nil); err != nil {
		t.Fatal(err)
	}
	m := b.sale.Snapshot()
	if m.States[0] != seats.Free || m.States[1] != seats.Free || m.States[12] != seats.Sold || m.States[13] != seats.Sold {
		t.Error("the seats are not where they moved")
	}
	for _, bad := range [][2][]int{{{12}, {1, 2}}, {{12, 12}, {1, 2}}, {{12, 13}, {1, 1}}, {{12}, {99}}, {nil, nil}} {
		var nonsense *seats.ValidationError
		if err := b.sale.Move(t.Context(), order, bad[0], bad[1], nil); !errors.As(err, &nonsense) {
			t.Errorf("%v got %v", bad, err)
		}
	}
	wantBooks(t, b)
}

func TestTimeline_ListsTheChangesOfASeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 10))
	ann, order := seats.NewID(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if _, err := b.sale.Release(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/2"}}) // another one's
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0}, BlockTerms: seats.BlockTerms{Reason: "Why not"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.sale.Sell(t.Context(), seats.Purchase{Order: order, Seats: []int{0}, AtOffice: true}); err != nil {
		t.Fatal(err)
	}
	list, back, err := sales.New(b.db, nil).Timeline(t.Context(), b.sale, 0, 0)
	if err != nil || back != 0 || len(list) != 4 {
		t.Fatalf("%d moments, %d, %v", len(list), back, err)
	}
	for i, want := range []seats.State{seats.Sold, seats.Blocked, seats.Free, seats.Held} {
		if list[i].State != want || i > 0 && list[i].At.After(list[i-1].At) {
			t.Errorf("moment %d is %s at %s", i, list[i].State, list[i].At.Format(time.RFC3339Nano))
		}
	}
	if list[0].Holder != order || list[1].Reason != "Why not" || list[3].Holder != ann {
		t.Errorf("they are of %+v", list)
	}
	if rest, _, err := sales.New(b.db, nil).Timeline(t.Context(), b.sale, 0, list[1].Version); err != nil || len(rest) != 2 {
		t.Errorf("further back there are %d, %v", len(rest), err)
	}
	if _, _, err := sales.New(b.db, nil).Timeline(t.Context(), b.sale, 99, 0); err == nil {
		t.Error("a seat that is not there has a past")
	}
}

func TestSeatsArePickedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 10))
	for text, want := range map[string][]int{
		"Stalls/A/1": {0}, "Stalls/A/3, Stalls/A/1-2": {0, 1, 2}, "Stalls/A/2-1;Floor/10": {0, 1, 39}, "Stalls/C": {20, 21, 22, 23, 24, 25, 26, 27, 28, 29}, " \n": nil,
		"Floor/1-3\nFloor/2": {30, 31, 32},
	} {
		if got, err := sales.Pick(b.sale, text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"Stalls/Z", "Stalls/A/1-99", "Moon", "Stalls/A/1-Floor/1", "/", "Stalls/", "-"} {
		if got, err := sales.Pick(b.sale, text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
