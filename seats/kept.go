package seats

import (
	"context"
	"errors"
	"slices"
	"time"
)

// An event may have a wait list (package waitlist). While somebody waits in it, a seat that comes back is not free
// for whoever is quickest: in the transaction that would free it, it goes over to a hold of the wait list's own,
// and there it is until it was offered, or let go because nobody who waits wants it. The hold has an end as every
// hold has, so that seats come free for everybody if no node looks after them. Events in whose list nobody waits
// never ask.

// waitList is the holder of seats that are kept for those who wait.
var waitList = ID{15: 2}

// keepLength is how long the wait list's hold lasts. What looks after it has longer than any database is away.
const keepLength = 10 * time.Minute

// CodeWaitList is the code of a refusal: the seats came back and go to those who wait first.
const CodeWaitList = "wait_list"

// errListed sends a batch through the lane again: whether somebody waits for seats of the event is not what this
// node knew.
var errListed = errors.New("whether somebody waits for seats of the event is not what this node knew")

// knowList notes whether somebody waits for seats of the event now.
func (b *batch) knowList() error {
	if b.terms.listed == b.listed {
		return nil
	}
	b.sale.listed.Store(b.terms.listed)
	return errListed
}

// mayTake is the guard in Go for those who claim. While somebody waits, a seat whose time is up goes to the list
// with the announcement of that, and only who had it may take it again before; what lapsed before anybody waited is
// everybody's.
func (b *batch) mayTake(r row, holder ID) bool {
	return r.open(b.now) && (!b.listed || r.holder == ID{} || r.state == Lapsed || r.holder == holder || r.holder == waitList)
}

// set gives a seat another state in somebody's name. When several commands of a batch change one seat, the guard
// asks whether the first of them might: it is the one that met the row. A seat that would be free is kept while
// somebody waits.
func (b *batch) set(idx int, by ID, to row) {
	if _, dirty := b.dirty[idx]; !dirty {
		b.was[idx], b.dirty[idx] = b.rows[idx], by
	}
	if b.listed && to.holder == (ID{}) && b.rows[idx].holder != waitList {
		to = b.keepBack(idx)
	}
	to.at = b.rows[idx].at
	b.rows[idx] = to
}

// keepBack adds a seat to the wait list's hold.
func (b *batch) keepBack(idx int) row {
	h := b.listHold()
	if at, has := slices.BinarySearch(h.seats, int32(idx)); !has {
		h.seats = slices.Insert(h.seats, at, int32(idx))
	}
	h.touched = true
	return row{state: Held, holder: waitList, expiresAt: &h.expiresAt}
}

// listHold is the wait list's hold, with half of its time left at least; what it lost the time for and nobody took is
// in it again.
func (b *batch) listHold() *heldBy {
	h, live := b.live(waitList)
	if live && h.expiresAt.Sub(b.now) > keepLength/2 {
		return h
	}
	end := b.now.Add(keepLength)
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

// unkeep takes seats out of the wait list's hold, whose rows went to others.
func (b *batch) unkeep(seats []int) {
	if h := b.holds[waitList]; h != nil {
		h.keepSeats(slices.DeleteFunc(slices.Clone(h.seats), func(idx int32) bool { return contains(seats, int(idx)) }))
	}
}

// Kept lists the seats that are kept for those who wait, as this node last read, in the order of idx.
func (s *Sale) Kept() []int {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	kept := make([]int, 0, len(s.seats.kept))
	for idx := range s.seats.kept {
		kept = append(kept, int(idx))
	}
	slices.Sort(kept)
	return kept
}

// Keeps tells whether seats are kept for those who wait, as this node last read.
func (s *Sale) Keeps() bool {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return len(s.seats.kept) > 0
}

// KeepOn gives the wait list's hold its time again, if it keeps seats and less than half of it is left.
func (s *Sale) KeepOn(ctx context.Context) error {
	_, err := s.do(ctx, &command{ofList: true, decide: func(b *batch) (Hold, error) {
		if h, live := b.live(waitList); live && len(b.still(h)) > 0 {
			b.listHold()
		}
		return Hold{}, nil
	}})
	return err
}

// LetGo frees kept seats for everybody: nobody who waits wants them. Seats that are not kept stay as they are.
func (s *Sale) LetGo(ctx context.Context, seats []int) error {
	_, err := s.do(ctx, &command{ofList: true, seats: seats, decide: func(b *batch) (Hold, error) {
		var free []int
		for _, idx := range seats {
			if b.rows[idx].holder == waitList {
				b.set(idx, waitList, row{})
				free = append(free, idx)
			}
		}
		if len(free) > 0 {
			b.unkeep(free)
		}
		return Hold{}, nil
	}})
	return err
}

// refuseTaken says that somebody else has these seats, or that they go to those who wait.
func (b *batch) refuseTaken(seats []int) *Refusal {
	for _, idx := range seats {
		if r := b.rows[idx]; r.holder == waitList || r.open(b.now) {
			return b.sale.listFirst(seats)
		}
	}
	return b.sale.taken(seats)
}

func (s *Sale) listFirst(seats []int) *Refusal {
	return &Refusal{Code: CodeWaitList, Seats: seats, Message: s.named(seats) + " came back, and people on the wait list are asked first. What you hold is still yours. Join the wait list, or look again soon."}
}

// FreeSeats lists the seats that anybody may claim, as this node last read, in the order of idx.
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
