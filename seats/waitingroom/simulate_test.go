package waitingroom

import (
	"fmt"
	"strings"
	"testing"
)

// broken says what a controller must not do to 100,000 people, 35 % of whom are gone when they are called.
func broken(o *outcome, slots int) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if o.gone < 0.33 || o.gone > 0.38 {
		say("%.1f %% of those called were gone: this is another sale", 100*o.gone)
	}
	if o.used < 0.95 {
		say("%.1f %% of the slots were used, want 95", 100*o.used)
	}
	if o.most > slots {
		say("%d people were inside or at the door of %d slots", o.most, slots)
	}
	if right := o.right(0.2); right < 0.95 {
		say("%.1f %% of %d estimates were within a fifth of the wait, want 95", 100*right, len(o.estimates))
	}
	return wrong
}

func TestThreeThousandSlotsAreUsedAndWaitsForetoldThoughAThirdIsGone(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			o := simulate(stadium(), seed, Next)
			t.Logf("%.1f %% of those called were gone, %.1f %% of the slots used, at most %d inside, %d found none free, %.1f %% of %d estimates within 20 %%, everybody called after %d min",
				100*o.gone, 100*o.used, o.most, o.atDoor, 100*o.right(0.2), len(o.estimates), o.seconds/60)
			for _, problem := range broken(&o, stadium().slots) {
				t.Error(problem)
			}
		})
	}
}

func TestPlantedControllersAreNoticed(t *testing.T) {
	t.Parallel()
	for _, planted := range []struct {
		name, want string
		next       controller
	}{
		{"one that waits for those who do not come", "of the slots were used", naive},
		{"one that forgets who is on their way", "inside or at the door", func(pace Pace, seen Seen) (Pace, Step) {
			seen.Cohorts = nil
			return Next(pace, seen)
		}},
		{"one that thinks who did not come yet never will", "inside or at the door", func(pace Pace, seen Seen) (Pace, Step) {
			for i := range seen.Cohorts {
				seen.Cohorts[i].Called = seen.Cohorts[i].Came
			}
			return Next(pace, seen)
		}},
	} {
		t.Run(planted.name, func(t *testing.T) {
			t.Parallel()
			w := stadium()
			w.until = 1800
			o := simulate(w, 1, planted.next)
			wrong := strings.Join(broken(&o, w.slots), "; ")
			t.Log(wrong)
			if !strings.Contains(wrong, planted.want) {
				t.Error("it is not noticed")
			}
		})
	}
	w := stadium()
	w.until = 1800
	if o := simulate(w, 1, Next); o.used < 0.95 || o.most > w.slots {
		t.Errorf("the right one is noticed, too: %.3f of the slots were used, %d people inside", o.used, o.most)
	}
}

func TestTheLastSeatIsSoldAndThenNobodyIsCalled(t *testing.T) {
	t.Parallel()
	for _, w := range []world{
		{people: 20_000, slots: 1000, seats: 5000, gone: 0.1, halve: 5400, slow: 0.12, inside: 240},
		{people: 2000, slots: 20, seats: 300, gone: 0.3, halve: 3600, slow: 0.3, inside: 120},
		{people: 200, slots: 1, seats: 10, gone: 0.3, halve: 36000, slow: 0.3, inside: 60},
	} {
		o := simulate(w, 3, Next)
		t.Logf("%d seats were sold after %d min to %d slots; %d people found none free", o.sold, o.seconds/60, w.slots, o.atDoor)
		if o.sold != w.seats {
			t.Errorf("%d of %d seats were sold to %d people in %d s", o.sold, w.seats, w.people, o.seconds)
		}
		if o.for0 != 0 {
			t.Errorf("%d people were called while no seat was free", o.for0)
		}
	}
}
