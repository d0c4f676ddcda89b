package sales

import (
	"math"
	"time"

	"github.com/usherbox/usher/seats"
)

// Figures are how an event stands at one moment.
type Figures struct {
	Version int64
	At      time.Time // the database's clock when they were made
	Counts  seats.Counts
	Free, Held, Sold, Blocked,
	Holding, Paying int // people who hold seats, and for whom a payment runs
	Paid   int   // people for whom a payment began, ever
	Total  Sums  // since the beginning
	Waived int64 // given back although the tickets hold, without fees kept of cancelled ones; minor units

	Pace      float64 // seats sold a minute, over the last minute or so
	PaceSlow  float64 // over the last five
	MoneyPace float64 // minor units a minute, over the last five
	SellOut   *Range  // nil: not known

	Conversion Rate // holds that ended in an order, of those that had the time for it
	Lapses     Rate // holds that lapsed, of the same
	Lately     Rate // holds that lapsed, of the last of them
}

// Revenue is what the tickets cost that are live, without what was given back of it, and with fees that did not go back.
func (f *Figures) Revenue() int64 { return f.Total.Revenue - f.Waived }

// Capacity is how many seats there are to be sold: blocked ones are not.
func (f *Figures) Capacity() int { return f.Free + f.Held + f.Sold }

// Range is from when to when something is likely to happen.
type Range struct{ From, To time.Time }

// Rate is how many of so many.
type Rate struct{ Some, Of int }

// Share is the rate between 0 and 1; 0 of nothing.
func (r Rate) Share() float64 {
	if r.Of == 0 {
		return 0
	}
	return float64(r.Some) / float64(r.Of)
}

// enough is how many holds a rate is about at least before anybody is shown it.
const enough = 10

// Known reports whether the rate is of enough to say something.
func (r Rate) Known() bool { return r.Of >= enough }

const (
	leastPace  = 1.0            // seats a minute below which there is no forecast
	mostAhead  = 48 * time.Hour // the longest forecast
	uncertain  = 0.15           // of the pace, to either side
	cohorts    = 60             // minutes of holds that rates are of
	lateCohort = 10             // of those, what happens lately
)

// figures makes them of what the log says, at a time of the database's clock.
func (t *Tally) figures(now time.Time, e seats.Event) Figures {
	f := Figures{
		Version: t.Version, At: now, Counts: t.Counts, Total: t.Total, Paid: t.Paid,
		Free: total(t.Counts.Free), Held: total(t.Counts.Held), Sold: total(t.Counts.Sold), Blocked: total(t.Counts.Blocked),
		Pace: t.fast.since(t.first, now), PaceSlow: t.slow.since(t.first, now), MoneyPace: t.money.since(t.first, now),
	}
	f.Holding, f.Paying = t.Holding()
	f.SellOut = sellOut(now, f.Free+f.Held, f.Pace, f.PaceSlow)
	f.rates(t, now, e)
	return f
}

// sellOut is when the rest is sold if it goes on like this; nil if that is too slow to say or there is no rest.
func sellOut(now time.Time, rest int, fast, slow float64) *Range {
	if rest == 0 || slow < leastPace || fast < leastPace/2 {
		return nil
	}
	soon := float64(rest) / (max(fast, slow) * (1 + uncertain))
	late := float64(rest) / (min(fast, slow) * (1 - uncertain))
	if late > mostAhead.Minutes() {
		return nil
	}
	after := func(minutes float64) time.Time { return now.Add(time.Duration(minutes * float64(time.Minute))) }
	return &Range{after(soon), after(late)}
}

// rates counts what became of the holds that began a hold's length ago or before: of later ones only the quick are over,
// and those would make everything look better than it is.
func (f *Figures) rates(t *Tally, now time.Time, e seats.Event) {
	until := Minute.of(now.Add(-e.HoldLength)) // this minute and later ones may still be open
	for n := until - cohorts; n < until; n++ {
		r := t.minutes.rows[n]
		if r == nil {
			continue
		}
		f.Conversion.Some, f.Conversion.Of = f.Conversion.Some+r.Ordered, f.Conversion.Of+r.Begun
		f.Lapses.Some, f.Lapses.Of = f.Lapses.Some+r.Lapsed, f.Lapses.Of+r.Begun
		if n >= until-lateCohort {
			f.Lately.Some, f.Lately.Of = f.Lately.Some+r.Lapsed, f.Lately.Of+r.Begun
		}
	}
}

// pace is how much happens in a minute, by a mean that forgets exponentially: what is as long ago as over counts for a
// third. It is a function of what was added alone.
type pace struct {
	over time.Duration
	rate float64 // a minute, at last
	last time.Time
}

func (p *pace) add(at time.Time, n float64) {
	p.rate = p.at(at) + n/p.over.Minutes()
	if at.After(p.last) {
		p.last = at
	}
}

// at is the pace at a time, if nothing happened since the last.
func (p *pace) at(now time.Time) float64 {
	if p.last.IsZero() {
		return 0
	}
	return p.rate * math.Exp(-float64(max(0, now.Sub(p.last)))/float64(p.over))
}

// leastSince is how long ago the first was at least: a pace needs more than a moment.
const leastSince = 10 * time.Second

// since is the pace of what began only then: it corrects for the time before, when nothing could happen.
func (p *pace) since(first, now time.Time) float64 {
	if first.IsZero() {
		return 0
	}
	part := 1 - math.Exp(-float64(max(leastSince, now.Sub(first)))/float64(p.over))
	return p.at(now) / part
}
