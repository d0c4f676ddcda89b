package seats

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// sellAtOffice sells seats that nobody has, and blocked ones, which are kept for that: a deal of the box office. It
// does not ask whether the event is on sale, but a draft and a cancelled event are sold by nobody.
func (s *Sale) sellAtOffice(ctx context.Context, c *command, d Deal) ([]int, error) {
	seats, err := s.known(d.Seats)
	if err != nil {
		return nil, err
	}
	c.seats = seats
	c.decide = func(b *batch) (Hold, error) {
		if b.terms.status == Cancelled || b.terms.status == Draft {
			return Hold{}, refuseShut(s.Event.under(&b.terms))
		}
		if err := b.give(d.Order, seats); err != nil {
			return Hold{}, err
		}
		if d.Write != nil {
			c.write = d.queue(seats)
		}
		return Hold{Seats: seats}, nil
	}
	hold, err := s.do(ctx, c)
	return hold.Seats, s.withNearest(err)
}

// give sells seats that nobody has, or that are blocked, to an order; all of them or none.
func (b *batch) give(order ID, seats []int) error {
	gone := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return b.rows[idx].open(b.now) || b.rows[idx].state == Blocked })
	if len(gone) > 0 {
		return &Refusal{Code: CodeTaken, Seats: gone, Message: b.sale.named(gone) + isOrAre(gone) + " held or sold. Nothing was changed. Choose others."}
	}
	for _, idx := range seats {
		b.set(idx, b.rows[idx].keeper(), row{state: Sold, holder: order})
	}
	return nil
}

// Move gives an order other seats in place of some it has, all of them or none: from and to go together, one by
// one. What write queues commits with them. A *Refusal if a seat is not the order's, or another one is somebody's.
func (s *Sale) Move(ctx context.Context, order ID, from, to []int, write func(*pgx.Batch)) error {
	froms, err := s.known(from)
	if err != nil {
		return err
	}
	tos, err := s.known(to)
	if err != nil {
		return err
	}
	if len(froms) != len(from) || len(tos) != len(to) || len(from) != len(to) {
		return &Nonsense{Message: "Each ticket moves to one seat of its own. Nothing was changed."}
	}
	c := &command{sells: true, seats: slices.Concat(froms, tos)}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.calledOff(); err != nil {
			return Hold{}, err
		}
		foreign := slices.DeleteFunc(slices.Clone(froms), func(idx int) bool { return b.rows[idx].state == Sold && b.rows[idx].holder == order })
		if len(foreign) > 0 {
			return Hold{}, &Refusal{Code: CodeChanged, Seats: foreign, Message: "The tickets changed since the page was shown. Nothing was moved. Look at the order again."}
		}
		if err := b.give(order, tos); err != nil {
			return Hold{}, err
		}
		for _, idx := range froms {
			b.set(idx, order, row{})
		}
		c.write = write
		return Hold{}, nil
	}
	_, err = s.do(ctx, c)
	return s.withNearest(err)
}
