package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// patience is how long after its time a payment may be finished, unless someone takes the seats.
const patience = 30 * time.Minute

// authorize asks for the money, or for the state of the payment, and sells the seats once the money is promised.
func (ps *Payments) authorize(ctx context.Context, p Payment, a attempt) (again bool, err error) {
	if p.State == authorized {
		return ps.sell(ctx, p)
	}
	ask := Provider.Authorize
	if p.Reference != "" {
		ask = Provider.Lookup
	}
	standing, err := ps.call(ctx, p, a.key(), 0, ask)
	if err != nil {
		if p.Till != nil && p.Age >= p.Length { // its seats must not wait until the provider answers
			again, e := ps.lose(ctx, p, 0, reasonNoCard, "")
			return again, errors.Join(e, err)
		}
		return false, err
	}
	return ps.settle(ctx, p, standing)
}

// settle acts on the state of an open payment at its provider. One at a card reader holds its seats itself, and is lost before it is
// closed: something is due of it until they are free.
func (ps *Payments) settle(ctx context.Context, p Payment, s Standing) (again bool, err error) {
	if err := ps.refer(ctx, &p, s); err != nil {
		return false, err
	}
	switch s.Stand {
	case Authorized, Captured:
		if s.Amount != p.Amount || s.Currency != p.Currency {
			p.State = authorized
			return ps.lose(ctx, p, s.Captured, reasonEnded, fmt.Sprintf("The provider has %d %s, and the order is %d %s.", s.Amount, s.Currency, p.Amount, p.Currency))
		}
		if is, err := ps.promise(ctx, &p, s, open); err != nil || !is {
			return false, err
		}
		return ps.sell(ctx, p)
	case Declined:
		because := "."
		if s.Reason != "" {
			because = ": " + s.Reason
		}
		switch {
		case p.Till != nil:
			return ps.lose(ctx, p, 0, reasonReader+because+" Nothing was charged.", "")
		case p.Awaited():
			return ps.lose(ctx, p, 0, reasonBounced+because+" Nothing was charged.", "")
		}
		return false, ps.close(ctx, p, "Your payment was declined"+because+" Nothing was charged.", 0)
	case Voided:
		switch {
		case p.Till != nil:
			return ps.lose(ctx, p, 0, reasonEnded, "")
		case p.Awaited():
			return ps.lose(ctx, p, 0, reasonBounced+". Nothing was charged.", "")
		}
		return false, ps.close(ctx, p, reasonEnded, 0)
	case Processing:
		return ps.await(ctx, p, s)
	}
	return ps.wait(ctx, p)
}

const referSQL = `
UPDATE payment SET reference = CASE reference WHEN '' THEN $2 ELSE reference END, page = $3 WHERE id = $1 AND (reference, page) <> ($2, $3)`

// refer stores the provider's name of a payment.
func (ps *Payments) refer(ctx context.Context, p *Payment, s Standing) error {
	p.Reference = s.Reference
	_, err := ps.db.Exec(ctx, referSQL, p.ID, s.Reference, s.Page)
	return err
}

// Money with a refund is no longer promised, and that of a payment which was stopped is not wanted. Whether the seats count for the person may have changed since the payment
// was read.
const promiseSQL = `
UPDATE payment SET state = 'authorized', captured = $2, card = coalesce(card, $3)
 WHERE id = $1 AND state = ANY($4::text[]) AND reason <> $5 AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1)
RETURNING counted`

// promise stores that the money of a payment in one of these states is promised or there. It reports false if the payment
// is in another state by now: another node sells its seats, or voids it.
func (ps *Payments) promise(ctx context.Context, p *Payment, s Standing, from ...string) (is bool, err error) {
	p.setCard(s)
	err = ps.db.QueryRow(ctx, promiseSQL, p.ID, s.Captured, p.card, from, reasonStopped).Scan(&p.counted)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	p.State, p.Captured = authorized, s.Captured
	return err == nil, err
}

// wait is for an attendee at the provider's page. After their time they may go on until the seats are taken. An email has
// to be confirmed in time.
func (ps *Payments) wait(ctx context.Context, p Payment) (again bool, err error) {
	switch {
	case p.Age < p.Length:
		return false, nil
	case p.Till != nil:
		return ps.lose(ctx, p, 0, reasonNoCard, "")
	}
	taken, strict, err := ps.taken(ctx, p)
	if err != nil {
		return false, err
	}
	switch {
	case taken && !strict:
		return ps.lose(ctx, p, 0, reasonTaken, "")
	case !taken && !p.Confirms() && p.Age < p.Length+patience:
		return false, nil
	}
	return ps.lose(ctx, p, 0, reasonTime, "")
}

// taken reports whether a seat of a payment has another holder by now, and whether an event of it has strict holds.
func (ps *Payments) taken(ctx context.Context, p Payment) (taken, strict bool, err error) {
	if p.ChangesTypes() { // its seats are sold to the buyer
		return false, false, nil
	}
	all, err := p.each()
	if err != nil {
		return false, false, err
	}
	for _, one := range all {
		s, err := ps.office.Sale(ctx, one.Event)
		if err != nil {
			return false, false, err
		}
		hold, err := s.Hold(ctx, one.Holder)
		if err != nil && !errors.Is(err, seats.ErrNoHold) {
			return false, false, err
		}
		strict = strict || s.Event.Strict
		taken = taken || slices.ContainsFunc(one.Seats, func(idx int) bool { return !slices.Contains(hold.Seats, idx) })
	}
	return taken, strict, nil
}

// errAmount says that the seats of a payment do not cost what is paid.
var errAmount = errors.New("the seats cost something else than what is paid")

const orderedSQL = `SELECT EXISTS (SELECT FROM orders WHERE hold_id = $1 AND id <> $2)`

// sell sells the seats for money that is promised or there: the second guard. The order, its tickets and the attempt to
// capture are written in the transaction that sells.
func (ps *Payments) sell(ctx context.Context, p Payment) (again bool, err error) {
	all, err := p.each()
	if err != nil {
		return false, err
	}
	sold := seats.TxHook(func(q *pgx.Batch) {
		p.queueShares(q)
		q.Queue(soldSQL, p.ID, p.counted)
	})
	var steps []seats.Step
	for _, one := range all {
		var ordered bool
		if err := ps.db.QueryRow(ctx, orderedSQL, one.Hold, one.Order).Scan(&ordered); err != nil {
			return false, err
		}
		if ordered {
			return ps.lose(ctx, p, 0, reasonOrdered, "")
		}
		s, d, err := ps.purchase(ctx, one)
		if err != nil {
			return false, err
		}
		if !p.Shared() {
			write := d.Write
			d.Write = func(q *pgx.Batch, lines []seats.Line) { write(q, lines); sold(q) }
			return ps.wasSold(ctx, p, ps.Sell(ctx, one, s, d))
		}
		st, err := s.Selling(d)
		if err != nil {
			return false, err
		}
		steps = append(steps, st)
	}
	_, err = ps.office.Together(ctx, sold, steps...)
	return ps.wasSold(ctx, p, err)
}

// purchase returns what a payment of one order buys.
func (ps *Payments) purchase(ctx context.Context, p Payment) (*seats.Sale, seats.Purchase, error) {
	s, err := ps.office.Sale(ctx, p.Event)
	if err != nil {
		return nil, seats.Purchase{}, err
	}
	write, err := ps.Order(p)
	if err != nil {
		return nil, seats.Purchase{}, err
	}
	d := seats.Purchase{Holder: p.Keeper(), Order: p.Order, Seats: p.Seats, Late: true, AtOffice: p.Till != nil, Keys: p.uncounted(), Uses: p.uncountedUses(), Agreed: p.Lines, Unpaid: Later(p.Method) && p.Amount > 0}
	d.Check = func(lines []seats.Line) error {
		if s.Event.Currency != p.Currency || pricing.TermsAgreed(p.Agreed, &s.Event).Agreed(lines, p.Discount, p.Billing.Reverse).Total != p.Amount+p.Exchange.Worth {
			return errAmount
		}
		return nil
	}
	d.Write = func(q *pgx.Batch, lines []seats.Line) { write(q, s, lines) }
	return s, d, nil
}

// wasSold acts on the answer to a sale.
func (ps *Payments) wasSold(ctx context.Context, p Payment, err error) (again bool, _ error) {
	var refusal *seats.Conflict
	switch {
	case errors.Is(err, errAmount):
		return ps.lose(ctx, p, 0, reasonPrice, "")
	case errors.As(err, &refusal) && refusal.Code == seats.CodeTaken:
		return ps.lose(ctx, p, 0, reasonTaken, "")
	case errors.As(err, &refusal):
		return ps.lose(ctx, p, 0, refusal.Error()+" Nothing was charged.", "")
	case seats.IsConstraint(err, "a subscription sells no more than its places"):
		return ps.lose(ctx, p, 0, reasonSoldOut, "")
	case err != nil:
		return false, err
	}
	ps.Placed(p)
	return true, nil
}

func sellSeats(ctx context.Context, _ Payment, s *seats.Sale, d seats.Purchase) error {
	_, err := s.Sell(ctx, d)
	return err
}

// The order is written before, in this transaction. It gets what was captured before the sale. A node that slept while
// another one gave the payment up meets a state that may not be null, and sells nothing.
const soldSQL = `
WITH sold AS (
    UPDATE payment SET state = CASE WHEN state <> 'authorized' OR counted <> $2 OR EXISTS (SELECT FROM refund WHERE payment_id = $1) THEN NULL WHEN captured > 0 OR method IN ('free', 'door', 'invoice') THEN 'captured' ELSE 'sold' END, reason = '', counted = false
     WHERE id = $1
    RETURNING id, order_id, captured, state
), paid AS (
    UPDATE orders SET paid = orders.paid + coalesce(s.amount, sold.captured) FROM sold LEFT JOIN payment_share s ON s.payment_id = sold.id
     WHERE orders.id = coalesce(s.order_id, sold.order_id) AND sold.captured > 0
), done AS (
    UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND done_at IS NULL
)
INSERT INTO intention (payment_id, step) SELECT id, 'capture' FROM sold WHERE state = 'sold'
    ON CONFLICT DO NOTHING`

const lockOrdersSQL = `SELECT FROM orders WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`

// The order keeps the price of its live tickets, and fees that are not refunded. The rest goes back: tickets may have been
// cancelled meanwhile.
const capturedSQL = `
WITH got AS (
    UPDATE payment SET state = 'captured', captured = $2, attention = $3
     WHERE id = $1 AND state = 'sold'
    RETURNING id, order_id, captured
), each AS (
    SELECT coalesce(s.order_id, got.order_id) AS order_id, coalesce(s.amount, got.captured) AS captured FROM got LEFT JOIN payment_share s ON s.payment_id = got.id
), due AS (
    SELECT got.order_id, got.captured + (SELECT coalesce(sum(amount), 0)::bigint FROM carried WHERE order_id = got.order_id) AS captured, coalesce(sum(t.price + t.fee) FILTER (WHERE t.revoked_at IS NULL), 0)::bigint AS cost,
           coalesce(sum(t.fee) FILTER (WHERE t.revoked_at IS NOT NULL AND t.moved_to IS NULL AND o.fee_kept AND e.status <> 'cancelled'), 0)::bigint
           + (SELECT coalesce(sum(fee + difference), 0)::bigint FROM cancellation WHERE order_id = got.order_id)
           + CASE WHEN count(*) FILTER (WHERE t.revoked_at IS NULL) = 0 AND bool_or(e.status = 'cancelled') THEN 0 ELSE max(o.extra) END AS fee
      FROM each got JOIN ticket t ON t.order_id = got.order_id JOIN orders o ON o.id = got.order_id JOIN event e ON e.id = o.event_id
     GROUP BY got.order_id, got.captured
), paid AS (
    UPDATE orders SET paid = least(due.captured, due.cost + due.fee), kept = greatest(0, least(due.captured - due.cost, due.fee))
      FROM due WHERE orders.id = due.order_id
)
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND step = 'capture'`

const uncapturedSQL = `
WITH closed AS (UPDATE payment SET state = 'closed', attention = $2 WHERE id = $1 AND state = 'sold')
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND step = 'capture'`

// capture takes the money of an order. The order stays in any case: if the provider no longer has the money, the organizer
// has to ask for it.
func (ps *Payments) capture(ctx context.Context, p Payment, a attempt) (again bool, err error) {
	s, err := ps.call(ctx, p, a.key(), 0, Provider.Capture)
	if err != nil {
		return false, err
	}
	switch s.Stand {
	case Captured:
		attention := ""
		if s.Captured != p.Amount || s.Currency != p.Currency {
			attention = fmt.Sprintf("The provider took %d %s for an order of %d %s.", s.Captured, s.Currency, p.Amount, p.Currency)
		}
		err = pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error {
			var q pgx.Batch
			q.Queue(lockOrdersSQL, p.orders())
			q.Queue(capturedSQL, p.ID, s.Captured, attention)
			for _, order := range p.orders() {
				QueueRefund(&q, order, text.Mark("Tickets were cancelled before the money was taken."), nil)
			}
			return tx.SendBatch(ctx, &q).Close()
		})
		ps.Changed()
		return true, err
	case Voided, Declined:
		_, err = ps.db.Exec(ctx, uncapturedSQL, p.ID, "The order stands, but its money could not be taken: "+string(s.Stand)+". "+s.Reason)
		return false, err
	}
	return false, &downError{fmt.Errorf("payments: capture: it is %s", s.Stand)}
}

// A promise is voided, and money is refunded. The organizer is told of money without an order, and the attendee who paid
// gets one mail. Two nodes may learn of the same money: the refund of the first stays due, and nothing begins again once
// all went back. A node that read the payment as open does not give it up once it is authorized: its seats are being sold. At the box
// office the seller tells the customer, and a mail goes out only if money goes back.
const loseSQL = `
WITH lost AS (
    UPDATE payment
       SET state = 'lost', captured = greatest(captured, $2::bigint), reason = $3,
           attention = CASE WHEN $4 <> '' THEN $4 WHEN greatest(captured, $2::bigint) > 0 THEN 'It was paid, but there is no order: ' || $3 ELSE attention END
     WHERE id = $1 AND (state = 'open' OR state = 'lost' AND captured <= $2 OR state = 'authorized' AND $5 OR state = 'closed' AND (captured = 0 OR captured < $2))
    RETURNING id, captured, awaited_until, form
), done AS (
    UPDATE intention SET done_at = clock_timestamp()
     WHERE payment_id = (SELECT id FROM lost) AND done_at IS NULL AND step <> 'refund' AND (step <> 'void' OR (SELECT captured FROM lost) > 0)
), told AS (
    INSERT INTO mail (payment_id, kind) SELECT id, 'lost' FROM lost
     WHERE CASE WHEN form ? 'till' THEN captured > 0 AND form->>'email' <> '' ELSE $5 OR captured > 0 OR awaited_until IS NOT NULL END ON CONFLICT DO NOTHING
), meant AS (
    INSERT INTO intention (payment_id, step) SELECT id, 'void' FROM lost WHERE captured = 0
        ON CONFLICT (payment_id, step) WHERE step <> 'refund' DO UPDATE SET done_at = NULL, next_try = clock_timestamp()
)
SELECT count(*) > 0 FROM lost`

// lose gives a payment up: a promise is voided, and money is refunded. captured is the amount at the provider, if known.
func (ps *Payments) lose(ctx context.Context, p Payment, captured int64, reason, attention string) (again bool, err error) {
	switch {
	case p.Confirms():
		reason = notOrdered(reason)
	case captured > 0 || p.Captured > 0:
		reason = strings.Replace(reason, "Nothing was charged.", "What you paid goes back to you.", 1)
	}
	lost := false
	err = pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		if err := p.queueLocks(&q); err != nil {
			return err
		}
		q.Queue(loseSQL, p.ID, captured, reason, attention, p.State == authorized).QueryRow(func(r pgx.Row) error { return r.Scan(&lost) })
		q.Queue(uncountSQL, p.ID)
		if err := tx.SendBatch(ctx, &q).Close(); err != nil || !lost {
			return err // it was sold meanwhile, or its refund is due already. Money of an order that is being sold does not go back
		}
		var back pgx.Batch
		QueueRefund(&back, p.Order, reason, nil)
		return tx.SendBatch(ctx, &back).Close()
	})
	if err != nil || !lost {
		return false, err
	}
	ps.MailQueued()
	return true, ps.release(ctx, p)
}

// release ends the time for paying of the seats of a payment. The visitor holds them for the rest of the hold. Those that the payment
// holds itself are free again, however often it is released.
func (ps *Payments) release(ctx context.Context, p Payment) error {
	if p.State != open && p.State != authorized && p.AwaitedUntil == nil {
		return nil // they were released, and may be in another payment
	}
	all, err := p.each()
	if err != nil {
		return err
	}
	for _, one := range all {
		s, err := ps.office.Sale(ctx, one.Event)
		if err != nil {
			return err
		}
		if p.AwaitedUntil != nil {
			err = s.EndAwait(ctx, p.ID, one.Lines...)
		} else {
			err = s.StopPaying(ctx, one.Holder, one.Seats)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A payment with captured money is being refunded, and stays so. Only the void with this answer ends: an event may have
// made another one due since (askAgainSQL), which is younger than the answer.
const closeSQL = `
WITH closed AS (
    UPDATE payment SET state = 'closed', page = '', reason = CASE state WHEN 'open' THEN $2 ELSE reason END
     WHERE id = $1 AND state IN ('open', 'lost', 'closed') AND captured = 0
    RETURNING id
)
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = (SELECT id FROM closed) AND done_at IS NULL AND (step <> 'void' OR tries = $3)`

// close ends a payment without money. voids is the number of tries to void it, if it ends by that.
func (ps *Payments) close(ctx context.Context, p Payment, reason string, voids int) error {
	var q pgx.Batch
	if err := p.queueLocks(&q); err != nil {
		return err
	}
	q.Queue(closeSQL, p.ID, reason, voids)
	q.Queue(uncountSQL, p.ID)
	if err := pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &q).Close() }); err != nil {
		return err
	}
	return ps.release(ctx, p)
}

// Stop gives up an open payment for its attendee, or its seller. A payment with promised or awaited money stays as it is. At a card
// reader, one that was given up by itself is stopped as well: a card that is still charged gets its money back, and no seats.
func (ps *Payments) Stop(ctx context.Context, code string) (Payment, error) {
	p, err := ps.Find(ctx, code)
	switch {
	case err != nil:
		return p, err
	case p.State == open && (p.Till != nil || !p.Awaited()):
	case p.State == lost && p.Till != nil && p.Captured == 0 && p.Reason != reasonStopped:
	default:
		return p, nil
	}
	if _, err := ps.lose(ctx, p, 0, reasonStopped, ""); err != nil {
		return p, err
	}
	return ps.Start(ctx, p)
}

// void releases a promise, and ends the provider's page. An attendee who paid before paid late: their seats are tried
// again.
func (ps *Payments) void(ctx context.Context, p Payment, a attempt) (again bool, err error) {
	key, unanswered := a.key(), p.Reference == "" // the provider may not have been asked: ask again, with the same key
	if unanswered {
		if key, err = ps.authorizeKey(ctx, p); err != nil {
			return false, err
		}
	}
	if unanswered && p.Till == nil {
		s, err := ps.call(ctx, p, key, 0, Provider.Authorize)
		if err != nil {
			return false, err
		}
		if err := ps.refer(ctx, &p, s); err != nil {
			return false, err
		}
		if s.Stand == Declined {
			return false, ps.close(ctx, p, reasonEnded, a.tries)
		}
		key = a.key()
	}
	s, err := ps.call(ctx, p, key, 0, Provider.Void)
	if err != nil {
		return false, err
	}
	if unanswered && p.Till != nil {
		if err := ps.refer(ctx, &p, s); err != nil {
			return false, err
		}
	}
	switch s.Stand {
	case Captured:
		again, err = ps.late(ctx, p, s)
	case Voided, Declined:
		err = ps.close(ctx, p, reasonEnded, a.tries)
	case Processing: // the provider cannot stop it: what comes is late
		return false, ps.askLater(ctx, p)
	default: // the provider kept it
		return false, &downError{fmt.Errorf("payments: void: it is %s", s.Stand)}
	}
	if again || err != nil {
		return again, err
	}
	return ps.endVoid(ctx, p)
}

const endVoidSQL = `
UPDATE intention SET done_at = clock_timestamp()
 WHERE payment_id = $1 AND step = 'void' AND done_at IS NULL AND EXISTS (SELECT FROM refund WHERE payment_id = $1)`

// endVoid ends the void of money that another node refunds, which would be due forever. It reports whether there was one:
// then the refund is next.
func (ps *Payments) endVoid(ctx context.Context, p Payment) (again bool, err error) {
	tag, err := ps.db.Exec(ctx, endVoidSQL, p.ID)
	return err == nil && tag.RowsAffected() > 0, err
}

// late is for money that came after the payment was given up: its seats are tried once more, in one guarded statement. An
// attendee who stopped the payment does not want them.
func (ps *Payments) late(ctx context.Context, p Payment, s Standing) (again bool, err error) {
	if p.Reason == reasonStopped || s.Amount != p.Amount || s.Currency != p.Currency || s.Refunded > 0 {
		return ps.lose(ctx, p, s.Captured, p.Reason, "")
	}
	is, err := ps.promise(ctx, &p, s, lost, closed)
	switch {
	case seats.IsConstraint(err, "one hold has one payment under way"):
		return ps.lose(ctx, p, s.Captured, reasonOrdered, "")
	case err != nil || !is:
		return false, err
	}
	return ps.sell(ctx, p)
}
