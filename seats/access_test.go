package seats_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
)

// code makes a code of the evening.
func (b *bench) code(t *testing.T, code string, c pricing.Code) {
	t.Helper()
	if _, err := b.inventory.ChangeEvent(t.Context(), "evening", nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		return true, pricing.CreateCodes(t.Context(), tx, e.ID, c, []string{code})
	}); err != nil {
		t.Fatal(err)
	}
	b.sale = latest(t, b.inventory)
}

// latest is the evening as a node knows it after everything that was committed.
func latest(t *testing.T, inventory *seats.Inventory) *seats.Sale {
	t.Helper()
	s, err := inventory.Sale(t.Context(), "evening")
	if err == nil {
		err = s.CatchUp(t.Context())
	}
	if err == nil {
		s, err = inventory.Sale(t.Context(), "evening")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// access is what codes that a visitor typed unlock.
func (b *bench) access(t *testing.T, typed ...string) *seats.Access {
	t.Helper()
	var codes []pricing.Code
	for _, text := range typed {
		c, err := pricing.FindCode(t.Context(), b.db, b.sale.Event.ID, text)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, c)
	}
	access, err := pricing.AccessOf(t.Context(), b.db, b.sale.Event.ID, codes)
	if err != nil {
		t.Fatal(err)
	}
	return access
}

// reserve blocks seats, and makes a code for them.
func (b *bench) reserve(t *testing.T, code string, idxs ...int) {
	t.Helper()
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: idxs, BlockTerms: seats.BlockTerms{Reason: "guests"}}); err != nil {
		t.Fatal(err)
	}
	var block seats.ID
	if err := b.db.QueryRow(t.Context(), `SELECT id FROM block ORDER BY at DESC LIMIT 1`).Scan(&block); err != nil {
		t.Fatal(err)
	}
	b.code(t, code, pricing.Code{UnlocksBlocks: []seats.ID{block}})
}

func (b *bench) wantState(t *testing.T, idx int, want seats.State) {
	t.Helper()
	var state seats.State
	if err := b.db.QueryRow(t.Context(), `SELECT state FROM seat_state WHERE idx = $1`, idx).Scan(&state); err != nil || state != want {
		t.Errorf("seat %d is %s, want %s, %v", idx, state, want, err)
	}
}

func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func TestReservation_SeatsAreClaimedWithTheirCodeOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0, 1)
	b.reserve(t, "OTHER", 5)
	otherOffice, _ := node(t, b.db)
	for _, s := range []*seats.Sale{b.sale, latest(t, otherOffice)} {
		for _, access := range []*seats.Access{nil, b.access(t, "OTHER"), b.access(t, "NOSUCH")} {
			_, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Access: access})
			wantRefusal(t, err, seats.CodeReserved)
		}
		if !s.Reserved(0) || s.Reserved(2) {
			t.Error("the node does not know what is reserved")
		}
		ann := seats.NewID()
		hold, err := s.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/3"}, Access: b.access(t, "guest")})
		if err != nil || len(hold.Seats) != 2 || hold.Lines[0].Code == (seats.ID{}) || hold.Lines[1].Code != (seats.ID{}) {
			t.Fatalf("with the code: %+v, %v", hold, err)
		}
		if again, err := s.Hold(t.Context(), ann); err != nil || !slices.Equal(again.Lines, hold.Lines) {
			t.Errorf("the hold is read as %+v, %v", again, err)
		}
		if _, err := s.Release(t.Context(), ann); err != nil {
			t.Fatal(err)
		}
		b.wantState(t, 0, seats.Blocked)
		b.wantState(t, 2, seats.Free)
	}
	wantBooks(t, b)
}

func TestReservation_ExpiredSeatGoesBackToItsBlock(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0, 41)
	ann, access := seats.NewID(), b.access(t, "GUEST")
	claim := seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Access: access}
	b.claim(t, ann, claim)
	b.claim(t, ann, seats.ClaimRequest{Area: "Floor", Quantity: 1, Access: access})
	b.wantState(t, 41, seats.Held)
	// The office sleeps until the end it knows; the rows say it is over.
	b.exec(t, `WITH h AS (UPDATE hold SET expires_at = now()) UPDATE seat_state SET expires_at = now() WHERE state = 1`)
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: claim.Seats})
	wantRefusal(t, err, seats.CodeReserved)
	if err := b.sale.Expire(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	b.wantState(t, 0, seats.Blocked)
	b.wantState(t, 41, seats.Blocked)
	_, err = b.sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: claim.Seats})
	wantRefusal(t, err, seats.CodeReserved)
	b.claim(t, seats.NewID(), claim)
	wantBooks(t, b)
}

func TestReservation_CancelledTicketGoesBackToItsBlock(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0)
	ann := seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}, Access: b.access(t, "GUEST")})
	code, err := seatstest.Order(t.Context(), b.db, b.sale, ann)
	if err != nil {
		t.Fatal(err)
	}
	wantBooks(t, b)
	o := orders.New(b.db)
	order, err := o.Find(t.Context(), code)
	if err == nil {
		err = o.Cancel(t.Context(), b.sale, order, "key")
	}
	if err != nil {
		t.Fatal(err)
	}
	b.wantState(t, 0, seats.Blocked)
	b.wantState(t, 1, seats.Free)
	wantBooks(t, b)
}

func TestReservation_BestSeatsAreTheReservedOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 6}, hall(4, 10))
	b.reserve(t, "GUEST", 20, 21, 22, 40, 41)
	access := func() *seats.Access { return b.access(t, "GUEST") }
	if hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 2, Access: access()}); slices.Min(hold.Seats) < 20 || slices.Max(hold.Seats) > 22 {
		t.Errorf("the best two are %v", hold.Seats)
	}
	if hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Area: "Floor", Quantity: 3, Access: access()}); !slices.Contains(hold.Seats, 40) || !slices.Contains(hold.Seats, 41) {
		t.Errorf("three places are %v", hold.Seats)
	}
	for range 7 { // what is free beside them
		b.claim(t, seats.NewID(), seats.ClaimRequest{Area: "Floor", Quantity: 1})
	}
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
	wantRefusal(t, err, seats.CodeSoldOut)
	wantBooks(t, b)
}

func TestReservation_CrowdOnTwoNodesGetsEachSeatOnce(t *testing.T) {
	t.Parallel()
	const crowd = 64
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0, 1, 2, 3, 40, 41, 42, 43)
	otherOffice, _ := node(t, b.db)
	nodes := []*seats.Sale{b.sale, latest(t, otherOffice)}
	access := make([]*seats.Access, crowd)
	for n := range access {
		if n%4 > 0 {
			access[n] = b.access(t, "GUEST")
		}
	}
	var mu sync.Mutex
	got := map[int]int{}
	var people sync.WaitGroup
	for n := range crowd {
		people.Go(func() {
			w := seats.ClaimRequest{Seats: []string{nodes[0].Plan.Label(n / 8 % 4)}, Access: access[n]}
			if n%8 >= 4 {
				w = seats.ClaimRequest{Area: "Floor", Quantity: 1, Access: access[n]}
			}
			hold, err := nodes[n%2].Claim(t.Context(), seats.NewID(), "", w)
			var refusal *seats.Conflict
			if err != nil && !errors.As(err, &refusal) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, l := range hold.Lines {
				if got[l.Seat]++; (l.Code != seats.ID{}) != (l.Seat < 4 || l.Seat < 44 && l.Seat >= 40) || l.Code != (seats.ID{}) && access[n] == nil {
					t.Errorf("seat %d was got with code %s", l.Seat, l.Code)
				}
			}
		})
	}
	people.Wait()
	for idx := range 44 {
		if want := idx < 4 || idx >= 40; got[idx] > 1 || want && got[idx] == 0 {
			t.Errorf("seat %d was got %d times", idx, got[idx])
		}
	}
	wantBooks(t, b)
}

func TestPresale_OpensWithTheCodeOnlyOnBothNodes(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.code(t, "FRIENDS", pricing.Code{Presale: true})
	b.code(t, "TENOFF", pricing.Code{Discount: pricing.Discount{Percent: 10_00}})
	for _, to := range []events.Change{{Status: seats.Paused, Reason: "The lights are out"}, {Status: seats.Scheduled, OpensAt: time.Now().Add(time.Hour)}} {
		if _, err := events.SetStatus(t.Context(), b.inventory, "evening", to, nil); err != nil {
			t.Fatal(err)
		}
	}
	otherOffice, _ := node(t, b.db)
	for n, s := range []*seats.Sale{latest(t, b.inventory), latest(t, otherOffice)} {
		w := seats.ClaimRequest{Seats: []string{s.Plan.Label(n)}}
		for _, access := range []*seats.Access{nil, b.access(t, "TENOFF")} {
			w.Access = access
			_, err := s.Claim(t.Context(), seats.NewID(), "", w)
			wantRefusal(t, err, seats.CodeShut)
		}
		w.Access = b.access(t, "FRIENDS")
		hold, err := s.Claim(t.Context(), seats.NewID(), "", w)
		if err != nil || hold.Lines[0].Code == (seats.ID{}) {
			t.Fatalf("with the code: %+v, %v", hold, err)
		}
	}
	access := b.access(t, "FRIENDS")
	b.exec(t, `UPDATE code SET retired_at = now() WHERE code = 'FRIENDS'`)
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/B/1"}, Access: access})
	wantRefusal(t, err, seats.CodeShut)
	wantBooks(t, b)
}

// withMember adds a type that costs 100 in the first category and needs a code.
func withMember(p *seats.Prices) {
	p.Types = append(p.Types, seats.TicketType{Key: "member", Name: "Member", Position: len(p.Types), SoldTo: seats.SoldWithCode})
	p.Amounts = append(p.Amounts, seats.Amount{Type: len(p.Types) - 1, Amount: 100})
}

func TestCodedType_IsSoldWithTheCodeOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withMember)
	b.code(t, "MEMBER", pricing.Code{UnlocksTypes: []int{1}})
	b.code(t, "OTHER", pricing.Code{Presale: true})
	ann := seats.NewID()
	claim := seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Type: "member"}
	for _, access := range []*seats.Access{nil, b.access(t, "OTHER")} {
		claim.Access = access
		_, err := b.sale.Claim(t.Context(), ann, "", claim)
		wantRefusal(t, err, seats.CodeType)
	}
	access := b.access(t, "OTHER", "MEMBER")
	claim.Access = access
	if hold := b.claim(t, ann, claim); hold.Lines[0].Price != 100 || hold.Lines[0].Code == (seats.ID{}) {
		t.Errorf("with the code: %+v", hold)
	}
	hold, err := b.sale.SetTypes(t.Context(), ann, "", map[int]string{0: "standard"})
	if err != nil || hold.Lines[0].Code != (seats.ID{}) || hold.Lines[0].Price != 5000 {
		t.Errorf("as a usual ticket: %+v, %v", hold, err)
	}
	hold, err = b.sale.SetTypes(t.Context(), ann, "", map[int]string{0: "member"}, access)
	if err != nil || hold.Lines[0].Code == (seats.ID{}) {
		t.Errorf("as a member's ticket: %+v, %v", hold, err)
	}
	b.exec(t, `UPDATE code SET retired_at = now() WHERE code = 'MEMBER'`)
	bob := seats.NewID()
	claim.Seats = []string{"Stalls/A/2"}
	_, err = b.sale.Claim(t.Context(), bob, "", claim)
	wantRefusal(t, err, seats.CodeType)
	b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/A/2"}, Access: access})
	_, err = b.sale.SetTypes(t.Context(), bob, "", map[int]string{1: "member"}, access)
	wantRefusal(t, err, seats.CodeType)
	if _, err := seatstest.Order(t.Context(), b.db, b.sale, ann); err != nil { // what is held stays
		t.Error(err)
	}
	wantBooks(t, b)
}

func TestCodedType_IsNotKeptByAnExpiredHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withMember)
	b.code(t, "MEMBER", pricing.Code{UnlocksTypes: []int{1}})
	ann, claim := seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Type: "member", Access: b.access(t, "MEMBER")}
	b.claim(t, ann, claim)
	b.exec(t, `WITH h AS (UPDATE hold SET expires_at = now()) UPDATE seat_state SET expires_at = now() WHERE state = 1`)
	if err := b.sale.Expire(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	hold := b.claim(t, ann, seats.ClaimRequest{Seats: claim.Seats})
	if hold.Lines[0].Price != 5000 || hold.Lines[0].Code != (seats.ID{}) {
		t.Errorf("without the code it is %+v", hold.Lines[0])
	}
	wantBooks(t, b)
}

func TestCodedType_IsNotSoldToAClaimThatBeganBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withChild)
	old := b.sale
	b.reprice(t, func(p *seats.Prices) { p.Types[1].SoldTo = seats.SoldWithCode })
	_, err := old.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Type: "child"})
	wantRefusal(t, err, seats.CodeType)
	wantBooks(t, b)
}

func TestTicketType_RetiredWhileHeldIsStillSold(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reprice(t, withMember)
	b.code(t, "MEMBER", pricing.Code{UnlocksTypes: []int{1}})
	ann := seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Type: "member", Access: b.access(t, "MEMBER")})
	b.reprice(t, func(p *seats.Prices) { p.Types[1].Retired = true })
	if hold, err := b.sale.Hold(t.Context(), ann); err != nil || hold.Lines[0].Price != 100 {
		t.Fatalf("held is %+v, %v", hold, err)
	}
	if _, err := seatstest.Order(t.Context(), b.db, b.sale, ann); err != nil {
		t.Error(err)
	}
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/2"}, Type: "member", Access: b.access(t, "MEMBER")})
	wantRefusal(t, err, seats.CodeType)
	wantBooks(t, b)
}

func TestCode_OfAnotherEventUnlocksNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0)
	e := events.Settings{Name: "Morning", StartsAt: time.Date(2030, 5, 2, 10, 0, 0, 0, time.UTC)}
	other, err := events.Create(t.Context(), b.db, e, hall(4, 10))
	if err != nil {
		t.Fatal(err)
	}
	guest := b.access(t, "GUEST")
	for _, c := range []pricing.Code{{UnlocksBlocks: guest.Unlocks[0].Blocks}, {UnlocksTypes: []int{7}}} {
		_, err := b.inventory.ChangeEvent(t.Context(), other.Slug, nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
			return true, pricing.CreateCodes(t.Context(), tx, e.ID, c, []string{"THEIRS"})
		})
		var invalid *seats.ValidationError
		if !errors.As(err, &invalid) {
			t.Errorf("a code of another event for this one's seats or types: %v", err)
		}
	}
	if _, err := b.inventory.ChangeEvent(t.Context(), other.Slug, nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		return true, pricing.CreateCodes(t.Context(), tx, e.ID, pricing.Code{Presale: true}, []string{"MORNING"})
	}); err != nil {
		t.Fatal(err)
	}
	theirs, err := pricing.FindCode(t.Context(), b.db, other.ID, "MORNING")
	if err != nil || theirs.State != pricing.CodeGood {
		t.Fatal(theirs, err)
	}
	if b.access(t, "MORNING") != nil {
		t.Error("a code of another event unlocks something")
	}
	forged := &seats.Access{Unlocks: []seats.Unlock{{Code: theirs.ID, Blocks: guest.Unlocks[0].Blocks}}}
	_, err = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Access: forged})
	wantRefusal(t, err, seats.CodeReserved)
}
