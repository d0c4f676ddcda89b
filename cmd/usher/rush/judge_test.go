package rush

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sendTo lets a small crowd come to an office of the tests: places for half of the people, half of whom ask twice.
func sendTo(t *testing.T, url string, giveUp float64) *Report {
	t.Helper()
	report, err := Run(t.Context(), &Crowd{
		URL: url, Event: "evening", Scenario: Places, People: 40, Over: 200 * time.Millisecond, Repeat: 0.5, GiveUp: giveUp, Connections: 4, Seed: 7, Own: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestAnHonestOfficeIsNotAccused(t *testing.T) {
	t.Parallel()
	report := sendTo(t, openOffice(t, 60, ""), 0.2)
	if report.Failed() || report.Got == 0 || report.SoldOut == 0 {
		t.Errorf("%d got places and %d were told that it is sold out; found: %s", report.Got, report.SoldOut, strings.Join(report.Lies(), "\n"))
	}
}

func TestCrowd_SaysHowLatePeopleCame(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), &Crowd{URL: openOffice(t, 60, ""), Event: "evening", Scenario: Places, People: 40, Connections: 1, Seed: 7, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	if late := report.Late.Seconds(); late < report.Seconds/4 || late > report.Seconds { // they came at once, and one after the other
		t.Errorf("people came up to %v late within %v s", report.Late, report.Seconds)
	}
}

func TestTheJudgeFindsEveryPlantedLie(t *testing.T) {
	t.Parallel()
	for lie, found := range map[string]func(*Report) int{
		"sells a seat twice":               func(r *Report) int { return r.Oversold },
		"refuses though it is free":        func(r *Report) int { return r.Untrue },
		"says that a free seat is taken":   func(r *Report) int { return r.Untrue },
		"forgets keys":                     func(r *Report) int { return r.Untrue },
		"loses a granted seat":             func(r *Report) int { return r.Untrue + r.Oversold }, // another person may get it
		"shows a held seat as free":        func(r *Report) int { return r.Untrue },
		"grants what was not requested":    func(r *Report) int { return r.Untrue },
		"counts one too few":               func(r *Report) int { return r.Untrue },
		"forgets who came":                 func(r *Report) int { return r.Untrue },
		"gives less than it was asked for": func(r *Report) int { return r.Untrue },
		"gives no cookie":                  func(r *Report) int { return r.Untrue },
		"does not take seats back":         func(r *Report) int { return r.Untrue },
		"fails":                            func(r *Report) int { return r.Errors },
		"answers nonsense":                 func(r *Report) int { return r.Errors },
		"hangs up":                         func(r *Report) int { return r.Errors },
	} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			giveUp := 0.2
			if lie == "does not take seats back" {
				giveUp = 1 // of those who get seats, in any order
			}
			report := sendTo(t, openOffice(t, 60, lie), giveUp)
			if found(report) == 0 || !report.Failed() || len(report.Lies()) == 0 {
				t.Errorf("it was not found: untrue %d, oversold %d, errors %d, %q", report.Untrue, report.Oversold, report.Errors, report.Lies())
			}
		})
	}
}

func TestARefusalIsTrueIfThereWasTooLittleAtAnyMomentOfTheWait(t *testing.T) {
	t.Parallel()
	h := &venue{categories: []string{"A"}, seats: []place{{area: -1, free: true, label: "1"}, {area: -1, free: true, label: "2"}}}
	b := &books{grants: []*grant{{seats: []int32{0}, from: 10, until: 20}, {who: 1, seats: []int32{1}, from: 15, until: 30}}}
	b.clock.known = true
	for _, test := range []struct {
		sent, received int64
		wanted         int16
		untrue         int
	}{
		{0, 9, 1, 1},
		{0, 9, 3, 0},
		{0, 12, 1, 1},
		{0, 12, 2, 0},
		{0, 15, 1, 0},
		{15, 16, 1, 0},
		{20, 25, 1, 0},
		{21, 25, 1, 1},
		{25, 40, 2, 0},
		{31, 40, 2, 1},
		{5, 100, 1, 0},
	} {
		b.untrue, b.soldOut = 0, []soldOut{{test.sent, test.received, scope{0, -1}, test.wanted}}
		if b.judgeSoldOut(h); b.untrue != test.untrue {
			t.Errorf("refused %d between %d and %d: %d untrue, want %d", test.wanted, test.sent, test.received, b.untrue, test.untrue)
		}
	}
}

func TestTheLargestNumberOfASpanIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	h := &venue{seats: make([]place, 50)}
	for i := range h.seats {
		h.seats[i] = place{free: true, area: -1}
	}
	b := &books{}
	for i := range 50 {
		from := random.Int64N(1000)
		b.grants = append(b.grants, &grant{seats: []int32{int32(i)}, from: from, until: from + random.Int64N(300)})
	}
	c := b.course(h, scope{-1, -1})
	for range 500 {
		from := random.Int64N(1300)
		to, most := from+random.Int64N(100), 0
		for at := from; at <= to; at++ {
			n := 0
			for _, g := range b.grants {
				if g.from <= at && at <= g.until {
					n++
				}
			}
			most = max(most, n)
		}
		if got := c.most(from, to); got != most {
			t.Fatalf("from %d to %d at most %d were taken, counted %d", from, to, got, most)
		}
	}
}

func TestLedger_LostAnswerExcusesOnlyItsOwnSeats(t *testing.T) {
	t.Parallel()
	h := &venue{categories: []string{"A"}, labels: map[string]int32{"1": 0, "2": 1, "3": 2}}
	for label := range 3 {
		h.seats = append(h.seats, place{area: -1, free: true, label: strconv.Itoa(label + 1)})
	}
	b := &books{longest: 100}
	b.lost(h, &claimBody{Seats: []string{"1"}, scope: scope{-1, -1}}, 10, 20) // held from 10 to 120 at most
	for _, test := range []struct {
		seat           int32
		sent, received int64
		untrue         int
	}{
		{0, 0, 9, 1},
		{0, 0, 10, 0},
		{0, 120, 130, 0},
		{0, 121, 130, 1},
		{1, 15, 16, 1},
	} {
		b.untrue, b.taken = 0, []taken{{test.sent, test.received, test.seat, 1}}
		if b.judgeTaken(h, b.bySeat(3)); b.untrue != test.untrue {
			t.Errorf("told between %d and %d that seat %d is taken: %d untrue, want %d", test.sent, test.received, test.seat+1, b.untrue, test.untrue)
		}
	}
	for _, test := range []struct {
		sent, received int64
		wanted         int16
		untrue         int
	}{
		{0, 9, 3, 1},
		{15, 16, 3, 0},
		{15, 16, 2, 1},
		{121, 130, 3, 1},
	} {
		b.untrue, b.soldOut = 0, []soldOut{{test.sent, test.received, scope{0, -1}, test.wanted}}
		if b.judgeSoldOut(h); b.untrue != test.untrue {
			t.Errorf("refused %d between %d and %d: %d untrue, want %d", test.wanted, test.sent, test.received, b.untrue, test.untrue)
		}
	}
}
