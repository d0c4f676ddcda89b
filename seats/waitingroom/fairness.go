package waitingroom

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/text"
)

// Fairness is who got what in a sale with a waiting room. It follows from the evidence, of which it has sums only.
type Fairness struct {
	At     time.Time `json:"at"`     // of the evidence
	People int64     `json:"people"` // numbers given out
	Called int64     `json:"called"` // of them
	Came   int64     `json:"came"`   // visitors who came in
	Bought int64     `json:"bought"` // of them
	Seats  int64     `json:"seats"`  // that those bought

	Early    int64   `json:"early"`         // visitors who came in before their number was called: 0
	Repeated bool    `json:"repeated"`      // a draw was made, and its record gives the same numbers again
	Uneven   float64 `json:"uneven"`        // how probable it is that an honest draw favours a run of arrivals so much; 1 without a draw
	Run      *Group  `json:"run,omitempty"` // the run of arrivals that it favoured most

	Groups []Group `json:"groups"`

	Tickets   fairness.Count `json:"tickets"`   // sold for the events of the room, also without it
	Shared    fairness.Count `json:"shared"`    // of them, of orders with an email address, account or card that another order has
	Returned  fairness.Count `json:"returned"`  // of them, cancelled later
	Refunded  fairness.Count `json:"refunded"`  // orders of which money went back, or is to
	Throttled int64          `json:"throttled"` // joins that were refused because many came from one network at once
	Unproven  int64          `json:"unproven"`  // joins that were refused for an invalid proof of work

	Refused map[string]int64 `json:"refused,omitempty"` // claims by the code of what refused them; a person may make many

	Said  int64 `json:"said"`  // promised times that are decided
	Right int64 `json:"right"` // of them, right ones
}

// What a group of visitors has in common.
const (
	ByArrival = "arrival" // places in the lobby, in the order of joining
	ByLine    = "line"    // places after the lobby, in the order of joining
	ByNumber  = "number"  // numbers
	ByMinute  = "minute"  // minutes from the first call to that of their number, from 0
	ByParty   = "party"   // seats that they bought
	ByPath    = "path"    // how they joined, if the room asks for work: CameBy has the names, From is the place in it
)

// CameBy are the ways to join a room: with a proof of work, after a minute of waiting instead, or by a verified address.
var CameBy = []string{"work", "patience", "address"}

// Group is visitors with something in common.
type Group struct {
	By     string `json:"by"`
	From   int64  `json:"from"` // of what they have in common
	To     int64  `json:"to"`
	People int64  `json:"people"`
	Called int64  `json:"called"`
	Came   int64  `json:"came"`
	Bought int64  `json:"bought"`
	Seats  int64  `json:"seats"`
}

// FairnessOf makes a report of the evidence of a room.
func FairnessOf(evidence []Evidence) (f Fairness) {
	b := newFairBook(evidence)
	if b == nil {
		return f
	}
	f.At, f.People, f.Called, f.Uneven = b.at, b.rules.Lobby+b.rules.Line, b.rules.Serving, 1
	for _, a := range b.admitted {
		if a.Entered == 0 {
			continue
		}
		f.Came++
		f.Seats += int64(a.Seats)
		if a.Seats > 0 {
			f.Bought++
		}
		if at, called := b.calledAt(a.Number); !called || a.At.Before(at) {
			f.Early++
		}
	}
	for _, e := range evidence {
		var n int64
		switch {
		case e.Kind != EvidenceControl:
		case scanned(fmt.Sscanf(e.Detail, throttledWords, &n)):
			f.Throttled += n
		case scanned(fmt.Sscanf(e.Detail, unprovenWords, &n)):
			f.Unproven += n
		}
	}
	f.Tickets, f.Shared = fairness.Sum{Tickets: b.rules.Tickets, Orders: b.rules.Orders}.Hide(), fairness.Sum{Tickets: b.rules.Shared, Orders: b.rules.SharedOrders}.Hide()
	f.Returned, f.Refunded = fairness.Sum{Tickets: b.rules.Returned, Orders: b.rules.ReturnedOrders}.Hide(), fairness.Hide(b.rules.Refunded)
	f.Refused = b.rules.Refused
	for _, e := range b.calls {
		if e.Told == nil || e.To == nil {
			continue
		}
		at, called := b.calledAt(*e.Told)
		if called || e.To.Before(b.at) {
			f.Said++
		}
		if called && !at.Before(*e.From) && !at.After(*e.To) {
			f.Right++
		}
	}
	if b.draw != nil {
		f.Repeated = len(Verify(b.draw)) == 0
		var from, to int
		f.Uneven, from, to = unevenness(b.numbers)
		run := Group{By: ByArrival, From: int64(from), To: int64(to)}
		for index := from; index <= to; index++ {
			b.count(&run, int64(b.numbers[index-1]))
		}
		if run.People >= fairness.Fewest {
			f.Run = &run
		}
	}
	f.Groups = b.groups()
	return f
}

func scanned(n int, err error) bool { return n == 1 && err == nil }

// fairBook is evidence by number.
type fairBook struct {
	at       time.Time
	rules    *Rules
	draw     *Record
	numbers  []uint32 // of the lobby, by index
	calls    []Evidence
	admitted map[int64]Evidence
}

func newFairBook(evidence []Evidence) *fairBook {
	b := &fairBook{admitted: map[int64]Evidence{}}
	var epoch int32
	for _, e := range evidence {
		switch {
		case e.Kind == EvidenceRoom:
			b.at, b.rules, epoch = e.At, e.Room, e.Epoch
		case e.Epoch != epoch:
		case e.Kind == EvidenceDraw:
			b.draw = e.Draw
			b.numbers = e.Draw.Draw().Numbers()
		case e.Kind == EvidenceCall:
			b.calls = append(b.calls, e)
		case e.Kind == EvidenceAdmission:
			b.admitted[e.Number] = e
		}
	}
	if b.rules == nil {
		return nil
	}
	slices.SortFunc(b.calls, func(x, y Evidence) int { return cmp.Compare(x.Number, y.Number) })
	return b
}

// calledAt is when a number was called.
func (b *fairBook) calledAt(number int64) (at time.Time, called bool) {
	i := sort.Search(len(b.calls), func(i int) bool { return b.calls[i].Number >= number })
	if i == len(b.calls) {
		return at, false
	}
	return b.calls[i].At, true
}

// count adds the holder of a number to a group.
func (b *fairBook) count(g *Group, number int64) {
	g.People++
	if number <= b.rules.Serving {
		g.Called++
	}
	if a := b.admitted[number]; a.Entered > 0 {
		g.Came++
		g.Seats += int64(a.Seats)
		if a.Seats > 0 {
			g.Bought++
		}
	}
}

// parts is into how many groups something is split.
const parts = 10

// groups are all groups of a report.
func (b *fairBook) groups() (list []Group) {
	lobby, last := b.rules.Lobby, b.rules.Lobby+b.rules.Line
	list = append(list, b.split(ByArrival, 1, int64(len(b.numbers)), func(yield func(int64, int64)) {
		for i, number := range b.numbers {
			yield(int64(i)+1, int64(number))
		}
	})...)
	each := func(from, to, first int64) func(func(int64, int64)) {
		return func(yield func(int64, int64)) {
			for number := from; number <= to; number++ {
				yield(number-first+1, number)
			}
		}
	}
	list = append(list, b.split(ByLine, 1, b.rules.Line, each(lobby+1, last, lobby+1))...)
	list = append(list, b.split(ByNumber, 1, last, each(1, last, 1))...)
	minute := func(number int64) int64 {
		at, _ := b.calledAt(number)
		return int64(at.Sub(b.calls[0].At) / time.Minute)
	}
	if serving := min(b.rules.Serving, last); len(b.calls) > 0 && serving > 0 {
		list = append(list, b.split(ByMinute, 0, minute(serving), func(yield func(int64, int64)) {
			for number := int64(1); number <= serving; number++ {
				yield(minute(number), number)
			}
		})...)
	}
	most := int64(0)
	for _, a := range b.admitted {
		most = max(most, int64(a.Seats))
	}
	list = append(list, b.split(ByParty, 1, most, func(yield func(int64, int64)) {
		for number, a := range b.admitted {
			if a.Seats > 0 {
				yield(int64(a.Seats), number)
			}
		}
	})...)
	return append(list, b.paths()...)
}

// split makes groups of the values from low to high, and joins neighbours until each has enough people.
func (b *fairBook) split(by string, low, high int64, each func(yield func(value, number int64))) (list []Group) {
	width := max(1, (high-low+parts)/parts)
	all := make([]Group, max(0, (high-low)/width+1))
	for i := range all {
		all[i] = Group{By: by, From: low + int64(i)*width, To: min(high, low+int64(i+1)*width-1)}
	}
	each(func(value, number int64) { b.count(&all[(value-low)/width], number) })
	for _, g := range all {
		if n := len(list); n > 0 && list[n-1].People < fairness.Fewest {
			list[n-1].join(g)
		} else {
			list = append(list, g)
		}
	}
	if n := len(list); n > 1 && list[n-1].People < fairness.Fewest {
		list[n-2].join(list[n-1])
		list = list[:n-1]
	}
	if len(list) == 1 && list[0].People < fairness.Fewest {
		return nil
	}
	return list
}

func (g *Group) join(o Group) {
	g.To = o.To
	g.People, g.Called, g.Came, g.Bought, g.Seats = g.People+o.People, g.Called+o.Called, g.Came+o.Came, g.Bought+o.Bought, g.Seats+o.Seats
}

// paths are the visitors who came in by each way to join, unless one of them has too few.
func (b *fairBook) paths() (list []Group) {
	for i, name := range CameBy {
		g := Group{By: ByPath, From: int64(i), To: int64(i)}
		for number, a := range b.admitted {
			if a.CameBy == name {
				b.count(&g, number)
			}
		}
		if g.People > 0 && g.People < fairness.Fewest {
			return nil
		}
		if g.People > 0 {
			list = append(list, g)
		}
	}
	return list
}

const (
	shortestRun = 32       // arrivals
	draws       = 499      // honest draws that one is compared with
	leastDraws  = 199      // with a large lobby
	mostWork    = 2e7      // numbers in all of them
	honestSeed  = 0x6d696e // of those draws: the same lobby is judged the same each time
)

// unevenness is how probable it is that an honest draw favours a run of arrivals as much as this one, and the run that it favours most.
// Visitors who are favoured joined together as a rule. Runs are of 32 arrivals, 64 and
// so on, each half over the one before.
func unevenness(numbers []uint32) (probability float64, from, to int) {
	if len(numbers) < 2*shortestRun {
		return 1, 1, len(numbers)
	}
	sums := make([]float64, len(numbers)+1)
	seen, from, to := favoured(numbers, sums)
	honest := slices.Clone(numbers)
	rng := rand.New(rand.NewPCG(honestSeed, uint64(len(numbers))))
	times := max(leastDraws, min(draws, int(mostWork)/len(numbers)))
	more := 0
	for range times {
		rng.Shuffle(len(honest), func(i, j int) { honest[i], honest[j] = honest[j], honest[i] })
		if other, _, _ := favoured(honest, sums); other >= seen {
			more++
		}
	}
	return float64(1+more) / float64(1+times), from, to
}

// favoured is how many standard deviations the numbers of a run of arrivals are below those of all, for the run where that is most.
func favoured(numbers []uint32, sums []float64) (most float64, from, to int) {
	n := float64(len(numbers))
	for i, number := range numbers {
		sums[i+1] = sums[i] + float64(number)
	}
	most = math.Inf(-1)
	for run := shortestRun; run <= len(numbers)/2; run *= 2 {
		deviation := math.Sqrt((n + 1) * (n - float64(run)) / 12 / float64(run))
		for start := 0; start+run <= len(numbers); start += run / 2 {
			below := ((n+1)/2 - (sums[start+run]-sums[start])/float64(run)) / deviation
			if below > most {
				most, from, to = below, start+1, start+run
			}
		}
	}
	return most, from, to
}

// Fairness makes the report of a room from its evidence.
func (c Control) Fairness(ctx context.Context, slug string) (Fairness, error) {
	var list []Evidence
	err := c.Evidence(ctx, slug, false, func(e Evidence) error { list = append(list, e); return nil })
	return FairnessOf(list), err
}

const publishFairnessSQL = `UPDATE room SET version = version + 1, fairness = $2 WHERE slug = $1 AND phase = 'ended' RETURNING id`

// PublishFairness shows all visitors the report of a room that has ended, as of now.
func (c Control) PublishFairness(ctx context.Context, slug string) error {
	f, err := c.Fairness(ctx, slug)
	if err != nil {
		return err
	}
	report, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return c.change(ctx, "fairness", "", text.Mark("The fairness report can be published once the waiting room has ended."), publishFairnessSQL, slug, report)
}

const publishedFairnessSQL = `SELECT fairness FROM room WHERE id = $1`

// Fairness is the published report of a room; nil if there is none.
func (r *Room) Fairness(ctx context.Context) (f *Fairness, err error) {
	if err := r.rooms.db.QueryRow(ctx, publishedFairnessSQL, r.ID).Scan(&f); err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: read its fairness report: %w", r.ID, err)
	}
	return f, nil
}
