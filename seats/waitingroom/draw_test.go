package waitingroom

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/draw.json anew")

// goldenDraw is a record that the browser's tests read, too, and its first and last numbers.
type goldenDraw struct {
	Name   string   `json:"name"`
	Record Record   `json:"record"`
	First  []uint32 `json:"first"`
	Last   []uint32 `json:"last"`
}

// goldenWord is what becomes of a word; the browser's tests read it, too. -1 is refused.
type goldenWord struct {
	Word  uint32 `json:"word"`
	Limit uint32 `json:"limit"`
	Value int64  `json:"value"`
}

type golden struct {
	Draws []goldenDraw `json:"draws"`
	Words []goldenWord `json:"words"`
}

func goldenDraws() (g golden) {
	for _, d := range []struct {
		name string
		draw Draw
	}{
		{"nobody", Draw{Room: 1, Epoch: 1}},
		{"one person", Draw{Room: 1, Epoch: 1, People: 1}},
		{"five people and lottery numbers", Draw{Room: 1, Epoch: 1, People: 5, Beacon: []byte("3 17 21 29 40 49, bonus 7")}},
		{"a thousand people, a later epoch", Draw{Room: 7, Epoch: 300, People: 1000, Beacon: []byte("Öffentliche Zahl: 42")}},
		{"a room with a large id", Draw{Room: 1 << 40, Epoch: 1, People: 40_000}},
		{"two million people", Draw{Room: 5, Epoch: 2, People: 2_000_000, Beacon: []byte("3 17 21 29 40 49")}},
	} {
		d.draw.Secret = sha256.Sum256([]byte("secret of " + d.name))
		table := d.draw.Numbers()
		g.Draws = append(g.Draws, goldenDraw{d.name, RecordOf(d.draw), table[:min(5, len(table))], table[len(table)-min(5, len(table)):]})
	}
	for _, limit := range []uint32{1, 2, 3, 5, 6, 1000, 65_537, 2_000_000, 1<<26 - 1, 1 << 26} {
		for _, word := range []uint32{0, 1, 2, math.MaxUint32 / limit, math.MaxUint32/limit + 1, 1 << 31, 0x9e3779b9, math.MaxUint32 - 1, math.MaxUint32} {
			value, fair := reduce(word, limit)
			w := goldenWord{word, limit, int64(value)}
			if !fair {
				w.Value = -1
			}
			g.Words = append(g.Words, w)
		}
	}
	return g
}

func TestDrawsAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	now, err := json.MarshalIndent(goldenDraws(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/draw.json"
	if *update {
		if err := os.WriteFile(path, append(now, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	then, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(then) != string(now)+"\n" {
		t.Error("a draw is not what it was: numbers that people were shown would not hold, nor would the browser agree")
	}
}

// byTheBook draws as the documents say it, in the plainest way: one block at a time, whole numbers of any size.
func byTheBook(t *testing.T, seed [32]byte, people int) []uint32 {
	t.Helper()
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for counter := uint64(0); len(stream) < 8*people+64; counter++ {
		in, out := make([]byte, 16), make([]byte, 16)
		binary.BigEndian.PutUint64(in[8:], counter)
		block.Encrypt(out, in)
		stream = append(stream, out...)
	}
	two32 := new(big.Int).Lsh(big.NewInt(1), 32)
	table := make([]uint32, people)
	for i := range table {
		table[i] = uint32(i + 1)
	}
	for i := people - 1; i > 0; i-- {
		limit := big.NewInt(int64(i + 1))
		refused := new(big.Int).Mod(two32, limit)
		for {
			word := new(big.Int).SetBytes(stream[:4])
			stream = stream[4:]
			high, low := new(big.Int).DivMod(word.Mul(word, limit), two32, new(big.Int))
			if low.Cmp(refused) >= 0 {
				j := high.Int64()
				table[i], table[j] = table[j], table[i]
				break
			}
		}
	}
	return table
}

func TestDraw_IsAUniformShuffle(t *testing.T) {
	t.Parallel()
	for _, people := range []int{0, 1, 2, 3, 100, 5000} {
		seed := sha256.Sum256(fmt.Append(nil, people))
		book := byTheBook(t, seed, people)
		if !slices.Equal(numbers(seed, people), book) {
			t.Errorf("%d people: another draw than by the book", people)
		}
		if people < 100 {
			continue
		}
		for name, next := range planted(seed) {
			if slices.Equal(draw(people, next), book) {
				t.Errorf("%d people: %s is not noticed", people, name)
			}
		}
	}
}

func draw(people int, below func(limit uint32) uint32) []uint32 {
	table := make([]uint32, people)
	for i := range table {
		table[i] = uint32(i + 1)
	}
	shuffle(table, below)
	return table
}

// planted are wrong ways to a number below a limit.
func planted(seed [32]byte) map[string]func(limit uint32) uint32 {
	swapped, modulo, short := newWords(seed), newWords(seed), newWords(seed)
	return map[string]func(limit uint32) uint32{
		"the wrong end first": func(limit uint32) uint32 {
			for {
				var b [4]byte
				binary.LittleEndian.PutUint32(b[:], swapped.next())
				if value, fair := reduce(binary.BigEndian.Uint32(b[:]), limit); fair {
					return value
				}
			}
		},
		"a remainder":   func(limit uint32) uint32 { return modulo.next() % limit },
		"one too short": func(limit uint32) uint32 { return short.below(max(limit-1, 1)) },
	}
}

func TestEveryNumberIsGivenOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := Draw{Room: rapid.Int64Min(1).Draw(t, "room"), Epoch: rapid.Int32Min(1).Draw(t, "epoch"), People: rapid.IntRange(0, 3000).Draw(t, "people")}
		copy(d.Secret[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret"))
		d.Beacon = rapid.SliceOf(rapid.Byte()).Draw(t, "beacon")
		table := d.Numbers()
		slices.Sort(table)
		for i, n := range table {
			if n != uint32(i+1) {
				t.Fatalf("%d people: no number %d", d.People, i+1)
			}
		}
	})
}

// unfair says which values below a limit come up more often than others, over all words of eight bits that are not refused.
func unfair(limit uint8, reduce func(word, limit uint8) (uint8, bool)) string {
	seen := make([]int, 256)
	for word := range 256 {
		if value, fair := reduce(uint8(word), limit); fair {
			seen[value]++
		}
	}
	for value, n := range seen {
		if value < int(limit) && n != 256/int(limit) || value >= int(limit) && n != 0 {
			return fmt.Sprintf("%d below %d comes of %d words of %d", value, limit, n, 256)
		}
	}
	return ""
}

func TestAllValuesBelowALimitAreEquallyLikelyExactly(t *testing.T) {
	t.Parallel()
	faults := map[string]func(word, limit uint8) (uint8, bool){
		"a remainder":     func(word, limit uint8) (uint8, bool) { return word % limit, true },
		"nothing refused": func(word, limit uint8) (uint8, bool) { return uint8(uint16(word) * uint16(limit) >> 8), true },
		"one refused short": func(w, l uint8) (uint8, bool) {
			return uint8(uint16(w) * uint16(l) >> 8), uint16(w*l)+1 >= uint16(-l%l)
		},
		"one too few": func(word, limit uint8) (uint8, bool) {
			value, fair := reduce(word, max(limit-1, 1))
			return value, fair
		},
	}
	noticed := map[string]bool{}
	for limit := uint8(1); limit != 0; limit++ {
		if problem := unfair(limit, reduce[uint8]); problem != "" {
			t.Error(problem)
		}
		for name, fault := range faults {
			noticed[name] = noticed[name] || unfair(limit, fault) != ""
		}
	}
	for name := range faults {
		if !noticed[name] {
			t.Errorf("%s is not noticed", name)
		}
	}
}

// ordersOf counts the orders of four that come of all 24 ways to choose: 24 if it is fair.
func ordersOf(shuffle func(table []uint32, below func(uint32) uint32)) (orders int) {
	seen := map[string]bool{}
	for way := range uint32(4 * 3 * 2) {
		rest := way
		table := []uint32{1, 2, 3, 4}
		shuffle(table, func(limit uint32) uint32 {
			value := rest % limit
			rest /= limit
			return value
		})
		seen[fmt.Sprint(table)] = true
	}
	return len(seen)
}

func TestEachOrderOfFourComesOfOneWayToChoose(t *testing.T) {
	t.Parallel()
	if n := ordersOf(shuffle); n != 24 {
		t.Errorf("%d orders of 24", n)
	}
	if n := ordersOf(func(table []uint32, below func(uint32) uint32) {
		shuffle(table, func(limit uint32) uint32 { return below(max(limit-1, 1)) })
	}); n == 24 {
		t.Error("a shuffle that leaves no number in its place is not noticed")
	}
	if n := ordersOf(func(table []uint32, below func(uint32) uint32) {
		for i := len(table) - 2; i > 0; i-- {
			j := below(uint32(i + 1))
			table[i], table[j] = table[j], table[i]
		}
	}); n == 24 {
		t.Error("a shuffle that leaves the last alone is not noticed")
	}
}

// uneven is how far the places of 20 people in many draws are from all alike, in standard deviations of chi².
func uneven(draws int, below func(seed [32]byte) func(limit uint32) uint32) float64 {
	const people = 20
	var seen [people][people]int
	for i := range draws {
		for index, number := range draw(people, below(sha256.Sum256(fmt.Append(nil, i)))) {
			seen[index][number-1]++
		}
	}
	want, sum := float64(draws)/people, 0.0
	for _, row := range seen {
		for _, n := range row {
			sum += (float64(n) - want) * (float64(n) - want) / want
		}
	}
	const freedom = (people - 1) * (people - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func TestEveryPlaceGetsEveryNumberEquallyOften(t *testing.T) {
	t.Parallel()
	right := uneven(5000, func(seed [32]byte) func(uint32) uint32 { return newWords(seed).below })
	t.Logf("chi² is %.2f standard deviations from its mean", right)
	if math.Abs(right) > 4 {
		t.Errorf("chi² is %.2f standard deviations from its mean", right)
	}
	if short := uneven(5000, func(seed [32]byte) func(uint32) uint32 { return planted(seed)["one too short"] }); short < 4 {
		t.Errorf("a shuffle that leaves no number in its place is only %.2f off", short)
	}
}

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
