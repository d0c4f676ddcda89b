package sales

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestStats_CountTheOutcomeOfEveryHold(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	bought, gone := h.hold(t, 0, 1), h.hold(t, 2)
	h.hold(t, 3, 4, 5)
	h.buy(t, bought)
	if _, err := h.sale.Release(t.Context(), gone, 2); err != nil {
		t.Fatal(err)
	}
	y := h.stats(t)
	price := pricing.Of(h.sale, []int{0, 1}).Total
	want := Sums{Sold: 2, Revenue: price, Orders: 1, Begun: 3, Ordered: 1, GivenBack: 1}
	if y.Total != want {
		t.Errorf("the statistics say %+v, and it was %+v", y.Total, want)
	}
	if holding, paying := y.Holding(); holding != 1 || paying != 0 {
		t.Errorf("%d people hold seats and %d pay; it was 1 and none", holding, paying)
	}
	if y.Version != h.sale.Version() {
		t.Errorf("the statistics are of version %d; it is version %d", y.Version, h.sale.Version())
	}
}

func TestStats_ExpiredHoldThatIsOrderedCountsAsOrdered(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{HoldLength: time.Second})
	late, never, taken := h.hold(t, 0), h.hold(t, 1), h.hold(t, 2)
	for h.stats(t).Total.Expired < 3 {
		time.Sleep(50 * time.Millisecond)
		if t.Context().Err() != nil {
			t.Fatal("the holds never expired")
		}
	}
	h.buy(t, late)
	h.hold(t, 2)
	y := h.stats(t)
	if y.Total.Ordered != 1 || y.Total.Expired < 2 || y.Total.Begun != 4 {
		t.Errorf("of 4 holds one is ordered and 2 expired at least; the statistics say %+v", y.Total)
	}
	if y.stays[late] != nil || y.stays[taken] != nil || y.stays[never] == nil {
		t.Errorf("only who still may order is known: %v, %v, %v", y.stays[late], y.stays[taken], y.stays[never])
	}
}

func TestStats_CancelledSeatLeavesTheRevenue(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	who := h.hold(t, 0, 1)
	code := h.buy(t, who)
	sold := orders.New(h.db)
	order, err := sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := sold.Revoke(t.Context(), h.sale, order, false, order.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	y, price := h.stats(t), pricing.Of(h.sale, []int{1}).Total
	if y.Total.Returned != 1 || y.Total.Revenue != price {
		t.Errorf("one seat came back, and %d is left of the revenue; the statistics say %+v", price, y.Total)
	}
}

// told is the Stats of changes that are made up: each is one seat, its state and the holder or order it is of.
func told(t *testing.T, e seats.Event, tickets map[seatOf]sold, steps ...seats.Change) *Stats {
	t.Helper()
	y := newStats(e)
	for i, c := range steps {
		c.Version = int64(i + 1)
		if c.At.IsZero() {
			c.At = noon.Add(time.Duration(i) * time.Minute)
		}
		y.apply(c, tickets)
	}
	return y
}

func one(idx int32, s seats.State, of seats.ID) seats.Change {
	return seats.Change{Idx: []int32{idx}, State: []int16{int16(s)}, Holder: []seats.ID{of}}
}

func TestEveryWayOfAHoldIsTallied(t *testing.T) {
	t.Parallel()
	ann, bob, order, free := seats.ID{1}, seats.ID{2}, seats.ID{3}, seats.ID{}
	annsOrder := map[seatOf]sold{{order, 0}: {price: 500, by: ann, fresh: true}}
	moved := map[seatOf]sold{{order, 0}: {price: 500, by: ann, fresh: true}, {order, 1}: {price: 700, by: ann}}
	e, strict := seats.Event{Seats: 3}, seats.Event{Seats: 3, Strict: true, HoldLength: 8 * time.Minute}
	for name, c := range map[string]struct {
		y    *Stats
		want Sums
		paid int
	}{
		"bought":                        {told(t, e, annsOrder, one(0, seats.Held, ann), one(0, seats.Sold, order)), Sums{Sold: 1, Revenue: 500, Orders: 1, Begun: 1, Ordered: 1}, 0},
		"paid for":                      {told(t, e, annsOrder, one(0, seats.Held, ann), one(0, seats.Paying, ann), one(0, seats.Sold, order)), Sums{Sold: 1, Revenue: 500, Orders: 1, Begun: 1, Ordered: 1}, 1},
		"paid too late":                 {told(t, e, nil, one(0, seats.Held, ann), one(0, seats.Paying, ann), one(0, seats.Expired, ann)), Sums{Begun: 1, Expired: 1}, 1},
		"expired and back in time":      {told(t, e, nil, one(0, seats.Held, ann), one(0, seats.Expired, ann), one(0, seats.Held, ann)), Sums{Begun: 1}, 0},
		"expired and ordered after all": {told(t, e, annsOrder, one(0, seats.Held, ann), one(0, seats.Expired, ann), one(0, seats.Sold, order)), Sums{Sold: 1, Revenue: 500, Orders: 1, Begun: 1, Ordered: 1}, 0},
		"expired and taken":             {told(t, e, nil, one(0, seats.Held, ann), one(0, seats.Expired, ann), one(0, seats.Held, bob)), Sums{Begun: 2, Expired: 1}, 0},
		"taken before it was said":      {told(t, e, nil, one(0, seats.Held, ann), one(0, seats.Held, bob)), Sums{Begun: 2, Expired: 1}, 0},
		"sold to another":               {told(t, e, annsOrder, one(0, seats.Held, bob), one(0, seats.Expired, bob), one(0, seats.Sold, order)), Sums{Sold: 1, Revenue: 500, Orders: 1, Begun: 1, Expired: 1}, 0},
		"given back in part":            {told(t, e, nil, one(0, seats.Held, ann), one(1, seats.Held, ann), one(0, seats.Free, free)), Sums{Begun: 1}, 0},
		"given back":                    {told(t, e, nil, one(0, seats.Held, ann), one(0, seats.Free, free)), Sums{Begun: 1, GivenBack: 1}, 0},
		"time took it": {
			told(t, strict, nil, one(0, seats.Held, ann), seats.Change{At: noon.Add(9 * time.Minute), Idx: []int32{0}, State: []int16{0}, Holder: []seats.ID{free}}),
			Sums{Begun: 1, Expired: 1},
			0,
		},
		"cancelled":               {told(t, e, annsOrder, one(0, seats.Held, ann), one(0, seats.Sold, order), one(0, seats.Free, free)), Sums{Sold: 1, Returned: 1, Orders: 1, Begun: 1, Ordered: 1}, 0},
		"box office":              {told(t, e, annsOrder, one(0, seats.Sold, order)), Sums{Sold: 1, Revenue: 500, Orders: 1}, 0},
		"moved":                   {told(t, e, moved, one(0, seats.Sold, order), one(1, seats.Sold, order), one(0, seats.Free, free)), Sums{Sold: 2, Returned: 1, Revenue: 700, Orders: 1}, 0},
		"blocked":                 {told(t, e, nil, one(2, seats.Blocked, seats.ID{15: 1}), one(2, seats.Free, free)), Sums{}, 0},
		"came later":              {told(t, e, nil, one(9, seats.Held, ann)), Sums{Begun: 1}, 0},
		"a sale without a holder": {told(t, e, nil, one(0, seats.Sold, order)), Sums{Sold: 1}, 0},
	} {
		if c.y.Total != c.want || c.y.Paid != c.paid {
			t.Errorf("%s: %+v and %d paid, want %+v and %d", name, c.y.Total, c.y.Paid, c.want, c.paid)
		}
		var hours Sums
		for _, r := range c.y.hours.since(time.Time{}) {
			hours.add(r.Sums)
		}
		if hours != c.y.Total {
			t.Errorf("%s: the hours come to %+v, and all in all it is %+v", name, hours, c.y.Total)
		}
		again := newStats(e)
		if again.resume(c.y.store()); !reflect.DeepEqual(again.places, c.y.places) || !reflect.DeepEqual(again.stays, c.y.stays) {
			t.Errorf("%s: it is read again as another", name)
		}
	}
}

// Stats that are stored and read again, at any version, go on as those that were never put away.
func TestStats_StoredGoOnAsIfNeverStored(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{HoldLength: 2 * time.Second})
	luck := rand.New(rand.NewPCG(7, 1))
	stored := newStats(h.sale.Event)
	var holders []seats.ID
	for range 60 {
		switch n := luck.IntN(10); {
		case n < 5 || len(holders) == 0:
			holders = append(holders, seats.NewID())
			_, _ = h.sale.Claim(t.Context(), holders[len(holders)-1], "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(luck.IntN(30))}}) // some are refused
		case n < 8:
			_, _ = seatstest.Order(t.Context(), h.db, h.sale, holders[luck.IntN(len(holders))]) // some have nothing
		default:
			_, _ = h.sale.Release(t.Context(), holders[luck.IntN(len(holders))])
		}
		if err := stored.follow(t.Context(), h.db, h.sale.Event, h.sale.Recent); err != nil {
			t.Fatal(err)
		}
		if luck.IntN(3) > 0 {
			continue
		}
		if err := stored.save(t.Context(), h.db, h.sale.Event.ID); err != nil {
			t.Fatal(err)
		}
		var err error
		if stored, err = loadStats(t.Context(), h.db, h.sale.Event); err != nil {
			t.Fatal(err)
		}
	}
	anew := h.stats(t)
	for stored.Version != anew.Version { // a hold may expire between the two
		if err := stored.follow(t.Context(), h.db, h.sale.Event, h.sale.Recent); err != nil {
			t.Fatal(err)
		}
		anew = h.stats(t)
	}
	wantSame(t, stored, anew)
}

// wantSame holds two Stats of one log against each other.
func wantSame(t *testing.T, got, want *Stats) {
	t.Helper()
	if got.Version != want.Version {
		t.Fatalf("the statistics are of versions %d and %d", got.Version, want.Version)
	}
	if got.Total != want.Total || got.Paid != want.Paid || !reflect.DeepEqual(got.Counts, want.Counts) {
		t.Errorf("stored: %+v, %d paid; anew: %+v, %d paid", got.Total, got.Paid, want.Total, want.Paid)
	}
	if !reflect.DeepEqual(got.places, want.places) || !reflect.DeepEqual(got.stays, want.stays) {
		t.Error("the seats and holds of stored statistics are others")
	}
	for _, b := range [][2]book{{got.minutes, want.minutes}, {got.hours, want.hours}} {
		if !reflect.DeepEqual(b[0].since(time.Time{}), b[1].since(time.Time{})) {
			t.Errorf("rows of %d minutes: stored %+v, anew %+v", b[0].span, b[0].since(time.Time{}), b[1].since(time.Time{}))
		}
	}
	at := want.At.Add(time.Minute)
	if a, b := got.figures(at, seats.Event{}).SalesRate, want.figures(at, seats.Event{}).SalesRate; a-b > 1e-9 || b-a > 1e-9 {
		t.Errorf("the rate is %g, and %g anew", a, b)
	}
}

// Two nodes that store their stats write the same history, whichever is ahead.
func TestTwoNodesKeepOneHistory(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	a, b := newStats(h.sale.Event), newStats(h.sale.Event)
	follow := func(y *Stats, store bool) {
		t.Helper()
		if err := y.follow(t.Context(), h.db, h.sale.Event, nothing); err != nil {
			t.Fatal(err)
		}
		if !store {
			return
		}
		if err := y.save(t.Context(), h.db, h.sale.Event.ID); err != nil {
			t.Fatal(err)
		}
	}
	h.buy(t, h.hold(t, 0, 1))
	follow(a, false)
	h.buy(t, h.hold(t, 2))
	follow(b, true)
	if err := a.save(t.Context(), h.db, h.sale.Event.ID); err != nil { // it is behind: nothing of it may be written
		t.Fatal(err)
	}
	if y, err := loadStats(t.Context(), h.db, h.sale.Event); err != nil || y.Version != h.sale.Version() {
		t.Fatalf("the statistics went back to %+v, %v", y, err)
	}
	h.buy(t, h.hold(t, 3))
	follow(a, true)
	stored, err := loadStats(t.Context(), h.db, h.sale.Event)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, stored, h.stats(t))
}
