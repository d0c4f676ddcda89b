package seats

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/tracing"
)

// Purchase is what a holder agreed to: which seats go to which order, and what is written with them.
type Purchase struct {
	Holder ID
	Order  ID
	Hold   ID    // it must be this one, which is sold at most once; the zero ID for whatever the holder has
	Seats  []int // it must be exactly these, in the order of idx; nil for whatever is still there

	// Late says that the money for Seats is there, or promised. The purchase is about Seats alone, whatever else the holder
	// has by now, and those of them that have no holder any more are taken again.
	Late bool

	// AtOffice says that Seats are sold at the box office, to a person who holds nothing. With Late, they were kept for that
	// (KeepingAtOffice), and count for no visitor.
	AtOffice bool

	// Group is the block of a group, of which Seats are at the box office; zero: of none.
	Group ID

	// Keys stand for the person. The seats are counted for each, and refused above the limit; see allowance.go.
	Keys []ID

	// Unpaid says that the buyer pays later, or nothing for seats that cost something. Seats that are offered back are not sold so;
	// see resale.go.
	Unpaid bool

	// Types are the ticket types of Seats at the box office, one of each; nil for the usual ones.
	Types []int

	// Agreed are the lines that a late purchase was made by. A seat that lost its price meanwhile is sold at that one, if its phase
	// has a place left. Nil: at the price of the moment.
	Agreed []Line

	// Uses are counted, and refused if one of them is used up; see allowance.go.
	Uses []Use

	// Check is asked once it is known that the holder has the seats, with what they cost; what it returns refuses the purchase. A
	// batch that is tried again asks again. May be nil.
	Check func(lines []Line) error

	// Write queues statements that commit together with the seats, or not at all. They travel with other people's
	// commands, which fail with them: what can go wrong for one attendee has to be checked before. A batch that is
	// tried again asks again. They run before the counter row is taken and must lock no seat and no hold. May be nil.
	Write func(q *pgx.Batch, lines []Line)
}

// Sell gives what the holder has to an order: held seats, and expired ones that no other visitor claimed. In a strict event,
// only while the time is not up. It returns the seats sold. ErrNoHold if there is nothing left to sell; a *Conflict if
// what is there is not what the purchase says. Nothing changed then.
func (s *Sale) Sell(ctx context.Context, d Purchase) ([]int, error) {
	ctx, span := tracing.Start(ctx, "sell")
	sold, err := s.sell(ctx, d)
	if span.IsRecording() {
		s.endSpan(span, len(sold), err)
	}
	return sold, err
}

func (s *Sale) sell(ctx context.Context, d Purchase) ([]int, error) {
	c, err := s.selling(d)
	if err != nil {
		return nil, err
	}
	hold, err := s.do(ctx, c)
	return hold.Seats, s.withNearest(err)
}

// selling is the command of Sell.
func (s *Sale) selling(d Purchase) (*command, error) {
	c := &command{holder: d.Holder, sells: true, keys: d.Keys, uses: d.Uses}
	switch {
	case d.Late:
		s.sellLate(c, d)
		return c, nil
	case d.AtOffice:
		return c, s.sellAtOffice(c, d)
	}
	c.decide = func(b *batch) (Hold, error) {
		h, sold, err := b.agreed(d)
		if err != nil {
			return Hold{}, err
		}
		if slices.ContainsFunc(sold.Seats, func(idx int) bool { return b.rows[idx].state == Paying }) {
			return Hold{}, &Conflict{Code: CodePaying, Seats: sold.Seats, Message: text.Mark("These seats are being paid for. Nothing else was sold. Finish or cancel the payment, then order again.")}
		}
		if err := b.refuseUse(d.Uses); err != nil {
			return Hold{}, err
		}
		if err := b.buyEarly(d.Keys, sold.Seats); err != nil {
			return Hold{}, err
		}
		if err := b.buy(d.Keys, len(sold.Seats)); err != nil {
			return Hold{}, err
		}
		b.countUses(d.Uses)
		b.sell(d.Holder, d.Order, sold.Seats, b.fares(sold.Seats, b.kind))
		h.keepSeats(nil)
		h.bought += len(sold.Seats)
		if d.Write != nil {
			c.write = d.queue(sold.Lines)
		}
		return sold, nil
	}
	return c, nil
}

// sell gives seats to an order.
func (b *batch) sell(by, order ID, seats []int, fares []fare) {
	for i, idx := range seats {
		giver := by
		if b.rows[idx].state == Blocked {
			giver = b.rows[idx].holder // a reserved seat of a late purchase
		}
		b.set(idx, giver, row{state: Sold, holder: order, fare: fares[i]})
	}
	b.resell(order, seats)
}

// agreed is what the holder has, if that is what the purchase says.
func (b *batch) agreed(d Purchase) (*holdRow, Hold, error) {
	if refusal := b.calledOff(); refusal != nil {
		return nil, Hold{}, refusal
	}
	h, live := b.live(d.Holder)
	if h == nil || len(b.still(h)) == 0 || b.terms.strict && !live {
		return nil, Hold{}, ErrNoHold
	}
	hold := b.answerHold(h)
	if refusal := b.sale.refusePurchase(d, hold); refusal != nil {
		return nil, Hold{}, refusal
	}
	if d.Check != nil {
		if err := d.Check(hold.Lines); err != nil {
			return nil, Hold{}, err
		}
	}
	if d.Unpaid {
		if err := b.refuseUnpaid(hold.Seats); err != nil {
			return nil, Hold{}, err
		}
	}
	return h, hold, nil
}

// refusePurchase says why a hold is not what a purchase is about; nil if it is.
func (s *Sale) refusePurchase(d Purchase, h Hold) error {
	gone := slices.Clone(d.Seats)
	gone = slices.DeleteFunc(gone, func(idx int) bool { return slices.Contains(h.Seats, idx) })
	switch {
	case len(gone) > 0 && d.Hold == h.ID:
		return &Conflict{Code: CodeTaken, Seats: gone, Message: oneOrMany(gone, text.Mark("%s is no longer yours. Nothing was sold. Check the seats you still have, then confirm."), text.Mark("%s are no longer yours. Nothing was sold. Check the seats you still have, then confirm.")), Args: []any{s.named(gone)}}
	case d.Hold != (ID{}) && d.Hold != h.ID, d.Seats != nil && len(d.Seats) != len(h.Seats):
		return &Conflict{Code: CodeChanged, Seats: h.Seats, Message: text.Mark("Your seats changed since this page was shown. Nothing was sold. Check your seats, then confirm.")}
	}
	return nil
}

func (d Purchase) queue(lines []Line) func(*pgx.Batch) {
	return func(q *pgx.Batch) { d.Write(q, lines) }
}

// queueSales queues what the deals of this batch write. Tickets are cancelled before others of the same seats are made, and orders
// of a batch are written together.
func (b *batch) queueSales(q *pgx.Batch) {
	for _, first := range []bool{true, false} {
		for i, c := range b.commands {
			if c.givesBack == first && c.write != nil && b.answers[i].err == nil {
				c.write(q)
			}
		}
	}
}

// Pay keeps what the holder has while a payment for it runs, or until the email of its order is confirmed: until the event's payment time is over, counted from
// now, or until the hold's own end if that is later. It counts as an extension, so that no visitor keeps seats by
// paying again and again; without one left, the end stays. It returns the hold. Errors are those of Sell.
func (s *Sale) Pay(ctx context.Context, d Purchase) (Hold, error) { return s.do(ctx, s.paying(d)) }

// paying is the command of Pay.
func (s *Sale) paying(d Purchase) *command {
	c := &command{holder: d.Holder, keys: d.Keys, uses: d.Uses, resells: d.Unpaid}
	c.decide = func(b *batch) (Hold, error) {
		h, hold, err := b.agreed(d)
		if err != nil {
			return Hold{}, err
		}
		if refusal := b.buyEarly(d.Keys, hold.Seats); refusal != nil {
			return Hold{}, refusal
		}
		if refusal := b.refusePurchase(d.Keys, len(hold.Seats)); refusal != nil {
			return Hold{}, refusal
		}
		if refusal := b.refuseUse(d.Uses); refusal != nil {
			return Hold{}, refusal
		}
		if !b.keepForPayment(c, h) {
			return Hold{}, &Conflict{Code: CodePressure, Seats: hold.Seats, Message: text.Mark("Your hold expired, and you can’t extend your time again. You can hold seats again that are still available.")}
		}
		b.countPurchases(d.Keys, len(hold.Seats))
		b.countUses(d.Uses)
		end, fares := h.expiresAt, b.fares(hold.Seats, b.kind)
		for i, idx := range hold.Seats {
			b.set(idx, d.Holder, row{state: Paying, holder: d.Holder, expiresAt: &end, fare: fares[i]})
		}
		if d.Write != nil {
			c.write = d.queue(hold.Lines)
		}
		return b.answerHold(h), nil
	}
	return c
}

// keepForPayment moves the end of a hold; false if its time is up and cannot be moved.
func (b *batch) keepForPayment(c *command, h *holdRow) bool {
	_, live := b.live(h.holder)
	if h.extensions >= b.terms.extensions {
		return live
	}
	h.extensions++
	if end := b.now.Add(b.terms.payLength); end.After(h.expiresAt) {
		h.expiresAt = end
	}
	h.expired = false
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
			if r := b.rows[idx]; r.state == Paying && slices.Contains(seats, idx) {
				b.set(idx, holder, row{state: Held, holder: holder, expiresAt: r.expiresAt, fare: r.fare})
			}
		}
		return Hold{}, nil
	}})
	return err
}

// sellLate sells the seats of a purchase that is paid: those its holder still has, in payment or expired, and those
// that have no holder. One with another holder refuses all of it.
func (s *Sale) sellLate(c *command, d Purchase) {
	c.seats = d.Seats
	c.decide = func(b *batch) (Hold, error) {
		if refusal := b.calledOff(); refusal != nil {
			return Hold{}, refusal
		}
		gone := slices.DeleteFunc(slices.Clone(d.Seats), func(idx int) bool { return b.mayTakeLate(idx, d.Agreed, d.Holder) })
		if len(gone) > 0 {
			return Hold{}, &Conflict{Code: CodeTaken, Seats: gone, Message: oneOrMany(gone, text.Mark("%s was taken by another visitor after your hold expired."), text.Mark("%s were taken by another visitor after your hold expired.")), Args: []any{s.named(gone)}}
		}
		fares, err := b.lateFares(d)
		if err != nil {
			return Hold{}, err
		}
		lines := s.linesOf(d.Seats, fares)
		if d.Check != nil {
			if err := d.Check(lines); err != nil {
				return Hold{}, err
			}
		}
		if d.Unpaid {
			if err := b.refuseUnpaid(d.Seats); err != nil {
				return Hold{}, err
			}
		}
		if err := b.refuseUse(d.Uses); err != nil {
			return Hold{}, err
		}
		if err := b.buyEarly(d.Keys, d.Seats); err != nil {
			return Hold{}, err
		}
		if err := b.buy(d.Keys, len(d.Seats)); err != nil {
			return Hold{}, err
		}
		b.countUses(d.Uses)
		b.sell(d.Holder, d.Order, d.Seats, fares)
		b.noteAgreed(d.Agreed, d.Order)
		h := b.holds[d.Holder]
		if h == nil { // it was purged
			h = h.renew(d.Holder, b.now)
			b.holds[d.Holder] = h
		}
		h.keepSeats(slices.DeleteFunc(slices.Clone(h.seats), func(idx int32) bool { return slices.Contains(d.Seats, int(idx)) }))
		if !d.AtOffice {
			h.bought += len(d.Seats)
		}
		if d.Write != nil {
			c.write = d.queue(lines)
		}
		return Hold{Seats: d.Seats, Lines: lines}, nil
	}
}

// CodePrice is the code of a refusal: what was agreed is not the price of the moment.
const CodePrice = "price"

// lateFares returns what the seats of a late purchase cost: what they are held at, or what was agreed.
func (b *batch) lateFares(d Purchase) ([]fare, error) {
	fares, taken := b.fares(d.Seats, b.kind), map[int]int{}
	for i, idx := range d.Seats {
		r := b.rows[idx]
		at := slices.IndexFunc(d.Agreed, func(l Line) bool { return l.Seat == idx })
		if r.holder == d.Holder && r.price != nil {
			continue
		}
		if at < 0 {
			fares[i] = b.fresh([]int{idx}, b.kind)[0]
			continue
		}
		l := d.Agreed[at]
		if taken[l.Phase]++; l.Phase > 0 && less(b.left(l.Phase), taken[l.Phase]-1) == 0 {
			return nil, &Conflict{Code: CodePrice, Seats: []int{idx}, Message: text.Mark("Your hold expired, and the last tickets at your price have been sold.")}
		}
		fares[i] = fare{kind: int16(l.Type), phase: int16(l.Phase), price: &l.Price}
	}
	return fares, nil
}

// withNearest names free seats in place of those that are gone.
func (s *Sale) withNearest(err error) error {
	if refusal, ok := err.(*Conflict); ok && refusal.Code == CodeTaken {
		refusal.Nearest = s.nearest(refusal.Seats)
	}
	return err
}

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
			return Hold{}, &Conflict{Code: CodeTaken, Seats: gone, Message: oneOrMany(gone, text.Mark("%s was taken by another visitor after your hold expired."), text.Mark("%s were taken by another visitor after your hold expired.")), Args: []any{s.named(gone)}}
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

// EndAwait frees the seats that a payment holds. Nothing happens to others. Those that lines name with a block go back to it.
func (s *Sale) EndAwait(ctx context.Context, payment ID, lines ...Line) error {
	c := &command{holder: payment, blocks: map[int]ID{}}
	for _, l := range lines {
		if l.Block != (ID{}) {
			c.blocks[l.Seat] = l.Block
		}
	}
	c.decide = func(b *batch) (Hold, error) {
		h, ok := b.holds[payment]
		if !ok {
			return Hold{}, nil
		}
		for _, idx := range b.still(h) {
			if state := b.rows[idx].state; state == Paying || state == Expired {
				b.set(idx, payment, b.backTo(c.blocks[idx], idx))
			}
		}
		h.keepSeats(nil)
		return Hold{}, nil
	}
	_, err := s.do(ctx, c)
	return err
}

// sellAtOffice sells seats without a holder, and blocked ones, which are kept for that: a purchase of the box office. It
// does not ask whether the event is on sale, but a draft and a cancelled event cannot be sold.
func (s *Sale) sellAtOffice(c *command, d Purchase) error {
	seats, err := s.known(d.Seats)
	if err != nil {
		return err
	}
	c.seats, c.unblocks = seats, true
	c.decide = func(b *batch) (Hold, error) {
		fares, lines, err := b.atOffice(d, seats)
		if err != nil {
			return Hold{}, err
		}
		if err := b.give(d.Order, d.Group, seats, fares); err != nil {
			return Hold{}, err
		}
		b.countUses(d.Uses)
		if d.Write != nil {
			c.write = d.queue(lines)
		}
		return Hold{Seats: seats, Lines: lines}, nil
	}
	return nil
}

// atOffice returns what the seats of a purchase at the box office cost, unless the event or the purchase refuses it.
func (b *batch) atOffice(d Purchase, seats []int) ([]fare, []Line, error) {
	if err := cmp.Or(b.sale.RefusePart(seats), b.refuseParty(seats, seats)); err != nil {
		return nil, nil, err
	}
	if b.terms.status == Cancelled || b.terms.status == Draft {
		return nil, nil, refuseShut(b.sale.Event.under(&b.terms))
	}
	fares := b.fresh(seats, func(idx int) int {
		if at := slices.Index(d.Seats, idx); d.Types != nil && at >= 0 {
			return d.Types[at]
		}
		return b.usual(idx)
	})
	lines := b.sale.linesOf(seats, fares)
	if d.Check != nil {
		if err := d.Check(lines); err != nil {
			return nil, nil, err
		}
	}
	if d.Unpaid {
		if err := b.refuseUnpaid(seats); err != nil {
			return nil, nil, err
		}
	}
	return fares, lines, b.refuseUse(d.Uses)
}

// give sells seats without a holder, or that are blocked, to an order; all of them or none. Those of a group are sold to it alone, and
// nothing else is.
func (b *batch) give(order, group ID, seats []int, fares []fare) error {
	if err := b.refuseGiving(group, seats); err != nil {
		return err
	}
	for i, idx := range seats {
		b.set(idx, b.rows[idx].blockHolder(), row{state: Sold, holder: order, fare: fares[i]})
	}
	b.resell(order, seats)
	return nil
}

// refuseGiving says why the box office may not sell these seats.
func (b *batch) refuseGiving(group ID, seats []int) error {
	if kept := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return !b.ofGroup(idx, group) }); len(kept) > 0 {
		return &Conflict{Code: CodeTaken, Seats: kept, Message: oneOrMany(kept, text.Mark("%s is kept for a group. Nothing was changed. Choose another."), text.Mark("%s are kept for a group. Nothing was changed. Choose others.")), Args: []any{b.sale.named(kept)}}
	}
	if lost := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return b.rows[idx].state == Blocked && b.rows[idx].holder == group }); group != (ID{}) && len(lost) > 0 {
		return &Conflict{Code: CodeTaken, Seats: lost, Message: text.Mark("These seats are no longer kept for the group: %s. Nothing was sold. Look at the booking again."), Args: []any{b.sale.named(lost)}}
	}
	gone := slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return b.rows[idx].open(b.now) || b.rows[idx].state == Blocked })
	if len(gone) > 0 {
		return &Conflict{Code: CodeTaken, Seats: gone, Message: oneOrMany(gone, text.Mark("%s is held or sold. Nothing was changed. Choose another."), text.Mark("%s are held or sold. Nothing was changed. Choose others.")), Args: []any{b.sale.named(gone)}}
	}
	return nil
}

// Move gives an order other seats in place of some it has, all of them or none: from and to go together, one by
// one. What write queues commits with them. A *Conflict if a seat is not the order's, or another one has a holder.
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
		return &ValidationError{Message: text.Mark("Each ticket moves to one seat of its own. Nothing was changed.")}
	}
	c := &command{sells: true, unblocks: true, seats: slices.Concat(froms, tos)}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.calledOff(); err != nil {
			return Hold{}, err
		}
		if err := cmp.Or(b.sale.RefusePart(froms), b.sale.RefusePart(tos), b.refuseMoved(order, froms, tos)); err != nil {
			return Hold{}, err
		}
		foreign := slices.DeleteFunc(slices.Clone(froms), func(idx int) bool { return b.rows[idx].state == Sold && b.rows[idx].holder == order })
		if len(foreign) > 0 {
			return Hold{}, &Conflict{Code: CodeChanged, Seats: foreign, Message: text.Mark("The tickets changed since the page was shown. Nothing was moved. Look at the order again.")}
		}
		if offered := slices.DeleteFunc(slices.Clone(tos), func(idx int) bool { return b.offeredBack(idx) == nil }); len(offered) > 0 {
			return Hold{}, &Conflict{Code: CodeResale, Seats: offered, Message: oneOrMany(offered, text.Mark("%s is sold by another attendee. Nothing was moved. Choose another seat."), text.Mark("%s are sold by other attendees. Nothing was moved. Choose other seats.")), Args: []any{s.named(offered)}}
		}
		fares := make([]fare, len(to)) // of tos: each ticket keeps its type and price
		for i, idx := range to {
			at, _ := slices.BinarySearch(tos, idx)
			fares[at] = b.rows[from[i]].fare
		}
		if err := b.give(order, ID{}, tos, fares); err != nil {
			return Hold{}, err
		}
		for i, idx := range from {
			if code, is := b.coded[idx]; is {
				b.noteCode(to[i], seatCode{holder: order, code: code.code})
			}
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

// GiveBack frees seats that are sold to an order, all of them or none. They no longer count against the limit of the
// visitor who bought them; holder is zero if the box office sold them, and keys are those of the order. What write queues commits with them, as in a Purchase.
// A seat that the order offers back stays as it is. Refused if one of them is not the order's.
func (s *Sale) GiveBack(ctx context.Context, holder, order ID, seats []int, keys []ID, write func(*pgx.Batch)) error {
	return s.GiveBackTo(ctx, ID{}, holder, order, seats, keys, write)
}

// GiveBackTo is GiveBack of seats that came from a block: they go back to it, and no other buyer gets them in between. Those that are
// not of the block, and all of them once its time is up, are free.
func (s *Sale) GiveBackTo(ctx context.Context, block, holder, order ID, seats []int, keys []ID, write func(*pgx.Batch)) error {
	c := s.givingBack(holder, order, seats, keys, write)
	c.block = block
	_, err := s.do(ctx, c)
	return err
}

// givingBack is the command of GiveBack.
func (s *Sale) givingBack(holder, order ID, seats []int, keys []ID, write TxHook) *command {
	c := &command{holder: holder, seats: seats, keys: keys, resells: true, givesBack: true}
	c.decide = func(b *batch) (Hold, error) {
		if err := b.sale.RefusePart(seats); err != nil && b.terms.status != Cancelled { // else a ticket that was used stays, and the others are paid back
			return Hold{}, err
		}
		var foreign, sold []int
		var offered []*resale
		for _, idx := range seats {
			switch r, offer := b.rows[idx], b.offeredBack(idx); {
			case offer != nil && offer.Order == order:
				offered = append(offered, offer)
			case r.state == Sold && r.holder == order:
				sold = append(sold, idx)
			default:
				foreign = append(foreign, idx)
			}
		}
		if len(foreign) > 0 || len(seats) == 0 {
			return Hold{}, &Conflict{Code: CodeChanged, Seats: foreign, Message: text.Mark("These tickets changed since the page was shown. Nothing was cancelled. Look at the order again.")}
		}
		for _, idx := range sold {
			b.set(idx, order, b.backTo(c.block, idx))
		}
		for _, offer := range offered {
			offer.ended = true
		}
		b.addBought(holder, -len(sold))
		b.countPurchases(keys, -len(seats))
		c.write = write
		return Hold{}, nil
	}
	return c
}

// TxHook queues statements that are committed with something, or not at all; nil for none. Where that is a batch they
// travel with other people's commands, which fail with them, and may be asked for again: nothing in them may fail
// for reasons of one person, and they must lock no seat and no hold.
type TxHook func(q *pgx.Batch)

// Both commits two things with something.
func Both(one, other TxHook) TxHook {
	return func(q *pgx.Batch) {
		one.queue(q)
		other.queue(q)
	}
}

// Run executes the statements in a transaction.
func (a TxHook) Run(ctx context.Context, tx pgx.Tx) error {
	if a == nil {
		return nil
	}
	var q pgx.Batch
	a(&q)
	return tx.SendBatch(ctx, &q).Close()
}

// queue adds the statements to those of a batch.
func (a TxHook) queue(q *pgx.Batch) {
	if a != nil {
		a(q)
	}
}
