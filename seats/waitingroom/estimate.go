package waitingroom

import (
	"context"
	"fmt"
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
}

// outlookPoints is the number of points in Outlook.Ahead.
const outlookPoints = 32

// foresee makes the outlook of a room. Before the first count presence is nil, and every visitor counts as present.
func foresee(seen *Seen, step Step, serving int64, present *Presence, rate, leave float64) Outlook {
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
	Wait      time.Duration // most likely
	From, To  time.Duration // as shown
	Seat      string        // Likely, Uncertain, Unlikely or Unknown
	IsUnknown bool          // there is no estimate, such as while no visitor is admitted
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

// Each call records the estimate of one random number at that moment. Later its accuracy is measured.

// sample is a random waiting number, near and far ones alike; 0 if no visitor waits.
func sample(serving, waiting int64, random float64) (number int64) {
	if waiting < 1 {
		return 0
	}
	return serving + min(waiting, int64(math.Pow(float64(waiting+1), random)))
}

// told is the estimate of one random waiting number; nil for both without a waiting visitor or an estimate.
func (o *Outlook) told(serving, waiting int64) (number *int64, wait *float64) {
	n := sample(serving, waiting, rand.Float64())
	e := o.Of(n)
	if n == 0 || e.IsUnknown {
		return nil, nil
	}
	seconds := e.Wait.Seconds()
	return &n, &seconds
}

// Accuracy compares past estimates with the real waits.
type Accuracy struct {
	Told   int     // estimates of a minute or more for numbers that were called since
	Within float64 // share of them with the real wait in the shown range
	Off    float64 // median error, as a share of the estimate
}

// Shorter waits are shown as "less than a minute", so their error does not count. The range is that of Estimate.
const accuracySQL = `
SELECT count(*), coalesce(avg((off <= 0.2)::int), 0)::float8, coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY off), 0)::float8
  FROM room r, called t,
       LATERAL (SELECT at FROM called WHERE room_id = r.id AND epoch = r.epoch AND serving >= t.told_number ORDER BY serving LIMIT 1) c,
       LATERAL (SELECT abs(extract(epoch FROM c.at - t.at)::float8 / t.told_wait - 1) AS off OFFSET 0) e
 WHERE r.slug = $1 AND t.room_id = r.id AND t.epoch = r.epoch AND t.told_wait >= 60`

// Accuracy measures the past estimates of a room.
func (c Control) Accuracy(ctx context.Context, slug string) (a Accuracy, err error) {
	if err = c.DB.QueryRow(ctx, accuracySQL, slug).Scan(&a.Told, &a.Within, &a.Off); err != nil {
		return a, fmt.Errorf("waitingroom: measure the estimates of room %q: %w", slug, err)
	}
	return a, nil
}
