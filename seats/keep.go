package seats

import (
	"slices"
	"time"

	"github.com/usherbox/usher/seats/text"
)

// An organizer may keep seats for a person until a time: those of a subscriber who may renew. They are a hold, of no session, that ends at
// that time: the guard of every claim keeps others out until then, and lets them in from then on. No job frees them.

// Keeping is the step that holds seats for a holder who holds nothing, until a time. It passes the guard of a claim. It does not ask whether the
// event is on sale, as a block does not, and limits of the event do not count. Nor does the size of a party at a shared row: the person had these seats.
func (s *Sale) Keeping(holder ID, seats []int, until time.Time) Step {
	c := &command{holder: holder, seats: slices.Sorted(slices.Values(seats))}
	c.decide = func(b *batch) (Hold, error) { return b.keep(c, until) }
	return Step{sale: s, command: c}
}

func (b *batch) keep(c *command, until time.Time) (Hold, error) {
	if refusal := b.calledOff(); refusal != nil {
		return Hold{}, refusal
	}
	if _, live := b.live(c.holder); live || !until.After(b.now) {
		return Hold{}, &Conflict{Code: CodeExpired, Message: text.Mark("The time until which these seats are kept is over. Nothing was changed.")}
	}
	if err := b.sale.RefusePart(c.seats); err != nil {
		return Hold{}, err
	}
	var taken []int
	for _, idx := range c.seats {
		if r := b.rows[idx]; !b.mayTake(r, c.holder) || b.blockOf(idx) != (ID{}) {
			taken = append(taken, idx)
		}
	}
	if len(taken) > 0 {
		return Hold{}, b.sale.taken(taken)
	}
	h := b.holds[c.holder].renew(c.holder, until)
	b.holds[c.holder] = h
	b.ends(h)
	fares := b.fresh(c.seats, b.usual)
	for i, idx := range c.seats {
		b.set(idx, c.holder, row{state: Held, holder: c.holder, expiresAt: &h.expiresAt, fare: fares[i]})
		h.seats = append(h.seats, int32(idx))
	}
	return b.answerHold(h), nil
}
