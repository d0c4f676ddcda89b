package waitingroom

import (
	"math"
	"time"
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
