package desk

import (
	"math"
	"time"
)

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
