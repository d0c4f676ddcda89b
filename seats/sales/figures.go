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
	Holding, Paying int // visitors with held seats, and with a payment under way
	Paid   int   // visitors who ever began a payment
	Total  Sums  // since the beginning
	Waived int64 // refunded for valid tickets, less the fees kept of cancelled ones; minor units

	SalesRate     float64 // seats sold a minute, over the last minute or so
	SalesRateSlow float64 // over the last five
	RevenueRate   float64 // minor units a minute, over the last five
	SellOut       *Range  // nil: unknown

	Conversion Rate // holds that ended in an order, of those that are over
	Expired    Rate // holds that expired, of the same
	Lately     Rate // holds that expired, of the latest of them
}

// Revenue is the price of all valid tickets, less refunds for them, plus fees kept of cancelled ones.
func (f *Figures) Revenue() int64 { return f.Total.Revenue - f.Waived }

// Capacity is how many seats can be sold, without blocked ones.
func (f *Figures) Capacity() int { return f.Free + f.Held + f.Sold }

// Range is when something is likely to happen.
type Range struct{ From, To time.Time }

// Rate is a share: Some of Of.
type Rate struct{ Some, Of int }

// Share is the rate between 0 and 1; 0 if Of is 0.
func (r Rate) Share() float64 {
	if r.Of == 0 {
		return 0
	}
	return float64(r.Some) / float64(r.Of)
}

// enough is how many holds make a rate meaningful.
const enough = 10

// Known reports whether the rate is meaningful.
func (r Rate) Known() bool { return r.Of >= enough }

const (
	leastRate  = 1.0            // seats a minute, below which there is no forecast
	FewOrders  = 45             // below which there is no forecast: the rate of fewer is less exact than uncertain, by 1/√n
	mostAhead  = 48 * time.Hour // longest forecast
	uncertain  = 0.15           // of the rate, to either side
	cohorts    = 60             // minutes of holds in a rate
	lateCohort = 10             // minutes of holds in Lately
)

// figures computes the figures at a time of the database's clock.
func (t *Stats) figures(now time.Time, e seats.Event) Figures {
	f := Figures{
		Version: t.Version, At: now, Counts: t.Counts, Total: t.Total, Paid: t.Paid,
		Free: total(t.Counts.Free), Held: total(t.Counts.Held), Sold: total(t.Counts.Sold), Blocked: total(t.Counts.Blocked),
		SalesRate: t.fast.since(t.first, now), SalesRateSlow: t.slow.since(t.first, now), RevenueRate: t.money.since(t.first, now),
	}
	f.Holding, f.Paying = t.Holding()
	if f.Total.Orders >= FewOrders {
		f.SellOut = sellOut(now, f.Free+f.Held, f.SalesRate, f.SalesRateSlow)
	}
	f.rates(t, now, e)
	return f
}

// sellOut forecasts when the rest is sold at the current rate; nil if the rate is too low or there is no rest.
func sellOut(now time.Time, rest int, fast, slow float64) *Range {
	if rest == 0 || slow < leastRate || fast < leastRate/2 {
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

// rates counts the outcomes of holds that began at least a hold's length ago. Of later ones only the quick orders are over,
// which would make the rates too good.
func (f *Figures) rates(t *Stats, now time.Time, e seats.Event) {
	until := Minute.of(now.Add(-e.HoldLength)) // this minute and later ones may still be open
	for n := until - cohorts; n < until; n++ {
		r := t.minutes.rows[n]
		if r == nil {
			continue
		}
		f.Conversion.Some, f.Conversion.Of = f.Conversion.Some+r.Ordered, f.Conversion.Of+r.Begun
		f.Expired.Some, f.Expired.Of = f.Expired.Some+r.Expired, f.Expired.Of+r.Begun
		if n >= until-lateCohort {
			f.Lately.Some, f.Lately.Of = f.Lately.Some+r.Expired, f.Lately.Of+r.Begun
		}
	}
}

// salesRate is a rate per minute: an exponentially weighted mean in which events as long ago as over count for a third. It depends
// only on the added events.
type salesRate struct {
	over time.Duration
	rate float64 // per minute, at the last event
	last time.Time
}

func (p *salesRate) add(at time.Time, n float64) {
	p.rate = p.at(at) + n/p.over.Minutes()
	if at.After(p.last) {
		p.last = at
	}
}

// at is the rate at a time after the last event.
func (p *salesRate) at(now time.Time) float64 {
	if p.last.IsZero() {
		return 0
	}
	return p.rate * math.Exp(-float64(max(0, now.Sub(p.last)))/float64(p.over))
}

// leastSince is the shortest time over which a rate is computed.
const leastSince = 10 * time.Second

// since is the rate of events that began at a time. It corrects for the time before, when nothing could happen.
func (p *salesRate) since(first, now time.Time) float64 {
	if first.IsZero() {
		return 0
	}
	part := 1 - math.Exp(-float64(max(leastSince, now.Sub(first)))/float64(p.over))
	return p.at(now) / part
}
