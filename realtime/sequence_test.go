package realtime

import (
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/usherbox/usher/seats"
)

// step is one message to a page and what the page has afterwards; the browser's tests take the same steps.
type step struct {
	Hex     string   `json:"hex"`
	Asks    bool     `json:"asks"` // the page cannot take it and says RESYNC
	Epoch   uint32   `json:"epoch"`
	Version int64    `json:"version"`
	States  string   `json:"states"`
	Counts  [][4]int `json:"counts"`
}

const sequenceSteps = 240

// sequence is a server that says what it should and what it should not: old and doubled deltas, gaps, maps of before,
// words of another epoch.
func sequence(t *testing.T) (steps []step) {
	t.Helper()
	dice := rand.New(rand.NewPCG(7, 11))
	var page sheet
	history := map[moment]seats.Snapshot{}
	now := moment{epoch: 1}
	for i := range sequenceSteps {
		if i > 0 && dice.IntN(40) == 0 { // a backup of some time ago
			now = moment{now.epoch + 1, dice.Int64N(now.version + 1)}
			history[now] = furnished(dice, now.version)
		} else if i > 0 {
			now.version++
		}
		if _, ok := history[now]; !ok {
			history[now] = furnished(dice, now.version)
		}
		about := now
		if dice.IntN(6) == 0 && about.version > 0 {
			about.version -= dice.Int64N(min(about.version, 3))
		}
		if _, ok := history[about]; !ok {
			about = now
		}
		frame := word(dice, i, about, history[about])
		m, err := decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		s := step{Hex: hex.EncodeToString(frame), Asks: page.apply(m) != nil, Epoch: page.epoch, Version: page.version}
		for _, state := range page.states {
			s.States += string('0' + rune(state))
		}
		for _, c := range page.counts {
			s.Counts = append(s.Counts, [4]int{int(c.Free), int(c.Held), int(c.Sold), int(c.Blocked)})
		}
		steps = append(steps, s)
	}
	return steps
}

// word is a message about a version: the whole map, or a delta from one of the versions before.
func word(dice *rand.Rand, i int, about moment, s seats.Snapshot) []byte {
	if i == 0 || dice.IntN(8) == 0 {
		return snap(about.epoch, s.Bitmap())
	}
	d := seats.Delta{From: max(0, about.version-1-int64(dice.IntN(3))), To: about.version, Counts: s.Counts}
	for idx, state := range s.States {
		d.Changes = append(d.Changes, seats.SeatChange{Idx: idx, State: state})
	}
	return delta(about.epoch, d)
}

func furnished(dice *rand.Rand, version int64) seats.Snapshot {
	s := seats.Snapshot{Version: version, States: make([]seats.State, 7)}
	for i := range s.States {
		s.States[i] = []seats.State{seats.Free, seats.Held, seats.Sold, seats.Blocked}[dice.IntN(4)]
	}
	s.Counts = seats.Counts{Free: []int{dice.IntN(200)}, Held: []int{dice.IntN(200)}, Sold: []int{dice.IntN(200)}, Blocked: []int{0}}
	return s
}

func TestWire_GoldenSequenceIsUpToDate(t *testing.T) {
	t.Parallel()
	steps := sequence(t)
	now, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	if *updateGolden {
		if err := os.WriteFile("testdata/sequence.json", append(now, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("testdata/sequence.json")
	if err != nil || string(kept) != string(now)+"\n" {
		t.Errorf("the steps are not those in testdata/sequence.json (%v)", err)
	}
	asks := 0
	for _, s := range steps {
		if s.Asks {
			asks++
		}
	}
	if last := steps[len(steps)-1]; asks < 10 || asks > sequenceSteps/2 || last.Epoch < 3 {
		t.Errorf("%d asks in %d epochs: the sequence says little", asks, last.Epoch)
	}
}
