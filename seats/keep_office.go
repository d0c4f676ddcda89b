package seats

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// KeepingAtOffice is the step that keeps seats for a payment at the box office: all of a purchase or none. The payment, d.Holder, has
// them for so long, in payment: other buyers cannot take them, and Sell with Late and AtOffice sells them. EndAwait frees them. What is
// refused is what Sell refuses at the box office. Seats of blocks are kept as well, and their lines say which block they are of.
func (s *Sale) KeepingAtOffice(d Purchase, length time.Duration) (Step, error) {
	seats, err := s.known(d.Seats)
	if err != nil {
		return Step{}, err
	}
	c := &command{holder: d.Holder, seats: seats, unblocks: true, uses: d.Uses}
	c.decide = func(b *batch) (Hold, error) {
		fares, lines, err := b.atOffice(d, seats)
		if err != nil {
			return Hold{}, err
		}
		if err := b.refuseGiving(d.Group, seats); err != nil {
			return Hold{}, err
		}
		b.countUses(d.Uses)
		h := b.holds[d.Holder].renew(d.Holder, b.now.Add(length))
		h.id = d.Hold
		b.holds[d.Holder] = h
		b.ends(h)
		for i, idx := range seats {
			lines[i].Block = b.rows[idx].blockHolder()
			b.set(idx, lines[i].Block, row{state: Paying, holder: d.Holder, expiresAt: &h.expiresAt, fare: fares[i]})
			h.seats = append(h.seats, int32(idx))
		}
		c.write = func(q *pgx.Batch) { d.Write(q, lines) }
		return b.answerHold(h), nil
	}
	return Step{sale: s, command: c}, nil
}
