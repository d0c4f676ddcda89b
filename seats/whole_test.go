package seats_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// dinner is a plan of round tables that are sold whole, by how many chairs they have, and then of a row of ten seats, each sold by itself.
func dinner(tables ...int) *seats.Plan {
	p := hall(1, 0)
	p.Sections[0].Name = "Dinner"
	row := p.Seats
	p.Seats = nil
	for i, n := range tables {
		name := fmt.Sprintf("Table %d", i+1)
		for c := range n {
			p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint("t", i, "-", c), Row: name, Number: fmt.Sprint(c + 1), X: 20 * float64(c), Y: 40 * float64(i+2)})
		}
		p.Whole = append(p.Whole, seats.WholeRow{Row: name})
	}
	p.Seats = append(p.Seats, row...)
	p.Height, p.Sections = 100+40*float64(len(tables)+2), p.Sections[:1]
	p.Sections[0].Count = len(p.Seats)
	return p
}

// tableSeats are labels of a table of dinner.
func tableSeats(table, from, to int) (labels []string) {
	for n := from; n <= to; n++ {
		labels = append(labels, fmt.Sprintf("Dinner/Table %d/%d", table, n))
	}
	return labels
}

func TestWholeTable_PartOfItIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(8, 8))
	ann := seats.NewID()
	for _, part := range [][]string{tableSeats(1, 1, 1), tableSeats(1, 2, 8), append(tableSeats(1, 1, 8), tableSeats(2, 1, 3)...)} {
		_, err := b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: part})
		if r := wantRefusal(t, err, seats.CodeWholeTable); len(r.Seats) != 8 {
			t.Errorf("the refusal names %v, want the whole table", r.Seats)
		}
	}
	step, err := b.sale.Claiming(ann, "", seats.ClaimRequest{Seats: tableSeats(1, 1, 2)})
	if err == nil {
		_, err = b.inventory.Together(t.Context(), nil, step)
	}
	wantRefusal(t, err, seats.CodeWholeTable)
	if h := b.claim(t, ann, seats.ClaimRequest{Seats: append(tableSeats(1, 1, 8), "Dinner/A/1")}); len(h.Seats) != 9 {
		t.Errorf("she holds %v, want a table and a seat", h.Seats)
	}
	wantBooks(t, b)
}

func TestWholeTable_LargerThanTheLimitIsRefusedWithBothNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 6}, dinner(8))
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: tableSeats(1, 1, 8)})
	if r := wantRefusal(t, err, seats.CodeLimit); !strings.Contains(r.Error(), "8 seats, and you can book up to 6") {
		t.Errorf("the refusal is %q", r.Error())
	}
	_, err = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 8})
	if r := wantRefusal(t, err, seats.CodeLimit); !strings.Contains(r.Error(), "You asked for 8 seats, and you can book up to 6 tickets.") {
		t.Errorf("the refusal of the best eight is %q", r.Error())
	}
	if n := b.sale.LargestWhole(); n != 8 {
		t.Errorf("the largest table has %d seats", n)
	}
}

func TestWholeTable_EveryOtherCommandRefusesAPart(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 4, 4))
	ctx, ann := t.Context(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: tableSeats(1, 1, 4)})
	code, err := seatstest.Order(ctx, b.db, b.sale, ann)
	if err != nil {
		t.Fatal(err)
	}
	var order seats.ID
	if err := b.db.QueryRow(ctx, `SELECT id FROM orders WHERE code = $1`, code).Scan(&order); err != nil {
		t.Fatal(err)
	}
	sold, free := []int{0, 1, 2, 3}, []int{4, 5, 6, 7}
	back := []seats.Resale{{ID: seats.NewID(), Seat: 0, Order: order}}
	together := func(st seats.Step) error {
		_, err := b.inventory.Together(ctx, nil, st)
		return err
	}
	none := func(*pgx.Batch) {}
	for name, err := range map[string]error{
		"give back":      b.sale.GiveBack(ctx, ann, order, sold[:2], nil, none),
		"offer back":     b.sale.OfferBack(ctx, ann, back, nil, none),
		"take back":      b.sale.TakeBack(ctx, ann, order, seats.ID{}, sold[:1], none),
		"move from":      b.sale.Move(ctx, order, sold[:1], []int{12}, none),
		"move to":        b.sale.Move(ctx, order, sold, append([]int{12}, free[:3]...), none),
		"rebook":         together(b.sale.Rebooking(seats.Rebooking{From: order, Purchase: seats.Purchase{Order: seats.NewID(), Seats: sold[:1], Types: []int{0}}})),
		"keep":           together(b.sale.Keeping(seats.NewID(), free[:3], time.Now().Add(time.Hour))),
		"block":          second(b.sale.Block(ctx, seats.BlockRequest{Seats: free[1:]})),
		"block the rest": second(b.sale.Block(ctx, seats.BlockRequest{Seats: free[1:2], Rest: true})),
		"box office":     second(b.sale.Sell(ctx, seats.Purchase{Order: seats.NewID(), Seats: free[:2], AtOffice: true})),
	} {
		want := seats.CodeWholeTable
		if name == "block the rest" {
			want = seats.CodeTaken // it leaves out what it may not change
		}
		var r *seats.Conflict
		if !errors.As(err, &r) || r.Code != want {
			t.Errorf("%s of a part: %v, want the refusal %s", name, err, want)
		}
	}
	if err := b.sale.Move(ctx, order, sold, free, none); err != nil {
		t.Errorf("move to another table: %v", err)
	}
	if _, err := b.sale.Block(ctx, seats.BlockRequest{Seats: sold}); err != nil {
		t.Errorf("block a table: %v", err)
	}
	if _, err := b.sale.Unblock(ctx, seats.BlockRequest{Seats: sold[:1]}); err == nil {
		t.Error("a part of a blocked table was put on sale")
	}
}

func second[T any](_ T, err error) error { return err }

func TestWholeTable_ReleaseOfOneChairReleasesAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 4))
	ann := seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: append(tableSeats(1, 1, 4), "Dinner/A/3")})
	left, err := b.sale.Release(t.Context(), ann, 2)
	if err != nil || len(left.Seats) != 1 || left.Seats[0] != 10 {
		t.Fatalf("she holds %v (%v), want the seat of the row alone", left.Seats, err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: tableSeats(1, 1, 4)})
	wantBooks(t, b)
}

func TestWholeTable_BestSeatsAreAWholeTableOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 6))
	ctx := t.Context()
	for n := 1; n <= 10; n++ {
		who := seats.NewID()
		h := b.claim(t, who, seats.ClaimRequest{Best: n})
		if at := h.Seats[0] < 10; at && n != 4 && n != 6 {
			t.Errorf("a party of %d got %v, a part of a table", n, h.Seats)
		}
		if _, err := b.sale.Release(ctx, who); err != nil {
			t.Fatal(err)
		}
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 10}) // the row
	_, err := b.sale.Claim(ctx, seats.NewID(), "", seats.ClaimRequest{Best: 3})
	wantRefusal(t, err, seats.CodeWholeTable)
	four := seats.NewID()
	if h := b.claim(t, four, seats.ClaimRequest{Best: 4}); !slices.Equal(h.Seats, []int{0, 1, 2, 3}) {
		t.Errorf("a party of 4 got %v, want the table of 4", h.Seats)
	}
	if _, err := b.db.Exec(ctx, `
		WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - interval '1 minute' WHERE holder = $1 RETURNING expires_at)
		UPDATE seat_state SET expires_at = h.expires_at FROM h WHERE holder = $1`, four); err != nil {
		t.Fatal(err)
	}
	if h := b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 4}); !slices.Equal(h.Seats, []int{0, 1, 2, 3}) {
		t.Errorf("a party of 4 got %v, want the table of an expired hold", h.Seats)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 6})
	_, err = b.sale.Claim(ctx, seats.NewID(), "", seats.ClaimRequest{Best: 6})
	wantRefusal(t, err, seats.CodeSoldOut)
	wantBooks(t, b)
}

func TestWholeTable_LargerPartyOfOneMomentGetsTheTableOfItsSize(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 4, 6))
	ctx := t.Context()
	b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 10}) // the row
	ask := func(sizes ...int) (outcome []error) {
		holders, requests := []seats.ID{}, []seats.ClaimRequest{}
		for _, n := range sizes {
			holders, requests = append(holders, seats.NewID()), append(requests, seats.ClaimRequest{Best: n})
		}
		outcome, err := b.sale.ClaimInOrder(holders, requests)
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	outcome := ask(3, 4)
	wantRefusal(t, outcome[0], seats.CodeWholeTable)
	if outcome[1] != nil {
		t.Errorf("a party of 4 behind one of 3: %v, want a table of 4", outcome[1])
	}
	if _, err := b.db.Exec(ctx, `
		WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - interval '1 minute' WHERE NOT seats && '{14}' RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = h.expires_at FROM h WHERE s.holder = h.holder`); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 4}) // the last one that is available
	outcome = ask(3, 4, 5, 6)
	wantRefusal(t, outcome[0], seats.CodeWholeTable)
	if outcome[1] != nil || outcome[3] != nil {
		t.Errorf("parties of 4 and 6 behind ones of 3 and 5: %v and %v, want a table of an expired hold and the table of 6", outcome[1], outcome[3])
	}
	wantBooks(t, b)
}

func TestWholeTable_ProposalsAndReplacementsHaveNoPart(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 6))
	price := func(int) (int64, bool) { return 0, true }
	for n := 1; n <= 8; n++ {
		for _, p := range b.sale.Propose(seats.Party{Size: n, Price: price}) {
			if p.Seats[0] < 10 && n != 4 && n != 6 {
				t.Errorf("a party of %d is proposed %v, a part of a table", n, p.Seats)
			}
		}
	}
	if near := b.sale.Nearest([]int{10, 11}); slices.ContainsFunc(near, func(idx int) bool { return idx < 10 }) {
		t.Errorf("near are %v, with chairs of whole tables", near)
	}
}

func TestWholeTable_ManyGetWholeTablesThatAddUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, dinner(6, 4, 4))
	all := make([]int, 16) // the tables, and two seats of the row
	for i := range all {
		all[i] = i
	}
	for n, want := range map[int][]int{
		2: {14, 15}, 4: {6, 7, 8, 9}, 8: all[6:14], 10: all[:10], 11: append(slices.Clone(all[:10]), 15), 14: all[:14], 16: all, 17: nil,
	} {
		if got := b.sale.BestOf(n, all); !slices.Equal(got, want) {
			t.Errorf("the best %d are %v, want %v", n, got, want)
		}
	}
	for _, n := range []int{3, 9, 12} {
		if got := b.sale.BestOf(n, all[:14]); got != nil {
			t.Errorf("the best %d of the tables alone are %v, want none", n, got)
		}
	}
}

// TestWholeTable_HasOneBuyerUnderConcurrency has a crowd on two nodes claim, release, expire, order and be blocked out of tables, and holds
// that no table is ever divided.
func TestWholeTable_HasOneBuyerUnderConcurrency(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Second, SeatsPerHolder: 20}, dinner(4, 4, 6, 6, 8))
	_, other := node(t, b.db)
	fine := func(err error) {
		var r *seats.Conflict
		if err != nil && !errors.As(err, &r) && !errors.Is(err, seats.ErrNoHold) {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for person := range 16 {
		sale := []*seats.Sale{b.sale, other}[person%2]
		random := rand.New(rand.NewPCG(23, uint64(person)))
		all.Go(func() {
			ctx := context.WithoutCancel(t.Context())
			for range 40 {
				who, table := seats.NewID(), random.IntN(5)
				size := []int{4, 4, 6, 6, 8}[table]
				request := seats.ClaimRequest{Best: []int{1, 3, 4, 6, 8}[random.IntN(5)]}
				switch random.IntN(3) {
				case 0:
					request = seats.ClaimRequest{Seats: tableSeats(table+1, 1, size)}
				case 1:
					request = seats.ClaimRequest{Seats: tableSeats(table+1, 1+random.IntN(size-1), size)}
				}
				_, err := sale.Claim(ctx, who, "", request)
				fine(err)
				switch random.IntN(8) {
				case 0:
					_, err = seatstest.Order(ctx, b.db, sale, who)
				case 1:
					_, err = sale.Block(ctx, seats.BlockRequest{Seats: []int{random.IntN(28), random.IntN(28)}, Rest: true})
				case 2, 3, 4:
					_, err = sale.Release(ctx, who)
				case 5:
					_, err = sale.Release(ctx, who, random.IntN(28))
				}
				fine(err)
			}
		})
	}
	all.Wait()
	wantBooks(t, b)
}

func TestReplan_SeatsOnSaleStaySoldWholeOrByThemselves(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, dinner(4, 4))
	free, more := dinner(4, 4), dinner(4, 4)
	free.Whole = free.Whole[:1]
	more.Whole = append(more.Whole, seats.WholeRow{Row: "A"})
	for name, p := range map[string]*seats.Plan{"a table by the chair": free, "a row as a whole": more} {
		_, err := events.ReplacePlan(t.Context(), b.inventory, "evening", p, nil)
		if wantRefusal(t, err, seats.CodeChanged); !t.Failed() {
			t.Logf("%s: %v", name, err)
		}
	}
	next := withBalcony(dinner(4, 4), 6)
	for i := range next.Whole {
		next.Whole[i].Section++
	}
	for i := range 6 {
		next.Seats[i].Category = 0
	}
	next.Whole = append(next.Whole, seats.WholeRow{Section: 0, Row: "A"})
	if _, err := events.ReplacePlan(t.Context(), b.inventory, "evening", next, nil); err != nil {
		t.Fatal(err)
	}
	s := b.now(t, b.inventory)
	_, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Balcony/A/1"}})
	wantRefusal(t, err, seats.CodeWholeTable)
	_, err = s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: tableSeats(2, 1, 2)})
	wantRefusal(t, err, seats.CodeWholeTable)
	wantBooks(t, b)
}
