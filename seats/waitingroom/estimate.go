package waitingroom

import (
	"math"
	"math/rand/v2"
	"time"
)

// Outlook is the published state from which each page computes its own wait: the same bytes for all.
type Outlook struct {
	Ahead  [][2]int64 `json:"ahead"`  // numbers not called yet, each with how many waiting visitors have smaller ones; both rising
	Rate   float64    `json:"rate"`   // admitted visitors per second
	Leave  float64    `json:"leave"`  // share of waiting visitors that gives up per second
	Likely int64      `json:"likely"` // up to this number a seat is likely; 0: not even the next
	Maybe  int64      `json:"maybe"`  // up to this one it is uncertain

	Returning float64 `json:"returning"` // share of held seats that comes back, 0 to 1

	// Promises: numbers, each with the seconds after At between which it is called; all three rising. None beyond the last.
	Waits [][3]int64 `json:"waits,omitempty"`
	At    *time.Time `json:"waits_at,omitempty"`
}

// outlookPoints is the number of points in Outlook.Ahead.
const outlookPoints = 32

// foresee makes the outlook of a room. Before the first count presence is nil, and every visitor counts as present.
func foresee(seen *Seen, step Step, serving int64, present *Presence, l line) Outlook {
	o := Outlook{Ahead: [][2]int64{{serving, 0}}, Rate: l.rate, Leave: l.leave.Share, Returning: seen.Habits.Returning}
	last := serving + seen.Waiting
	points := min(int64(outlookPoints), seen.Waiting)
	left := float64(seen.Free) + float64(seen.Held)*seen.Habits.Returning
	buyers := left/seen.Habits.Seats/seen.Habits.Buying - float64(max(0, seen.Active-seen.Holding)) - step.Expected
	for i := int64(1); i <= points; i++ {
		number := serving + seen.Waiting*i/points
		people := float64(number - serving)
		if present != nil {
			people *= present.share(serving, number, last)
		}
		o.Ahead = append(o.Ahead, [2]int64{number, max(o.Ahead[i-1][1], int64(math.Round(people)))})
	}
	o.Likely, o.Maybe = o.reach(0.8*buyers, last), o.reach(1.25*buyers, last)
	o.promise(serving, min(o.Likely, last+seen.Waiting/8+50), l)
	return o
}

// promise makes the promises for the numbers after serving up to last. Pages interpolate between them. A number for which a
// seat is not likely has none: it may never be called.
func (o *Outlook) promise(serving, last int64, l line) {
	if l.rate <= 0 {
		return
	}
	var from, to int64
	for k := int64(1); serving < last; k += k/2 + 1 {
		number := min(serving+k, last)
		w := l.wait(float64(o.before(number)))
		if w.To > longestWait.Seconds() {
			return
		}
		from, to = max(from, int64(w.From)), max(to, int64(math.Ceil(w.To)))
		o.Waits = append(o.Waits, [3]int64{number, from, to})
		if number == last {
			return
		}
	}
}

// reach is the number up to which so many visitors wait. A number that is not given out yet counts as one visitor, so that the
// estimate is right for visitors who join before the next outlook.
func (o *Outlook) reach(people float64, last int64) int64 {
	if people < 1 {
		return 0
	}
	for i := 1; i < len(o.Ahead); i++ {
		a, b := o.Ahead[i-1], o.Ahead[i]
		if float64(b[1]) > people {
			return a[0] + int64(float64(b[0]-a[0])*(people-float64(a[1]))/float64(b[1]-a[1]))
		}
	}
	return last + int64(people) - o.Ahead[len(o.Ahead)-1][1]
}

// How likely a seat is. The words are those of the page.
const (
	Likely    = "likely"
	Uncertain = "uncertain"
	Unlikely  = "unlikely"
	Unknown   = "not known yet"
)

// Estimate is the wait of one visitor.
type Estimate struct {
	Ahead     int64         // visitors before them who are still there
	Wait      time.Duration // most likely; 0 while it is not known
	From, To  time.Time     // the promise, in whole minutes: the number is called between them
	Seat      string        // Likely, Uncertain, Unlikely or Unknown
	IsUnknown bool          // there is no promise, such as while no visitor is admitted, or if a seat is not likely
}

// longestWait is the longest estimate.
const longestWait = 24 * time.Hour

// Of is the estimate for one number. static/js/stand.js computes the same.
func (o *Outlook) Of(number int64) Estimate {
	e := Estimate{Ahead: o.before(number), Seat: Unlikely}
	switch {
	case len(o.Ahead) == 0: // before the first tick
		e.Seat = Unknown
	case number <= o.Likely:
		e.Seat = Likely
	case number <= o.Maybe:
		e.Seat = Uncertain
	}
	if o.Rate > 0 {
		seconds := float64(e.Ahead) / o.Rate
		if o.Leave > 0 {
			seconds = math.Log1p(o.Leave*seconds) / o.Leave
		}
		e.Wait = time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	}
	from, to, known := o.promised(number)
	if e.IsUnknown = !known || o.At == nil; !e.IsUnknown {
		e.From = o.At.Add(time.Duration(from) * time.Second).Truncate(time.Minute)
		e.To = o.At.Add(time.Duration(to)*time.Second + time.Minute - 1).Truncate(time.Minute)
	}
	return e
}

// promised is between which seconds a number is called, interpolated between the points.
func (o *Outlook) promised(number int64) (from, to int64, known bool) {
	for i, b := range o.Waits {
		if number > b[0] {
			continue
		}
		if i == 0 {
			return b[1], b[2], true
		}
		a := o.Waits[i-1]
		at := func(k int) int64 { return a[k] + (number-a[0])*(b[k]-a[k])/(b[0]-a[0]) }
		return at(1), at(2), true
	}
	return 0, 0, false
}

// before is how many visitors are before a number, interpolated between the points.
func (o *Outlook) before(number int64) int64 {
	for i := 1; i < len(o.Ahead); i++ {
		a, b := o.Ahead[i-1], o.Ahead[i]
		if number <= b[0] {
			return a[1] + max(0, number-a[0]-1)*(b[1]-a[1])/(b[0]-a[0])
		}
	}
	last := [2]int64{}
	if n := len(o.Ahead); n > 0 {
		last = o.Ahead[n-1]
	}
	return last[1] + max(0, number-last[0]-1) // joined after this outlook, or before the first one
}

// NeverMore keeps the shown number of visitors ahead from rising: later visitors join behind, so a higher count is only a worse
// sample. A negative before is none.
func NeverMore(before, now int64) int64 {
	if before < 0 {
		return now
	}
	return min(before, now)
}

// Each call records the promise to one random number at that moment; see calibration.go.

// sample is one of the waiting numbers that have a promise, each as probable as the others; 0 if there is none. random is below 1.
func (o *Outlook) sample(serving, waiting int64, random float64) (number int64) {
	if len(o.Waits) == 0 {
		return 0
	}
	if waiting = min(waiting, o.Waits[len(o.Waits)-1][0]-serving); waiting < 1 {
		return 0
	}
	return serving + 1 + int64(random*float64(waiting))
}

// told is the promise to a random waiting number; nil for all if there is none.
func (o *Outlook) told(serving, waiting int64) (number *int64, from, to *time.Time) {
	n := o.sample(serving, waiting, rand.Float64())
	if e := o.Of(n); n > 0 && !e.IsUnknown {
		return &n, &e.From, &e.To
	}
	return nil, nil, nil
}
