package seats_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
)

func wantNonsense(t *testing.T, err error) {
	t.Helper()
	var nonsense *seats.ValidationError
	if !errors.As(err, &nonsense) {
		t.Errorf("%v is no refusal of a form", err)
	}
}

// block blocks seats until a time, and returns the block.
func (b *bench) block(t *testing.T, ends time.Time, idxs ...int) (id seats.ID) {
	t.Helper()
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: idxs, BlockTerms: seats.BlockTerms{Kind: seats.BlockPress, Owner: "Die Zeit", EndsAt: ends}}); err != nil {
		t.Fatal(err)
	}
	if err := b.db.QueryRow(t.Context(), `SELECT id FROM block ORDER BY at DESC LIMIT 1`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// ends ends a block now, on each of some nodes at once, and wants that one of them did.
func (b *bench) ends(t *testing.T, block seats.ID, nodes ...*seats.Inventory) {
	t.Helper()
	b.exec(t, `UPDATE block SET ends_at = clock_timestamp() WHERE id = '`+block.String()+`'`)
	did := make(chan bool)
	for _, n := range nodes {
		go func() {
			done, err := n.EndBlock(t.Context(), block)
			if err != nil {
				t.Error(err)
			}
			did <- done
		}()
	}
	count := 0
	for range nodes {
		if <-did {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d of %d nodes ended the block", count, len(nodes))
	}
}

func TestBlock_ItsSeatsAreOnSaleFromItsEndOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	other, _ := node(t, b.db)
	press := b.block(t, time.Now().Add(time.Hour), 0, 1, 2, 3)
	b.block(t, time.Time{}, 4)
	if done, err := b.inventory.EndBlock(t.Context(), press); err != nil || done {
		t.Fatalf("a block ended before its time: %v, %v", done, err)
	}
	// One seat of it is put on sale and blocked again, one is sold at the box office.
	if _, err := b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{2}, Of: press}); err != nil {
		t.Fatal(err)
	}
	b.block(t, time.Time{}, 2)
	b.ends(t, press, b.inventory, other)
	b.sale = latest(t, b.inventory)
	for idx, want := range []seats.State{seats.Free, seats.Free, seats.Blocked, seats.Free, seats.Blocked} {
		b.wantState(t, idx, want)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	wantBooks(t, b)
}

func TestBlock_HeldSeatIsOnSaleAfterItsEndWhenLetGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	b.reserve(t, "GUEST", 0, 1, 2)
	var block seats.ID
	if err := b.db.QueryRow(t.Context(), `SELECT id FROM block`).Scan(&block); err != nil {
		t.Fatal(err)
	}
	ann, bob := seats.NewID(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}, Access: b.access(t, "GUEST")})
	b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/A/2"}, Access: b.access(t, "GUEST")})
	code, err := seatstest.Order(t.Context(), b.db, b.sale, bob)
	if err != nil {
		t.Fatal(err)
	}
	b.ends(t, block, b.inventory)
	b.wantState(t, 0, seats.Held) // hers
	b.wantState(t, 2, seats.Free)
	if _, err := b.sale.Release(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	b.wantState(t, 0, seats.Free)
	all := orders.New(b.db)
	order, err := all.Find(t.Context(), code)
	if err == nil {
		err = all.Cancel(t.Context(), b.sale, order, "key")
	}
	if err != nil {
		t.Fatal(err)
	}
	b.wantState(t, 1, seats.Free)
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	wantBooks(t, b)
}

func TestBlock_WhoseSeatsAreAllGoneEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	press := b.block(t, time.Now().Add(time.Hour), 0)
	if _, err := b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0}}); err != nil {
		t.Fatal(err)
	}
	b.ends(t, press, b.inventory)
	b.wantState(t, 0, seats.Free)
}

func TestBlock_TermsAreSetUntilItsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	press := b.block(t, time.Now().Add(time.Hour), 0)
	change := func(terms seats.BlockTerms) error {
		return pgx.BeginFunc(t.Context(), b.db, func(tx pgx.Tx) error {
			return seats.ChangeBlock(t.Context(), tx, b.sale.Event.ID, press, terms)
		})
	}
	for _, bad := range []seats.BlockTerms{{Kind: "moon"}, {Owner: "a\nb"}, {Reason: "a\nb"}, {EndsAt: time.Now().Add(-time.Minute)}} {
		wantNonsense(t, change(bad))
		_, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{5}, BlockTerms: bad})
		wantNonsense(t, err)
	}
	b.wantState(t, 5, seats.Free)
	if err := change(seats.BlockTerms{Kind: seats.BlockHouse, Owner: " Front of house "}); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := b.db.QueryRow(t.Context(), `SELECT array[kind, owner, reason, coalesce(ends_at::text, 'never')] FROM block`).Scan(&got); err != nil || !slices.Equal(got, []string{"house", "Front of house", "", "never"}) {
		t.Errorf("the block has %q, %v", got, err)
	}
	b.ends(t, press, b.inventory)
	wantNonsense(t, change(seats.BlockTerms{Owner: "too late"}))
}

// An organizer gives a block more time in its last moment: what they were told holds.
func TestBlock_ChangedInItsLastMomentStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 10))
	ends := time.Now().Add(5 * time.Second) // it is changed before
	press := b.block(t, ends, 0)
	tx, err := b.db.Begin(t.Context())
	if err == nil {
		err = seats.ChangeBlock(t.Context(), tx, b.sale.Event.ID, press, seats.BlockTerms{EndsAt: ends.Add(time.Hour)})
	}
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(ends) + 50*time.Millisecond)
	did := make(chan bool)
	go func() {
		done, err := b.inventory.EndBlock(t.Context(), press)
		if err != nil {
			t.Error(err)
		}
		did <- done
	}()
	time.Sleep(100 * time.Millisecond)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if <-did {
		t.Error("the block ended")
	}
	b.wantState(t, 0, seats.Blocked)
}
