package waitingroom

import (
	"math"
	"time"
)

// Each page says between which times its number will be called. 95 of 100 such promises shall hold. They are made here, from
// nothing but counts: how many visitors come in, how many are ahead and give up, and how often and for how long the room stood
// still. calibration.go measures how many held, which widens or narrows the next ones.

// Forecast is what promises are made from. It is remembered from one look at a room to the next. The zero value is that of the
// first look.
type Forecast struct {
	Until    time.Time `json:"until"`    // admissions up to here are counted
	Admitted float64   `json:"admitted"` // visitors admitted; older ones count less
	Seconds  float64   `json:"seconds"`  // in which they were; older ones count less, too
	Filling  float64   `json:"filling"`  // seconds for which slots have filled, without a break
	Calm     float64   `json:"calm"`     // seconds since then
	Open     float64   `json:"open"`     // seconds in which numbers could be called
	Stops    int       `json:"stops"`    // pauses and outages while visitors waited
	Stopped  float64   `json:"stopped"`  // seconds of them
	Waited   bool      `json:"waited"`   // visitors waited after the last look
}

const (
	mayEarly = 0.015 // share of promises that may fail because the number was called before
	mayLate  = 0.035 // and because it was called later, or never

	countedLate  = 2 * time.Second // admissions are counted after it, when their transactions are committed
	stopAfter    = 5 * time.Second // without a look, while visitors wait: the room stood still
	remembers    = 1200.0          // seconds after which an admission counts 1/e
	fillsFor     = 120.0           // seconds for which slots fill at most; later it is how the sale goes
	settlesFor   = 10.0            // seconds in which those called last while slots filled come in
	fewestSecond = 60.0            // fewer seconds say no pace
	fewestCame   = 10.0            // as do fewer visitors

	drift = 0.02 // how far the pace changes, as a share of it
	blur  = 6.0  // seconds that calls are early or late in any case

	// Before a room stood still, it counts as if it had done so once in four hours, for two minutes.
	usualStops   = 1.0
	usualBetween = 14400.0
	usualStop    = 120.0
)

// after is the forecast after one more look. admitted is the number of visitors admitted since Until.
func (f Forecast) after(seen *Seen, step Step, now time.Time, admitted int64) Forecast {
	since := seen.Since.Seconds()
	if f.Waited && seen.Since > stopAfter {
		f.Stops++
		f.Stopped += since
		f.Until = time.Time{} // visitors who came in meanwhile say nothing of the pace
	} else if f.Waited {
		f.Open += since
	}
	if step.By == ByPace {
		f.Filling, f.Calm = f.Filling+since, 0
	} else {
		f.Filling, f.Calm = 0, f.Calm+since
	}
	// While slots fill, after the opening or a pause, visitors come in faster than later.
	steady := f.Filling == 0 && f.Calm > settlesFor || f.Filling > fillsFor
	to := now.Add(-countedLate)
	if counted := to.Sub(f.Until).Seconds(); steady && !f.Until.IsZero() && f.Waited && counted > 0 {
		fades := math.Exp(-counted / remembers)
		f.Admitted, f.Seconds = f.Admitted*fades+float64(admitted), f.Seconds*fades+counted
	}
	f.Until, f.Waited = to, seen.Waiting > int64(step.Call)
	return f
}

// rate is the number of visitors admitted per second; 0 while it is not known.
func (f *Forecast) rate() float64 {
	if f.Seconds < fewestSecond || f.Admitted < fewestCame {
		return 0
	}
	return f.Admitted / f.Seconds
}

// Wait is a promise to one number: seconds from the outlook on.
type Wait struct{ From, Likely, To float64 }

// line is how visitors ahead become fewer.
type line struct {
	Forecast
	free  float64 // slots that are free: so many visitors come in as fast as pace says; below 0, so many have to leave first
	pace  float64 // visitors per second, while slots are free
	rate  float64 // visitors per second after that
	leave Leaving
	stay  float64 // seconds that visitors are inside on average; 0: slots do not limit the pace
	sides Sides
}

// line is what the promises of one look at a room are made from.
func (f *Forecast) line(seen *Seen, step Step, pace Pace, leave Leaving, sides Sides) line {
	l := line{Forecast: *f, pace: max(pace.Rate, 0.1), rate: f.rate(), leave: leave, sides: sides}
	l.free = seen.room(step.Expected) - float64(step.Call)*step.Show
	if l.rate > 0 && !(seen.Limit > 0 && l.rate > 0.8*seen.Limit) {
		l.stay = float64(seen.Slots) / l.rate
	}
	return l
}

// wait is the promise to a visitor with so many ahead.
func (l *line) wait(ahead float64) Wait {
	ahead += 0.5 // a number is called once half a slot is free for it
	soon := max(0, min(ahead, l.free))
	later := (ahead - soon + max(0, -l.free)) / l.rate
	likely := soon/l.pace + l.leave.shorten(later, 0)
	pace := later * math.Sqrt(1/l.Admitted+drift*drift+1/(1+later*l.rate))
	leave := (l.leave.shorten(later, -1) - l.leave.shorten(later, 1)) / 2
	unsure := math.Hypot(math.Hypot(pace/(1+l.leave.Share*later), leave), blur)
	stops, length := l.stops(likely)
	early := -quantile(mayEarly/max(1-stops, 2*mayEarly)) * unsure * l.sides.Early
	late := exceeds(unsure*l.sides.Late, stops, length)
	return Wait{From: max(0, likely-early), Likely: likely, To: likely + late}
}

// shorten is how long a wait becomes, by visitors who give up. by is how many standard deviations more of them do.
func (l Leaving) shorten(wait, by float64) float64 {
	share := max(0, l.Share+by*l.Unsure)
	if share*wait < 1e-6 {
		return wait
	}
	return math.Log1p(share*wait) / share
}

// stops is how probable it is that the room stands still within a time, and how many seconds it then delays a call on average.
func (l *line) stops(wait float64) (share, length float64) {
	stops := usualStops + float64(l.Stops)
	length = (usualStops*usualStop + l.Stopped) / stops
	share = 1 - math.Exp(-stops/(usualBetween+l.Open)*wait)
	// Visitors inside leave meanwhile, so calls catch up afterwards: all but those that were due during the stop.
	caught := length * length / (length + l.stay)
	return share, caught + (length-caught)*min(1, length/max(wait, 1))
}

// exceeds is what a delay exceeds with the probability mayLate. It is the sum of a normal one and, with the probability share,
// an exponential one of this mean.
func exceeds(deviation, share, mean float64) float64 {
	low, high := 0.0, 10*deviation+20*mean
	for range 24 {
		middle := (low + high) / 2
		tail := normal(-middle / deviation)
		if share > 0 {
			tail += share * (normalAndExponential(middle, deviation, mean) - tail)
		}
		if tail > mayLate {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// normalAndExponential is the probability that the sum of a normal and an exponential delay is above x.
func normalAndExponential(x, deviation, mean float64) float64 {
	ratio := deviation / mean
	if ratio > 8 { // next to the normal one, the other is as good as its mean
		return normal((mean - x) / deviation)
	}
	return min(1, normal(-x/deviation)+math.Exp(ratio*ratio/2-x/mean)*normal(x/deviation-ratio))
}

// normal is the probability that a normal variable is below z, and quantile its inverse.
func normal(z float64) float64   { return math.Erfc(-z/math.Sqrt2) / 2 }
func quantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
