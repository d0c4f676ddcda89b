package seats_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
)

// reprice gives the event of a bench another price list: change is done to the one it has.
func (b *bench) reprice(t *testing.T, change func(*seats.Prices)) {
	t.Helper()
	_, err := b.inventory.ChangeEvent(t.Context(), "evening", nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		plan, err := seats.LoadPlan(t.Context(), tx, e.ID)
		if err != nil {
			return false, err
		}
		list, err := seats.LoadPrices(t.Context(), tx, e.ID, plan)
		if err != nil {
			return false, err
		}
		change(list)
		return true, pricing.Save(t.Context(), tx, e.ID, list)
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.sale, err = b.inventory.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
}

// withChild adds a child type that costs 900 in the first category and is not sold in the third.
func withChild(p *seats.Prices) {
	p.Types = append(p.Types, seats.TicketType{Key: "child", Name: "Child", Position: 1, SoldTo: seats.SoldToEveryone})
	p.Amounts = append(p.Amounts, seats.Amount{Type: 1, Category: 0, Amount: 900}, seats.Amount{Type: 1, Category: 1, Amount: 500})
}

// early adds a phase with half of the first type's prices.
func early(f seats.Phase) func(*seats.Prices) {
	return func(p *seats.Prices) {
		f.Name = "Early bird"
		p.Phases = append(p.Phases, f)
		for _, a := range slices.Clone(p.Amounts) {
			if a.Phase == 0 && a.Type == 0 {
				p.Amounts = append(p.Amounts, seats.Amount{Phase: len(p.Phases), Category: a.Category, Amount: a.Amount / 2})
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// pays returns what each line costs.
func pays(lines []seats.Line) (prices []int64) {
	for _, l := range lines {
		prices = append(prices, l.Price)
	}
	return prices
}

func TestAChildPaysTheChildPriceForTheSameSeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withChild)
	ann, bob := seats.NewID(), seats.NewID()
	if hold := b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}}); !slices.Equal(pays(hold.Lines), []int64{5000, 5000}) {
		t.Fatalf("two usual tickets cost %v", pays(hold.Lines))
	}
	hold, err := b.sale.SetTypes(t.Context(), ann, "key", map[int]string{1: "child"})
	if err != nil || !slices.Equal(pays(hold.Lines), []int64{5000, 900}) || len(hold.Seats) != 2 {
		t.Fatalf("with a child they cost %v, %v", pays(hold.Lines), err)
	}
	if again, err := b.sale.SetTypes(t.Context(), ann, "key", map[int]string{1: "child"}); err != nil || !again.ExpiresAt.Equal(hold.ExpiresAt) {
		t.Errorf("a repeat got %+v, %v", again, err)
	}
	if other := b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/A/3", "Stalls/A/4"}, Type: "child"}); !slices.Equal(pays(other.Lines), []int64{900, 900}) {
		t.Errorf("two children cost %v", pays(other.Lines))
	}
	if _, err := seatstest.Order(t.Context(), b.db, b.sale, ann); err != nil {
		t.Fatal(err)
	}
	var total, child int64
	if err := b.db.QueryRow(t.Context(), `SELECT o.total, t.price FROM orders o JOIN ticket t ON t.order_id = o.id WHERE t.type = 1`).Scan(&total, &child); err != nil || total != 5900 || child != 900 {
		t.Errorf("the order costs %d and the child's ticket %d, %v", total, child, err)
	}
	wantBooks(t, b)
}

func TestSetTypes_RefusesWhatIsNotSold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, func(p *seats.Prices) {
		withChild(p)
		p.Types = append(p.Types,
			seats.TicketType{Key: "member", Name: "Member", SoldTo: seats.SoldWithCode}, seats.TicketType{Key: "press", Name: "Press", SoldTo: seats.SoldAtDesk},
			seats.TicketType{Key: "old", Name: "Old", SoldTo: seats.SoldToEveryone, Retired: true})
		for kind := 2; kind <= 4; kind++ {
			p.Amounts = append(p.Amounts, seats.Amount{Type: kind, Category: 2, Amount: 1})
		}
	})
	ann := seats.NewID()
	hold := b.claim(t, ann, seats.ClaimRequest{Area: "Floor", Quantity: 1})
	idx := hold.Seats[0]
	for key, code := range map[string]string{"child": seats.CodeType, "member": seats.CodeType, "press": seats.CodeType, "old": seats.CodeType} {
		_, err := b.sale.SetTypes(t.Context(), ann, "", map[int]string{idx: key})
		wantRefusal(t, err, code)
		_, err = b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Area: "Floor", Tickets: map[string]int{key: 1}})
		wantRefusal(t, err, code)
	}
	var nonsense *seats.ValidationError
	for _, types := range []map[int]string{{idx: "none"}, {-1: "standard"}, {100_000: "standard"}, nil} {
		if _, err := b.sale.SetTypes(t.Context(), ann, "", types); !errors.As(err, &nonsense) {
			t.Errorf("%v: %v", types, err)
		}
	}
	_, err := b.sale.SetTypes(t.Context(), ann, "", map[int]string{0: "standard"})
	wantRefusal(t, err, seats.CodeTaken)
	if _, err := b.sale.SetTypes(t.Context(), seats.NewID(), "", map[int]string{0: "standard"}); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("without a hold: %v", err)
	}
	wantBooks(t, b)
}

func TestClaim_AsksForTicketsOfSeveralTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withChild)
	hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Tickets: map[string]int{"standard": 2, "child": 1}})
	if !slices.Equal(pays(hold.Lines), []int64{5000, 5000, 900}) {
		t.Errorf("the best seats of a family cost %v", pays(hold.Lines))
	}
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Tickets: map[string]int{"standard": 1, "child": 1}})
	wantRefusal(t, err, seats.CodeType)
	var nonsense *seats.ValidationError
	for _, w := range []seats.ClaimRequest{
		{Best: 2, Tickets: map[string]int{"standard": 1}},
		{Tickets: map[string]int{"standard": -1}},
		{Tickets: map[string]int{"standard": 0}},
		{Tickets: map[string]int{"standard": 1 << 62, "child": 1 << 62}},
		{Seats: []string{"Stalls/A/1"}, Tickets: map[string]int{"child": 2}},
		{Seats: []string{"Stalls/A/1"}, Type: "nothing"},
		{Type: "child"},
	} {
		if _, err := b.sale.Claim(t.Context(), seats.NewID(), "", w); !errors.As(err, &nonsense) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	wantBooks(t, b)
}

func TestPhase_SellsExactlyItsLimitToACrowdOnTwoNodes(t *testing.T) {
	t.Parallel()
	const limit, crowd = 37, 120
	b := newBench(t, events.Settings{}, hall(20, 10))
	b.reprice(t, early(seats.Phase{Sells: ptr(limit)}))
	_, other := node(t, b.db)
	var mu sync.Mutex
	var people sync.WaitGroup
	paid := map[int64]int{}
	for n := range crowd {
		people.Go(func() {
			s := []*seats.Sale{b.sale, other}[n%2]
			hold, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{b.sale.Plan.Label(60 + n)}})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			paid[hold.Lines[0].Price]++
		})
	}
	people.Wait()
	if paid[1500] != limit || paid[3000] != crowd-limit {
		t.Errorf("the early price was paid %d times and the other %d times, want %d and %d", paid[1500], paid[3000], limit, crowd-limit)
	}
	if _, r, _ := b.sale.Running(time.Now()); r.Phase != 0 || r.Left != -1 {
		t.Errorf("phase %d runs with %d places", r.Phase, r.Left)
	}
	wantBooks(t, b)
}

func TestPhase_GetsThePlacesBackOfWhatIsLetGoOrExpires(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, early(seats.Phase{Sells: ptr(2)}))
	ann, bob, eve := seats.NewID(), seats.NewID(), seats.NewID()
	if hold := b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2", "Stalls/A/3"}}); !slices.Equal(pays(hold.Lines), []int64{2500, 2500, 5000}) {
		t.Fatalf("of three seats two have the early price: %v", pays(hold.Lines))
	}
	if _, err := b.sale.Release(t.Context(), ann, 0); err != nil {
		t.Fatal(err)
	}
	if hold := b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/A/4"}}); hold.Lines[0].Price != 2500 {
		t.Errorf("a place that was let go is sold at %d", hold.Lines[0].Price)
	}
	b.overdue(t, bob)
	if hold := b.claim(t, eve, seats.ClaimRequest{Seats: []string{"Stalls/A/4"}}); hold.Lines[0].Price != 2500 || hold.Lines[0].Phase != 1 {
		t.Errorf("a seat of a hold that expired is taken over at %+v", hold.Lines)
	}
	b.overdue(t, eve)
	if err := b.sale.Expire(t.Context(), eve); err != nil {
		t.Fatal(err)
	}
	if left := b.sale.Left(1); left != 1 {
		t.Errorf("after the announced end %d places are left, want 1", left)
	}
	b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/B/1"}})
	hold, err := b.sale.Hold(t.Context(), eve)
	if err != nil || !hold.Expired || hold.Lines[0].Price != 5000 {
		t.Errorf("the expired seat would cost %+v, %v", hold.Lines, err)
	}
	code, err := seatstest.Order(t.Context(), b.db, b.sale, eve)
	var price int64
	if e := b.db.QueryRow(t.Context(), `SELECT total FROM orders WHERE code = $1`, code).Scan(&price); err != nil || e != nil || price != 5000 {
		t.Errorf("it was ordered for %d, %v, %v", price, err, e)
	}
	wantBooks(t, b)
}

// overdue moves the end of a hold into the past.
func (b *bench) overdue(t *testing.T, holder seats.ID) {
	t.Helper()
	if _, err := b.db.Exec(t.Context(), `
		WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - interval '1 second' WHERE holder = $1 RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = h.expires_at FROM h WHERE s.holder = h.holder`, holder); err != nil { // at once: the node ends holds, too
		t.Fatal(err)
	}
}

// The clock of the database decides: a claim that was committed before the end of a phase pays its price, and a later one does not.
func TestPhase_EndsInTheMiddleOfACrowd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(100, 10))
	b.reprice(t, early(seats.Phase{}))
	if hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); hold.Lines[0].Phase != 1 {
		t.Fatalf("the first claim pays %+v", hold.Lines)
	}
	_, other := node(t, b.db)
	var ends time.Time
	if err := b.db.QueryRow(t.Context(), `SELECT clock_timestamp() + interval '1 second'`).Scan(&ends); err != nil {
		t.Fatal(err)
	}
	b.reprice(t, func(p *seats.Prices) { p.Phases[0].EndsAt = &ends })
	var people sync.WaitGroup
	for n := range 8 {
		people.Go(func() {
			s := []*seats.Sale{b.sale, other}[n%2]
			for i := 0; i < 110; i++ {
				hold, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{b.sale.Plan.Label(60 + n*110 + i)}})
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				if hold.Now.After(ends.Add(200*time.Millisecond)) && hold.Lines[0].Phase == 0 {
					return
				}
				_ = seats.Sleep(t.Context(), 20*time.Millisecond)
			}
		})
	}
	people.Wait()
	var wrong, earlies, lates int
	if err := b.db.QueryRow(t.Context(), `
		SELECT count(*) FILTER (WHERE (s.phase = 1) <> (c.at < $1 )), count(*) FILTER (WHERE s.phase = 1), count(*) FILTER (WHERE s.phase = 0)
		  FROM change c, unnest(c.idx) AS n(idx) JOIN seat_state s ON s.idx = n.idx
		 WHERE abs(extract(epoch FROM c.at - $1)) > 0.05`, ends).Scan(&wrong, &earlies, &lates); err != nil {
		t.Fatal(err)
	}
	if wrong > 0 || earlies == 0 || lates == 0 { // the first claim was early
		t.Errorf("%d seats have the price of another moment; %d were sold early and %d later", wrong, earlies, lates)
	}
	wantBooks(t, b)
}

// A node that did not hear of other prices sells nothing at the old ones, and refuses no visitor because of them.
func TestClaim_PaysTheNewPriceOnANodeThatDidNotHearOfIt(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]seats.ClaimRequest{"one": {Seats: []string{"Stalls/A/1"}}, "two": {Seats: []string{"Stalls/A/1", "Stalls/A/2"}}, "best": {Best: 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(4, 10))
			_, late := node(t, b.db)
			kept := b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/C/9"}})
			b.reprice(t, func(p *seats.Prices) {
				for i := range p.Amounts {
					p.Amounts[i].Amount += 100
				}
			})
			hold, err := late.Claim(t.Context(), seats.NewID(), "", w)
			if err != nil || hold.Lines[0].Price != 5100 {
				t.Errorf("got %+v, %v", hold.Lines, err)
			}
			var held int64
			if err := b.db.QueryRow(t.Context(), `SELECT price FROM seat_state WHERE idx = $1`, kept.Seats[0]).Scan(&held); err != nil || held != 5000 {
				t.Errorf("what was held costs %d now, %v", held, err)
			}
			wantBooks(t, b)
		})
	}
}

// The statements of the fast path hold the guard of prices themselves: no lock comes before them.
func TestFastPath_RefusesAnOldPriceList(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][]string{"one": {"Stalls/A/1"}, "two": {"Stalls/A/1", "Stalls/A/2"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(4, 10))
			_, late := node(t, b.db)
			b.reprice(t, func(p *seats.Prices) { p.Amounts[0].Amount += 100 })
			if err := late.ClaimFast(t.Context(), []seats.ID{seats.NewID()}, []seats.ClaimRequest{{Seats: names}}); !errors.Is(err, seats.ErrNotFast) {
				t.Errorf("a claim at an old price got %v", err)
			}
			wantBooks(t, b)
		})
	}
}

// Money that came late pays the price that was agreed, as long as the phase has a place for it.
func TestSell_LateMoneyPaysWhatWasAgreed(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{"a place is left": 1, "no place is left": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(4, 10))
			b.reprice(t, early(seats.Phase{Sells: ptr(1)}))
			who := seats.NewID()
			held := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			var agreed []seats.Line
			if _, err := b.sale.Pay(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID(), Hold: held.ID, Write: func(_ *pgx.Batch, lines []seats.Line) { agreed = lines }}); err != nil {
				t.Fatal(err)
			}
			b.overdue(t, who)
			if err := b.sale.Expire(t.Context(), who); err != nil {
				t.Fatal(err)
			}
			if left == 0 {
				b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
			}
			var sold []seats.Line
			_, err := b.sale.Sell(context.WithoutCancel(t.Context()), seats.Purchase{
				Holder: who, Order: seats.NewID(), Seats: held.Seats, Late: true, Agreed: agreed, Write: func(_ *pgx.Batch, lines []seats.Line) { sold = lines },
			})
			if left == 0 {
				wantRefusal(t, err, seats.CodePrice)
			} else if err != nil || fmt.Sprint(sold) != fmt.Sprint(agreed) || sold[0].Price != 2500 {
				t.Errorf("sold %+v, agreed %+v, %v", sold, agreed, err)
			}
			wantBooks(t, b)
		})
	}
}
