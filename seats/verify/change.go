package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// replay is the event as the change log tells it, from version 0, where every seat is free.
type replay struct {
	version int64
	seats   []replayed // by idx; of all that there are now
	there   int        // how many of them there are at this version
	counts  counts     // of these seats
	said    counts     // as the newest change says
}

type replayed struct {
	state   seats.State
	holder  seats.ID
	version int64 // the last one that named the seat; 0 if none did
	at      time.Time
	claim   claim
}

// change is one row of the log.
type change struct {
	version int64
	idx     []int32
	state   []int16
	holder  []seats.ID
	counts  counts
	passed  int
	at      time.Time
}

const changesSQL = `
SELECT version, idx, state, holder, free, held, sold, blocked, passed, at FROM change WHERE event_id = $1 ORDER BY version`

// replayLog plays the log from its first version to its last and holds every version against its promises, then what it
// came to against the table.
func (b *books) replayLog(ctx context.Context, tx pgx.Tx) error {
	b.log = replay{seats: make([]replayed, len(b.rows)), counts: newCounts(len(b.categories))}
	first := len(b.rows)
	for _, t := range b.terms {
		first -= t.added
	}
	b.comeFree(max(first, 0))
	b.checkShown(&b.log.counts)
	b.beginLeaves()
	rows, err := tx.Query(ctx, changesSQL, b.id)
	if err != nil {
		return err
	}
	var c change
	_, err = pgx.ForEachRow(rows, []any{
		&c.version, &c.idx, &c.state, &c.holder, &c.counts[0], &c.counts[1], &c.counts[2], &c.counts[3], &c.passed, &c.at,
	}, func() error {
		b.report.Versions++
		b.checkChange(&c)
		b.apply(&c)
		b.makeLeaves(&c)
		c = change{} // what was scanned is kept
		return nil
	})
	if err == nil {
		b.compareLog()
	}
	return err
}

// comeFree notes that so many more seats are there, all of them free.
func (b *books) comeFree(n int) {
	for ; n > 0 && b.log.there < len(b.rows); n-- {
		b.log.counts.add(b.rows[b.log.there].category, seats.Free, 1)
		b.log.there++
	}
}

// checkChange holds one row of the log against P2 and P6, by itself.
func (b *books) checkChange(c *change) {
	switch next := b.log.version + 1; {
	case c.version == next:
	case c.version < next:
		b.broken(p6, none, "version %d stands out of order, after %d", c.version, b.log.version)
	case c.version == next+1:
		b.broken(p6, none, "version %d is missing", next)
	default:
		b.broken(p6, none, "versions %d to %d are missing", next, c.version-1)
	}
	if c.passed != len(c.idx) {
		b.broken(p2, none, "version %d names %d seats, of which %d passed the guard", c.version, len(c.idx), c.passed)
	}
}

// apply takes the replay one version further.
func (b *books) apply(c *change) {
	b.log.version = c.version
	for _, t := range b.terms {
		if t.version == c.version {
			b.comeFree(t.added)
		}
	}
	if len(c.state) != len(c.idx) || len(c.holder) != len(c.idx) {
		b.broken(p9, none, "version %d names %d seats, %d states and %d holders", c.version, len(c.idx), len(c.state), len(c.holder))
		return
	}
	for i, idx := range c.idx {
		b.applySeat(c, int(idx), seats.State(c.state[i]), c.holder[i])
	}
	if !c.counts.equal(&b.log.counts) {
		b.compareCounts(p5, fmt.Sprintf("version %d: ", c.version), &c.counts, "rows say", &b.log.counts)
	}
	b.log.said = c.counts
	b.checkShown(&c.counts)
}

// applySeat holds the change of one seat against P1, P6, P9 and P10.
func (b *books) applySeat(c *change, idx int, to seats.State, holder seats.ID) {
	version := c.version
	if idx < 0 || idx >= b.log.there || to < seats.Free || to > seats.Blocked {
		b.broken(p9, none, "version %d shows seat number %d in state %d: no map can", version, idx, to)
		return
	}
	s := &b.log.seats[idx]
	switch {
	case s.version == version:
		b.broken(p6, idx, "stands twice in version %d", version)
	case (to == seats.Free) != (holder == seats.ID{}):
		b.broken(p1, idx, "became %s in version %d, with the wrong number of holders", to, version)
	case s.state == seats.Sold && to != seats.Free && !b.returned[sale{s.holder, idx}]: // one batch may free it and give it to the next
		b.broken(p1, idx, "was sold to %s in version %d and went to %s in version %d", short(s.holder), s.version, short(holder), version)
	}
	b.checkAllowed(c, idx, *s, to, holder)
	b.log.counts.add(b.rows[idx].category, s.state, -1)
	b.log.counts.add(b.rows[idx].category, to, 1)
	next := replayed{to, holder, version, c.at, s.claim}
	if to == seats.Free || to == seats.Blocked {
		next.claim = claim{}
	} else if b.claimed(*s, to, holder) {
		t := b.at(version)
		next.claim = claim{version, c.at, s.state == seats.Blocked && !b.offers[holder], t != nil && t.opensAt != nil && c.at.Before(*t.opensAt) && !b.kept[holder]}
	}
	*s = next
}

// compareLog holds the end of the replay against the counter row and the table: P6, and P9 for the newest counts.
func (b *books) compareLog() {
	if b.version >= 0 && b.log.version != b.version {
		b.broken(p6, none, "the log ends with version %d, and the counter row says %d", b.log.version, b.version)
	}
	if b.version > 0 && b.log.version == b.version && !b.log.said.equal(&b.counts) {
		b.compareCounts(p9, fmt.Sprintf("version %d is shown with other counts: ", b.version), &b.log.said, "the counter row says", &b.counts)
	}
	for idx := range b.rows {
		r, s := &b.rows[idx], &b.log.seats[idx]
		if r.state != missing && (r.state != s.state || r.holder != s.holder) {
			b.broken(p6, idx, "is %s, and by the log %s", described(r.state, r.holder), described(s.state, s.holder))
		}
	}
	if b.shown != nil && b.shown.Version > b.log.version {
		b.broken(p9, none, "the map shows version %d, and the newest is %d", b.shown.Version, b.log.version)
	}
}

func described(s seats.State, holder seats.ID) string {
	if holder == (seats.ID{}) {
		return s.String()
	}
	return s.String() + " by " + short(holder)
}

// checkShown holds what a node shows against the replay, when that has come to the version shown: P9.
func (b *books) checkShown(said *counts) {
	if b.shown == nil || b.shown.Version != b.log.version {
		return
	}
	if len(b.shown.States) != b.log.there {
		b.broken(p9, none, "the map shows %d seats, and there are %d", len(b.shown.States), b.log.there)
		return
	}
	for idx, state := range b.shown.States {
		if want := b.log.seats[idx].state.Shown(); state != want {
			b.broken(p9, idx, "is shown as %s at version %d, when it was %s", state, b.log.version, want)
		}
	}
	shown := counts{b.shown.Counts.Free, b.shown.Counts.Held, b.shown.Counts.Sold, b.shown.Counts.Blocked}
	b.compareCounts(p9, fmt.Sprintf("the map at version %d: ", b.log.version), &shown, "the log says", said)
}
