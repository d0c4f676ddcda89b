package waitingroom

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// drawn is a good record with a round of drand that came after the lobby closed.
func drawn() Record {
	closed := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	signature := Hex("a signature of drand, whatever its bytes")
	value := sha256.Sum256(signature)
	r := RecordOf(Draw{Room: 3, Epoch: 1, Secret: sha256.Sum256([]byte("s")), Beacon: value[:], People: 1000})
	r.CommittedAt, r.ClosedAt = closed.Add(-24*time.Hour), closed
	r.Beacon = Beacon{Kind: BeaconDrand, Round: RoundAfter(closed.Add(6 * time.Second)), Signature: signature, Value: value[:]}
	return r
}

func TestARecordHoldsAlsoAfterItWasWrittenAndRead(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(drawn())
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if wrong := Verify(&r); wrong != nil {
		t.Errorf("a good record does not hold: %q", wrong)
	}
}

func TestEachThingThatIsWrongWithARecordIsSaid(t *testing.T) {
	t.Parallel()
	for word, spoil := range map[string]func(*Record){
		"format":                       func(r *Record) { r.Format = "usher/draw/v2" },
		"has 31 bytes":                 func(r *Record) { r.Secret = r.Secret[1:] },
		"are not between":              func(r *Record) { r.People = MostDrawn + 1 },
		"not the one that was":         func(r *Record) { r.Secret[4] ^= 1 },
		"the commitment should be":     func(r *Record) { r.Commitment[31] ^= 1 },
		"should be":                    func(r *Record) { r.Room++ },
		"and 1001 people":              func(r *Record) { r.People++ },
		"should":                       func(r *Record) { r.Epoch++ },
		"seed does not follow":         func(r *Record) { r.Seed[0] ^= 1 },
		"not those that the seed":      func(r *Record) { r.Sum[0] ^= 1 },
		"SHA-256 of its signature":     func(r *Record) { r.Beacon.Value[0] ^= 1 },
		"has 32 bytes and a round":     func(r *Record) { r.Beacon.Value = r.Beacon.Value[1:] },
		"public before":                func(r *Record) { r.Beacon.Round = RoundAfter(r.ClosedAt) - 1 },
		"names no beacon":              func(r *Record) { r.Beacon.Kind = BeaconNone },
		"not its words":                func(r *Record) { r.Beacon.Kind = BeaconManual },
		"no beacon of the kind":        func(r *Record) { r.Beacon.Kind = "moon" },
		"published before the lobby":   func(r *Record) { r.CommittedAt = r.ClosedAt },
		"instead of 32, or -1 people ": func(r *Record) { r.People = -1 },
	} {
		r := drawn()
		spoil(&r)
		if wrong := strings.Join(Verify(&r), "\n"); !strings.Contains(wrong, word) {
			t.Errorf("want %q, got %q", word, wrong)
		}
	}
}

func TestADrawWithoutABeaconAndWithWordsHold(t *testing.T) {
	t.Parallel()
	for _, beacon := range []string{"", "3 17 21 29 40 49"} {
		r := RecordOf(Draw{Room: 1, Epoch: 1, People: 10, Beacon: []byte(beacon)})
		if wrong := Verify(&r); wrong != nil {
			t.Errorf("%q: %q", beacon, wrong)
		}
	}
}

// Room, epoch, secret, beacon and people must each change the seed: a seed of less could be used twice.
func TestEverythingThatDecidesIsInTheSeed(t *testing.T) {
	t.Parallel()
	base := Draw{Room: 1, Epoch: 1, People: 10, Beacon: []byte("a")}
	seen := map[[32]byte]bool{base.Seed(): true}
	for _, change := range []func(*Draw){
		func(d *Draw) { d.Room = 2 },
		func(d *Draw) { d.Epoch = 2 },
		func(d *Draw) { d.People = 11 },
		func(d *Draw) { d.Secret[31] = 1 },
		func(d *Draw) { d.Beacon = []byte("b") },
		func(d *Draw) { d.Beacon = nil },
		func(d *Draw) { d.Beacon = []byte("a\x00") },
	} {
		d := base
		change(&d)
		if seen[d.Seed()] {
			t.Errorf("%+v has a seed that another draw has", d)
		}
		seen[d.Seed()] = true
	}
}

func TestRoundsOfDrandComeEachThreeSeconds(t *testing.T) {
	t.Parallel()
	if began := RoundTime(1); began.Unix() != drandBegan {
		t.Errorf("round 1 is at %s", began)
	}
	for _, at := range []time.Time{time.Unix(0, 0), time.Unix(drandBegan-1, 0), time.Unix(drandBegan, 0), time.Unix(drandBegan+2, 999), time.Date(2026, 6, 1, 10, 0, 6, 0, time.UTC)} {
		round := RoundAfter(at)
		if !RoundTime(round).After(at) || round > 1 && RoundTime(round-1).After(at) {
			t.Errorf("%s: round %d at %s is not the first after it", at, round, RoundTime(round))
		}
	}
}
