package realtime

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

var updateGolden = flag.Bool("update", false, "write testdata/wire.json anew")

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
	Format  int      `json:"format,omitempty"`
	Within  int      `json:"within,omitempty"`
	Sum     uint32   `json:"sum,omitempty"`
	Reason  int      `json:"reason,omitempty"`
	T0      float64  `json:"t0,omitempty"`
	States  []int    `json:"states,omitempty"`
	Counts  [][4]int `json:"counts,omitempty"`
	Changes [][2]int `json:"changes,omitempty"`

	Deadline   int64 `json:"deadline,omitempty"`
	Extensions int   `json:"extensions,omitempty"`
	Idx        []int `json:"idx,omitempty"`

	List  int64 `json:"list,omitempty"`
	Phase int   `json:"phase,omitempty"`
	Left  int   `json:"left,omitempty"`
}

func messages() []golden {
	now := time.UnixMilli(1_900_000_000_123)
	counts := seats.Counts{Free: []int{2, 300}, Held: []int{1, 0}, Sold: []int{1, 0}, Blocked: []int{1, 0}}
	cs := [][4]int{{2, 1, 1, 1}, {300, 0, 0, 0}}
	s := seats.Snapshot{Version: 300, States: []seats.State{seats.Free, seats.Held, seats.Sold, seats.Blocked, seats.Expired}, Counts: counts}
	d := seats.Delta{From: 299, To: 301, Changes: []seats.SeatChange{{Idx: 0, State: seats.Sold}, {Idx: 1, State: seats.Free}, {Idx: 49_999, State: seats.Held}}, Counts: counts}
	return []golden{
		{Name: "hello", Hex: hex.EncodeToString(hello(0xdeadbeef, 300, now, maxTick)), Type: "hello", Epoch: 0xdeadbeef, Version: 300, Now: 1_900_000_000_123, Tick: 1000, Format: 1},
		{Name: "snapshot of five seats", Hex: hex.EncodeToString(snap(7, s.Bitmap())), Type: "snap", Epoch: 7, Version: 300, States: []int{0, 1, 2, 3, 0}, Counts: cs},
		{Name: "delta of three seats", Hex: hex.EncodeToString(delta(7, d)), Type: "delta", Epoch: 7, From: 299, To: 301, Changes: [][2]int{{0, 2}, {1, 0}, {49_999, 1}}, Counts: cs},
		{Name: "audit of the five seats", Hex: hex.EncodeToString(audit(7, s.Bitmap())), Type: "audit", Epoch: 7, Version: 300, Sum: 0x65ce83d5},
		{Name: "move", Hex: hex.EncodeToString(move(7, 7500*time.Millisecond)), Type: "move", Epoch: 7, Within: 7500},
		{Name: "ping", Hex: hex.EncodeToString(le.AppendUint64(begin(TypePing, 7), 0x40934a0000000000)), Type: "ping", Epoch: 7, T0: 1234.5},
		{Name: "resync", Hex: "05" + "07000000" + "02" + "ac02" + "efbeadde", Type: "resync", Epoch: 7, Version: 300, Reason: 2, Sum: 0xdeadbeef},
		{Name: "mine, three seats", Hex: hex.EncodeToString(mine(7, seats.Hold{Seats: []int{3, 4, 49_999}, ExpiresAt: now, ExtensionsLeft: 9})), Type: "mine", Epoch: 7, Deadline: 1_900_000_000_123, Extensions: 9, Idx: []int{3, 4, 49_999}},
		{Name: "mine, nothing", Hex: hex.EncodeToString(mine(7, seats.Hold{})), Type: "mine", Epoch: 7},
		{Name: "prices", Hex: hex.EncodeToString(prices(7, 300, seats.Running{Phase: 2, Left: 12})), Type: "prices", Epoch: 7, List: 300, Phase: 2, Left: 12},
		{Name: "pong", Hex: hex.EncodeToString(pong(7, 0x40934a0000000000, now)), Type: "pong", Epoch: 7, T0: 1234.5, Now: 1_900_000_000_123},
	}
}

func TestMessagesAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	now, err := json.MarshalIndent(messages(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *updateGolden {
		if err := os.WriteFile("testdata/wire.json", append(now, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("testdata/wire.json")
	if err != nil || string(kept) != string(now)+"\n" {
		t.Errorf("the messages are not those in testdata/wire.json (%v): pages that are open would not understand them", err)
	}
}

func TestWire_JSONEqualsTheBytes(t *testing.T) {
	t.Parallel()
	for _, g := range messages() {
		frame, err := hex.DecodeString(g.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if g.Type == "ping" || g.Type == "resync" {
			a, err := readRequest(frame)
			if err != nil || a.epoch != g.Epoch || a.version != g.Version || int(a.reason) != g.Reason || a.sum != g.Sum || a.sent != 0 && a.sent != math.Float64bits(g.T0) {
				t.Errorf("%s is read as %+v (%v)", g.Name, a, err)
			}
			continue
		}
		m, err := decode(frame)
		if err != nil || m.Type != g.Type || m.Epoch != g.Epoch || m.Now != g.Now || len(m.Changes) != len(g.Changes) || len(m.Counts) != len(g.Counts) || !slices.Equal(m.Idx, g.Idx) {
			t.Errorf("%s is read as %+v (%v)", g.Name, m, err)
		}
		if g.Type == "prices" && (*m.List != g.List || int(*m.Phase) != g.Phase || int(*m.Left) != g.Left) {
			t.Errorf("%s is read as %+v", g.Name, m)
		}
		if g.Type == "mine" && (int64(*m.Deadline) != g.Deadline || int(*m.Extensions) != g.Extensions) {
			t.Errorf("%s is read as %+v", g.Name, m)
		}
		if _, err := decode(frame[:len(frame)-1]); err == nil && g.Type != "delta" {
			t.Errorf("%s was cut off, and that was not noticed", g.Name)
		}
	}
	const snapshot = `{"type":"snap","epoch":7,"version":300,"counts":[{"free":2,"held":1,"sold":1,"blocked":1},{"free":300,"held":0,"sold":0,"blocked":0}],"states":"01230"}`
	if frame, _ := hex.DecodeString(messages()[1].Hex); string(toJSON(frame)) != snapshot {
		t.Errorf("the snapshot reads\n%s, want\n%s", toJSON(frame), snapshot)
	}
}

// What a page sends comes from anybody.
func FuzzReadAsk(f *testing.F) {
	for _, g := range messages() {
		frame, _ := hex.DecodeString(g.Hex)
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		a, err := readRequest(m)
		switch {
		case err != nil && a != request{}:
			t.Errorf("%x is refused and read as %+v", m, a)
		case err == nil && a.kind != TypePing && a.kind != TypeResync:
			t.Errorf("%x is read as %+v", m, a)
		}
	})
}

// The other direction is read by people's programs and our tests; whatever is not cut off is JSON.
func FuzzDecode(f *testing.F) {
	for _, g := range messages() {
		frame, _ := hex.DecodeString(g.Hex)
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if _, err := decode(frame); err != nil && err != errNotAMessage {
			t.Error(err)
		}
		if !json.Valid(toJSON(frame)) {
			t.Errorf("%x reads %s", frame, toJSON(frame))
		}
	})
}
