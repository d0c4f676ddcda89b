package seats

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Awaiting is a payment that the attendee made, and that the provider confirms days later.
type Awaiting struct {
	From   ID            // the visitor who holds the seats until now
	To     ID            // the payment, which holds them from now on
	Seats  []int         // all of the payment
	Agreed []Line        // what they cost when the payment began
	Length time.Duration // from now, until when the provider says whether the money comes

	// Write queues statements that commit with the seats, as those of a Purchase.
	Write func(q *pgx.Batch, until time.Time)
}

// Await moves the seats of a payment to a hold of their own, in which they stay in payment for days. The visitor may hold
// other seats meanwhile, by the usual clock, and nothing that becomes of the visitor's session releases them. Seats that
// expired and that no other visitor took are moved as well. A repeat changes nothing. A *Conflict if a seat was taken.
func (s *Sale) Await(ctx context.Context, a Awaiting) error {
	c := &command{holder: a.To, from: a.From, seats: a.Seats}
	c.decide = func(b *batch) (Hold, error) {
		if refusal := b.calledOff(); refusal != nil {
			return Hold{}, refusal
		}
		if h, live := b.live(a.To); live {
			return b.answerHold(h), nil
		}
		gone := slices.DeleteFunc(slices.Clone(a.Seats), func(idx int) bool { return b.mayTakeLate(idx, a.Agreed, a.From, a.To) })
		if len(gone) > 0 {
			return Hold{}, &Conflict{Code: CodeTaken, Seats: gone, Message: s.named(gone) + wasOrWere(gone) + " taken by another visitor after your time ran out."}
		}
		fares, err := b.lateFares(Purchase{Holder: a.From, Seats: a.Seats, Agreed: a.Agreed})
		if err != nil {
			return Hold{}, err
		}
		h := b.holds[a.To].renew(a.To, b.now.Add(a.Length))
		b.holds[a.To] = h
		b.ends(h)
		for i, idx := range a.Seats {
			b.set(idx, b.rows[idx].holder, row{state: Paying, holder: a.To, expiresAt: &h.expiresAt, fare: fares[i]})
			h.seats = append(h.seats, int32(idx))
		}
		b.noteAgreed(a.Agreed, a.To)
		slices.Sort(h.seats)
		if from := b.holds[a.From]; from != nil {
			from.keepSeats(slices.DeleteFunc(slices.Clone(from.seats), func(idx int32) bool { return slices.Contains(a.Seats, int(idx)) }))
		}
		c.write = func(q *pgx.Batch) { a.Write(q, h.expiresAt) }
		return b.answerHold(h), nil
	}
	_, err := s.do(ctx, c)
	return s.withNearest(err)
}

// EndAwait frees the seats that a payment holds. Nothing happens to others.
func (s *Sale) EndAwait(ctx context.Context, payment ID) error {
	_, err := s.do(ctx, &command{holder: payment, decide: func(b *batch) (Hold, error) {
		h, ok := b.holds[payment]
		if !ok {
			return Hold{}, nil
		}
		for _, idx := range b.still(h) {
			if state := b.rows[idx].state; state == Paying || state == Lapsed {
				b.set(idx, payment, row{})
			}
		}
		h.keepSeats(nil)
		return Hold{}, nil
	}})
	return err
}
