package seats

import (
	"context"
	"fmt"
)

// Block keeps seats back from the sale, all of them or none. Refused if one is held or sold.
func (s *Sale) Block(ctx context.Context, seats ...int) error {
	return s.keep(ctx, seats, func(r row, b *batch) (row, bool) {
		return row{state: Blocked, holder: house}, r.open(b.now)
	})
}

// Unblock puts blocked seats on sale again. Seats that are not blocked are refused, all together.
func (s *Sale) Unblock(ctx context.Context, seats ...int) error {
	return s.keep(ctx, seats, func(r row, _ *batch) (row, bool) { return row{}, r.state == Blocked })
}

func (s *Sale) keep(ctx context.Context, seats []int, to func(row, *batch) (row, bool)) error {
	for _, idx := range seats {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no seat number %d. Nothing was changed.", idx)}
		}
	}
	_, err := s.do(ctx, &command{seats: seats, decide: func(b *batch) (Hold, error) {
		var refused []int
		for _, idx := range seats {
			if _, ok := to(b.rows[idx], b); !ok {
				refused = append(refused, idx)
			}
		}
		if len(refused) > 0 {
			return Hold{}, &Refusal{Code: CodeTaken, Seats: refused, Message: s.named(refused) + " cannot be changed now: look at its state first. Nothing was changed."}
		}
		for _, idx := range seats {
			next, _ := to(b.rows[idx], b)
			b.set(idx, house, next)
		}
		return Hold{}, nil
	}})
	return err
}
