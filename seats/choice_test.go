package seats_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// seen is what the database says of a seat before a choice.
type seen struct {
	Idx       int
	Available bool
	Expired   bool
	End       *time.Time
}

func TestChoice_AvailableBeforeExpired(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	nodes := []*seats.Inventory{}
	for range 2 { // neither announces the end of a hold by itself
		nodes = append(nodes, seats.NewInventory(db, slog.New(slog.NewTextHandler(io.Discard, nil))))
	}
	halls := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		plan := hall(rapid.IntRange(1, 5).Draw(rt, "rows"), rapid.IntRange(1, 12).Draw(rt, "places"))
		halls++
		slug := fmt.Sprint("hall-", halls)
		e := events.Settings{Name: "Evening", Slug: slug, StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC), SeatsPerHolder: 20}
		event, err := events.Create(ctx, db, e, plan)
		if err != nil {
			rt.Fatal(err)
		}
		both := make([]*seats.Sale, len(nodes))
		for i, o := range nodes {
			if both[i], err = o.Sale(ctx, slug); err != nil {
				rt.Fatal(err)
			}
		}
		first := both[0]
		for idx := 0; idx < len(plan.Seats); {
			party := rapid.IntRange(1, 3).Draw(rt, "party")
			labels := []string{}
			for ; party > 0 && idx < len(plan.Seats); idx, party = idx+1, party-1 {
				labels = append(labels, first.Plan.Label(idx))
			}
			kind := rapid.SampledFrom([]string{"available", "held", "expired", "expired", "announced"}).Draw(rt, "kind")
			if kind == "available" {
				continue
			}
			who := seats.NewID()
			if _, err := first.Claim(ctx, who, "", seats.ClaimRequest{Seats: labels}); err != nil {
				rt.Fatal(err)
			}
			if kind == "held" {
				continue
			}
			ago := time.Duration(rapid.IntRange(1, 3000).Draw(rt, "seconds ago")) * time.Second
			if _, err := db.Exec(ctx, `
				WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - $2::interval WHERE holder = $1 RETURNING expires_at)
				UPDATE seat_state SET expires_at = h.expires_at FROM h WHERE holder = $1`, who, ago); err != nil {
				rt.Fatal(err)
			}
			if kind == "announced" {
				if err := first.Expire(ctx, who); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "choices") {
			n := rapid.IntRange(1, 6).Draw(rt, "n")
			w := rapid.SampledFrom([]seats.ClaimRequest{{Area: "Floor", Quantity: n}, {Best: n}, {Best: n, Category: "A"}, {Best: n, Category: "B"}}).Draw(rt, "request")
			s := rapid.SampledFrom(both).Draw(rt, "node")
			if n > len(plan.Seats) {
				continue
			}
			before := look(rt, t, db, event.ID)
			hold, err := s.Claim(ctx, seats.NewID(), "", w)
			refusal, refused := errors.AsType[*seats.Conflict](err)
			if err != nil && (!refused || refusal.Code != seats.CodeSoldOut) {
				rt.Fatal(err)
			}
			wantChoice(rt, plan, w, n, before, hold.Seats, refused)
		}
	})
}

func look(rt *rapid.T, t *testing.T, db seats.DB, event int64) []seen {
	rows, err := db.Query(t.Context(), `
		SELECT idx, state = 0, state IN (1, 2) AND expires_at <= clock_timestamp(), CASE WHEN isfinite(expires_at) THEN expires_at END
		  FROM seat_state WHERE event_id = $1 ORDER BY idx`, event)
	if err != nil {
		rt.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[seen])
	if err != nil {
		rt.Fatal(err)
	}
	return list
}

// wantChoice expects every available seat to be chosen before an expired one, and the longest expired first.
func wantChoice(rt *rapid.T, plan *seats.Plan, w seats.ClaimRequest, n int, before []seen, chosen []int, refused bool) {
	available, ends := 0, []time.Time{}
	for _, s := range before {
		at := plan.Seats[s.Idx]
		if w.Area != "" && plan.Sections[at.Section].Name != w.Area || w.Category != "" && plan.Categories[at.Category].Key != w.Category {
			continue
		}
		if s.Available {
			available++
		}
		if s.Expired {
			ends = append(ends, *s.End)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	if refused {
		if available+len(ends) >= n {
			rt.Fatalf("%+v was refused with %d available and %d expired seats", w, available, len(ends))
		}
		return
	}
	expired := []time.Time{}
	for _, idx := range chosen {
		switch s := before[idx]; {
		case s.Expired:
			expired = append(expired, *s.End)
		case !s.Available:
			rt.Fatalf("%+v got seat %d, which another visitor holds", w, idx)
		}
	}
	slices.SortFunc(expired, time.Time.Compare)
	if want := max(0, n-available); len(chosen) != n || len(expired) != want {
		rt.Fatalf("%+v got %v, %d of them expired, want %d: %d were available", w, chosen, len(expired), want, available)
	}
	for i, end := range expired {
		if !end.Equal(ends[i]) {
			rt.Fatalf("%+v took a seat expired at %s while one expired at %s", w, end, ends[i])
		}
	}
}

func TestBest_WithoutCategoryIsTheDearestThatFits(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 10}, hall(4, 5))
	for i, want := range []string{"A", "A", "A", "B", "C"} {
		n := 10
		if want == "C" {
			n = 5
		}
		hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Best: n})
		for _, idx := range hold.Seats {
			if key := b.sale.Plan.Categories[b.sale.Plan.Seats[idx].Category].Key; key != want {
				t.Errorf("choice %d has a seat of category %s, want %s", i+1, key, want)
			}
		}
	}
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 1})
	wantRefusal(t, err, seats.CodeSoldOut)
	wantBooks(t, b)
}

func TestBest_AskingAgainReplacesTheChoice(t *testing.T) {
	t.Parallel()
	for _, newcomer := range []bool{true, false} {
		b := newBench(t, events.Settings{SeatsPerHolder: 4}, hall(1, 1))
		who := seats.NewID()
		byHand := 0
		if !newcomer { // a seat chosen by hand stays
			b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			byHand = 1
		}
		first := b.claim(t, who, seats.ClaimRequest{Best: 3, Category: "A"})
		second, err := b.sale.Claim(t.Context(), who, "again", seats.ClaimRequest{Best: 3, Category: "A"})
		if err != nil {
			t.Fatal(err)
		}
		if len(second.Seats) != 3+byHand || second.ID != first.ID || !second.ExpiresAt.Equal(first.ExpiresAt) {
			t.Errorf("asking again: %+v, want three others in the hold %+v", second, first)
		}
		both := 0
		for _, idx := range second.Seats {
			if slices.Contains(first.Seats, idx) {
				both++
			}
		}
		if both != byHand {
			t.Errorf("asking again kept %d seats of %v: %v", both, first.Seats, second.Seats)
		}
		repeat, err := b.sale.Claim(t.Context(), who, "again", seats.ClaimRequest{Best: 3, Category: "A"})
		if err != nil || !slices.Equal(repeat.Seats, second.Seats) {
			t.Errorf("the request repeated with its key: %v, %v, want its first answer %v", repeat.Seats, err, second.Seats)
		}
		b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 4, Category: "A"})
		b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 1, Category: "A"}) // now fewer than three others are left
		_, err = b.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 3, Category: "A"})
		if r := wantRefusal(t, err, seats.CodeSoldOut); r.Message != "There are no other seats like these. The seats you have are still held." {
			t.Errorf("without other seats: %q", r.Message)
		}
		if now, err := b.sale.Hold(t.Context(), who); err != nil || !slices.Equal(now.Seats, second.Seats) {
			t.Errorf("after a refusal the hold has %v, %v, want %v", now.Seats, err, second.Seats)
		}
		wantBooks(t, b)
	}
}

func TestBest_ProposalReplacesTheChoice(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 5}, hall(4, 5))
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}) // by hand
	propose := func() seats.ClaimRequest {
		list := b.sale.Propose(seats.Party{Size: 2, Together: true, Price: func(int) (int64, bool) { return 1, true }})
		if len(list) == 0 {
			t.Fatal("nothing is proposed")
		}
		return seats.ClaimRequest{Seats: []string{b.sale.Plan.Label(list[0].Seats[0]), b.sale.Plan.Label(list[0].Seats[1])}, Proposed: true}
	}
	var last seats.ClaimRequest
	for _, before := range []string{"nothing", "a proposal", "a choice", "the same proposal"} {
		switch before {
		case "a choice":
			b.claim(t, who, seats.ClaimRequest{Best: 2})
			fallthrough
		default:
			last = propose()
		case "the same proposal":
		}
		hold := b.claim(t, who, last)
		for _, label := range append([]string{"Stalls/A/1"}, last.Seats...) {
			if idx, _ := b.sale.Seat(label); !slices.Contains(hold.Seats, idx) {
				t.Errorf("after %s, %s is not held", before, label)
			}
		}
		if len(hold.Seats) != 3 {
			t.Errorf("after %s, a proposal of two beside one seat leaves %d", before, len(hold.Seats))
		}
	}
	named := seats.ClaimRequest{Seats: append([]string{"Stalls/A/1"}, last.Seats[0]), Proposed: true} // as of an older page: what it names stays
	if hold := b.claim(t, who, named); len(hold.Seats) != 2 {
		t.Errorf("a proposal that names a seat chosen by hand leaves %d", len(hold.Seats))
	}
	if hold := b.claim(t, who, seats.ClaimRequest{Best: 2, Category: "B"}); len(hold.Seats) != 3 {
		t.Errorf("after a proposal, the best two beside one seat leave %d", len(hold.Seats))
	}
	wantBooks(t, b)
}

// The end of a hold may be announced after a batch looked at the map for which seats are expired, and before it reads what
// the map lacks: then the seat is in neither.
func TestChoice_EndAnnouncedBehindTheBatchIsNotSoldOut(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]seats.ClaimRequest{"places": {Area: "Floor", Quantity: 1}, "best": {Best: 1, Category: "C"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(1, 1))
			ann := seats.NewID()
			b.claim(t, ann, seats.ClaimRequest{Area: "Floor", Quantity: 1})
			again, err := b.sale.DecideLate(t.Context(), seats.NewID(), w, func() {
				b.exec(t, `
					WITH h AS (UPDATE hold SET expires_at = now() - interval '1 second')
					UPDATE seat_state SET expires_at = now() - interval '1 second' WHERE state = 1`) // at once: the node ends holds, too
				if err := b.sale.Expire(t.Context(), ann); err != nil {
					t.Fatal(err)
				}
			})
			if !again {
				t.Errorf("the only seat may be claimed, and the claim got: %v", err)
			}
			if hold := b.claim(t, seats.NewID(), w); len(hold.Seats) != 1 {
				t.Errorf("it got %v", hold.Seats)
			}
		})
	}
}

func TestPropose_SeatsOfExpiredHoldsIfThereIsNoOtherPlace(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 10}, hall(1, 1))
	ctx, gone, other := t.Context(), seats.NewID(), seats.NewID()
	label := b.sale.Plan.Label
	b.claim(t, gone, seats.ClaimRequest{Seats: []string{label(0), label(1), label(2), label(3)}})
	b.claim(t, other, seats.ClaimRequest{Seats: []string{label(6), label(7)}})
	if _, err := b.db.Exec(ctx, `
		WITH h AS (UPDATE hold SET expires_at = clock_timestamp() - interval '1 minute' WHERE holder = $1 RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = h.expires_at FROM h WHERE s.holder = h.holder`, gone); err != nil {
		t.Fatal(err)
	}
	if err := b.sale.Expire(ctx, gone); err != nil {
		t.Fatal(err)
	}
	price := func(int) (int64, bool) { return 0, true }
	for size, want := range map[int]bool{2: false, 3: true, 4: true} { // two are free on both sides of the held ones
		list := b.sale.Propose(seats.Party{Size: size, Price: price, Together: true})
		if len(list) == 0 {
			t.Errorf("a party of %d is proposed nothing", size)
		}
		for _, p := range list {
			if expired := slices.ContainsFunc(p.Seats, func(idx int) bool { return idx < 4 }); expired != want {
				t.Errorf("a party of %d is proposed %v: of an expired hold %t, want %t", size, p.Seats, expired, want)
			}
		}
	}
	b.claim(t, other, seats.ClaimRequest{Seats: []string{label(0), label(1), label(2)}}) // what was proposed can be had
}
