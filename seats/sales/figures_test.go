package sales

import (
	"encoding/hex"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

func TestSalesRate_IsSeatsAMinuteAndForgets(t *testing.T) {
	t.Parallel()
	p := salesRate{over: 5 * time.Minute}
	first := noon
	for s := range 1200 { // twenty minutes at 60 a minute
		p.add(first.Add(time.Duration(s)*time.Second), 1)
	}
	end := first.Add(20 * time.Minute)
	if got := p.since(first, end); math.Abs(got-60) > 3 {
		t.Errorf("the rate of 60 a minute is %.1f", got)
	}
	if got := p.since(first, end.Add(30*time.Minute)); got > 0.5 {
		t.Errorf("half an hour later it still is %.1f", got)
	}
	young := salesRate{over: 5 * time.Minute}
	for s := range 30 {
		young.add(first.Add(time.Duration(s)*time.Second), 1)
	}
	if got := young.since(first, first.Add(30*time.Second)); math.Abs(got-60) > 6 {
		t.Errorf("after half a minute the rate of 60 a minute is %.1f", got)
	}
}

func TestForecast_IsARangeAndHiddenWithoutARate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		rest       int
		fast, slow float64
		known      bool
	}{
		{"a good rate", 600, 60, 50, true},
		{"too slow", 600, 0.5, 0.4, false},
		{"it stopped", 600, 0.1, 20, false},
		{"nothing is left", 0, 60, 60, false},
		{"years", 100_000, 1, 1, false},
	} {
		r := sellOut(noon, c.rest, c.fast, c.slow)
		if (r != nil) != c.known {
			t.Errorf("%s: %v", c.name, r)
			continue
		}
		if r == nil {
			continue
		}
		at := noon.Add(time.Duration(float64(c.rest) / 55 * float64(time.Minute)))
		if !r.From.Before(at) || !r.To.After(at) {
			t.Errorf("%s: %v to %v does not have %v in it", c.name, r.From, r.To, at)
		}
	}
}

// Holds that had no time to end yet would make the rate look worse or better than it is: they are not of it.
func TestARateIsOfHoldsThatHadTheTimeToEnd(t *testing.T) {
	t.Parallel()
	y := newStats(seats.Event{Seats: 1})
	for _, c := range []struct {
		ago int
		Sums
	}{
		{90, Sums{Begun: 100, Ordered: 1}},
		{30, Sums{Begun: 40, Ordered: 30, Expired: 10}},
		{12, Sums{Begun: 20, Ordered: 5, Expired: 15}},
		{2, Sums{Begun: 50, Ordered: 50}},
	} {
		y.minutes.add(noon.Add(-time.Duration(c.ago)*time.Minute), c.Sums)
	}
	f := y.figures(noon, seats.Event{HoldLength: 8 * time.Minute})
	if f.Conversion != (Rate{35, 60}) || f.Expired != (Rate{25, 60}) || f.Lately != (Rate{15, 20}) {
		t.Errorf("conversion %v, expired %v, lately %v", f.Conversion, f.Expired, f.Lately)
	}
	l := Live{Figures: f}
	if l.addAlerts(); len(l.Alerts) != 1 || l.Alerts[0].Kind != OfExpired {
		t.Errorf("15 of 20 expire after 10 of 40 did, and that is an alert; there are %+v", l.Alerts)
	}
}

// A member who saw the first ones has to learn of the later ones, and that there are more than are shown.
func TestOfManyConcernsTheLatestAreToldAndThatThereAreMore(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	look := func() (l Live) {
		t.Helper()
		var q pgx.Batch
		l.queueAlerts(&q, h.sale.Event.ID)
		if err := h.db.SendBatch(t.Context(), &q).Close(); err != nil {
			t.Fatal(err)
		}
		l.addAlerts()
		return l
	}
	notes := func(from, to int) {
		h.exec(t, `INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state, attention, created_at)
			SELECT gen_random_uuid(), $1, gen_random_uuid(), 'code' || k, gen_random_uuid(), gen_random_uuid(), '{}', 'card', 'EUR', 100, 'closed', 'odd', now() + k * interval '1 second'
			  FROM generate_series($2::integer, $3) k`, h.sale.Event.ID, from, to)
	}
	notes(1, MostAlerts)
	if l := look(); len(l.Alerts) != MostAlerts || l.MoreAlerts {
		t.Errorf("%d alerts, and more: %t", len(l.Alerts), l.MoreAlerts)
	}
	notes(MostAlerts+1, MostAlerts+3)
	l := look()
	if len(l.Alerts) != MostAlerts || !l.MoreAlerts || l.Alerts[0].Order != "code23" || l.Alerts[MostAlerts-1].Order != "code4" {
		t.Errorf("%d alerts from %+v on, and more: %t", len(l.Alerts), l.Alerts[0], l.MoreAlerts)
	}
	all, err := orders.New(h.db).Payments.Alerts(t.Context())
	if err != nil || len(all) != MostAlerts+3 {
		t.Errorf("the list of all has %d, %v", len(all), err)
	}
}

// A replay played to its end is the map, and seats that were never shown are no part of it.
func TestAReplayComesToTheMap(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	h.buy(t, h.hold(t, 0, 1, 7))
	gone := h.hold(t, 9)
	if _, err := h.sale.Release(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	h.hold(t, 20, 21)
	r := NewReplay(h.sale.Event.Seats)
	changes, err := seats.Changes(t.Context(), h.db, h.sale.Event.ID, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		r.add(c)
	}
	for idx, state := range h.sale.Snapshot().States {
		if r.states[idx] != shown(state) {
			t.Errorf("seat %d is %d in the replay and %s on the map", idx, r.states[idx], state)
		}
	}
	before := len(r.Bytes())
	r.add(seats.Change{Version: 99, At: noon, Idx: []int32{20}, State: []int16{int16(seats.Paying)}, Holder: []seats.ID{{1}}})
	if len(r.Bytes()) != before {
		t.Error("a payment that begins looks like nothing, and is in the replay")
	}
}

// The page reads the same bytes: static/desk_replay.test.mjs.
func TestAReplayIsWrittenAsPagesReadIt(t *testing.T) {
	t.Parallel()
	const golden = "010a80a094a58d1d0002090d9601010a320114"
	r, at := NewReplay(10), time.UnixMilli(1e12)
	r.add(seats.Change{Version: 1, At: at, Idx: []int32{2, 5}, State: []int16{1, 1}})
	r.add(seats.Change{Version: 2, At: at.Add(time.Second), Idx: []int32{2}, State: []int16{int16(seats.Paying)}})
	r.add(seats.Change{Version: 3, At: at.Add(1500 * time.Millisecond), Idx: []int32{2}, State: []int16{int16(seats.Sold)}})
	r.add(seats.Change{Version: 4, At: at.Add(2 * time.Second), Idx: []int32{5}, State: []int16{int16(seats.Expired)}})
	if got := hex.EncodeToString(r.Bytes()); got != golden {
		t.Errorf("it is %s, want %s", got, golden)
	}
	if got := hex.EncodeToString(NewReplay(10).Bytes()); got != "010a00" {
		t.Errorf("a sale in which nothing happened is %s", got)
	}
}
