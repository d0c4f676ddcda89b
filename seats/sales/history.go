package sales

import (
	"maps"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// Span is how much time one row of history is about, in minutes.
type Span int16

// The spans that are kept. Minutes of the last day are kept in memory, hours since the beginning.
const (
	Minute Span = 1
	Hour   Span = 60
)

const minutesKept = 24 * time.Hour

func (s Span) seconds() int64 { return 60 * int64(s) }

// of is the number of the span that a time is in.
func (s Span) of(at time.Time) int64 { return at.Unix() / s.seconds() }

// Row is a span of an event: how its seats stood at its end, and what happened in it. A span without a change has none.
type Row struct {
	At                        time.Time // when it began
	Free, Held, Sold, Blocked int       // at its end
	Sums
}

// book is the rows of one span that are at hand.
type book struct {
	span  Span
	rows  map[int64]*Row
	dirty map[int64]bool // not written since they changed
}

func newBook(s Span) book { return book{span: s, rows: map[int64]*Row{}, dirty: map[int64]bool{}} }

// count says how the seats stand at the end of a span, as far as it went.
func (b *book) count(at time.Time, c seats.Counts) {
	n := b.span.of(at)
	r := b.rows[n]
	if r == nil {
		r = b.begin(n)
	}
	r.Free, r.Held, r.Sold, r.Blocked = total(c.Free), total(c.Held), total(c.Sold), total(c.Blocked)
	b.dirty[n] = true
}

// add adds to what happened in a span. One that is not at hand any more is left alone: its hour has it.
func (b *book) add(at time.Time, s Sums) {
	n := b.span.of(at)
	r := b.rows[n]
	if r == nil {
		if n < b.newest() {
			return
		}
		r = b.begin(n)
	}
	r.Sums.add(s)
	b.dirty[n] = true
}

func (b *book) begin(n int64) *Row {
	r := &Row{At: time.Unix(n*b.span.seconds(), 0).UTC()}
	b.rows[n] = r
	return r
}

func (b *book) newest() int64 {
	var newest int64
	for n := range b.rows {
		newest = max(newest, n)
	}
	return newest
}

// forget lets go of rows before a time, if they are written.
func (b *book) forget(before time.Time) {
	n := b.span.of(before)
	maps.DeleteFunc(b.rows, func(at int64, _ *Row) bool { return at < n && !b.dirty[at] })
}

// since lists the rows that end after a time, the first one first.
func (b *book) since(from time.Time) []Row {
	var list []Row
	for _, n := range slices.Sorted(maps.Keys(b.rows)) {
		if n >= b.span.of(from) {
			list = append(list, *b.rows[n])
		}
	}
	return list
}

func total(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
