package desk

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// What of a tally its history does not tell is kept as bytes: unsigned and zigzag LEB128, deflated. A form that is not
// known any more is no tally: the log is read from its beginning then.

const keptForm = 1

var errKept = errors.New("the kept tally cannot be read")

// encode writes what decode reads.
func (t *Tally) encode() []byte {
	w := &writer{}
	w.count(keptForm)
	w.number(t.At.UnixMicro())
	for _, c := range [][]int{t.Counts.Free, t.Counts.Held, t.Counts.Sold, t.Counts.Blocked} {
		w.numbers(c)
	}
	w.numbers(t.Total.list())
	w.count(t.Paid)
	w.count(len(t.Latest))
	for _, id := range t.Latest {
		w.raw = append(w.raw, id[:]...)
	}
	w.number(t.first.UnixMicro())
	for _, p := range []*pace{&t.fast, &t.slow, &t.money} {
		w.raw = binary.LittleEndian.AppendUint64(w.raw, math.Float64bits(p.rate))
		w.number(p.last.UnixMicro())
	}
	w.places(t.places, w.stays(t.stays))
	return deflated(w.raw)
}

// list is the sums in the order of their fields.
func (s Sums) list() []int {
	return []int{s.Sold, s.Returned, int(s.Revenue), s.Orders, s.Begun, s.Ordered, s.Lapsed, s.GivenBack}
}

func (t *Tally) decode(kept []byte) error {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(kept)))
	if err != nil {
		return errors.Join(errKept, err)
	}
	r := &reader{raw: raw}
	if r.count() != keptForm {
		return errKept
	}
	t.At = r.time()
	t.Counts = seats.Counts{Free: r.numbers(), Held: r.numbers(), Sold: r.numbers(), Blocked: r.numbers()}
	if s := r.numbers(); len(s) == len(t.Total.list()) {
		t.Total = Sums{s[0], s[1], int64(s[2]), s[3], s[4], s[5], s[6], s[7]}
	}
	t.Paid = r.count()
	for n := r.count(); n > 0 && !r.short; n-- {
		t.Latest = append(t.Latest, r.id())
	}
	t.first = r.time()
	for _, p := range []*pace{&t.fast, &t.slow, &t.money} {
		p.rate = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
		p.last = r.time()
	}
	r.places(t, r.stays(t.stays))
	if t.written = t.At; r.short {
		return errKept
	}
	return nil
}

func deflated(raw []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, _ = w.Write(raw) // a buffer takes everything
		_ = w.Close()
	}
	return b.Bytes()
}

type writer struct{ raw []byte }

func (w *writer) count(n int)    { w.raw = binary.AppendUvarint(w.raw, uint64(n)) }
func (w *writer) number(n int64) { w.raw = binary.AppendVarint(w.raw, n) }

func (w *writer) numbers(list []int) {
	w.count(len(list))
	for _, n := range list {
		w.number(int64(n))
	}
}

// stays writes the holds in the order of their holders, and returns the place of each in it.
func (w *writer) stays(all map[seats.ID]*stay) map[seats.ID]int {
	at := map[seats.ID]int{}
	w.count(len(all))
	for _, id := range slices.SortedFunc(maps.Keys(all), func(a, b seats.ID) int { return bytes.Compare(a[:], b[:]) }) {
		h := all[id]
		at[id] = len(at)
		w.raw = append(w.raw, id[:]...)
		w.number(h.begun)
		flags := int(h.end) << 1
		if h.paid {
			flags |= 1
		}
		w.count(flags)
	}
	return at
}

// places writes the seats that are not free: how far each is from the one before, its state, and whose it is or its price.
func (w *writer) places(all []place, at map[seats.ID]int) {
	last := 0
	for idx, p := range all {
		if p.state == seats.Free {
			continue
		}
		w.count((idx-last)<<3 | int(p.state))
		last = idx
		n, known := at[p.holder]
		switch {
		case p.state == seats.Sold:
			w.number(p.price)
		case known:
			w.count(n + 1)
		default:
			w.count(0)
		}
	}
}

type reader struct {
	raw   []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.raw) {
		r.short, r.raw = true, nil
		return make([]byte, n)
	}
	taken := r.raw[:n]
	r.raw = r.raw[n:]
	return taken
}

func (r *reader) count() int {
	v, n := binary.Uvarint(r.raw)
	if n <= 0 {
		r.short, r.raw = true, nil
		return 0
	}
	r.raw = r.raw[n:]
	return int(v)
}

func (r *reader) number() int64 {
	v, n := binary.Varint(r.raw)
	if n <= 0 {
		r.short, r.raw = true, nil
		return 0
	}
	r.raw = r.raw[n:]
	return v
}

func (r *reader) numbers() (list []int) {
	for n := r.count(); n > 0 && !r.short; n-- {
		list = append(list, int(r.number()))
	}
	return list
}

func (r *reader) time() time.Time {
	us := r.number()
	if us == (time.Time{}).UnixMicro() {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func (r *reader) id() (id seats.ID) {
	copy(id[:], r.take(len(id)))
	return id
}

func (r *reader) stays(into map[seats.ID]*stay) (list []seats.ID) {
	for n := r.count(); n > 0 && !r.short; n-- {
		id, h := r.id(), &stay{begun: r.number()}
		flags := r.count()
		h.paid, h.end = flags&1 > 0, outcome(flags>>1)
		into[id] = h
		list = append(list, id)
	}
	return list
}

func (r *reader) places(t *Tally, holders []seats.ID) {
	for idx := 0; len(r.raw) > 0; {
		n := r.count()
		if idx += n >> 3; idx >= seats.MaxSeats || r.short {
			r.short = true
			return
		}
		p := t.place(idx)
		if p.state = seats.State(n & 7); p.state == seats.Sold {
			p.price = r.number()
			continue
		}
		if of := r.count(); of > 0 && of <= len(holders) {
			p.holder = holders[of-1]
			t.stays[p.holder].has(p.state)
		}
	}
}

// has counts a seat of a hold.
func (h *stay) has(s seats.State) {
	switch s {
	case seats.Held:
		h.seats++
	case seats.Paying:
		h.seats++
		h.paying++
	case seats.Lapsed:
		h.lapsed++
	}
}
