package waitingroom

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

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

// Each call notes what the page tells somebody at that moment, so that it can be said later how right that was.

// sample is somebody who waits: the k-th from now, near ones and far ones alike. 0 if nobody waits.
func sample(serving, waiting int64, random float64) (number int64) {
	if waiting < 1 {
		return 0
	}
	return serving + min(waiting, int64(math.Pow(float64(waiting+1), random)))
}

// told is what the page tells one of those who wait; nil for both if there is nobody, or nothing to tell.
func (o *Outlook) told(serving, waiting int64) (number *int64, wait *float64) {
	n := sample(serving, waiting, rand.Float64())
	e := o.Of(n)
	if n == 0 || e.IsUnknown {
		return nil, nil
	}
	seconds := e.Wait.Seconds()
	return &n, &seconds
}

// Accuracy is how right the waits were that pages told.
type Accuracy struct {
	Told   int     // of how many people it is known: they were told a minute or more, and were called since
	Within float64 // share of them who were called in the range they were told
	Off    float64 // half of them were called sooner or later by less than this share of what they were told
}

// Shorter waits are told as "less than a minute", and nobody counts seconds then. The range is that of Estimate.
const accuracySQL = `
SELECT count(*), coalesce(avg((off <= 0.2)::int), 0)::float8, coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY off), 0)::float8
  FROM room r, called t,
       LATERAL (SELECT at FROM called WHERE room_id = r.id AND epoch = r.epoch AND serving >= t.told_number ORDER BY serving LIMIT 1) c,
       LATERAL (SELECT abs(extract(epoch FROM c.at - t.at)::float8 / t.told_wait - 1) AS off OFFSET 0) e
 WHERE r.slug = $1 AND t.room_id = r.id AND t.epoch = r.epoch AND t.told_wait >= 60`

// Accuracy looks back at what the pages of a room told.
func (c Control) Accuracy(ctx context.Context, slug string) (a Accuracy, err error) {
	if err = c.DB.QueryRow(ctx, accuracySQL, slug).Scan(&a.Told, &a.Within, &a.Off); err != nil {
		return a, fmt.Errorf("waitingroom: how right the estimates of room %q were: %w", slug, err)
	}
	return a, nil
}
