package waitingroom

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLeavingIsMeasuredFromCountsAndUsualWithoutThem(t *testing.T) {
	t.Parallel()
	if got := leaving(nil, 0, 100).Share; math.Abs(got-usualLeaving) > 1e-12 {
		t.Errorf("without counts %g leave, usual are %g", got, usualLeaving)
	}
	const h = 4e-4
	var counts []Presence
	for i := range 40 {
		people := 10_000 * math.Exp(-h*float64(30*i))
		counts = append(counts, Presence{At: time.Unix(int64(30*i), 0), Width: 1000, People: []float64{1e9, people, 1e9}})
	}
	if got := leaving(counts, 1000, 2000).Share; math.Abs(got-h) > 0.15*h {
		t.Errorf("%g leave in a second, counted as %g", h, got)
	}
}

func TestPresenceIsCountedByNumber(t *testing.T) {
	t.Parallel()
	p := Presence{Width: 10, People: []float64{10, 5, 0, 8}}
	for _, c := range []struct {
		after, upTo int64
		want        float64
	}{{0, 10, 10}, {0, 40, 23}, {5, 15, 7.5}, {10, 10, 0}, {38, 40, 1.6}, {40, 100, 0}, {20, 10, 0}} {
		if got := p.Between(c.after, c.upTo); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g people from %d to %d, want %g", got, c.after, c.upTo, c.want)
		}
	}
}

func TestAnOutlookRisesWithTheNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := anything(t)
		serving := rapid.Int64Range(0, 1_000_000).Draw(t, "serving")
		last := serving + seen.Waiting
		var present *Presence
		if rapid.Bool().Draw(t, "counted") {
			present = &Presence{Width: last/256 + 1, People: rapid.SliceOfN(rapid.Float64Range(0, 20_000), 1, 256).Draw(t, "people")}
		}
		o := foresee(&seen, Step{}, serving, present, line{rate: rapid.Float64Range(0, 100).Draw(t, "rate"), leave: Leaving{rapid.Float64Range(0, 0.01).Draw(t, "leave"), 1e-4}})
		before := Estimate{}
		for i := range int64(50) {
			number := serving + 1 + i*max(1, seen.Waiting/40)
			e := o.Of(number)
			if e.Ahead < before.Ahead || e.Ahead >= number-serving && e.Ahead > 0 || e.Wait < before.Wait || !before.IsUnknown && !e.IsUnknown && (e.From.Before(before.From) || e.To.Before(before.To)) || e.From.After(e.To) || before.IsUnknown && !e.IsUnknown {
				t.Fatalf("number %d of %d after %d: %+v follows %+v; %+v", number, last, serving, e, before, o)
			}
			if before.Seat == Unlikely && e.Seat != Unlikely || before.Seat == Uncertain && e.Seat == Likely {
				t.Fatalf("number %d: a seat is %s, and %s before it", number, e.Seat, before.Seat)
			}
			before = e
		}
	})
}

func TestAWaitFollowsFromPeoplePaceAndLeaving(t *testing.T) {
	t.Parallel()
	o := Outlook{Ahead: [][2]int64{{1000, 0}, {2000, 600}, {3000, 1000}}, Rate: 2, Likely: 1500, Maybe: 2500}
	if e := o.Of(2001); e.Ahead != 600 || e.Wait != 300*time.Second || e.Seat != Uncertain {
		t.Errorf("number 2001: %+v", e)
	}
	o.Leave = 0.001
	if e := o.Of(2001); math.Abs(e.Wait.Seconds()-math.Log(1.3)/0.001) > 0.001 {
		t.Errorf("number 2001, with people leaving: %+v", e)
	}
	if e := o.Of(1001); e.Ahead != 0 || e.Wait != 0 || e.Seat != Likely {
		t.Errorf("the next number: %+v", e)
	}
	if e := o.Of(3011); e.Ahead != 1010 || e.Seat != Unlikely {
		t.Errorf("a number given out later: %+v", e)
	}
	o.Rate = 0
	if e := o.Of(2001); !e.IsUnknown {
		t.Errorf("no visitor comes in, and still: %+v", e)
	}
}

func TestASeatIsLikelyForSoManyAsThereAreSeatsFor(t *testing.T) {
	t.Parallel()
	seen := Seen{Waiting: 10_000, Slots: 100, Free: 1625, Habits: Habits{Buying: 0.65, Seats: 2.5, Returning: 0.2}} // for 1,000 people
	o := foresee(&seen, Step{}, 500, nil, line{rate: 1})
	if math.Abs(float64(o.Likely-1300)) > 3 || math.Abs(float64(o.Maybe-1750)) > 3 {
		t.Errorf("likely up to %d, perhaps up to %d", o.Likely, o.Maybe)
	}
	seen.Free = 0
	if o := foresee(&seen, Step{}, 500, nil, line{rate: 1}); o.Likely != 0 || o.Maybe != 0 {
		t.Errorf("no seat is left, and one is likely up to %d and perhaps up to %d", o.Likely, o.Maybe)
	}
}

func TestEstimate_NeverGoesUp(t *testing.T) {
	t.Parallel()
	shown := int64(-1)
	for _, counted := range []int64{900, 950, 700, 701, 0, 3} {
		now := NeverMore(shown, counted)
		if shown >= 0 && now > shown {
			t.Errorf("%d after %d", now, shown)
		}
		shown = now
	}
	if shown != 0 {
		t.Errorf("%d in the end", shown)
	}
}

// Between two outlooks people join whom the last one did not count.
func TestEstimate_LateJoinerIsNotToldUnlikelyWhileSeatsAreThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		habits := Habits{Buying: rapid.Float64Range(0.3, 1).Draw(t, "buying"), Seats: rapid.Float64Range(1, 4).Draw(t, "seats")}
		seen := Seen{Waiting: rapid.Int64Range(0, 500).Draw(t, "waiting"), Free: rapid.IntRange(1, 5000).Draw(t, "free"), Slots: 100, Habits: habits}
		serving := rapid.Int64Range(0, 1000).Draw(t, "serving")
		o := foresee(&seen, Step{}, serving, nil, line{rate: 1})
		number := serving + seen.Waiting + rapid.Int64Range(1, 3000).Draw(t, "joined since")
		e := o.Of(number)
		if takes := float64(e.Ahead) * habits.Buying * habits.Seats; e.Seat == Unlikely && takes < float64(seen.Free)-habits.Seats {
			t.Fatalf("number %d: %d people before it take %.0f of %d seats, and one is %s; %+v", number, e.Ahead, takes, seen.Free, e.Seat, o)
		}
	})
}
