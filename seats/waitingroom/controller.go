package waitingroom

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

// Cohort counts the visitors of some calls: how many were called and did not give up before, and how many came in.
type Cohort struct{ Called, Came int }

// Habits are what the visitors of a sale do. They are measured once there are enough visitors.
type Habits struct {
	Buying    float64 // share of the admitted visitors that buy, 0 to 1
	Seats     float64 // seats per buyer
	Returning float64 // share of held seats that become available again, 0 to 1
}

// UsualHabits stand in for habits that are not measured yet. In large sales about 40 % of those invited buy, three
// tickets each; of those who come in far more do.
var UsualHabits = Habits{Buying: 0.65, Seats: 2.5, Returning: 0.2}

// Seen is what one look at a room sees.
type Seen struct {
	Since   time.Duration // since the look before, 1 s as a rule; more than 3 s count as 3
	Waiting int64         // numbers given out and not called
	Slots   int           // visitors inside at once, at most
	Active  int           // visitors inside
	Holding int           // those of them who hold seats already; 0 if unknown
	Free    int           // seats
	Held    int           // seats that may become available again
	Habits  Habits
	Recent  Cohort // called less than responseTime ago
	Settled Cohort // called before that, while their numbers are valid

	Limit  float64 // visitors admitted per second at most, set by the organizer; 0: no limit
	Slow   float64 // share of the last claims that took longer than slowClaims, 0 to 1
	Failed float64 // share of the last claims that failed on our side, 0 to 1
}

// Pace is what the controller remembers from one look to the next. The zero value is that of the first look.
type Pace struct {
	Rate   float64 `json:"rate"`   // visitors per second that the box office can take
	Credit float64 `json:"credit"` // visitors of it not called yet
	Show   float64 `json:"show"`   // the last Step.Show; 0 before the first look
}

// What limits a call.
const (
	BySlots   = "slots"   // no more have room inside
	BySeats   = "seats"   // no more would find a seat
	ByRate    = "rate"    // the organizer's limit
	ByPace    = "pace"    // claims are slow, or the rate is still growing
	ByWaiting = "waiting" // no other visitor waits
)

// Step is what the controller decides.
type Step struct {
	Call     int     // how many more numbers to call
	Show     float64 // share of those called now that will come
	Expected float64 // visitors called before who are still on their way
	By       string  // what limited the call
}

const (
	slowClaims   = 250 * time.Millisecond // 95 % of claims should be faster
	mostSlow     = 0.05                   // share of slow claims above which the rate falls
	mostFailed   = 0.02                   // share of failed claims above which the rate falls to one visitor a second
	steepest     = 0.05                   // share of the slots that is filled per second at most
	responseTime = 10 * time.Second       // within which most called visitors come, if they come at all
	usualShow    = 0.85                   // share of called visitors that comes
	usualWeight  = 20                     // visitors that usualShow counts as, beside those seen
)

// Next decides how many numbers to call. It does not wait for visitors who do not come: from the calls of the last minutes
// it knows which share does, and calls more numbers accordingly. It calls a visitor only if a seat will be left for them.
func Next(pace Pace, seen Seen) (Pace, Step) {
	var step Step
	step.Show, step.Expected = seen.response()
	pace = pace.after(&seen)
	pace.Show = step.Show

	visitors := float64(seen.Waiting) * step.Show
	step.By = ByWaiting
	limit := func(most float64, by string) {
		if most < visitors {
			visitors, step.By = most, by
		}
	}
	limit(seen.room(step.Expected), BySlots)
	limit(seen.seats(step.Expected), BySeats)
	half := 0.5 // half a visitor counts as one, or a room of one slot would stand still over a fraction
	if pace.Credit < visitors {
		visitors, step.By, half = pace.Credit, ByPace, 0
		if seen.Limit > 0 && pace.Rate >= seen.Limit {
			step.By = ByRate
		}
	}
	step.Call = int(min(math.Floor(max(0, visitors)/step.Show+half), float64(seen.Waiting)))
	pace.Credit = max(0, pace.Credit-float64(step.Call)*step.Show)
	return pace, step
}

// response is the share of called visitors that comes, and how many of the recent calls are still on their way. The share
// has a floor, or one visitor would have thousands called.
func (s *Seen) response() (show, expected float64) {
	show = (float64(s.Settled.Came) + usualWeight*usualShow) / float64(s.Settled.Called+usualWeight)
	show = min(max(0.05, show), 1)
	return show, max(0, float64(s.Recent.Called)*show-float64(s.Recent.Came))
}

// room is how many more visitors have room inside. Three standard deviations of those on their way stay free: more may come
// than the mean says. Nothing is reserved for late visitors, because others leave meanwhile.
func (s *Seen) room(expected float64) float64 {
	spare := 3 * (math.Sqrt(1+expected) - 1)
	return float64(s.Slots-s.Active) - expected - spare
}

// seats is how many more visitors will find a seat after those who choose now and those on their way.
func (s *Seen) seats(expected float64) float64 {
	left := float64(s.Free) + float64(s.Held)*s.Habits.Returning
	if left < 1 {
		return 0
	}
	choosing := float64(max(0, s.Active-s.Holding)) + expected
	// The last seats are worth one visitor each, so that none is left while another visitor waits.
	return max(left/s.Habits.Seats/s.Habits.Buying-choosing, 1-choosing)
}

// after raises the rate while claims are answered in time, and lowers it at once when they are not.
func (p Pace) after(seen *Seen) Pace {
	steep := max(1, steepest*float64(seen.Slots))
	seconds := min(seen.Since, 3*time.Second).Seconds()
	switch {
	case seen.Failed > mostFailed:
		return Pace{Rate: 1}
	case seen.Slow > mostSlow:
		p.Rate *= math.Pow(0.7, seconds)
	case p.Rate == 0:
		p.Rate = steep
	default:
		p.Rate += max(0.05*p.Rate, 1) * seconds
	}
	p.Rate = min(max(p.Rate, 0.1), steep)
	if seen.Limit > 0 {
		p.Rate = min(p.Rate, seen.Limit)
	}
	p.Credit = min(p.Credit, 1) + p.Rate*seconds // unused credit does not pile up
	return p
}

const (
	claimsFor    = 10 * time.Second // how far back claims are counted
	fewestClaims = 40               // with fewer, one slow claim would be one in twenty
)

// claims counts how fast this node answers claims. Noting one takes two additions and no lock.
type claims struct {
	all, slow, failed atomic.Int64

	mu   sync.Mutex
	past []claimCounts // one for each second of the last claimsFor, oldest first; guarded by mu
}

// claimCounts is all claims up to a moment.
type claimCounts struct {
	at                time.Time
	all, slow, failed int64
}

// Answered notes that this node answered a claim, after how long and with which error. A refusal is not a failure.
func (rs *Rooms) Answered(took time.Duration, err error) {
	if errors.Is(err, context.Canceled) { // the caller went away
		return
	}
	_, refusal := errors.AsType[*seats.Conflict](err)
	_, nonsense := errors.AsType[*seats.ValidationError](err)
	if err != nil && !refusal && !nonsense && !errors.Is(err, seats.ErrSessionEnded) {
		rs.claims.failed.Add(1)
	}
	if took > slowClaims {
		rs.claims.slow.Add(1)
	}
	rs.claims.all.Add(1)
}

// lately returns the shares of the claims of the last seconds that were slow and that failed; 0 for too few claims.
func (c *claims) lately(now time.Time) (slow, failed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := claimCounts{now, c.all.Load(), c.slow.Load(), c.failed.Load()}
	for len(c.past) > 1 && now.Sub(c.past[0].at) > claimsFor {
		c.past = c.past[1:]
	}
	var was claimCounts
	if len(c.past) > 0 {
		was = c.past[0]
	}
	if len(c.past) == 0 || now.Sub(c.past[len(c.past)-1].at) >= time.Second {
		c.past = append(c.past, is)
	}
	all := is.all - was.all
	if all < fewestClaims {
		return 0, 0
	}
	return float64(is.slow-was.slow) / float64(all), float64(is.failed-was.failed) / float64(all)
}
