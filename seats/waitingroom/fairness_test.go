package waitingroom

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/seatstest/race"
)

// soldOut is the evidence of a sale that never was: places of the lobby are drawn, and called a hundred a minute.
func soldOut(seed uint64, lobby, line int) []Evidence {
	r := rand.New(rand.NewPCG(seed, 3))
	at := time.Date(2030, 3, 1, 10, 0, 0, 0, time.UTC)
	d := Draw{Room: 1, Epoch: 1, People: lobby}
	for i := range d.Secret {
		d.Secret[i] = byte(r.Uint32())
	}
	record := RecordOf(d)
	serving := int64(lobby+line) * 2 / 3
	rules := &Rules{Lobby: int64(lobby), Line: int64(line), Serving: serving, Phase: PhaseEnded}
	list := []Evidence{{Kind: EvidenceRoom, At: at.Add(24 * time.Hour), Epoch: 1, Room: rules}, {Kind: EvidenceDraw, Epoch: 1, Draw: &record}}
	for first := int64(1); first <= serving; first += 100 {
		last := min(first+99, serving)
		e := Evidence{Kind: EvidenceCall, At: at.Add(time.Duration(first) * 600 * time.Millisecond), Epoch: 1, First: first, Number: last}
		told := last + 1 + r.Int64N(200)
		from, to := e.At.Add(time.Duration(told-last)*400*time.Millisecond), e.At.Add(time.Duration(told-last)*700*time.Millisecond+time.Minute)
		e.Told, e.From, e.To = &told, &from, &to
		list = append(list, e)
		for number := first; number <= last; number++ {
			if r.Float64() < 0.2 {
				continue
			}
			a := Evidence{Kind: EvidenceAdmission, At: e.At.Add(time.Duration(1+r.IntN(60)) * time.Second), Epoch: 1, Number: number, Entered: 1, Outcome: "went away", CameBy: CameBy[min(1, r.IntN(6))]}
			if r.Float64() < 0.6 {
				a.Outcome, a.Seats = "bought", 1+r.IntN(4)
				rules.Tickets, rules.Orders = rules.Tickets+int64(a.Seats), rules.Orders+1
			}
			list = append(list, a)
		}
	}
	rules.Returned, rules.ReturnedOrders, rules.Shared, rules.SharedOrders, rules.Refunded, rules.Refused = 30, 7, 40, 20, 21, map[string]int64{"limit": 12, "lone": 3}
	return append(list, Evidence{Kind: EvidenceControl, At: at, Detail: "12 joins were refused because very many came from the same network"},
		Evidence{Kind: EvidenceControl, At: at, Detail: "3 joins were refused for an invalid proof of work"})
}

// favour gives so many places of the lobby, which came one after another, numbers of the best tenth.
func favour(numbers []uint32, first, places int, r *rand.Rand) {
	at := make([]int, len(numbers)+1) // index by number
	for i, n := range numbers {
		at[n] = i
	}
	for i := first; i < first+places; i++ {
		better := 1 + r.IntN(len(numbers)/10)
		j := at[better]
		numbers[i], numbers[j] = numbers[j], numbers[i]
		at[numbers[i]], at[numbers[j]] = i, j
	}
}

func TestFairness_PlantedFavouritismIsSignificantAndHonestDrawsAreNot(t *testing.T) {
	t.Parallel()
	const lobby = 8000
	sales := race.Rounds(100)
	honest, planted := 0, 0
	for seed := range uint64(sales) {
		r := rand.New(rand.NewPCG(seed, 9))
		d := Draw{Room: int64(seed), Epoch: 1, People: lobby}
		d.Secret[0] = byte(seed)
		numbers := d.Numbers()
		if p, _, _ := unevenness(numbers); p < 0.01 {
			honest++
		}
		if seed%2 > 0 {
			continue
		}
		scattered, record := slices.Clone(numbers), RecordOf(d)
		for range lobby / 200 {
			favour(scattered, r.IntN(lobby), 1, r)
		}
		sum := sumOf(scattered)
		record.Sum = sum[:]
		if len(Verify(&record)) != 1 {
			t.Errorf("numbers that favour scattered places are said to follow from draw %d", seed)
		}
		first := r.IntN(lobby - lobby/200)
		favour(numbers, first, lobby/200, r) // 0.5 % of the places
		if p, from, to := unevenness(numbers); p < 0.01 && from-1 < first+lobby/200 && to > first {
			planted++
		}
	}
	t.Logf("significant at 1 %%: %d of %d honest draws, %d of %d that favour 0.5 %% of the places", honest, sales, planted, sales/2)
	if honest > 3 {
		t.Errorf("%d of %d honest draws are called unfair", honest, sales)
	}
	if planted < sales/2 {
		t.Errorf("%d of %d planted ones are noticed", planted, sales/2)
	}
}

// Each is half a percent of the places.
func TestFairness_EachFavourShowsInTheReport(t *testing.T) {
	t.Parallel()
	const lobby, line, favoured = 4000, 1000, 25
	admissions := func(evidence []Evidence, each func(i int, e *Evidence)) {
		n := 0
		for i := range evidence {
			if evidence[i].Kind == EvidenceAdmission && evidence[i].Seats > 0 && n < favoured {
				each(i, &evidence[i])
				n++
			}
		}
	}
	for name, planted := range map[string]struct {
		favour func(evidence []Evidence, r *rand.Rand)
		shows  func(f, honest Fairness) bool
	}{
		"let in before the call": {func(evidence []Evidence, _ *rand.Rand) {
			admissions(evidence, func(_ int, e *Evidence) { e.At = e.At.Add(-2 * time.Minute) })
		}, func(f, honest Fairness) bool { return f.Early == favoured && honest.Early == 0 }},
		"numbers exchanged after the draw": {func(evidence []Evidence, r *rand.Rand) {
			numbers := evidence[1].Draw.Draw().Numbers()
			favour(numbers, 100, favoured, r)
			sum := sumOf(numbers)
			evidence[1].Draw.Sum = sum[:]
		}, func(f, honest Fairness) bool { return !f.Repeated && honest.Repeated }},
		"another secret than the one committed to": {func(evidence []Evidence, _ *rand.Rand) {
			evidence[1].Draw.Secret[0]++
		}, func(f, honest Fairness) bool { return !f.Repeated && honest.Repeated }},
		"sold past the waiting room": {func(evidence []Evidence, _ *rand.Rand) {
			admissions(evidence, func(i int, e *Evidence) { e.Seats = 0; evidence[i].Outcome = "went away" })
		}, func(f, honest Fairness) bool {
			return *f.Tickets-f.Seats >= favoured && *honest.Tickets == honest.Seats
		}},
	} {
		for seed := range uint64(20) {
			evidence := soldOut(seed, lobby, line)
			honest := FairnessOf(evidence)
			planted.favour(evidence, rand.New(rand.NewPCG(seed, 5)))
			if f := FairnessOf(evidence); !planted.shows(f, honest) {
				t.Errorf("%s: the report of sale %d says early %d, the same draw %v, %d tickets and %d seats; without it %d, %v, %d and %d",
					name, seed, f.Early, f.Repeated, *f.Tickets, f.Seats, honest.Early, honest.Repeated, *honest.Tickets, honest.Seats)
				break
			}
		}
	}
}

// again computes the sums of a report from the evidence in another way: line by line, as JSON.
func again(t *testing.T, evidence []Evidence, keep func(number, index int64, line map[string]any) bool) (g Group) {
	t.Helper()
	lines := map[int64]map[string]any{}
	var room Rules
	index := map[int64]int64{}
	for _, e := range evidence {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		line := map[string]any{}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
		switch line["kind"] {
		case "room":
			room = *e.Room
		case "draw":
			for i, n := range e.Draw.Draw().Numbers() {
				index[int64(n)] = int64(i) + 1
			}
		case "admission":
			lines[int64(line["number"].(float64))] = line
		}
	}
	for number := int64(1); number <= room.Lobby+room.Line; number++ {
		line := lines[number]
		if !keep(number, index[number], line) {
			continue
		}
		g.People++
		if number <= room.Serving {
			g.Called++
		}
		if line["entered"] != nil {
			g.Came++
		}
		if seats, ok := line["seats"].(float64); ok {
			g.Bought++
			g.Seats += int64(seats)
		}
	}
	return g
}

func TestFairness_EachFigureFollowsFromTheEvidence(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		evidence := soldOut(seed, 900+int(seed)*31, 300)
		f := FairnessOf(evidence)
		all := again(t, evidence, func(int64, int64, map[string]any) bool { return true })
		if f.People != all.People || f.Called != all.Called || f.Came != all.Came || f.Bought != all.Bought || f.Seats != all.Seats || f.Early != 0 || !f.Repeated || f.Throttled != 12 || f.Unproven != 3 {
			t.Errorf("%+v, and again: %+v", f, all)
		}
		if f.Refunded == nil || *f.Refunded != 21 || !reflect.DeepEqual(f.Refused, evidence[0].Room.Refused) {
			t.Errorf("refunds and refusals: %v %v", f.Refunded, f.Refused)
		}
		if f.Returned != nil || f.Shared == nil || *f.Shared != 40 || *f.Tickets != f.Seats {
			t.Errorf("tickets: %v %v %v", f.Tickets, f.Shared, f.Returned)
		}
		kinds := map[string]int64{}
		minute := map[int64]int64{}
		for _, e := range evidence {
			for n := e.First; e.Kind == EvidenceCall && n <= e.Number; n++ {
				minute[n] = int64(e.At.Sub(time.Date(2030, 3, 1, 10, 0, 0, 6e8, time.UTC)) / time.Minute)
			}
		}
		for _, g := range f.Groups {
			kinds[g.By] += g.People
			got := again(t, evidence, func(number, index int64, line map[string]any) bool {
				value := map[string]int64{ByArrival: index, ByLine: number - evidence[0].Room.Lobby, ByNumber: number, ByMinute: -1}[g.By]
				switch _, called := minute[number]; {
				case g.By == ByMinute && called:
					value = minute[number]
				case g.By == ByParty:
					seats, _ := line["seats"].(float64)
					value = int64(seats)
				case g.By == ByPath:
					value = int64(slices.Index(CameBy, strings.TrimSpace(asText(line["came_by"]))))
				}
				return value >= g.From && value <= g.To
			})
			got.By, got.From, got.To = g.By, g.From, g.To
			if !reflect.DeepEqual(got, g) || g.People < 20 {
				t.Errorf("%+v, and again: %+v", g, got)
			}
		}
		if kinds[ByArrival] != evidence[0].Room.Lobby || kinds[ByLine] != 300 || kinds[ByNumber] != f.People || kinds[ByMinute] != f.Called || kinds[ByParty] != f.Bought || kinds[ByPath] != f.Came {
			t.Errorf("the groups have %v", kinds)
		}
		var said, right int64
		for _, e := range evidence {
			for _, c := range evidence {
				if e.Told != nil && c.Kind == EvidenceCall && c.First <= *e.Told && *e.Told <= c.Number && !c.At.Before(*e.From) && !c.At.After(*e.To) {
					right++
				}
			}
			if e.Told != nil {
				said++ // the sale was over a day ago
			}
		}
		if f.Said != said || f.Right != right || right == 0 {
			t.Errorf("%d of %d times were right, and again: %d of %d", f.Right, f.Said, right, said)
		}
	}
}

func asText(v any) string { s, _ := v.(string); return s }

func TestFairness_AGroupHasTwentyPeopleOrIsJoinedWithItsNeighbour(t *testing.T) {
	t.Parallel()
	small := FairnessOf(soldOut(1, 70, 25))
	for _, g := range small.Groups {
		if g.People < 20 {
			t.Errorf("%+v", g)
		}
	}
	if len(small.Groups) == 0 {
		t.Error("no group is left")
	}
	if tiny := FairnessOf(soldOut(1, 10, 5)); len(tiny.Groups) != 0 {
		t.Errorf("of 15 people: %+v", tiny.Groups)
	}
	// Who came in before their number was called is counted.
	evidence := soldOut(1, 70, 25)
	evidence = append(evidence, Evidence{Kind: EvidenceAdmission, At: evidence[2].At.Add(-time.Second), Epoch: 1, Number: 5, Entered: 1})
	if f := FairnessOf(evidence); f.Early != 1 {
		t.Errorf("%d came in early", f.Early)
	}
}
