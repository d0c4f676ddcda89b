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
	group := seats.BlockTerms{Kind: seats.BlockGroup, EndsAt: time.Now().Add(time.Hour)}
	for name, err := range map[string]error{
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

// parties counts the seats of each holder at each table.
func (b *bench) parties(t *testing.T) (sizes []int, full map[string]bool) {
	t.Helper()
	rows, err := b.db.Query(t.Context(), `SELECT n.row, s.holder, count(*) FROM seat_state s JOIN seat n USING (event_id, idx) WHERE s.holder IS NOT NULL AND n.row LIKE 'Table%' GROUP BY n.row, s.holder ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	taken, few := map[string]int{}, map[string]int{}
	var table string
	var holder seats.ID
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&table, &holder, &n}, func() error {
		sizes = append(sizes, n)
		taken[table] += n
		few[table] = max(few[table], 2-n)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	full = map[string]bool{}
	for table, short := range few {
		if short > 0 {
			full[table] = taken[table] == 8
		}
	}
	return sizes, full
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
				_, _ = b.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: tableSeats(table, from, from+(n+i)%3)})
			}
		})
	}
	crowd.Wait()
	sizes, full := b.parties(t)
	if len(sizes) == 0 {
		t.Fatal("there is no party")
	}
	for _, n := range sizes {
		if n > 4 {
			t.Errorf("a party has %d seats", n)
		}
	}
	for table, is := range full {
		if !is {
			t.Errorf("a party is too small at %s, where chairs are left", table)
		}
	}
	wantBooks(t, b)
}

func TestSharedTable_ReleasesKeepPartiesInACrowd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 4}, banquet(2, 4, false, 8, 8, 8))
	var crowd sync.WaitGroup
	for n := range 6 {
		crowd.Go(func() {
			who, table, from := seats.NewID(), 1+n%3, 1+4*(n/3)
			for i := range 8 {
				if _, err := b.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: tableSeats(table, from, from+1+(n+i)%3)}); err == nil && i%2 == 1 {
					_, _ = b.sale.Release(t.Context(), who, 8*(table-1)+from-1)
				}
			}
		})
	}
	crowd.Wait()
	sizes, _ := b.parties(t)
	for _, n := range sizes {
		if n < 2 || n > 4 {
			t.Errorf("a party has %d seats", n)
		}
	}
	wantBooks(t, b)
}

// fillRow has another visitor hold the row beside the tables.
func (b *bench) fillRow(t *testing.T) {
	t.Helper()
	row := []string{}
	for n := range 10 {
		row = append(row, fmt.Sprintf("Dinner/A/%d", n+1))
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: row})
}

func TestSharedTable_BestSeatsAreAtAnotherTableThanAFullParty(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 4, false, 6, 6))
	ann := seats.NewID()
	b.fillRow(t)
	first := b.claim(t, ann, seats.ClaimRequest{Best: 2})
	table := b.sale.Plan.Seats[first.Seats[0]].Row
	mine := []string{}
	for n := 1; n <= 6; n++ {
		label := fmt.Sprintf("Dinner/%s/%d", table, n)
		if idx, _ := b.sale.Seat(label); !slices.Contains(first.Seats, idx) {
			mine = append(mine, label)
		}
	}
	if _, err := b.sale.Release(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	b.claim(t, ann, seats.ClaimRequest{Seats: mine}) // the best two are beside them
	h := b.claim(t, ann, seats.ClaimRequest{Best: 2})
	if len(h.Seats) != 6 {
		t.Errorf("she holds %v, want four at a table and two elsewhere", h.Seats)
	}
	for range 8 { // each time two others, as long as there are any
		if h, err := b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Best: 2}); err == nil && len(h.Seats) != 6 {
			t.Errorf("she holds %v", h.Seats)
		}
	}
	wantBooks(t, b)
}

func TestSharedTable_OtherBestSeatsTakeTheWholePartyWithThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 4, false, 6, 6))
	ann := seats.NewID()
	b.fillRow(t)
	first := b.claim(t, ann, seats.ClaimRequest{Best: 3})
	seat := b.sale.Plan.Seats[first.Seats[0]]
	for n := 1; ; n++ {
		label := fmt.Sprintf("Dinner/%s/%d", seat.Row, n)
		if idx, _ := b.sale.Seat(label); !slices.Contains(first.Seats, idx) {
			b.claim(t, ann, seats.ClaimRequest{Seats: []string{label}})
			break
		}
	}
	h, err := b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Best: 3})
	if err != nil || len(h.Seats) != 3 {
		t.Errorf("she holds %v, %v, want three others", h.Seats, err)
	}
	if err := b.sale.RefuseParty(h.Seats); err != nil {
		t.Error(err)
	}
	wantBooks(t, b)
}

func TestSharedTable_MovedTicketsJoinTheirParty(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 4, false, 8, 8, 8))
	ctx, order := t.Context(), seats.NewID()
	none := func(*pgx.Batch) {}
	if _, err := b.sale.Sell(ctx, seats.Purchase{Order: order, Seats: []int{0, 1, 2, 3, 8, 9, 10, 16, 17, 18}, AtOffice: true}); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, b.sale.Move(ctx, order, []int{0, 1, 2, 3}, []int{11, 12, 13, 14}, none), seats.CodePartySize)
	if err := b.sale.Move(ctx, order, []int{0}, []int{11}, none); err != nil {
		t.Errorf("one joins three: %v", err)
	}
	wantRefusal(t, b.sale.Move(ctx, order, []int{16}, []int{12}, none), seats.CodePartySize)
	if err := b.sale.Move(ctx, order, []int{8, 9}, []int{12, 19}, none); err != nil {
		t.Errorf("one of two changes the table, the other one the chair: %v", err)
	}
	wantBooks(t, b)
}

func TestSharedTable_WhatIsLeftOfAnExpiredPartyIsNotSold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 8, false, 8, 8))
	ctx, ann, eve := t.Context(), seats.NewID(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: append(tableSeats(1, 1, 4), tableSeats(2, 1, 4)...)})
	b.claim(t, eve, seats.ClaimRequest{Seats: tableSeats(2, 5, 8)})
	b.overdue(t, ann)
	b.overdue(t, eve)
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 3, 5)}) // two are left of four
	_, other := node(t, b.db)
	for end := time.Now().Add(30 * time.Second); len(other.Expired([]int{11, 12})) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the map does not show that the holds expired")
		}
		if err := other.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Claim(ctx, seats.NewID(), "", seats.ClaimRequest{Seats: tableSeats(2, 4, 6)}); err != nil { // three are left, and two
		t.Fatal(err)
	}
	sold, err := b.sale.Sell(ctx, seats.Purchase{Holder: ann, Order: seats.NewID()})
	if err != nil || !slices.Equal(sold, []int{8, 9, 10}) {
		t.Errorf("she bought %v, %v", sold, err)
	}
	if sold, err := b.sale.Sell(ctx, seats.Purchase{Holder: eve, Order: seats.NewID()}); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("eve bought %v, %v", sold, err)
	}
	if _, err := b.sale.Sell(ctx, seats.Purchase{Order: seats.NewID(), Seats: []int{0, 1, 5}, AtOffice: true}); err != nil {
		t.Errorf("the chairs that were left: %v", err)
	}
	wantBooks(t, b)
}

func TestSharedTable_TheLastChairsAreForASmallerParty(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 8, false, 8, 8))
	ctx := t.Context()
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 1, 6)})
	_, err := b.sale.Claim(ctx, seats.NewID(), "", seats.ClaimRequest{Seats: tableSeats(1, 7, 7)})
	wantRefusal(t, err, seats.CodePartySize)
	if got := b.sale.WithParty(nil, tableSeats(1, 7, 7)); len(got) != 2 {
		t.Errorf("one tap takes %v, want what is left", got)
	}
	bob := seats.NewID()
	b.claim(t, bob, seats.ClaimRequest{Seats: tableSeats(1, 7, 8)})
	if h, err := b.sale.Release(ctx, bob, 6); err != nil || len(h.Seats) != 0 {
		t.Errorf("he holds %v, %v: one of two", h.Seats, err)
	}
	_, err = b.sale.Sell(ctx, seats.Purchase{Order: seats.NewID(), Seats: []int{7}, AtOffice: true})
	wantRefusal(t, err, seats.CodePartySize)
	order := seats.NewID()
	if _, err = b.sale.Sell(ctx, seats.Purchase{Order: order, Seats: []int{6, 7}, AtOffice: true}); err != nil {
		t.Errorf("the office sells what is left: %v", err)
	}
	if err := b.sale.GiveBack(ctx, seats.ID{}, order, []int{7}, nil, nil); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 8, 8)})
	wantBooks(t, b)
}

func TestSharedTable_RefusalsSayWhatCanBeDone(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 6, true, 8, 6))
	ctx, ann := t.Context(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 1, 4)})
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 5, 6)})
	bob := seats.NewID()
	b.claim(t, bob, seats.ClaimRequest{Seats: tableSeats(2, 1, 4)})
	for who, c := range map[seats.ID]struct {
		seats []string
		say   string
	}{
		ann: {tableSeats(1, 7, 7), "seat 8, too, or fewer seats there"}, // five, and six are a party
		bob: {tableSeats(2, 5, 5), "seat 6, too, or fewer seats there"},
	} {
		_, err := b.sale.Claim(ctx, who, "", seats.ClaimRequest{Seats: c.seats})
		if r := wantRefusal(t, err, seats.CodeOrphan); !strings.Contains(r.Error(), c.say) {
			t.Errorf("the refusal is %q", r.Error())
		}
	}
	b = newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(2, 5, true, 8))
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 7, 8)})
	b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 1, 3)})
	_, err := b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: tableSeats(1, 4, 5)})
	if r := wantRefusal(t, err, seats.CodeOrphan); strings.Contains(r.Error(), "seat 6") || !strings.Contains(r.Error(), "Choose fewer seats there") {
		t.Errorf("the refusal of five, where six would be too many, is %q", r.Error())
	}
	b = newBench(t, events.Settings{SeatsPerHolder: 20}, banquet(3, 4, true, 4))
	_, err = b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: tableSeats(1, 1, 3)})
	if r := wantRefusal(t, err, seats.CodeOrphan); !strings.Contains(r.Error(), "seat 4, too. Your") {
		t.Errorf("the refusal of three, where no party is smaller, is %q", r.Error())
	}
	b = newBench(t, events.Settings{SeatsPerHolder: 2}, banquet(3, 4, false, 4))
	_, err = b.sale.Claim(ctx, ann, "", seats.ClaimRequest{Seats: tableSeats(1, 1, 3)})
	if r := wantRefusal(t, err, seats.CodeLimit); !strings.Contains(r.Error(), "at least 3 seats, and you can book up to 2") {
		t.Errorf("the refusal of a party above the limit is %q", r.Error())
	}
}
