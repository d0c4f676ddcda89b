package seats

import (
	"context"
	"slices"
)

// Pay keeps what the holder has while a payment for it runs, or until the email of its order is confirmed: until the event's payment time is over, counted from
// now, or until the hold's own end if that is later. It counts as an extension, so that nobody keeps seats by
// paying again and again; without one left, the end stays. It returns the hold. Errors are those of Sell.
func (s *Sale) Pay(ctx context.Context, d Deal) (Hold, error) {
	c := &command{holder: d.Holder, keys: d.Keys}
	c.decide = func(b *batch) (Hold, error) {
		h, hold, err := b.agreed(d)
		if err != nil {
			return Hold{}, err
		}
		if refusal := b.refusePurchase(d.Keys, len(hold.Seats)); refusal != nil {
			return Hold{}, refusal
		}
		if !b.keepForPayment(c, h) {
			return Hold{}, &Refusal{Code: CodePressure, Seats: hold.Seats, Message: "Your time ran out, and you used all the extensions of this event. Seats that nobody took since are still there: take them again."}
		}
		b.countPurchases(d.Keys, len(hold.Seats))
		end := h.expiresAt
		for _, idx := range hold.Seats {
			b.set(idx, d.Holder, row{state: Paying, holder: d.Holder, expiresAt: &end})
		}
		if d.Write != nil {
			c.write = d.queue(hold.Seats)
		}
		return b.answerHold(h), nil
	}
	return s.do(ctx, c)
}

// keepForPayment moves the end of a hold; false if its time is up and cannot be moved.
func (b *batch) keepForPayment(c *command, h *heldBy) bool {
	_, live := b.live(h.holder)
	if h.extensions >= b.terms.extensions {
		return live
	}
	h.extensions++
	if end := b.now.Add(b.terms.payLength); end.After(h.expiresAt) {
		h.expiresAt = end
	}
	h.lapsed = false
	b.bind(c, h)
	return true
}

// StopPaying makes seats that are in payment held ones again, until the time they have. Nothing happens to others.
func (s *Sale) StopPaying(ctx context.Context, holder ID, seats []int) error {
	_, err := s.do(ctx, &command{holder: holder, decide: func(b *batch) (Hold, error) {
		h, ok := b.holds[holder]
		if !ok {
			return Hold{}, nil
		}
		for _, idx := range b.still(h) {
			if r := b.rows[idx]; r.state == Paying && contains(seats, idx) {
				b.set(idx, holder, row{state: Held, holder: holder, expiresAt: r.expiresAt})
			}
		}
		return Hold{}, nil
	}})
	return err
}

// sellLate sells the seats of a deal whose money is there: those its holder still has, in payment or lapsed, and those
// that nobody has. One that somebody else has refuses all of it.
func (s *Sale) sellLate(ctx context.Context, c *command, d Deal) ([]int, error) {
	c.seats = d.Seats
	c.decide = func(b *batch) (Hold, error) {
		if refusal := b.calledOff(); refusal != nil {
			return Hold{}, refusal
		}
		gone := slices.DeleteFunc(slices.Clone(d.Seats), func(idx int) bool {
			r := b.rows[idx]
			return r.open(b.now) || r.holder == d.Holder && (r.state == Held || r.state == Lapsed || r.state == Paying)
		})
		if len(gone) > 0 {
			return Hold{}, &Refusal{Code: CodeTaken, Seats: gone, Message: s.named(gone) + wasOrWere(gone) + " taken by somebody else after your time ran out."}
		}
		if err := b.buy(d.Keys, len(d.Seats)); err != nil {
			return Hold{}, err
		}
		for _, idx := range d.Seats {
			b.set(idx, d.Holder, row{state: Sold, holder: d.Order})
		}
		h := b.holds[d.Holder]
		if h == nil { // it was purged
			h = h.renew(d.Holder, b.now)
			b.holds[d.Holder] = h
		}
		h.keepSeats(slices.DeleteFunc(slices.Clone(h.seats), func(idx int32) bool { return contains(d.Seats, int(idx)) }))
		h.bought += len(d.Seats)
		if d.Write != nil {
			c.write = d.queue(d.Seats)
		}
		return Hold{Seats: d.Seats}, nil
	}
	hold, err := s.do(ctx, c)
	return hold.Seats, s.withNearest(err)
}

// withNearest names free seats in place of those that are gone.
func (s *Sale) withNearest(err error) error {
	if refusal, ok := err.(*Refusal); ok && refusal.Code == CodeTaken {
		refusal.Nearest = s.nearest(refusal.Seats)
	}
	return err
}
