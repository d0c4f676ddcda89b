package realtime

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

var update = flag.Bool("update", false, "write testdata/wire.json anew")

// golden is one message as bytes and as what it says; the browser's tests read the same file.
type golden struct {
	Name    string   `json:"name"`
	Hex     string   `json:"hex"`
	Type    string   `json:"type"`
	Epoch   uint32   `json:"epoch"`
	Version int64    `json:"version,omitempty"`
	From    int64    `json:"from"`
	To      int64    `json:"to,omitempty"`
	Now     float64  `json:"now,omitempty"`
	Tick    int      `json:"tick,omitempty"`
	T0      float64  `json:"t0,omitempty"`
	States  []int    `json:"states,omitempty"`
	Counts  [][4]int `json:"counts,omitempty"`
	Changes [][2]int `json:"changes,omitempty"`
}

func messages() []golden {
	now := time.UnixMilli(1_900_000_000_123)
	counts := seats.Counts{Free: []int{2, 300}, Held: []int{1, 0}, Sold: []int{1, 0}, Blocked: []int{1, 0}}
	cs := [][4]int{{2, 1, 1, 1}, {300, 0, 0, 0}}
	s := seats.Snapshot{Version: 300, States: []seats.State{seats.Free, seats.Held, seats.Sold, seats.Blocked, seats.Lapsed}, Counts: counts}
	d := seats.Delta{From: 299, To: 301, Changes: []seats.SeatChange{{Idx: 0, State: seats.Sold}, {Idx: 1, State: seats.Free}, {Idx: 49_999, State: seats.Held}}, Counts: counts}
	return []golden{
		{Name: "hello", Hex: hex.EncodeToString(hello(0xdeadbeef, 300, now, tick)), Type: "hello", Epoch: 0xdeadbeef, Version: 300, Now: 1_900_000_000_123, Tick: 200},
		{Name: "snapshot of five seats", Hex: hex.EncodeToString(snap(7, s)), Type: "snap", Epoch: 7, Version: 300, States: []int{0, 1, 2, 3, 0}, Counts: cs},
		{Name: "delta of three seats", Hex: hex.EncodeToString(delta(7, d)), Type: "delta", Epoch: 7, From: 299, To: 301, Changes: [][2]int{{0, 2}, {1, 0}, {49_999, 1}}, Counts: cs},
		{Name: "pong", Hex: hex.EncodeToString(pong(7, 0x40934a0000000000, now)), Type: "pong", Epoch: 7, T0: 1234.5, Now: 1_900_000_000_123},
	}
}

func TestMessagesAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	now, err := json.MarshalIndent(messages(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/wire.json", append(now, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("testdata/wire.json")
	if err != nil || string(kept) != string(now)+"\n" {
		t.Errorf("the messages are not those in testdata/wire.json (%v): pages that are open would not understand them", err)
	}
}

func FuzzReadPing(f *testing.F) {
	f.Add([]byte{typePing, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, err := readPing(message); err == nil && len(message) != 13 {
			t.Errorf("took a ping of %d bytes", len(message))
		}
	})
}
