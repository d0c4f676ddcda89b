package seats_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// banquet is dinner with tables that are shared instead.
func banquet(least, most int, noRest bool, tables ...int) *seats.Plan {
	p := dinner(tables...)
	for _, w := range p.Whole {
		p.Shared = append(p.Shared, seats.SharedRow{Section: w.Section, Row: w.Row, Shared: seats.Shared{Least: least, Most: most, NoRest: noRest}})
	}
	p.Whole = nil
	return p
}

func TestSharedTable_PartiesHaveTheirSize(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 6, false, 8, 8))
	if n := b.sale.LargestParty(); n != 2 {
		t.Errorf("a party needs %d seats", n)
	}
	ctx, ann := t.Context(), seats.NewID()
	for _, part := range [][]string{tableSeats(1, 1, 1), tableSeats(1, 1, 7), append(tableSeats(1, 1, 4), tableSeats(2, 3, 3)...)} {
		_, err := b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: part})
		if r := wantRefusal(t, err, seats.CodePartySize); !strings.Contains(r.Error(), "each party has 2 to 6 seats") {
			t.Errorf("%v: %v", part, r)
		}
	}
	step, err := b.sale.Claiming(ann, "", seats.ClaimRequest{Seats: tableSeats(1, 1, 1)})
	if err == nil {
		_, err = b.inventory.Together(ctx, nil, step)
	}
	wantRefusal(t, err, seats.CodePartySize)

	// What a visitor has at the table counts, and what is left of a party that becomes too small goes.
	b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 1, 2)})
	if h := b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 5, 5)}); len(h.Seats) != 3 {
		t.Errorf("she holds %v", h.Seats)
	}
	_, err = b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: tableSeats(1, 3, 4)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: tableSeats(1, 6, 7)})
	wantRefusal(t, err, seats.CodePartySize)
	bob := seats.NewID()
	b.claim(t, bob, seats.ClaimRequest{Seats: tableSeats(1, 6, 8)})
	if h, err := b.sale.Release(ctx, bob, 5); err != nil || len(h.Seats) != 2 {
		t.Errorf("he holds %v, %v", h.Seats, err)
	}
	if h, err := b.sale.Release(ctx, bob, 6); err != nil || len(h.Seats) != 0 {
		t.Errorf("he holds %v, %v: one seat is no party", h.Seats, err)
	}
	wantBooks(t, b)
}

func TestSharedTable_EveryOtherCommandThatTakesSeatsAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 3, false, 4, 4, 4))
	ctx, ann := t.Context(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 1, 2)})
	code, err := seatstest.Order(ctx, b.db, b.sale, ann)
	if err != nil {
		t.Fatal(err)
	}
	var order seats.ID
	if err := b.db.QueryRow(ctx, `SELECT id FROM orders WHERE code = $1`, code).Scan(&order); err != nil {
		t.Fatal(err)
	}
	none := func(*pgx.Batch) {}
	keeping := func(list ...int) error {
		_, err := b.inventory.Together(ctx, nil, b.sale.Keeping(seats.NewID(), list, time.Now().Add(time.Hour)))
		return err
	}
	group := seats.BlockTerms{Kind: seats.BlockGroup, EndsAt: time.Now().Add(time.Hour)}
	for name, err := range map[string]error{
		"keep one":         keeping(4),
		"keep four":        keeping(4, 5, 6, 7),
		"move one to":      b.sale.Move(ctx, order, []int{0}, []int{4}, none),
		"a group of one":   second(b.sale.Block(ctx, seats.BlockRequest{Seats: []int{4}, Group: seats.NewID(), BlockTerms: group})),
		"box office":       second(b.sale.Sell(ctx, seats.Purchase{Order: seats.NewID(), Seats: []int{4}, AtOffice: true})),
		"box office, many": second(b.sale.Sell(ctx, seats.Purchase{Order: seats.NewID(), Seats: []int{4, 5, 6, 7}, AtOffice: true})),
	} {
		var r *seats.Conflict
		if !errors.As(err, &r) || r.Code != seats.CodePartySize {
			t.Errorf("%s: %v, want the refusal %s", name, err, seats.CodePartySize)
		}
	}
	if err := b.sale.Move(ctx, order, []int{0}, []int{3}, none); err != nil {
		t.Errorf("another chair at the same table: %v", err)
	}
	if err := b.sale.Move(ctx, order, []int{1, 3}, []int{5, 6}, none); err != nil {
		t.Errorf("the party moves: %v", err)
	}
	if _, err := b.sale.Block(ctx, seats.BlockRequest{Seats: []int{8}}); err != nil {
		t.Errorf("a broken chair is blocked: %v", err)
	}
	wantBooks(t, b)
}

func TestSharedTable_TheBestSeatsAreThoseOfOneParty(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 4, false, 6, 6))
	single := seats.NewID()
	if h := b.claim(t, single, seats.ClaimRequest{Best: 2}); len(h.Seats) != 2 || b.sale.Plan.Seats[h.Seats[0]].Row != "A" {
		t.Errorf("two get %v, want seats of the row", h.Seats)
	}
	if h := b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 4}); len(h.Seats) != 4 {
		t.Errorf("four get %v", h.Seats)
	}
	for range 4 { // the rest of the row, and of the tables
		_, _ = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 2})
	}
	for n, want := range map[int]bool{1: false, 2: false, 5: false} {
		_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: n})
		var r *seats.Conflict
		if (err == nil) != want || errors.As(err, &r) && r.Code != seats.CodeWholeTable && r.Code != seats.CodeSoldOut {
			t.Errorf("%d get %v", n, err)
		}
	}
	counts := map[string]int{}
	for idx, state := range b.sale.Snapshot().States {
		if state != seats.Free {
			counts[b.sale.Plan.Seats[idx].Row]++
		}
	}
	for row, n := range counts {
		if strings.HasPrefix(row, "Table") && n != 3 && n != 4 && n != 6 {
			t.Errorf("%s has %d seats taken", row, n)
		}
	}
	wantBooks(t, b)
}

func TestSharedTable_PartiesAddUpForAGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 5, false, 6, 6))
	all := make([]int, len(b.sale.Plan.Seats))
	for i := range all {
		all[i] = i
	}
	for n := 1; n <= 20; n++ {
		got := b.sale.BestOf(n, all)
		if len(got) != n {
			t.Errorf("a group of %d gets %v", n, got)
			continue
		}
		if err := b.sale.RefuseParty(got); err != nil {
			t.Errorf("a group of %d gets %v: %v", n, got, err)
		}
	}
	if got := b.sale.BestOf(2, all[:12]); got != nil {
		t.Errorf("two at tables for three get %v", got)
	}
}

func TestSharedTable_NoClaimLeavesTooFewForTheNextParty(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 8, true, 8))
	ctx := t.Context()
	_, err := b.sale.Claim(ctx, seats.NewID(), "", seats.ClaimRequest{Seats: tableSeats(1, 1, 7)})
	if r := wantRefusal(t, err, seats.CodeOrphan); !strings.Contains(r.Error(), "seat 8, too") {
		t.Errorf("the refusal is %q", r.Error())
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 1, 6)})
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 7, 8)})
	wantBooks(t, b)
}

func TestSharedTable_PagesTakeWhatAPartyNeeds(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 8, true, 8))
	label := func(n int) string { return fmt.Sprintf("Dinner/Table 1/%d", n) }
	if got := b.sale.WithParty(nil, []string{label(4)}); !slices.Equal(got, []string{label(4), label(3), label(5)}) && !slices.Equal(got, []string{label(4), label(5), label(3)}) {
		t.Errorf("one tap takes %v", got)
	}
	if got := b.sale.WithParty([]int{0, 1, 2, 3, 4}, []string{label(6)}); len(got) != 3 {
		t.Errorf("a tap beside a party of five takes %v, as two seats would be left", got)
	}
	if got := b.sale.WithParty([]int{0, 1, 2}, []string{"Dinner/A/1"}); len(got) != 1 {
		t.Errorf("a seat of a row takes %v", got)
	}
}

func TestSharedTable_PartiesKeepTheirSizeInACrowd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 4}, banquet(2, 4, false, 8, 8, 8))
	var crowd sync.WaitGroup
	for n := range 24 {
		crowd.Go(func() {
			who := seats.NewID()
			for i := range 8 {
				table, from := 1+(n+i)%3, 1+(n*3+i)%7
				if _, err := b.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: tableSeats(table, from, from+(n+i)%3)}); err == nil && i%2 == 1 {
					_, _ = b.sale.Release(t.Context(), who, 8*(table-1)+from-1)
				}
			}
		})
	}
	crowd.Wait()
	rows, err := b.db.Query(t.Context(), `SELECT count(*) FROM seat_state s JOIN seat n USING (event_id, idx) WHERE s.holder IS NOT NULL AND n.row LIKE 'Table%' GROUP BY s.holder, n.row`)
	if err != nil {
		t.Fatal(err)
	}
	parties, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || len(parties) == 0 {
		t.Fatal(parties, err)
	}
	for _, n := range parties {
		if n < 2 || n > 4 {
			t.Errorf("a party has %d seats", n)
		}
	}
	wantBooks(t, b)
}
