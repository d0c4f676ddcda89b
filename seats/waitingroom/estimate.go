package waitingroom

import (
	"math"
	"time"
)

// Presence is how many people were still there at a time, by their numbers: a sample, scaled up.
type Presence struct {
	At     time.Time
	Width  int64     // how many numbers share a count
	People []float64 // the first count is of the numbers 1 to Width
}

// Between is how many people with numbers above after, up to upTo, were there.
func (p *Presence) Between(after, upTo int64) (people float64) {
	for i, n := range p.People {
		first := int64(i) * p.Width
		if part := min(upTo, first+p.Width) - max(after, first); part > 0 {
			people += n * float64(part) / float64(p.Width)
		}
	}
	return people
}

// share is the part of the numbers from after to upTo whose people were there. The share of few numbers is that of more of
// them, up to last: a sample of few people says little.
func (p *Presence) share(after, upTo, last int64) float64 {
	upTo = min(max(upTo, after+5*p.Width), last)
	return min(1, p.Between(after, upTo)/float64(max(1, upTo-after)))
}

// usualLeaving is the share of those who wait that leaves in a second, while it is not measured: half of them in three
// hours.
const usualLeaving = math.Ln2 / (3 * 3600)

// Leaving is the share of those present that gives up in a second, from counts of the last 20 minutes or so, oldest first.
// Only numbers that had been given out at the first count and were not called at the last tell something: those between
// after and upTo. It is the slope of a line through the logarithms of the counts, mixed with what is usual as long as they
// say little.
func Leaving(counts []Presence, after, upTo int64) float64 {
	var n, seconds, logs float64
	points := make([][2]float64, 0, len(counts))
	for i := range counts {
		if people := counts[i].Between(after, upTo); people >= 1 {
			p := [2]float64{counts[i].At.Sub(counts[0].At).Seconds(), math.Log(people)}
			n, seconds, logs = n+1, seconds+p[0], logs+p[1]
			points = append(points, p)
		}
	}
	var slope, spread float64
	for _, p := range points {
		dt := p[0] - seconds/n
		spread += dt * dt
		slope += dt * (p[1] - logs/n)
	}
	// What is usual counts as ten counts over five minutes do.
	const weight = 10 * 300 * 300 / 12
	return max(0, (weight*usualLeaving-slope)/(weight+spread))
}

// Outlook is what a room publishes so that everybody can tell their own wait: the same bytes for all.
type Outlook struct {
	Ahead  [][2]int64 `json:"ahead"`  // numbers not called yet, and how many people wait who have smaller ones; both rising
	Rate   float64    `json:"rate"`   // people who come in per second
	Leave  float64    `json:"leave"`  // share of those waiting that gives up per second
	Likely int64      `json:"likely"` // up to this number a seat is likely; 0: not even the next
	Maybe  int64      `json:"maybe"`  // up to this one it is uncertain

	Returning float64 `json:"returning"` // share of held seats that comes back, 0 to 1
}

// outlookPoints is how finely an outlook tells who is ahead.
const outlookPoints = 32

// Foresee makes the outlook of a room. Presence may be nil while nobody was counted: then everybody counts as there.
func Foresee(seen *Seen, step Step, serving int64, present *Presence, rate, leave float64) Outlook {
	o := Outlook{Ahead: [][2]int64{{serving, 0}}, Rate: rate, Leave: leave, Returning: seen.Habits.Returning}
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
	return o
}

// reach is the number up to which there are so many people. Numbers that were not given out yet are one person each: whoever
// joins before the next outlook is told what is true of them.
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

// Estimate is what one person can expect.
type Estimate struct {
	Ahead     int64         // people before them who are still there
	Wait      time.Duration // most likely
	From, To  time.Duration // what they are told
	Seat      string        // Likely, Uncertain, Unlikely or Unknown
	IsUnknown bool          // nobody can tell how long it takes, such as when nobody comes in
}

// longestWait is as far as anybody can see ahead.
const longestWait = 24 * time.Hour

// Of is the estimate of one number. static/js/stand.js comes to the same.
func (o *Outlook) Of(number int64) Estimate {
	e := Estimate{Ahead: o.before(number), Seat: Unlikely}
	switch {
	case len(o.Ahead) == 0: // nobody looked yet
		e.Seat = Unknown
	case number <= o.Likely:
		e.Seat = Likely
	case number <= o.Maybe:
		e.Seat = Uncertain
	}
	if o.Rate <= 0 {
		e.IsUnknown = true
		return e
	}
	seconds := float64(e.Ahead) / o.Rate
	if o.Leave > 0 {
		seconds = math.Log1p(o.Leave*seconds) / o.Leave
	}
	e.IsUnknown = seconds > longestWait.Seconds()
	e.Wait = time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	e.From, e.To = e.Wait*4/5, e.Wait*6/5
	return e
}

// before is how many people are before a number, in a straight line between the points.
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
	return last[1] + max(0, number-last[0]-1) // joined after this was published, or nothing was yet
}

// NeverMore keeps what one person is told from going up: nobody who comes later is put before them, so a count that rises
// is only a worse sample. A negative before is none.
func NeverMore(before, now int64) int64 {
	if before < 0 {
		return now
	}
	return min(before, now)
}
