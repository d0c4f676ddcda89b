package waitingroom

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// broken says what a controller must not do to 100,000 people, 35 % of whom are gone when they are called.
func broken(o *outcome, slots int) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if o.gone < 0.33 || o.gone > 0.38 {
		say("%.1f %% of those called were gone: this is another sale", 100*o.gone)
	}
	if o.used < 0.96 {
		say("%.1f %% of the slots were used, want 96", 100*o.used)
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
			seen.Recent = Cohort{}
			return Next(pace, seen)
		}},
		{"one that thinks who did not come yet never will", "inside or at the door", func(pace Pace, seen Seen) (Pace, Step) {
			seen.Recent.Called, seen.Settled.Called = seen.Recent.Came, seen.Settled.Came
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

func TestRoom_SoldOutEndsCalling(t *testing.T) {
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

// world is a sale that never was: people who wait, leave, come late or not at all, stay inside for a while and buy.
type world struct {
	people int     // numbers, all given out at the beginning
	slots  int     // people inside at once
	seats  int     // to be sold
	gone   float64 // share of people who are never seen again after the draw
	halve  float64 // seconds after which half of those who wait have left
	slow   float64 // share that comes late when called, 2 minutes on average
	inside float64 // seconds that people stay inside, on average
	until  int     // seconds to look at it; 0: as long as it takes

	stops []stop // the room stands still
	drops []stop // a share of those who wait leaves at once
}

// stop is something that happens at a second. For length seconds nobody is called or admitted, or so many of 1,000 visitors leave.
type stop struct{ at, length int }

// stadium is the sale of the issue: about 35 % of 100,000 are gone when they are called.
func stadium() world {
	return world{people: 100_000, slots: 3000, seats: 160_000, gone: 0.10, halve: 5400, slow: 0.12, inside: 240}
}

// shown is one estimate that a visitor was shown, and what came of it, both in seconds.
type shown struct{ wait, was float64 }

// outcome is what became of a world.
type outcome struct {
	used      float64 // mean share of the slots that were taken after the first minute, until everybody was called
	most      int     // people inside or at the door at once
	atDoor    int     // people who came and found no slot free
	gone      float64 // share that did not come when called
	seconds   int     // until everybody was called or gone
	sold      int     // seats
	for0      int     // people called while no seat was free
	estimates []shown
}

// right is the share of estimates that were at most so far off, as a share of the wait.
func (o *outcome) right(off float64) float64 {
	n := 0
	for _, e := range o.estimates {
		if math.Abs(e.wait-e.was) <= off*e.was {
			n++
		}
	}
	return float64(n) / float64(len(o.estimates))
}

const (
	valid    = 600 // seconds that a called number is valid
	window   = 30  // seconds of one count of those present
	longest  = 6 * 3600
	settling = 60 // seconds before anybody is shown a wait; then the pace is that of the last ones
)

type controller func(Pace, Seen) (Pace, Step)

// sim is a world under way.
type sim struct {
	world
	rng      *rand.Rand
	leaves   []int32      // when each person stops waiting, in seconds; by number-1
	arriving [][]int32    // by second, the call (an index of calls) of each who comes in then
	leaving  []leavers    // by second
	calls    []Cohort     // one for each second with a call
	calledAt []int        // by call
	admitted []int        // by second
	counts   []Presence   // of the last 20 minutes
	asked    [][3]float64 // number, when, and the wait they were shown
	forecast Forecast
	came     int       // since forecast.Until
	looked   int       // second of the last look
	recorded []promise // to random numbers, as calls record them
	shown    []promise // to people who were there
	when     []int     // called each number, in seconds; by number-1
	serving  int64
	active   int
	door     int
	holding  int
	sold     int
	asks     int
	outcome
}

type leavers struct{ people, buyers int }

func simulate(w world, seed uint64, next controller) outcome { return simulated(w, seed, next).outcome }

func simulated(w world, seed uint64, next controller) *sim {
	s := &sim{
		world: w, rng: rand.New(rand.NewPCG(seed, 6)), leaves: make([]int32, w.people), when: make([]int, w.people),
		arriving: make([][]int32, longest+valid+1), leaving: make([]leavers, 2*longest), admitted: make([]int, longest+1),
	}
	for i := range s.leaves {
		if s.rng.Float64() >= w.gone {
			s.leaves[i] = int32(min(longest, s.rng.ExpFloat64()*w.halve/math.Ln2))
		}
	}
	var pace Pace
	slotSeconds, counted := 0, 0
	for now := 0; now < cmp.Or(w.until, longest) && s.serving < int64(w.people) && (s.sold < w.seats || s.active > 0); now++ {
		s.move(now)
		if s.stands(now) {
			continue
		}
		seen := s.look(now)
		var step Step
		pace, step = next(pace, seen)
		s.call(now, step.Call)
		s.forecast = s.forecast.after(&seen, step, time.Unix(int64(now), 0).Add(countedLate), int64(s.came))
		s.came, s.looked = 0, now
		if now >= 60 {
			slotSeconds += s.active
			s.used = float64(slotSeconds) / float64(w.slots*(now-59))
		}
		if now >= counted {
			counted = now + window
			s.count(now)
			s.foresee(now, &seen, step, pace)
		}
		s.most, s.seconds = max(s.most, s.active+s.door), now
	}
	s.close()
	return s
}

// move lets people out and in.
func (s *sim) move(now int) {
	out := s.leaving[now]
	s.active -= out.people
	s.holding -= out.buyers
	for _, call := range s.arriving[now] {
		s.calls[call].Came++
		s.admitted[now]++
		if s.active+s.door >= s.slots {
			s.atDoor++
		}
		s.door++
	}
	for ; s.door > 0 && s.active < s.slots && !s.stands(now); s.door-- {
		s.enter(now)
		s.came++
	}
	for _, drop := range s.drops {
		if drop.at == now {
			s.drop(now, drop.length)
		}
	}
}

// stands reports whether nobody is called or admitted.
func (s *sim) stands(now int) bool {
	return slices.ContainsFunc(s.stops, func(stop stop) bool { return stop.at <= now && now < stop.at+stop.length })
}

// drop has so many of 1,000 of those who wait leave.
func (s *sim) drop(now, of1000 int) {
	for i := s.serving; i < int64(s.people); i++ {
		if int(s.leaves[i]) > now && s.rng.IntN(1000) < of1000 {
			s.leaves[i] = int32(now)
		}
	}
}

// enter lets one person in: they choose for a third of their stay, and the rest they hold what they found.
func (s *sim) enter(now int) {
	s.active++
	stay := 20 + s.rng.ExpFloat64()*(s.inside-20)
	leave := &s.leaving[min(now+int(stay)+1, len(s.leaving)-1)]
	leave.people++
	if left := s.seats - s.sold; left > 0 && s.rng.Float64() < 0.65 {
		leave.buyers++
		s.holding++
		s.sold += min(left, 1+s.rng.IntN(4))
	}
}

func (s *sim) look(now int) Seen {
	seen := Seen{
		Since: time.Duration(now-s.looked) * time.Second, Waiting: int64(s.people) - s.serving, Slots: s.slots, Active: s.active, Holding: s.holding,
		Free: s.seats - s.sold, Habits: UsualHabits,
	}
	first, _ := slices.BinarySearch(s.calledAt, now-valid)
	for i := first; i < len(s.calls); i++ {
		cohort := &seen.Settled
		if time.Duration(now-s.calledAt[i])*time.Second < responseTime {
			cohort = &seen.Recent
		}
		cohort.Called, cohort.Came = cohort.Called+s.calls[i].Called, cohort.Came+s.calls[i].Came
	}
	return seen
}

func (s *sim) call(now, n int) {
	if n == 0 {
		return
	}
	if s.sold == s.seats {
		s.for0 += n
	}
	s.calls, s.calledAt = append(s.calls, Cohort{Called: n}), append(s.calledAt, now)
	for range n {
		i := s.serving
		s.serving++
		s.when[i] = now
		if int(s.leaves[i]) <= now {
			continue
		}
		delay := 1 + 7*s.rng.Float64()
		if s.rng.Float64() < s.slow {
			delay = s.rng.ExpFloat64() * 120
		}
		if delay < valid {
			at := now + 1 + int(delay)
			s.arriving[at] = append(s.arriving[at], int32(len(s.calls)-1))
		}
	}
}

// count samples who is there.
func (s *sim) count(now int) {
	p := Presence{At: time.Unix(int64(now), 0), Width: int64((s.people + 255) / 256), People: make([]float64, 256)}
	beat := min(1, mostBeats/float64(int64(s.people)-s.serving))
	for i := s.serving; i < int64(s.people); i++ {
		if int(s.leaves[i]) > now && (beat == 1 || s.rng.Float64() < beat) {
			p.People[i/p.Width] += 1 / beat
		}
	}
	s.counts = append(s.counts, p)
	s.counts = s.counts[max(0, len(s.counts)-40):]
}

// foresee shows some of those who wait what they can expect.
func (s *sim) foresee(now int, seen *Seen, step Step, pace Pace) {
	calibration := calibrated(s, s.recorded, now)
	seen.Waiting -= int64(step.Call)
	l := s.forecast.line(seen, step, pace, leaving(s.counts, s.serving, int64(s.people)), calibration.sides())
	o := foresee(seen, step, s.serving, &s.counts[len(s.counts)-1], l)
	at := time.Unix(int64(now), 0)
	o.At = &at
	for range 10 {
		if n := o.sample(s.serving, seen.Waiting, s.rng.Float64()); n > 0 {
			e := o.Of(n)
			s.recorded = append(s.recorded, promise{int32(n), int32(now), int32(e.From.Unix()), int32(e.To.Unix())})
		}
	}
	for range 100 {
		number := s.serving + 1 + s.rng.Int64N(int64(s.people)-s.serving+1)
		if number > int64(s.people) || int(s.leaves[number-1]) <= now {
			continue
		}
		s.asks++
		e := o.Of(number)
		if !e.IsUnknown {
			s.shown = append(s.shown, promise{int32(number), int32(now), int32(e.From.Unix()), int32(e.To.Unix())})
		}
		if e.Wait > 0 {
			s.asked = append(s.asked, [3]float64{float64(number), float64(now), e.Wait.Seconds()})
		}
	}
}

// promise was made to a number at a second, that it is called between two others.
type promise struct{ number, at, from, to int32 }

// called is the second at which a number was called; longer than any sale if it was not, or not yet.
func (s *sim) calledBy(number int32, now int) int32 {
	if int64(number) <= s.serving && s.when[number-1] <= now {
		return int32(s.when[number-1])
	}
	return math.MaxInt32
}

// calibrated says what is known of promises at a second. calibrationSQL says the same.
func calibrated(s *sim, promises []promise, now int) (c Calibration) {
	for _, p := range promises {
		called := s.calledBy(p.number, now)
		if called == math.MaxInt32 && int(p.to) >= now {
			continue
		}
		weight := min(1, window/10/float64(max(1, p.to-p.at)))
		c.Said++
		c.weight += weight
		switch {
		case called < p.from:
			c.Early++
			c.early += weight
		case called > p.to:
			c.Late++
			c.late += weight
		default:
			c.Right++
		}
	}
	return c
}

// close compares what people were shown with what came.
func (s *sim) close() {
	came := 0
	for _, c := range s.calls {
		came += c.Came
	}
	s.outcome.gone, s.outcome.sold = 1-float64(came)/float64(s.serving), s.sold
	for _, a := range s.asked {
		if number := int64(a[0]); number <= s.serving {
			s.estimates = append(s.estimates, shown{a[2], float64(s.when[number-1]) - a[1]})
		}
	}
}

// naive lets one in for one who leaves, and keeps a place for everybody called until their number is not valid any more.
func naive(pace Pace, seen Seen) (Pace, Step) {
	missing := seen.Recent.Called - seen.Recent.Came + seen.Settled.Called - seen.Settled.Came
	return pace, Step{Call: int(min(int64(max(0, seen.Slots-seen.Active-missing)), seen.Waiting)), Show: 1}
}
