package waitingroom

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anything is what a look may see.
func anything(t *rapid.T) Seen {
	cohort := rapid.Custom(func(t *rapid.T) Cohort {
		called := rapid.IntRange(0, 5000).Draw(t, "called")
		return Cohort{called, rapid.IntRange(0, called).Draw(t, "came")}
	})
	s := Seen{
		Since:   time.Duration(rapid.IntRange(0, 10_000).Draw(t, "since")) * time.Millisecond,
		Waiting: rapid.Int64Range(0, 2_000_000).Draw(t, "waiting"), Slots: rapid.IntRange(1, 10_000).Draw(t, "slots"),
		Free: rapid.IntRange(0, 50_000).Draw(t, "free"), Held: rapid.IntRange(0, 20_000).Draw(t, "held"),
		Habits: UsualHabits, Recent: cohort.Draw(t, "recent"), Settled: cohort.Draw(t, "settled"),
		Limit:  rapid.SampledFrom([]float64{0, 0.5, 10}).Draw(t, "limit"),
		Slow:   rapid.SampledFrom([]float64{0, 0.01, 0.5}).Draw(t, "slow"),
		Failed: rapid.SampledFrom([]float64{0, 0.01, 0.5}).Draw(t, "failed"),
	}
	s.Active = rapid.IntRange(0, s.Slots+10).Draw(t, "active") // more, if the organizer took slots away
	s.Holding = rapid.IntRange(0, s.Active).Draw(t, "holding")
	return s
}

// wrongStep says what no step may be.
func wrongStep(pace Pace, s *Seen, step Step) string {
	coming := float64(step.Call) * step.Show
	back := float64(s.Free) + float64(s.Held)*s.Habits.Returning
	switch {
	case step.Call < 0 || int64(step.Call) > s.Waiting:
		return "it calls numbers back, or some that were not given"
	case step.Call > 0 && s.Active >= s.Slots:
		return "it calls people though all slots are taken"
	case step.Call > 0 && float64(s.Active)+step.Expected+coming > float64(s.Slots)+step.Show/2+1e-6:
		return "it calls more people than there is room for"
	case step.Call > 0 && back < 1:
		return "it calls people though no seat is free and none is going to be"
	case s.Failed > mostFailed && coming > 4+1e-6:
		return "it calls more than a few people though claims fail"
	case s.Limit > 0 && coming > 3*s.Limit+1+1e-6:
		return "it calls more than the organizer allows"
	case math.IsNaN(pace.Rate+pace.Credit+step.Show+step.Expected) || step.Show <= 0 || step.Show > 1 || step.Expected < 0:
		return "it reckons with numbers that cannot be"
	}
	return ""
}

func TestController_CallsOnlyForSlotsSeatsAndLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pace := Pace{}
		for range rapid.IntRange(1, 5).Draw(t, "looks") {
			seen := anything(t)
			var step Step
			pace, step = Next(pace, seen)
			if problem := wrongStep(pace, &seen, step); problem != "" {
				t.Fatalf("%s: %+v", problem, step)
			}
		}
	})
}

func TestPlantedStepsAreNoticed(t *testing.T) {
	t.Parallel()
	full := Seen{Since: time.Second, Waiting: 100, Slots: 10, Active: 10, Free: 100, Habits: UsualHabits}
	empty := Seen{Since: time.Second, Waiting: 100, Slots: 10, Free: 0, Held: 4, Habits: UsualHabits}
	ill := Seen{Since: time.Second, Waiting: 100, Slots: 100, Free: 1000, Failed: 0.1, Habits: UsualHabits}
	for name, planted := range map[string]struct {
		seen Seen
		step Step
	}{
		"a call into a full event":       {full, Step{Call: 1, Show: 1}},
		"a call for no seat":             {empty, Step{Call: 1, Show: 1}},
		"calls while claims fail":        {ill, Step{Call: 5, Show: 1}},
		"a number called back":           {full, Step{Call: -1, Show: 1}},
		"more numbers than there are":    {ill, Step{Call: 101, Show: 0.1}},
		"a share of no visitors":         {full, Step{Show: 0}},
		"a share that is not a number":   {full, Step{Show: math.NaN()}},
		"fewer than nobody on their way": {full, Step{Show: 1, Expected: -1}},
	} {
		if wrongStep(Pace{}, &planted.seen, planted.step) == "" {
			t.Errorf("%s is not noticed", name)
		}
	}
}

func TestController_CallsForAFreeSlotAndSeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := Seen{
			Since: time.Second, Waiting: rapid.Int64Range(1, 100_000).Draw(t, "waiting"), Slots: rapid.IntRange(1, 5000).Draw(t, "slots"),
			Free: rapid.IntRange(1, 10).Draw(t, "free"), Habits: UsualHabits,
		}
		// Those called long ago, all of whom stayed away, keep no visitor waiting.
		seen.Settled = Cohort{Called: rapid.IntRange(0, 5).Draw(t, "gone")}
		pace := Pace{}
		for range 20 {
			var step Step
			if pace, step = Next(pace, seen); step.Call > 0 {
				return
			}
		}
		t.Fatal("no number is called")
	})
}

func TestCallingSlowsDownWhileClaimsAreSlowAndRecovers(t *testing.T) {
	t.Parallel()
	seen := Seen{Since: time.Second, Waiting: 1_000_000, Slots: 1000, Free: 100_000, Habits: UsualHabits}
	pace, _ := Next(Pace{}, seen)
	full := pace.Rate
	seen.Slow = 0.5
	for range 5 {
		pace, _ = Next(pace, seen)
	}
	if want := full * 0.2; pace.Rate > want || pace.Rate <= 0 {
		t.Errorf("after 5 s of slow claims the pace is %.1f, from %.1f", pace.Rate, full)
	}
	if _, step := Next(pace, seen); step.By != ByPace {
		t.Errorf("%q decides, want %q", step.By, ByPace)
	}
	seen.Slow = 0
	for range 60 {
		pace, _ = Next(pace, seen)
	}
	if pace.Rate < full {
		t.Errorf("a minute later the pace is %.1f of %.1f", pace.Rate, full)
	}
}

func TestALimitOfLessThanOneASecondStillCallsPeople(t *testing.T) {
	t.Parallel()
	seen := Seen{Since: time.Second, Waiting: 1_000_000, Slots: 1000, Free: 100_000, Habits: UsualHabits, Limit: 0.5}
	var pace Pace
	came := 0.0
	for range 600 {
		var step Step
		pace, step = Next(pace, seen)
		came += float64(step.Call) * step.Show
		if step.By != ByRate {
			t.Fatalf("%q decides, want %q", step.By, ByRate)
		}
	}
	if math.Abs(came-300) > 10 {
		t.Errorf("%.0f people in 600 s at 0.5 a second", came)
	}
}

func TestCalling_SlowsDownOnceMoreThanOneClaimInTwentyIsSlow(t *testing.T) {
	t.Parallel()
	seen := Seen{Since: time.Second, Waiting: 1_000_000, Slots: 1000, Free: 100_000, Habits: UsualHabits}
	for slow, want := range map[float64]bool{0.05: false, 0.06: true} {
		seen.Slow = slow
		if pace, _ := Next(Pace{Rate: 10}, seen); pace.Rate < 10 != want {
			t.Errorf("with %g of the claims slow the rate goes from 10 to %g", slow, pace.Rate)
		}
	}
}
