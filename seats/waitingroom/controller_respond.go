package waitingroom

import "time"

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
