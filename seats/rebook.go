package seats

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// Rebooking is sold seats that go from one order to another one, as tickets of other types. The seats stay sold all the time: no
// other visitor and no entry of the waitlist can get them.
type Rebooking struct {
	From ID

	Purchase // Order gets Seats of From as Types; of the other fields Agreed, Check and Write count
}

// Rebooking is the step that gives the seats of an order to another one, all of them or none. A seat keeps its phase. If its type
// stays it keeps its price; the others cost what their types cost now in that phase, or what was agreed. They count for the same
// person as before. What Write queues has to end the old tickets before it makes new ones.
//
// A *Conflict if a seat is not sold to the order, was bought with a code, or if its new type is not sold there.
func (s *Sale) Rebooking(r Rebooking) Step {
	c := &command{seats: r.Seats, sells: true}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.calledOff(); err != nil {
			return Hold{}, err
		}
		if err := b.sale.RefusePart(r.Seats); err != nil {
			return Hold{}, err
		}
		fares, err := b.rebook(r)
		if err != nil {
			return Hold{}, err
		}
		lines := s.linesOf(r.Seats, fares)
		if r.Check != nil {
			if err := r.Check(lines); err != nil {
				return Hold{}, err
			}
		}
		for i, idx := range r.Seats {
			b.set(idx, r.From, row{state: Sold, holder: r.Order, fare: fares[i]})
		}
		if r.Write != nil {
			c.write = func(q *pgx.Batch) { r.Write(q, lines) }
		}
		return Hold{Seats: r.Seats, Lines: lines}, nil
	}
	return Step{sale: s, command: c}
}

// rebook prices the seats of a rebooking.
func (b *batch) rebook(r Rebooking) ([]fare, error) {
	fares := make([]fare, len(r.Seats))
	var foreign, coded []int
	for i, idx := range r.Seats {
		before := b.rows[idx]
		if before.state != Sold || before.holder != r.From {
			foreign = append(foreign, idx)
			continue
		}
		if _, is := b.coded[idx]; is {
			coded = append(coded, idx)
		}
		if fares[i] = before.fare; r.Types[i] == int(before.kind) && before.price != nil {
			continue
		}
		price, there := b.sale.Prices.Price(int(before.phase), r.Types[i], b.sale.Plan.Seats[idx].Category)
		if at := slices.IndexFunc(r.Agreed, func(l Line) bool { return l.Seat == idx && l.Type == r.Types[i] }); at >= 0 {
			price, there = r.Agreed[at].Price, true
		}
		if !there {
			return nil, &Conflict{Code: CodeType, Seats: []int{idx}, Message: text.Mark("Tickets of the type “%s” cannot be chosen for %s. Nothing was changed, and your tickets are still valid. Choose another type."), Args: []any{b.sale.Prices.Types[r.Types[i]].Name, b.sale.Plan.SeatName(idx)}}
		}
		fares[i] = fare{kind: int16(r.Types[i]), phase: before.phase, price: &price}
	}
	switch {
	case len(foreign) > 0 || len(r.Seats) == 0:
		return nil, &Conflict{Code: CodeChanged, Seats: foreign, Message: text.Mark("The tickets of this order changed since the page was shown. Nothing else was changed. Look at the order again.")}
	case len(coded) > 0:
		return nil, &Conflict{Code: CodeReserved, Seats: coded, Message: text.Mark("Tickets that were bought with a code keep their type. They are still valid.")}
	}
	return fares, nil
}
