package seats

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Offer is seats held for somebody who waits. It passes the same guard as a claim.
type Offer struct {
	ID      ID    // its holder
	Entry   int64 // of the wait list; it must still wait
	Seats   []int
	Until   time.Time
	Blocked bool // by hand: also seats that the organizer keeps back

	// Write queues statements that commit with the seats, or not at all, as those of a Deal. hold is the hold's id.
	Write func(q *pgx.Batch, hold ID)
}

// Offer holds seats for entries of the wait list, each offer whole or not at all: kept seats, and those that are
// free. It returns what became of each: nil, a *Refusal, or the database's error. Limits of the event do not count.
func (s *Sale) Offer(ctx context.Context, offers []Offer) []error {
	commands := make([]*command, len(offers))
	for i := range offers {
		o := &offers[i]
		c := &command{holder: o.ID, seats: o.Seats, ofList: true, entry: o.Entry}
		c.decide = func(b *batch) (Hold, error) { return b.offer(c, o) }
		commands[i] = c
	}
	errs := make([]error, len(offers))
	for i, a := range s.doAll(ctx, commands) {
		errs[i] = a.err
	}
	return errs
}

// offer decides one offer under the lock.
func (b *batch) offer(c *command, o *Offer) (Hold, error) {
	if err := b.shut(); err != nil {
		return Hold{}, err
	}
	switch {
	case !b.waits[o.Entry]:
		return Hold{}, &Refusal{Code: CodeChanged, Message: "This entry of the wait list does not wait any more. Nothing was offered."}
	case !o.Until.After(b.now):
		return Hold{}, &Refusal{Code: CodeLapsed, Message: "The time for this offer is over already. Nothing was offered."}
	}
	var taken []int
	for _, idx := range o.Seats {
		if r := b.rows[idx]; r.holder != waitList && !r.open(b.now) && !(o.Blocked && r.state == Blocked) {
			taken = append(taken, idx)
		}
	}
	if len(taken) > 0 {
		return Hold{}, b.sale.taken(taken)
	}
	delete(b.waits, o.Entry)
	h := &heldBy{holder: o.ID, id: NewID(), expiresAt: o.Until, touched: true}
	b.holds[o.ID] = h
	b.ends(h)
	b.unkeep(o.Seats)
	for _, idx := range o.Seats {
		by := waitList
		if b.rows[idx].state == Blocked {
			by = b.rows[idx].holder // its block
		}
		b.set(idx, by, row{state: Held, holder: o.ID, expiresAt: &h.expiresAt})
		h.seats = append(h.seats, int32(idx))
	}
	slices.Sort(h.seats)
	if o.Write != nil {
		c.write = func(q *pgx.Batch) { o.Write(q, h.id) }
	}
	return b.answerHold(h), nil
}

const lockEntriesSQL = `
SELECT id FROM entry WHERE event_id = $1 AND id = ANY($2::bigint[]) AND state = 'waiting' ORDER BY id FOR NO KEY UPDATE`

// queueEntries locks the entries that are offered something, after holds and slots and before the seats: whoever leaves
// the wait list or changes an entry does so before, or after.
func (b *batch) queueEntries(q *pgx.Batch) {
	var entries []int64
	for _, c := range b.commands {
		if c.entry != 0 {
			entries = append(entries, c.entry)
		}
	}
	if len(entries) == 0 {
		return
	}
	b.waits = make(map[int64]bool, len(entries))
	q.Queue(lockEntriesSQL, b.sale.Event.ID, entries).Query(func(rows pgx.Rows) error {
		var entry int64
		_, err := pgx.ForEachRow(rows, []any{&entry}, func() error { b.waits[entry] = true; return nil })
		return err
	})
}

// Taking is an offer that somebody takes with the browser they are at.
type Taking struct {
	From  ID   // the holder the offer has
	To    ID   // the holder of the browser's session
	Fresh bool // nobody took it before: it lasts as long as any hold at least

	// Write queues statements that commit with the seats; hold is the id of the hold they are in then.
	Write func(q *pgx.Batch, hold ID)
}

// Take makes the seats of an offer those of another holder, with the time it has. Refused if its time is up, if it is
// being paid for, if the other one holds something else in this event, and, but for the first time, while the event is
// not on sale; ErrNoHold if it has no seat any more.
func (s *Sale) Take(ctx context.Context, t Taking) (Hold, error) {
	c := &command{holder: t.To, from: t.From}
	c.decide = func(b *batch) (Hold, error) { return b.takeOffer(c, t) }
	return s.do(ctx, c)
}

func (b *batch) takeOffer(c *command, t Taking) (Hold, error) {
	h, live := b.live(t.From)
	if h == nil || len(b.still(h)) == 0 {
		return Hold{}, ErrNoHold
	}
	if t.From == t.To {
		return b.answerHold(h), nil
	}
	if err := b.calledOff(); err != nil {
		return Hold{}, err
	}
	if err := b.shut(); err != nil && !t.Fresh {
		return Hold{}, err
	}
	seats := b.still(h)
	own, ownLive := b.live(t.To)
	switch {
	case !live:
		return Hold{}, &Refusal{Code: CodeLapsed, Seats: seats, Message: "The time of this offer is over. You keep your place in the wait list."}
	case slices.ContainsFunc(seats, func(idx int) bool { return b.rows[idx].state == Paying }):
		return Hold{}, &Refusal{Code: CodePaying, Seats: seats, Message: "These seats are being paid for in another browser. Finish there, or stop the payment on its page."}
	case ownLive && len(b.still(own)) > 0:
		return Hold{}, &Refusal{Code: CodeLimit, Seats: b.still(own), Message: "This browser holds other seats of this event. Order them or let them go, then take the offer; it lasts until the time shown."}
	}
	next := &heldBy{holder: t.To, id: NewID(), expiresAt: h.expiresAt, extensions: h.extensions, touched: true}
	if end := b.now.Add(b.terms.holdLength); t.Fresh && end.After(next.expiresAt) {
		next.expiresAt = end
	}
	if own != nil {
		next.stored, next.at, next.answers = own.stored, own.at, own.answers
		for _, idx := range b.still(own) {
			b.set(idx, t.To, row{})
		}
	}
	b.holds[t.To] = next
	b.ends(next)
	for _, idx := range seats {
		b.set(idx, t.From, row{state: Held, holder: t.To, expiresAt: &next.expiresAt})
		next.seats = append(next.seats, int32(idx))
	}
	h.keepSeats(nil)
	if t.Write != nil {
		c.write = func(q *pgx.Batch) { t.Write(q, next.id) }
	}
	return b.answerHold(next), nil
}
