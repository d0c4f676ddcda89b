package seats

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// GiveBack frees seats that are sold to an order, all of them or none. They no longer count against the limit of the
// visitor who bought them; holder is zero if the box office sold them, and keys are those of the order. What write queues commits with them, as in a Deal.
// Refused if one of them is not the order's.
func (s *Sale) GiveBack(ctx context.Context, holder, order ID, seats []int, keys []ID, write func(*pgx.Batch)) error {
	c := &command{holder: holder, seats: seats, keys: keys}
	c.decide = func(b *batch) (Hold, error) {
		var foreign []int
		for _, idx := range seats {
			if r := b.rows[idx]; r.state != Sold || r.holder != order {
				foreign = append(foreign, idx)
			}
		}
		if len(foreign) > 0 || len(seats) == 0 {
			return Hold{}, &Refusal{Code: CodeChanged, Seats: foreign, Message: "These tickets changed since the page was shown. Nothing was cancelled. Look at the order again."}
		}
		for _, idx := range seats {
			b.set(idx, order, row{})
		}
		if h := b.holds[holder]; h != nil {
			h.bought, h.touched = max(0, h.bought-len(seats)), true
		}
		b.countPurchases(keys, -len(seats))
		c.write = write
		return Hold{}, nil
	}
	_, err := s.do(ctx, c)
	return err
}
