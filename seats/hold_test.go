package seats_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// changes tells the test when the map moved.
func changes(b *bench) <-chan struct{} {
	moved := make(chan struct{}, 100)
	b.inventory.Changed = func(*seats.Sale) { moved <- struct{}{} }
	return moved
}

func TestHold_ExpiredSeatCanBeClaimed(t *testing.T) {
	t.Parallel()
	db := newBench(t, events.Settings{HoldLength: 5 * time.Second}, hall(2, 1))
	who := seats.NewID()
	moved := changes(db)
	db.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	<-moved
	<-moved // the end, announced by itself
	if h, err := db.sale.Hold(t.Context(), who); err != nil || !h.Expired || len(h.Seats) != 2 {
		t.Fatalf("after its time the hold is %+v, %v; want it expired with both seats", h, err)
	}
	if s := db.sale.Snapshot(); s.States[0] != seats.Free || s.Counts.Free[0] != 20 {
		t.Errorf("an expired seat shows as %v and %d are free, want free and 20", s.States[0], s.Counts.Free[0])
	}
	_, err := db.sale.Extend(t.Context(), who, "")
	wantRefusal(t, err, seats.CodeExpired)
	db.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if h, err := db.sale.Hold(t.Context(), who); err != nil || len(h.Seats) != 1 {
		t.Errorf("after one expired seat went, the hold is %+v, %v; want the other one", h, err)
	}
	if _, err := seatstest.Order(t.Context(), db.db, db.sale, who); err != nil {
		t.Errorf("the last holder could not confirm: %v", err)
	}
	if states := db.sale.Snapshot().States; states[0] != seats.Held || states[1] != seats.Sold {
		t.Errorf("the seats are %v and %v; want the available one sold", states[0], states[1])
	}
	wantBooks(t, db)
}

func TestHold_ExpiredSeatCanBeClaimedUnannounced(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	const endNow = `WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - interval '1 second')
		UPDATE seat_state SET expires_at = clock_timestamp() - interval '1 second' WHERE state = 1`
	if _, err := b.db.Exec(t.Context(), endNow); err != nil {
		t.Fatal(err)
	}
	if h := b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); len(h.Seats) != 1 {
		t.Errorf("the next one got %v", h.Seats)
	}
	if _, err := b.sale.Hold(t.Context(), who); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("the first one still has %v", err)
	}
}

func TestHold_ExpiryIsToldToWebhooksThatAskForItAndWritesNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: 2 * time.Second}, hall(1, 1))
	woken := make(chan struct{}, 9)
	b.inventory.Told = func() { woken <- struct{}{} }
	told := func() (list []string) {
		if err := b.db.QueryRow(t.Context(), `SELECT coalesce(array_agg(kind || ' ' || (data->>'hold') || ' ' || (data->>'seats') ORDER BY at), '{}') FROM notice`).Scan(&list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	expires := func() seats.Hold {
		who := seats.NewID()
		h := b.claim(t, who, seats.ClaimRequest{Best: 2})
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			var over bool
			if err := b.db.QueryRow(t.Context(), `SELECT lapsed FROM hold WHERE holder = $1`, who).Scan(&over); err != nil || time.Now().After(end) {
				t.Fatal("the hold did not expire", err)
			}
			if over {
				return h
			}
		}
	}
	if _, err := b.db.Exec(t.Context(), `INSERT INTO hook (team_id, url, kinds) SELECT team_id, 'http://example.org', '{order.paid}' FROM event`); err != nil {
		t.Fatal(err)
	}
	expires()
	if list := told(); len(list) != 0 || len(woken) != 0 {
		t.Fatalf("a webhook that did not ask is told %q", list)
	}
	if _, err := b.db.Exec(t.Context(), `UPDATE hook SET kinds = '{hold.expired}'`); err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Best: 1})
	b.exec(t, `WITH h AS (UPDATE hold SET expires_at = expires_at + interval '1 minute' WHERE holder = '`+who.String()+`')
		UPDATE seat_state SET expires_at = expires_at + interval '1 minute' WHERE state = 1`) // for a machine that is slow
	if _, err := b.sale.Release(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	h := expires()
	want := fmt.Sprintf(`hold.expired %s ["%s", "%s"]`, h.ID, b.sale.Plan.Label(h.Seats[0]), b.sale.Plan.Label(h.Seats[1]))
	if list := told(); !slices.Equal(list, []string{want}) {
		t.Errorf("it is told %q, want %q", list, want)
	}
	select {
	case <-woken:
	case <-time.After(30 * time.Second):
		t.Error("the node was not woken to send it")
	}
}

func TestRelease_NamedSeatsOrAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2", "Stalls/A/3"}})
	if h, err := b.sale.Release(t.Context(), who, 1, 7); err != nil || len(h.Seats) != 2 {
		t.Errorf("after a release the hold is %+v, %v; want two seats", h, err)
	}
	if h, err := b.sale.Release(t.Context(), who); err != nil || len(h.Seats) != 0 {
		t.Errorf("after the rest the hold is %+v, %v; want none", h, err)
	}
	if _, err := b.sale.Release(t.Context(), who); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("a third release says %v, want no hold", err)
	}
	wantBooks(t, b)
}

func TestARepeatedReleaseGetsTheFirstAnswerAndGivesNothingMoreBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	who := seats.NewID()
	first := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	if h, err := b.sale.ReleaseOnce(t.Context(), who, "k"); err != nil || len(h.Seats) != 0 || h.ID != first.ID {
		t.Fatalf("the release says %+v, %v", h, err)
	}
	if h, err := b.sale.ReleaseOnce(t.Context(), who, "k"); err != nil || len(h.Seats) != 0 || h.ID != first.ID {
		t.Errorf("its repeat says %+v, %v; want the first answer", h, err)
	}
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/3"}})
	if h, err := b.sale.ReleaseOnce(t.Context(), who, "k"); err != nil || len(h.Seats) != 0 {
		t.Errorf("a late repeat says %+v, %v; want the first answer", h, err)
	}
	if h, err := b.sale.Hold(t.Context(), who); err != nil || len(h.Seats) != 1 {
		t.Errorf("after the late repeat the hold is %+v, %v; want the seat claimed since", h, err)
	}
	var other *seats.Conflict
	if _, err := b.sale.ReleaseOnce(t.Context(), who, "k", first.Seats[0]); !errors.As(err, &other) || other.Code != seats.CodeKey {
		t.Errorf("the key with another request says %v, want that it came before", err)
	}
	wantBooks(t, b)
}

func TestExtensionsEndAndStopUnderPressure(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Extensions: 2, SeatsPerHolder: 20}, hall(1, 1))
	who := seats.NewID()
	first := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	for range 2 {
		h, err := b.sale.Extend(t.Context(), who, "")
		if err != nil || !h.ExpiresAt.After(first.ExpiresAt) {
			t.Fatalf("an extension gave %+v, %v", h, err)
		}
	}
	_, err := b.sale.Extend(t.Context(), who, "")
	wantRefusal(t, err, seats.CodePressure)
	other := seats.NewID()
	b.claim(t, other, seats.ClaimRequest{Best: 9, Category: "A"})
	b.claim(t, other, seats.ClaimRequest{Area: "Floor", Quantity: 1})
	_, err = b.sale.Extend(t.Context(), other, "")
	wantRefusal(t, err, seats.CodePressure)
	wantBooks(t, b)
}

func TestARepeatedExtensionUsesNothingUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Extensions: 2, SeatsPerHolder: 20}, hall(1, 1))
	who, request := seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}
	if _, err := b.sale.Claim(t.Context(), who, "claim", request); err != nil {
		t.Fatal(err)
	}
	first, err := b.sale.Extend(t.Context(), who, "k")
	if err != nil || first.ExtensionsLeft != 1 {
		t.Fatalf("an extension gave %+v, %v", first, err)
	}
	for range 3 {
		h, err := b.sale.Extend(t.Context(), who, "k")
		if err != nil || h.ExtensionsLeft != 1 || !h.ExpiresAt.Equal(first.ExpiresAt) || len(h.Seats) != 1 {
			t.Errorf("a repeat gave %+v, %v; want the first answer, %+v", h, err, first)
		}
	}
	var other *seats.Conflict
	if _, err := b.sale.Extend(t.Context(), who, "claim"); !errors.As(err, &other) || other.Code != seats.CodeKey {
		t.Errorf("an extension with the key of a claim got %v", err)
	}
	if _, err := b.sale.Claim(t.Context(), who, "k", request); !errors.As(err, &other) || other.Code != seats.CodeKey {
		t.Errorf("a claim with the key of an extension got %v", err)
	}
	if h, err := b.sale.Extend(t.Context(), who, "another"); err != nil || h.ExtensionsLeft != 0 {
		t.Errorf("another extension gave %+v, %v", h, err)
	}
	wantBooks(t, b)
}

func TestBlock_BlockedSeatsCannotBeClaimed(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	if _, err := b.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{0, 1}, BlockTerms: seats.BlockTerms{Reason: "The lights stand there"}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	wantRefusal(t, err, seats.CodeTaken)
	if _, err := b.sale.Unblock(t.Context(), seats.BlockRequest{Seats: []int{0, 1}}); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	wantBooks(t, b)
}
