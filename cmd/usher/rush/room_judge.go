package rush

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// judgeRoom tells from the answers alone what was untrue of the waiting room.
func (r *run) judgeRoom(ctx context.Context) error {
	l := newLine(r.url)
	defer l.close()
	if err := seats.Sleep(ctx, 3*time.Second); err != nil { // what everybody is shown may be behind by two
		return err
	}
	if err := r.glance(ctx, l, r.now()); err != nil {
		return err
	}
	rm := r.room
	rm.mu.Lock()
	defer rm.mu.Unlock()
	r.judgeGaps("lobby", rm.lobby, rm.shown.Lobby)
	r.judgeGaps("line", rm.line, rm.shown.Line)
	if rm.shown.Lobby > 0 {
		if err := r.judgeDraw(ctx, l); err != nil {
			return err
		}
	}
	r.judgeEarly()
	r.judgeInside()
	return nil
}

// judgeGaps counts places without a person. A lost answer may have had one.
func (r *run) judgeGaps(kind string, who []int32, shown int64) {
	rm := r.room
	gaps := max(0, int(shown)-len(who))
	for _, w := range who {
		if w < 0 {
			gaps++
		}
	}
	if int64(len(who)) > shown {
		r.books.lie("a person has place %d of the %s, and it has %d", len(who), kind, shown)
	}
	rm.figures.Gaps += gaps
	if gaps > rm.lost && r.crowd.Own {
		r.books.lie("no person got %d of the %d places of the %s, and only %d answers were lost", gaps, shown, kind, rm.lost)
	}
}

// judgeDraw does the draw again, by our own computation, and compares every number that anybody was told.
func (r *run) judgeDraw(ctx context.Context, l *line) error {
	rm := r.room
	if err := get(ctx, l, rm.path+"/draw.json"); err != nil {
		return err
	}
	var d drawn
	if err := json.Unmarshal(l.body, &d); err != nil {
		return err
	}
	numbers := d.numbers()
	switch {
	case d.commitment() != rm.first.Commitment:
		r.books.lie("the secret of the draw is not the one that was committed to before anybody joined")
	case int64(d.People) != rm.shown.Lobby:
		r.books.lie("the draw was of %d people, and the lobby had %d", d.People, rm.shown.Lobby)
	case sumOf(numbers) != d.Sum:
		r.books.lie("the numbers of the draw are not those that follow from its record")
	case !slices.Equal(numbers, rm.numbers):
		r.books.lie("the draw was another one at first")
	}
	for who := range rm.tickets {
		t := &rm.tickets[who]
		if n := rm.number(t); t.number != 0 && int64(t.number) != n {
			rm.figures.WrongNumbers++
			r.books.lie("person %d was told number %d; by the draw it is %d", who, t.number, n)
		}
	}
	return nil
}

// judgeEarly looks for people who were inside before their number was called.
func (r *run) judgeEarly() {
	rm := r.room
	slices.SortFunc(rm.served, func(a, b serving) int { return cmp.Compare(a.at, b.at) })
	for who, s := range rm.stays {
		rm.figures.Admitted++
		after, _ := slices.BinarySearchFunc(rm.served, s.from, func(a serving, at int64) int { return cmp.Compare(a.at, at) })
		after = min(after, len(rm.served)-1)
		if n := rm.served[after].number; s.number > n || s.number == 0 {
			rm.figures.Early++
			r.books.lie("person %d was inside at %s with number %d, and then only %d were called", who, clockTime(s.from), s.number, n)
		}
	}
	rm.figures.Called = rm.shown.Serving
}

// judgeInside counts how many were surely inside at once.
func (r *run) judgeInside() {
	rm := r.room
	type step struct {
		at int64
		by int
	}
	var steps []step
	all := rm.past
	for _, s := range rm.stays {
		all = append(all, *s)
	}
	for _, s := range all {
		if s.until > s.from {
			steps = append(steps, step{s.from, 1}, step{s.until, -1})
		}
	}
	slices.SortFunc(steps, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
	inside := 0
	for _, s := range steps {
		inside += s.by
		rm.figures.Inside = max(rm.figures.Inside, inside)
	}
	rm.figures.Slots = r.crowd.Slots
	if rm.figures.Inside > r.crowd.Slots && r.crowd.Slots > 0 {
		r.books.lie("%d people were inside at once, and there are %d slots", rm.figures.Inside, r.crowd.Slots)
	}
}

// RoomReport is what became of a crowd in front of a waiting room.
type RoomReport struct {
	Lobby        int64   `json:"lobby"`         // places of the draw
	Line         int64   `json:"line"`          // places after them
	Called       int64   `json:"called"`        // numbers that were called
	Admitted     int     `json:"admitted"`      // people who were let in
	Away         int     `json:"away"`          // people who were called and did not come, or gave their place up
	LeftLine     int     `json:"left_line"`     // those of them who gave it up
	TriedEarly   int     `json:"tried_early"`   // people who tried to come in, and to claim, before their turn
	Late         int     `json:"late"`          // people who came too long after their call
	Slow         int     `json:"slow"`          // claims of people inside after their time was over
	Slots        int     `json:"slots"`         //
	Inside       int     `json:"inside"`        // people who were surely inside at once, at most
	Doubles      int     `json:"doubles"`       // places that two people got
	Gaps         int     `json:"gaps"`          // places without a person
	WrongNumbers int     `json:"wrong_numbers"` // people who were told a number that does not follow from the draw
	Early        int     `json:"early"`         // people who were inside before their number was called
	JoinsPerS    float64 `json:"joins_per_s"`   // from the first arrival to the last place
	JoinP50      float64 `json:"join_p50_ms"`   // from the arrival to the place
	JoinP99      float64 `json:"join_p99_ms"`   //
	Looks        int64   `json:"looks"`         // statuses that were asked for
	LooksPerS    float64 `json:"looks_per_s"`   //
	LookP50      float64 `json:"look_p50_ms"`   //
	LookP99      float64 `json:"look_p99_ms"`   //
	EnterP50     float64 `json:"enter_p50_ms"`  // of those called: from the request to enter to the answer
	EnterP99     float64 `json:"enter_p99_ms"`  //

	Waits []Wait `json:"-"` // of all people, in the order of their arrival
}

// Wait is when a person came, and how long it took until they were let in.
type Wait struct {
	Came, Took time.Duration
	In         bool // they were let in
}

func (r *run) roomReport(seconds float64) *RoomReport {
	if r.room == nil {
		return nil
	}
	rm, f := r.room, r.room.figures
	f.Lobby, f.Line, f.Away = rm.shown.Lobby, rm.shown.Line, int(r.ends[away].Load())
	f.JoinsPerS = round2(float64(rm.joined.Load()) / max(time.Duration(rm.lastJoin.Load()).Seconds(), 0.001))
	f.JoinP50, f.JoinP99 = round2(rm.joins.at(50)), round2(rm.joins.at(99))
	f.Looks, f.LookP50, f.LookP99 = rm.looks.count(), round2(rm.looks.at(50)), round2(rm.looks.at(99))
	f.LooksPerS = round2(float64(f.Looks) / seconds)
	f.EnterP50, f.EnterP99 = round2(rm.entries.at(50)), round2(rm.entries.at(99))
	for who, came := range r.schedule.arrivals {
		in := rm.tickets[who].in
		f.Waits = append(f.Waits, Wait{Came: time.Duration(came), Took: time.Duration(in - came), In: in > 0})
	}
	return &f
}

func (f *RoomReport) text(t *textWriter) {
	t.line("")
	t.line("%10s places in the lobby and %s in line; %s places given twice, %s to no person", Thousands(int(f.Lobby)), Thousands(int(f.Line)), Thousands(f.Doubles), Thousands(f.Gaps))
	t.line("%10s joins a second, half within %s, 99 %% within %s, from the arrival to the place", Thousands(int(f.JoinsPerS)), ms(f.JoinP50), ms(f.JoinP99))
	t.line("%10s looks at the line, %s a second, half within %s, 99 %% within %s", Thousands(int(f.Looks)), Thousands(int(f.LooksPerS)), ms(f.LookP50), ms(f.LookP99))
	t.line("%10s numbers called, %s people let in, half within %s, 99 %% within %s", Thousands(int(f.Called)), Thousands(f.Admitted), ms(f.EnterP50), ms(f.EnterP99))
	t.line("%10s did not come when called, or gave their place up (%s)", Thousands(f.Away), Thousands(f.LeftLine))
	t.some(f.Late, "came too late after they were called")
	t.some(f.Slow, "claims of people inside after their time was over")
	t.line("%10s tried to come in before their turn; %s were let in before their number was called", Thousands(f.TriedEarly), Thousands(f.Early))
	t.line("%10s numbers that do not follow from the draw", Thousands(f.WrongNumbers))
	slots := ""
	if f.Slots > 0 {
		slots = ", of " + Thousands(f.Slots) + " slots"
	}
	t.line("%10s people inside at once at most%s", Thousands(f.Inside), slots)
	t.line("")
}

// drawn is the record of a draw as the box office publishes it. What follows from it is computed here anew, from the
// words of its description and not with the box office's code.
type drawn struct {
	Room       int64  `json:"room"`
	Epoch      int32  `json:"epoch"`
	Commitment string `json:"commitment"`
	People     int    `json:"people"`
	Secret     string `json:"secret"`
	Sum        string `json:"sum"`
	Beacon     struct {
		Value string `json:"value"`
	} `json:"beacon"`
}

func (d *drawn) secret() []byte { return unhex(d.Secret) }

// unhex is empty for what cannot be read: then nothing that follows from it is right.
func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// commitment is what has to be published before anybody joins.
func (d *drawn) commitment() string {
	b := binary.BigEndian.AppendUint64([]byte("usher/draw/v1"), uint64(d.Room))
	b = append(binary.BigEndian.AppendUint32(b, uint32(d.Epoch)), d.secret()...)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// numbers are those of the places of the lobby, by index.
func (d *drawn) numbers() []uint32 {
	beacon := unhex(d.Beacon.Value)
	b := append([]byte("seed/v1"), d.secret()...)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(beacon))), beacon...)
	b = binary.BigEndian.AppendUint64(b, uint64(d.People))
	b = binary.BigEndian.AppendUint64(b, uint64(d.Room))
	seed := sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(d.Epoch)))
	block, _ := aes.NewCipher(seed[:]) // 32 bytes are a key
	stream := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	random := func() uint64 {
		var word [4]byte
		stream.XORKeyStream(word[:], word[:])
		return uint64(binary.BigEndian.Uint32(word[:]))
	}
	table := make([]uint32, max(0, min(d.People, 1<<26)))
	for i := range table {
		table[i] = uint32(i) + 1
	}
	for i := len(table) - 1; i > 0; i-- {
		n := uint64(i) + 1
		word := random() * n
		for word%(1<<32) < (1<<32)%n { // else some places would be likelier than others
			word = random() * n
		}
		j := word >> 32
		table[i], table[j] = table[j], table[i]
	}
	return table
}

// sumOf is one word for all numbers.
func sumOf(numbers []uint32) string {
	h := sha256.New()
	b := make([]byte, 0, 1<<12)
	for i, n := range numbers {
		if b = binary.BigEndian.AppendUint32(b, n); len(b) == cap(b) || i == len(numbers)-1 {
			h.Write(b)
			b = b[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
