package seats

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// An event may have a wait list (package waitlist). While an entry waits in it, a seat that comes back is not free
// for the quickest visitor: in the transaction that would free it, it goes over to a hold of the wait list's own,
// and there it is until it was offered, or let go because no waiting entry wants it. The hold has an end as every
// hold has, so that seats come free for all visitors if no node looks after them. Events without a waiting entry
// never ask.

// waitList is the holder of seats that are held for the waitlist.
var waitList = ID{15: 2}

// waitlistHoldLength is how long the waitlist's hold lasts. What looks after it has longer than any database is away.
const waitlistHoldLength = 10 * time.Minute

// CodeWaitList is the code of a refusal: the seats came back and go to those who wait first.
const CodeWaitList = "wait_list"

// errEntryWaits sends a batch through the queue again: whether an entry waits for seats of the event is not what this
// node knew.
var errEntryWaits = errors.New("this node did not know whether an entry waits for seats of the event")

// checkWaitlist notes whether an entry waits for seats of the event now.
func (b *batch) checkWaitlist() error {
	if b.terms.entryWaits == b.entryWaits {
		return nil
	}
	b.sale.entryWaits.Store(b.terms.entryWaits)
	return errEntryWaits
}

// holdForWaitlist adds a seat to the waitlist's hold.
func (b *batch) holdForWaitlist(idx int) row {
	h := b.waitlistHold()
	if at, has := slices.BinarySearch(h.seats, int32(idx)); !has {
		h.seats = slices.Insert(h.seats, at, int32(idx))
	}
	h.touched = true
	return row{state: Held, holder: waitList, expiresAt: &h.expiresAt}
}

// waitlistHold is the waitlist's hold, with half of its time left at least; what it lost the time for and no other visitor took is
// in it again.
func (b *batch) waitlistHold() *holdRow {
	h, live := b.live(waitList)
	if live && h.expiresAt.Sub(b.now) > waitlistHoldLength/2 {
		return h
	}
	end := b.now.Add(waitlistHoldLength)
	next := h.renew(waitList, end)
	if h != nil {
		for _, idx := range b.still(h) {
			next.seats = append(next.seats, int32(idx))
		}
	}
	b.holds[waitList] = next
	b.ends(next)
	for _, idx := range next.seats {
		r := b.rows[int(idx)]
		r.expiresAt = &next.expiresAt
		if r.state == Held {
			b.rows[int(idx)], b.extended[int(idx)] = r, true
			continue
		}
		b.set(int(idx), waitList, row{state: Held, holder: waitList, expiresAt: &next.expiresAt})
	}
	return next
}

// takeFromWaitlist takes seats out of the waitlist's hold: their rows went to others.
func (b *batch) takeFromWaitlist(seats []int) {
	if h := b.holds[waitList]; h != nil {
		h.keepSeats(slices.DeleteFunc(slices.Clone(h.seats), func(idx int32) bool { return slices.Contains(seats, int(idx)) }))
	}
}

// Waitlisted lists the seats that are held for the waitlist, as this node last read, in the order of idx.
func (s *Sale) Waitlisted() []int {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	list := make([]int, 0, len(s.seats.waitlisted))
	for idx := range s.seats.waitlisted {
		list = append(list, int(idx))
	}
	slices.Sort(list)
	return list
}

// HasWaitlisted reports whether seats are held for those who wait, as this node last read.
func (s *Sale) HasWaitlisted() bool {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return len(s.seats.waitlisted) > 0
}

// ExtendWaitlistHold gives the waitlist's hold its time again, if it has seats and less than half of it is left.
func (s *Sale) ExtendWaitlistHold(ctx context.Context) error {
	_, err := s.do(ctx, &command{ofWaitlist: true, decide: func(b *batch) (Hold, error) {
		if h, live := b.live(waitList); live && len(b.still(h)) > 0 {
			b.waitlistHold()
		}
		return Hold{}, nil
	}})
	return err
}

// LetGo frees seats of the waitlist for all visitors: no waiting entry wants them. Other seats stay as they are.
func (s *Sale) LetGo(ctx context.Context, seats []int) error {
	_, err := s.do(ctx, &command{ofWaitlist: true, seats: seats, decide: func(b *batch) (Hold, error) {
		var free []int
		for _, idx := range seats {
			if b.rows[idx].holder == waitList {
				b.set(idx, waitList, row{})
				free = append(free, idx)
			}
		}
		if len(free) > 0 {
			b.takeFromWaitlist(free)
		}
		return Hold{}, nil
	}})
	return err
}

// refuseTaken says that another visitor has these seats, that they are reserved, or that they go to those who wait.
func (b *batch) refuseTaken(seats []int) *Conflict {
	kept := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool {
		return b.coded[idx].block == ID{} && (b.rows[idx].state != Blocked || !b.sale.Prices.reserved[int32(idx)])
	})
	if len(kept) > 0 {
		return b.sale.reservedFor(kept)
	}
	for _, idx := range seats {
		if r := b.rows[idx]; r.holder == waitList || r.open(b.now) {
			return b.sale.waitlistFirst(seats)
		}
	}
	return b.sale.taken(seats)
}

func (s *Sale) waitlistFirst(seats []int) *Conflict {
	return &Conflict{Code: CodeWaitList, Seats: seats, Message: text.Mark("People on the waiting list are asked first: %s. Your other seats are still held. Join the waiting list, or look again soon."), Args: []any{s.named(seats)}}
}

// FreeSeats lists the seats that any visitor may claim, as this node last read, in the order of idx.
func (s *Sale) FreeSeats() (free []int) {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	for idx, state := range s.seats.states {
		if state.Shown() == Free {
			free = append(free, idx)
		}
	}
	return free
}

// Offer is seats held for a waiting entry. It passes the same guard as a claim.
type Offer struct {
	ID      ID        // its holder
	Entry   int64     // of the wait list; it must still wait
	Since   time.Time // since when it waits for the same seats, as it was read: who changed what they want is offered nothing by this
	Seats   []int
	Until   time.Time
	Blocked bool // by hand: also seats that the organizer keeps back
}

// Offered is an offer that was made, and the hold its seats are in.
type Offered struct {
	*Offer
	Hold ID
}

// errBefore says that an offer was not made because one before it was not.
var errBefore = &Conflict{Code: CodeChanged, Message: text.Mark("Seats that were chosen for an earlier entry are gone. Nothing was offered; the list is looked at again.")}

// Offer holds seats for entries of the wait list, each offer whole or not at all: kept seats, and those that are
// free. All of them travel in one batch, and the order in which people wait stays: once the seats of one are gone, those
// behind it are offered nothing either. write queues statements that commit with the seats, or not at all, as those of a
// Purchase, and lock locks the entries before. It returns what became of each: nil, a *Conflict, or the database's error. Limits
// of the event do not count.
func (s *Sale) Offer(ctx context.Context, offers []Offer, lock Entries, write func(q *pgx.Batch, made []Offered)) []error {
	if len(offers) == 0 {
		return nil
	}
	c := &command{ofWaitlist: true, lock: lock}
	for i := range offers {
		c.seats, c.entries = append(c.seats, offers[i].Seats...), append(c.entries, offers[i].Entry)
		c.unblocks = c.unblocks || offers[i].Blocked
	}
	var errs []error
	c.decide = func(b *batch) (Hold, error) {
		var made []Offered
		made, errs = b.offerAll(offers)
		c.write = func(q *pgx.Batch) { write(q, made) }
		if len(made) == 0 {
			return Hold{}, errs[0]
		}
		return Hold{}, nil
	}
	if _, err := s.do(ctx, c); err != nil && !errors.As(err, new(*Conflict)) {
		return slices.Repeat([]error{err}, len(offers))
	}
	return errs
}

// offerAll decides offers one after another, under the lock.
func (b *batch) offerAll(offers []Offer) (made []Offered, errs []error) {
	errs = make([]error, len(offers))
	for i := range offers {
		o := &offers[i]
		last, why := b.notOffered(o)
		switch {
		case why == nil:
			made = append(made, Offered{o, b.holdForOffer(o)})
		case last:
			errs[i] = why
			for behind := i + 1; behind < len(offers); behind++ {
				errs[behind] = errBefore
			}
			return made, errs
		default:
			errs[i] = why
		}
	}
	return made, errs
}

// notOffered is why an offer may not be made; nil if it may. last: nor may those behind it.
func (b *batch) notOffered(o *Offer) (last bool, why error) {
	if err := b.shut(); err != nil {
		return true, err
	}
	if since, waits := b.waits[o.Entry]; !waits || !since.Equal(o.Since) {
		return false, &Conflict{Code: CodeChanged, Message: text.Mark("This entry no longer waits, or waits for other seats. Nothing was offered.")}
	}
	if err := cmp.Or(b.sale.RefusePart(o.Seats), b.refuseParty(o.Seats, o.Seats)); err != nil {
		return false, err
	}
	if !o.Until.After(b.now) {
		return true, &Conflict{Code: CodeExpired, Message: text.Mark("The time for this offer is over already. Nothing was offered.")}
	}
	if taken := b.notToOffer(o); len(taken) > 0 {
		return true, b.sale.taken(taken)
	}
	return false, nil
}

// notToOffer lists the seats of an offer that have a holder.
func (b *batch) notToOffer(o *Offer) (taken []int) {
	for _, idx := range o.Seats {
		if r := b.rows[idx]; r.holder != waitList && (!r.open(b.now) || b.coded[idx].block != ID{}) && !(o.Blocked && r.state == Blocked && !b.ofGroup(idx, ID{})) {
			taken = append(taken, idx)
		}
	}
	return taken
}

// holdForOffer makes the hold of an offer. Its entry does not wait any more.
func (b *batch) holdForOffer(o *Offer) (hold ID) {
	delete(b.waits, o.Entry)
	b.takeFromWaitlist(o.Seats)
	hold = NewID()
	b.holdUntil(o.ID, hold, o.Seats, o.Until, func(idx int) ID {
		if b.rows[idx].state == Blocked {
			return b.rows[idx].holder // its block
		}
		return waitList
	})
	return hold
}

// holdUntil makes a hold of seats for a holder who had none before, until a time. by returns the holder that a seat comes from.
func (b *batch) holdUntil(holder, hold ID, seats []int, until time.Time, by func(idx int) ID) {
	h := &holdRow{holder: holder, id: hold, expiresAt: until, touched: true}
	b.holds[holder] = h
	b.ends(h)
	fares := b.fresh(seats, b.usual)
	for i, idx := range seats {
		b.set(idx, by(idx), row{state: Held, holder: holder, expiresAt: &h.expiresAt, fare: fares[i]})
		h.seats = append(h.seats, int32(idx))
	}
	slices.Sort(h.seats)
}

// queueEntries locks the entries that are offered seats, after holds and slots and before the seats: an entry that leaves
// the list or changes does so before, or after.
func (b *batch) queueEntries(q *pgx.Batch) {
	var entries []int64
	var lock Entries
	for _, c := range b.commands {
		if c.lock != nil {
			entries, lock = append(entries, c.entries...), c.lock
		}
	}
	if len(entries) == 0 {
		return
	}
	b.waits = make(map[int64]time.Time, len(entries))
	lock(q, b.sale.Event.ID, entries, func(entry int64, since time.Time) { b.waits[entry] = since })
}

// Taking is an offer that its person takes in the present browser.
type Taking struct {
	From  ID   // the holder the offer has
	To    ID   // the holder of the browser's session
	Fresh bool // it was not taken before: it lasts as long as any hold at least

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
		return Hold{}, &Conflict{Code: CodeExpired, Seats: seats, Message: text.Mark("This offer has expired. You keep your place on the waiting list.")}
	case slices.ContainsFunc(seats, func(idx int) bool { return b.rows[idx].state == Paying }):
		return Hold{}, &Conflict{Code: CodePaying, Seats: seats, Message: text.Mark("These seats are being paid for in another browser. Finish there, or stop the payment on its page.")}
	case own != nil && own.bought > 0 && own.bought+len(seats) > b.terms.limit:
		return Hold{}, overLimit(b.terms.limit, own.bought)
	case ownLive && len(b.still(own)) > 0:
		return Hold{}, &Conflict{Code: CodeLimit, Seats: b.still(own), Message: text.Mark("This browser holds other seats of this event. Order or remove them, then take the offer. It lasts until the time shown.")}
	}
	next := own.renew(t.To, h.expiresAt)
	next.extensions = h.extensions
	if end := b.now.Add(b.terms.holdLength); t.Fresh && end.After(next.expiresAt) {
		next.expiresAt = end
	}
	if own != nil {
		for _, idx := range b.still(own) {
			b.set(idx, t.To, row{})
		}
	}
	b.holds[t.To] = next
	b.bind(c, next)
	for _, idx := range seats {
		b.set(idx, t.From, row{state: Held, holder: t.To, expiresAt: &next.expiresAt, fare: b.rows[idx].fare})
		next.seats = append(next.seats, int32(idx))
	}
	h.keepSeats(nil)
	if t.Write != nil {
		c.write = func(q *pgx.Batch) { t.Write(q, next.id) }
	}
	return b.answerHold(next), nil
}
