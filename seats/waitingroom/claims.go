package waitingroom

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	claimsFor    = 10 * time.Second // how far back Lately looks
	claimsEach   = time.Second      // and how finely
	fewestClaims = 40               // with fewer, one slow claim would be one in twenty
	claimBuckets = 2 * 24           // two for each doubling of a microsecond, up to 16 s
)

// claims measures how fast this node answers claims. To note one takes two additions and no lock.
type claims struct {
	took   [claimBuckets]atomic.Int64 // claims by how long they took
	failed atomic.Int64

	mu   sync.Mutex
	past []claimCounts // of the last claimsFor, oldest first; guarded by mu
}

// claimCounts is all claims up to a moment.
type claimCounts struct {
	at     time.Time
	took   [claimBuckets]int64
	failed int64
}

// Answered notes that a claim was answered on this node, how long that took, and with which error. A refusal is as good
// an answer as a seat.
func (g *Gate) Answered(took time.Duration, err error) {
	if errors.Is(err, context.Canceled) { // the caller went away
		return
	}
	_, refusal := errors.AsType[*seats.Refusal](err)
	_, nonsense := errors.AsType[*seats.Nonsense](err)
	if err != nil && !refusal && !nonsense && !errors.Is(err, seats.ErrSessionEnded) {
		g.claims.failed.Add(1)
	}
	g.claims.took[bucketOf(took)].Add(1)
}

// bucketOf is the octave of a time and its half: the buckets begin at 0, 1, 2, 3, 4, 6, 8, 12, 16 µs and so on.
func bucketOf(took time.Duration) int {
	us := uint64(max(0, took.Microseconds()))
	if us < 2 {
		return int(us)
	}
	octave := bits.Len64(us) - 1
	return min(2*octave+int(us>>(octave-1)&1), claimBuckets-1)
}

// endOf is where a bucket ends.
func endOf(bucket int) time.Duration {
	if bucket < 2 {
		return time.Duration(bucket+1) * time.Microsecond
	}
	return time.Duration(uint64(1)<<(bucket/2)+uint64(1+bucket%2)<<(bucket/2-1)) * time.Microsecond
}

// lately tells within which time 95 % of the claims of the last seconds were answered, to the half of an octave above,
// and which share of them failed; 0 if there were too few to tell.
func (c *claims) lately(now time.Time) (slow time.Duration, failed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here := claimCounts{at: now, failed: c.failed.Load()}
	for i := range c.took {
		here.took[i] = c.took[i].Load()
	}
	for len(c.past) > 1 && now.Sub(c.past[0].at) > claimsFor {
		c.past = c.past[1:]
	}
	since := claimCounts{}
	if len(c.past) > 0 {
		since = c.past[0]
	}
	if len(c.past) == 0 || now.Sub(c.past[len(c.past)-1].at) >= claimsEach {
		c.past = append(c.past, here)
	}
	var all int64
	for i := range here.took {
		here.took[i] -= since.took[i]
		all += here.took[i]
	}
	if all < fewestClaims {
		return 0, 0
	}
	left := all - all*95/100
	for i := claimBuckets - 1; i >= 0; i-- {
		if left -= here.took[i]; left < 0 {
			slow = endOf(i)
			break
		}
	}
	return slow, float64(here.failed-since.failed) / float64(all)
}
