package seats

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Deal is what a holder agreed to: which seats go to which order, and what is written with them.
type Deal struct {
	Holder ID
	Order  ID
	Hold   ID    // it must be this one, which is sold at most once; the zero ID for whatever the holder has
	Seats  []int // it must be exactly these, in the order of idx; nil for whatever is still there

	// Late says that the money for Seats is there, or promised. The deal is about Seats alone, whatever else the holder
	// has by now, and those of them that nobody has any more are taken again.
	Late bool

	// Office says that Seats are sold at the box office, to somebody who holds nothing.
	Office bool

	// Keys stand for the person. The seats are counted for each, and refused above the limit; see purchase.go.
	Keys []ID

	// Check is asked once it is known that the holder has the seats; what it returns refuses the deal. A batch that is tried
	// again asks again. May be nil.
	Check func() error

	// Write queues statements that commit together with the seats, or not at all. They travel with other people's
	// commands, which fail with them: what can go wrong for one attendee has to be checked before. A batch that is
	// tried again asks again. They run before the counter row is taken and must lock no seat and no hold. May be nil.
	Write func(q *pgx.Batch, seats []int)
}

// Sell gives what the holder has to an order: held seats, and lapsed ones that nobody else claimed. In a strict event,
// only while the time is not up. It returns the seats sold. ErrNoHold if there is nothing left to sell; a *Refusal if
// what is there is not what the deal says. Nothing changed then.
func (s *Sale) Sell(ctx context.Context, d Deal) ([]int, error) {
	c := &command{holder: d.Holder, sells: true, keys: d.Keys}
	switch {
	case d.Office:
		return s.sellAtOffice(ctx, c, d)
	case d.Late:
		return s.sellLate(ctx, c, d)
	}
	c.decide = func(b *batch) (Hold, error) {
		h, sold, err := b.agreed(d)
		if err != nil {
			return Hold{}, err
		}
		if slices.ContainsFunc(sold.Seats, func(idx int) bool { return b.rows[idx].state == Paying }) {
			return Hold{}, &Refusal{Code: CodePaying, Seats: sold.Seats, Message: "A payment for these seats is under way. Nothing else was sold. Finish it, or stop it, then order again."}
		}
		if err := b.buy(d.Keys, len(sold.Seats)); err != nil {
			return Hold{}, err
		}
		for _, idx := range sold.Seats {
			b.set(idx, d.Holder, row{state: Sold, holder: d.Order})
		}
		h.keepSeats(nil)
		h.bought += len(sold.Seats)
		if d.Write != nil {
			c.write = d.queue(sold.Seats)
		}
		return sold, nil
	}
	hold, err := s.do(ctx, c)
	return hold.Seats, err
}

// agreed is what the holder has, if that is what the deal says.
func (b *batch) agreed(d Deal) (*heldBy, Hold, error) {
	if refusal := b.calledOff(); refusal != nil {
		return nil, Hold{}, refusal
	}
	h, live := b.live(d.Holder)
	if h == nil || len(b.still(h)) == 0 || b.terms.strict && !live {
		return nil, Hold{}, ErrNoHold
	}
	hold := b.answerHold(h)
	if refusal := b.sale.refuseDeal(d, hold); refusal != nil {
		return nil, Hold{}, refusal
	}
	if d.Check != nil {
		if err := d.Check(); err != nil {
			return nil, Hold{}, err
		}
	}
	return h, hold, nil
}

// refuseDeal says why a hold is not what a deal is about; nil if it is.
func (s *Sale) refuseDeal(d Deal, h Hold) error {
	gone := slices.Clone(d.Seats)
	gone = slices.DeleteFunc(gone, func(idx int) bool { return contains(h.Seats, idx) })
	switch {
	case len(gone) > 0 && d.Hold == h.ID:
		return &Refusal{Code: CodeTaken, Seats: gone, Message: s.named(gone) + isOrAre(gone) + " no longer yours. Nothing was sold. Look at what you still have, then confirm that."}
	case d.Hold != (ID{}) && d.Hold != h.ID, d.Seats != nil && len(d.Seats) != len(h.Seats):
		return &Refusal{Code: CodeChanged, Seats: h.Seats, Message: "Your seats changed since this page was shown. Nothing was sold. Look at them again, then confirm."}
	}
	return nil
}

func isOrAre(seats []int) string {
	if len(seats) == 1 {
		return " is"
	}
	return " are"
}

func (d Deal) queue(seats []int) func(*pgx.Batch) {
	return func(q *pgx.Batch) { d.Write(q, seats) }
}

// queueSales queues what the deals of this batch write.
func (b *batch) queueSales(q *pgx.Batch) {
	for i, c := range b.commands {
		if c.write != nil && b.answers[i].err == nil {
			c.write(q)
		}
	}
}
