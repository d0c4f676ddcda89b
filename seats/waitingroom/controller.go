package waitingroom

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

// Cohort is the numbers of one call, or of several in a row: how long ago it was, how many of them had a person who could
// come, and how many of those came in since.
type Cohort struct {
	Age    time.Duration
	Called int // less those who gave up before
	Came   int
}

// Habits are what people in this sale do, measured once there are enough of them.
type Habits struct {
	Buying    float64 // share of those who came in that take seats, 0 to 1
	Seats     float64 // seats each of them takes
	Returning float64 // share of held seats that come back free, 0 to 1
}

// UsualHabits stand for what is not measured yet: of those invited to large sales about 40 % buy three tickets each, and
// of those who come in far more.
var UsualHabits = Habits{Buying: 0.65, Seats: 2.5, Returning: 0.2}

// Seen is what one look at a room sees.
type Seen struct {
	Since   time.Duration // since the look before, 1 s as a rule; more than 3 s count as 3
	Waiting int64         // numbers given out and not called
	Slots   int           // people inside at once, at most
	Active  int           // people inside
	Holding int           // those of them who hold seats already; 0 if unknown
	Free    int           // seats
	Held    int           // seats that may come back
	Habits  Habits
	Cohorts []Cohort // called in the last minutes, while their numbers are valid; in any order

	Limit  float64       // people let in per second at most, as the organizer says; 0: no limit
	Claims time.Duration // within which 95 % of the last claims were answered; 0: there were none
	Failed float64       // share of the last claims that failed on our side, 0 to 1
}

// Pace is what the controller remembers from one look to the next. A node that never looked begins with the zero value.
type Pace struct {
	Rate   float64 `json:"rate"`   // people per second the box office is trusted with
	Credit float64 `json:"credit"` // people of it not let in yet
	Show   float64 `json:"show"`   // share of those called that will come, as it thought last; 0 before the first look
}

// What decides how many are called.
const (
	BySlots   = "slots"   // no more have room inside
	BySeats   = "seats"   // no more would find a seat
	ByRate    = "rate"    // the organizer's limit
	ByPace    = "pace"    // claims take too long, or we go up carefully
	ByWaiting = "waiting" // nobody else waits
)

// Step is what the controller decides.
type Step struct {
	Call     int     // how many more numbers to call
	Show     float64 // of those called now, the share that will come
	Expected float64 // people called before who are still going to come, soon or late
	Soon     float64 // those of them who come within the next seconds
	By       string  // what decided
}

const (
	slowClaims = 250 * time.Millisecond // the box office is to answer 95 % of claims within
	mostFailed = 0.02                   // of claims; with more nobody is called
	steepest   = 0.05                   // of the slots are let in per second at most
	soon       = 10 * time.Second       // within which most people come who are called now
)

// Next decides how many numbers to call. It never waits for those who do not come: it counts on as many of those called
// as experience says will still come, and calls more of them for each place inside accordingly. Nobody is called whom no
// seat would be left for. Rates are in people per second.
func Next(pace Pace, seen Seen) (Pace, Step) {
	came := respond(seen.Cohorts)
	step := Step{Show: came.show(), Expected: came.expected(seen.Cohorts, oldest), Soon: came.expected(seen.Cohorts, soon)}
	pace = pace.after(&seen)
	pace.Show = step.Show

	people, by := float64(seen.Waiting)*step.Show, ByWaiting
	for _, bound := range []struct {
		people float64
		by     string
	}{
		{seen.room(step.Soon), BySlots},
		{seen.seats(step.Expected), BySeats},
		{pace.Credit, seen.pacedBy(pace)},
	} {
		if bound.people < people {
			people, by = bound.people, bound.by
		}
	}
	// Half a person is a person, or a room of one slot would stand still over a fraction.
	call := math.Floor(max(0, people)/step.Show + 0.5)
	if by == ByPace || by == ByRate {
		call = math.Floor(max(0, people) / step.Show)
	}
	step.Call, step.By = int(min(call, float64(seen.Waiting))), by
	pace.Credit = max(0, pace.Credit-float64(step.Call)*step.Show)
	return pace, step
}

// room is how many more people have room inside when they come. Those who come soon may be more by chance than the mean
// says: about three times the root of how many they are is kept free for that. Nothing is kept for those who come late:
// meanwhile others leave.
func (s *Seen) room(soon float64) float64 {
	spare := 3 * (math.Sqrt(1+soon) - 1)
	return float64(s.Slots-s.Active) - soon - spare
}

// seats is how many more people will find one, beside those inside who still choose and those on their way.
func (s *Seen) seats(expected float64) float64 {
	left := float64(s.Free) + float64(s.Held)*s.Habits.Returning
	if left < 1 {
		return 0
	}
	choosing := float64(max(0, s.Active-s.Holding)) + expected
	// The last seats are worth a person each, so that none is left while somebody waits.
	return max(left/s.Habits.Seats/s.Habits.Buying-choosing, 1-choosing)
}

// pacedBy says whose limit the pace is.
func (s *Seen) pacedBy(pace Pace) string {
	if s.Limit > 0 && pace.Rate >= s.Limit {
		return ByRate
	}
	return ByPace
}

// after goes up while claims are answered in time, and down at once when they are not.
func (p Pace) after(seen *Seen) Pace {
	steep := max(1, steepest*float64(seen.Slots))
	seconds := min(seen.Since, 3*time.Second).Seconds()
	switch {
	case seen.Failed > mostFailed:
		return Pace{Rate: 1}
	case seen.Claims > slowClaims:
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
	p.Credit = min(p.Credit, 1) + p.Rate*seconds // what was not used does not pile up
	return p
}

// Ages of a call, and of those who had not come before, the share that usually comes while it has that age. The browser
// of most asks within seconds; the others come back to it.
var ages = [...]struct {
	until time.Duration
	usual float64
}{
	{2 * time.Second, 0.3},
	{5 * time.Second, 0.5},
	{10 * time.Second, 0.4},
	{20 * time.Second, 0.2},
	{40 * time.Second, 0.05},
	{80 * time.Second, 0.05},
	{160 * time.Second, 0.05},
	{320 * time.Second, 0.03},
	{oldest, 0.01},
}

// oldest is the age that no call grows beyond here: hardly anybody comes so late.
const oldest = 10 * time.Minute

// usualWeight is how many people what is usual counts as, beside those seen.
const usualWeight = 20

// response is the share of those called who have come, by the age of the call.
type response [len(ages)]float64

// respond learns from the calls of the last minutes at once how people respond: those called 10 s ago tell who comes
// within 10 s, those called 5 minutes ago who comes later.
func respond(cohorts []Cohort) (r response) {
	var called, came [len(ages)]float64
	for _, c := range cohorts {
		called[ageOf(c.Age)] += float64(c.Called)
		came[ageOf(c.Age)] += float64(c.Came)
	}
	before := 0.0
	for i := range r {
		usual := before + (1-before)*ages[i].usual
		r[i] = max(before, min(1, (came[i]+usualWeight*usual)/(called[i]+usualWeight)))
		before = r[i]
	}
	return r
}

func ageOf(age time.Duration) int {
	for i := range ages {
		if age < ages[i].until {
			return i
		}
	}
	return len(ages) - 1
}

// show is the share of those called who come at all; never so little that one person would have thousands called.
func (r response) show() float64 { return max(0.05, r[len(r)-1]) }

// at is the share of those called who have come within an age: a straight line between the middles of the ages.
func (r response) at(age time.Duration) float64 {
	var from time.Duration
	var before time.Duration // the middle before
	share := 0.0
	for i := range r {
		middle := (from + min(ages[i].until, oldest)) / 2
		if age < middle {
			return share + (r[i]-share)*float64(age-before)/float64(middle-before)
		}
		from, before, share = ages[i].until, middle, r[i]
	}
	return share
}

// expected is how many of those called are going to come within a time from now.
func (r response) expected(cohorts []Cohort, within time.Duration) (people float64) {
	for _, c := range cohorts {
		now := r.at(c.Age)
		then := r.at(min(c.Age+within, oldest))
		if now < 1 {
			people += float64(max(0, c.Called-c.Came)) * (then - now) / (1 - now)
		}
	}
	return people
}

// enough is how many people, or seats, must have done something before what they do is measured and not assumed.
const enough = 200

// Those who came in within the last hour, and of them who is done: they bought, gave up, or could have stayed no longer.
const habitsSQL = `
SELECT count(*) FILTER (WHERE a.outcome IS NOT NULL OR a.admitted_at < clock_timestamp() - r.stay),
       count(*) FILTER (WHERE a.outcome = 'bought'), coalesce(sum(a.seats) FILTER (WHERE a.outcome = 'bought'), 0)
  FROM room r
  LEFT JOIN admission a ON a.room_id = r.id AND a.entered > 0 AND a.admitted_at > now() - interval '1 hour'
 WHERE r.id = $1`

// done is what people and seats of a room did.
type done struct {
	ended, bought, seats int64 // people who are done, those of them who bought, and the seats of these
	returned, sold       int64 // seats that were held: they came back free, or were sold
}

// habits are what is usual, and what was measured where enough was.
func (d done) habits() Habits {
	h := UsualHabits
	if d.ended >= enough {
		h.Buying = max(0.05, float64(d.bought)/float64(d.ended))
	}
	if d.bought >= enough && d.seats >= d.bought {
		h.Seats = float64(d.seats) / float64(d.bought)
	}
	if all := d.returned + d.sold; all >= enough {
		h.Returning = min(0.95, float64(d.returned)/float64(all))
	}
	return h
}

// ended adds up what became of held seats in the events of a room, as far as this node saw it.
func (g *Gate) ended(room *Room) (returned, sold int64) {
	if g.Ended == nil {
		return 0, 0
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	for event, r := range g.event {
		if r == room {
			back, kept := g.Ended(event)
			returned, sold = returned+back, sold+kept
		}
	}
	return returned, sold
}

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
