package seats

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// A buyer may offer a sold seat back. It is for sale again then, to the waitlist first, as any seat that comes back. The
// buyer's ticket is valid until the seat is sold to another order. The transaction that sells it ends the ticket and gives
// its price back (Inventory.Resold), so that a seat has one valid ticket at any time, and no money goes back before it.
// Until then the buyer may take the seat back, unless another visitor holds it. A friend whom the buyer names comes before
// all others: the seat is held for them until a time, as an offer of the waitlist is.

// Resale is a sold seat that its buyer offers back.
type Resale struct {
	ID     ID
	Seat   int
	Ticket ID // valid until the seat is sold again
	Order  ID
	Keys   []ID  // purchase keys of the order: they count the ticket until then
	Fee    int64 // kept of what goes back, minor units
}

// resale is a resale row as a batch knows it.
type resale struct {
	Resale
	kind   int16 // the seat's ticket type
	stored bool  // the row is there
	ended  bool
	soldTo ID // the next order of the seat; none: it was not sold
}

// The keys of its order may change while a seat is offered back, and are erased with a person, so there is no copy of them.
const resalesSQL = `
SELECT r.id, r.idx, r.ticket_id, r.order_id, r.type, r.fee, (SELECT keys FROM orders o WHERE o.id = r.order_id)
  FROM (SELECT unnest($2::integer[])
        UNION
        SELECT unnest(h.seats)
          FROM unnest($3::uuid[]) AS by(holder),
               LATERAL (SELECT seats FROM hold WHERE event_id = $1 AND hold.holder = by.holder OFFSET 0) h) AS n(idx),
       LATERAL (SELECT * FROM resale WHERE event_id = $1 AND idx = n.idx AND ended_at IS NULL OFFSET 0) r`

// queueReadResales reads which of the seats are offered back, if a command may sell or give back seats. The seats are locked.
func (b *batch) queueReadResales(q *pgx.Batch, holders []ID, seats []int32) {
	if !slices.ContainsFunc(b.commands, func(c *command) bool { return c.sells || c.resells }) {
		return
	}
	b.resales = map[int]*resale{}
	q.Queue(resalesSQL, b.sale.Event.ID, seats, holders).Query(func(rows pgx.Rows) error {
		var r resale
		_, err := pgx.ForEachRow(rows, []any{&r.ID, &r.Seat, &r.Ticket, &r.Order, &r.kind, &r.Fee, &r.Keys}, func() error {
			known := r
			known.stored = true
			b.resales[r.Seat], r.Keys = &known, nil
			return nil
		})
		return err
	})
}

// offeredBack is the resale of a seat; nil if it is not offered back.
func (b *batch) offeredBack(idx int) *resale {
	if r := b.resales[idx]; r != nil && !r.ended {
		return r
	}
	return nil
}

// Friend is whom seats are offered back to before all others.
type Friend struct {
	ID    ID        // the holder of the seats and the id of their hold, until a browser takes them (Take)
	Until time.Time // when others may claim the seats
}

// OfferBack puts seats of an order on sale again, all of them or none; for friend alone at first, unless that is nil. They do not count against the limit of the visitor's
// hold from now on; holder is zero if the box office sold them. What write queues commits with them, as in a Purchase. A
// *Conflict if a seat is not the order's, or was bought with a code.
func (s *Sale) OfferBack(ctx context.Context, holder ID, offers []Resale, friend *Friend, write TxHook) error {
	c := &command{holder: holder, resells: true}
	for _, r := range offers {
		c.seats = append(c.seats, r.Seat)
	}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.sale.RefusePart(c.seats); err != nil {
			return Hold{}, err
		}
		if b.terms.status != OnSale {
			return Hold{}, &Conflict{Code: CodeShut, Message: text.Mark("This event is not on sale now, so its tickets cannot be offered. Nothing was changed. Your tickets are still valid.")}
		}
		var foreign, coded []int
		for _, r := range offers {
			if row := b.rows[r.Seat]; row.state != Sold || row.holder != r.Order {
				foreign = append(foreign, r.Seat)
			}
			if _, is := b.coded[r.Seat]; is {
				coded = append(coded, r.Seat)
			}
		}
		switch {
		case len(foreign) > 0 || len(offers) == 0:
			return Hold{}, &Conflict{Code: CodeChanged, Seats: foreign, Message: text.Mark("These tickets changed since the page was shown. Nothing was offered. Look at the order again.")}
		case len(coded) > 0:
			return Hold{}, &Conflict{Code: CodeReserved, Seats: coded, Message: text.Mark("Tickets that were bought with a code cannot be sold to others. Nothing was changed.")}
		}
		if friend != nil && !friend.Until.After(b.now) {
			return Hold{}, &Conflict{Code: CodeExpired, Message: text.Mark("The time for this offer is over already. Nothing was offered.")}
		}
		for _, r := range offers {
			if before := b.resales[r.Seat]; before != nil {
				b.resalesBefore = append(b.resalesBefore, before)
			}
			b.resales[r.Seat] = &resale{Resale: r, kind: b.rows[r.Seat].kind}
			if friend == nil {
				b.set(r.Seat, r.Order, row{})
			}
		}
		if friend != nil {
			b.holdUntil(friend.ID, friend.ID, c.seats, friend.Until, func(idx int) ID { return b.rows[idx].holder })
		}
		b.addBought(holder, -len(offers))
		c.write = write
		return Hold{}, nil
	}
	_, err := s.do(ctx, c)
	return err
}

// TakeBack gives seats that are offered back to their order again, all of them or none. What write queues commits with them.
// A *Conflict if one is not offered back by the order, or if another visitor holds it: friend, the holder of an offer to a friend,
// keeps a seat from the order only while it is being paid for. Zero for none.
func (s *Sale) TakeBack(ctx context.Context, holder, order, friend ID, seats []int, write TxHook) error {
	c := &command{holder: holder, from: friend, resells: true, takesBack: true, ofWaitlist: true, seats: seats}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.calledOff(); err != nil {
			return Hold{}, err
		}
		if err := b.sale.RefusePart(seats); err != nil {
			return Hold{}, err
		}
		var foreign, held []int
		for _, idx := range seats {
			r := b.rows[idx]
			switch offer := b.offeredBack(idx); {
			case offer == nil || offer.Order != order:
				foreign = append(foreign, idx)
			case !r.open(b.now) && r.holder != waitList && r.state != Blocked && (r.holder != friend || r.state != Held):
				held = append(held, idx)
			}
		}
		switch {
		case len(foreign) > 0 || len(seats) == 0:
			return Hold{}, &Conflict{Code: CodeChanged, Seats: foreign, Message: text.Mark("This ticket is not offered any more: it was sold or taken back. Nothing was changed. Look at the order again.")}
		case len(held) > 0:
			return Hold{}, &Conflict{Code: CodeTaken, Seats: held, Message: text.Mark("Another person is about to buy this seat. Nothing was changed, and your ticket is valid until they have paid. Try again in a few minutes.")}
		}
		for _, idx := range seats {
			r := b.rows[idx]
			by := r.blockHolder()
			if r.holder == waitList || r.holder == friend {
				by = r.holder
			}
			if _, is := b.coded[idx]; is { // of a visitor who held the seat meanwhile
				b.noteCode(idx, seatCode{})
			}
			b.set(idx, by, row{state: Sold, holder: order, fare: fare{kind: b.resales[idx].kind}})
			b.resales[idx].ended = true
		}
		b.takeFromWaitlist(seats)
		if h := b.holds[friend]; h != nil {
			h.keepSeats(slices.DeleteFunc(slices.Clone(h.seats), func(idx int32) bool { return slices.Contains(seats, int(idx)) }))
		}
		b.addBought(holder, len(seats))
		c.write = write
		return Hold{}, nil
	}
	_, err := s.do(ctx, c)
	return err
}

// addBought changes how many tickets the hold of a visitor counts as bought.
func (b *batch) addBought(holder ID, n int) {
	h := b.holds[holder]
	if h == nil && n > 0 && holder != (ID{}) { // it was purged
		h = h.renew(holder, b.now)
		h.keepSeats(nil)
		b.holds[holder] = h
	}
	if h != nil {
		h.bought, h.touched = max(0, h.bought+n), true
	}
}

// resell notes that seats are sold to another order. Those that were offered back count for their buyer no more.
func (b *batch) resell(order ID, seats []int) {
	for _, idx := range seats {
		if r := b.offeredBack(idx); r != nil {
			r.ended, r.soldTo = true, order
			b.uncount(r.Keys)
		}
	}
}

// uncount takes a ticket off the counts of purchase keys.
func (b *batch) uncount(keys []ID) {
	if b.purchases == nil {
		b.purchases = counts{}
	}
	b.countPurchases(keys, -1)
}

// refuseUnpaid refuses to sell seats that are offered back to a buyer who pays later: their price goes back at once.
func (b *batch) refuseUnpaid(seats []int) error {
	back := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return b.offeredBack(idx) == nil })
	if len(back) == 0 {
		return nil
	}
	return &Conflict{Code: CodeResale, Seats: back, Message: oneOrMany(back, text.Mark("%s is sold by another attendee, so it has to be paid now. Nothing was ordered. Choose another way to pay, or another seat."), text.Mark("%s are sold by other attendees, so they have to be paid now. Nothing was ordered. Choose another way to pay, or other seats.")), Args: []any{b.sale.named(back)}}
}

// CodeResale is the code of a refusal: seats that are offered back are paid at once.
const CodeResale = "resale"

const (
	insertResaleSQL = `
INSERT INTO resale (id, event_id, idx, ticket_id, order_id, type, fee, ended_at, sold_to)
VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN clock_timestamp() END, $9)`
	endResaleSQL = `UPDATE resale SET ended_at = clock_timestamp(), sold_to = $2 WHERE id = $1`
)

// queueResales writes what became of resales: before the orders that bought the seats, whose tickets take the place of the old ones.
func (b *batch) queueResales(q *pgx.Batch) {
	b.resold = nil
	sold := map[ID][]Resale{}
	for _, r := range slices.Concat(b.resalesBefore, slices.SortedFunc(maps.Values(b.resales), func(x, y *resale) int { return x.Seat - y.Seat })) {
		var soldTo *ID
		if r.soldTo != (ID{}) {
			soldTo, sold[r.Order] = &r.soldTo, append(sold[r.Order], r.Resale)
		}
		switch {
		case !r.stored:
			q.Queue(insertResaleSQL, r.ID, b.sale.Event.ID, r.Seat, r.Ticket, r.Order, r.kind, r.Fee, r.ended, soldTo)
		case r.ended:
			q.Queue(endResaleSQL, r.ID, soldTo)
		}
	}
	for _, order := range slices.SortedFunc(maps.Keys(sold), ID.compare) { // orders are locked one after the other
		b.resold = append(b.resold, b.sale.inventory.Resold(q, b.sale.Event.ID, order, sold[order]))
	}
}
