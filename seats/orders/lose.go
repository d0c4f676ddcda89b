package orders

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// What is promised is voided, what is there goes back. What was there and did not become an order is told to the
// organizer as well. Who had paid is told by mail, once. Two nodes may learn of the same money: the refund that the first
// one means stays meant, and where all went back already nothing begins anew. Whoever knows the payment as open does not give
// it up once it is authorized: its seats are being sold.
const loseSQL = `
WITH lost AS (
    UPDATE payment
       SET state = 'lost', captured = greatest(captured, $2::bigint), reason = $3,
           attention = CASE WHEN $4 <> '' THEN $4 WHEN greatest(captured, $2::bigint) > 0 THEN 'It was paid, and no order came of it: ' || $3 ELSE attention END
     WHERE id = $1 AND (state IN ('open', 'lost') OR state = 'authorized' AND $5 OR state = 'closed' AND (captured = 0 OR captured < $2))
    RETURNING id, captured
), done AS (
    UPDATE intention SET done_at = clock_timestamp()
     WHERE payment_id = (SELECT id FROM lost) AND done_at IS NULL AND step <> 'refund' AND (step <> 'void' OR (SELECT captured FROM lost) > 0)
), told AS (
    INSERT INTO mail (payment_id, kind) SELECT id, 'lost' FROM lost WHERE $5 OR captured > 0 ON CONFLICT DO NOTHING
), meant AS (
    INSERT INTO intention (payment_id, step) SELECT id, 'void' FROM lost WHERE captured = 0
        ON CONFLICT (payment_id, step) WHERE step <> 'refund' DO UPDATE SET done_at = NULL, next_try = clock_timestamp()
)
SELECT count(*) > 0 FROM lost`

// goesBack says what becomes of money that is there.
func goesBack(reason string) string {
	return strings.Replace(reason, "Nothing was charged.", "What you paid goes back to you.", 1)
}

// notOrdered says of an order that waited for its email what others say of a payment.
func notOrdered(reason string) string {
	switch reason {
	case reasonTime:
		return reasonMail
	case reasonStopped:
		return "You took the order back before it was confirmed. Nothing was ordered."
	}
	reason = strings.Replace(reason, "while you paid", "before you confirmed", 1)
	return strings.Replace(reason, "Nothing was charged.", "Nothing was ordered.", 1)
}

// lose gives a payment up: what is promised or there goes back. captured is what the provider has, as far as it is known.
func (o *Orders) lose(ctx context.Context, p Payment, captured int64, reason, attention string) (again bool, err error) {
	switch {
	case p.Confirms():
		reason = notOrdered(reason)
	case captured > 0 || p.Captured > 0:
		reason = goesBack(reason)
	}
	lost := false
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(theseKeysSQL, p.event, p.keys)
		q.Queue(loseSQL, p.ID, captured, reason, attention, p.State == payAuthorized).QueryRow(func(r pgx.Row) error { return r.Scan(&lost) })
		q.Queue(uncountSQL, p.ID)
		queueBack(&q, p.Order, reason, nil)
		return tx.SendBatch(ctx, &q).Close()
	})
	if err != nil || !lost {
		return false, err // it was sold meanwhile, or is on its way back already
	}
	o.mailWritten()
	return true, o.letGo(ctx, p)
}

// letGo ends the time for paying of seats whose payment ended; what is left of it is theirs as a hold.
func (o *Orders) letGo(ctx context.Context, p Payment) error {
	if p.State != payOpen && p.State != payAuthorized {
		return nil // it did, before; by now they may be in another payment
	}
	s, err := o.pay.office.Sale(ctx, p.Event)
	if err != nil {
		return err
	}
	return s.StopPaying(ctx, p.Holder, p.Form.Seats)
}

// Money that came meanwhile is on its way back, and stays so. A void stays due but the one whose answer this is: news may have
// made it due anew since (askAgainSQL), and is younger than the answer.
const closeSQL = `
WITH closed AS (
    UPDATE payment SET state = 'closed', page = '', reason = CASE state WHEN 'open' THEN $2 ELSE reason END
     WHERE id = $1 AND state IN ('open', 'lost', 'closed') AND captured = 0
    RETURNING id
)
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = (SELECT id FROM closed) AND done_at IS NULL AND (step <> 'void' OR tries = $3)`

// close ends a payment of which nothing is kept. voids is how often it was tried to void it, if this came of it.
func (o *Orders) close(ctx context.Context, p Payment, reason string, voids int) error {
	var q pgx.Batch
	q.Queue(theseKeysSQL, p.event, p.keys)
	q.Queue(closeSQL, p.ID, reason, voids)
	q.Queue(uncountSQL, p.ID)
	if err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &q).Close() }); err != nil {
		return err
	}
	return o.letGo(ctx, p)
}

// Stop gives up a payment whose attendee would rather not. Too late once the money is promised: then it stays as it is.
func (o *Orders) Stop(ctx context.Context, code string) (Payment, error) {
	p, err := o.Payment(ctx, code)
	if err != nil || p.State != payOpen {
		return p, err
	}
	if _, err := o.lose(ctx, p, 0, reasonStopped, ""); err != nil {
		return p, err
	}
	if err := o.work(ctx, p.ID); err != nil {
		return p, err
	}
	return o.Payment(ctx, code)
}

// void gives back what was promised, and keeps the attendee from paying. If they paid before, it is late money: the same
// seats are tried again.
func (o *Orders) void(ctx context.Context, p Payment, i intention) (again bool, err error) {
	if p.Reference == "" { // nobody knows whether the provider was asked: ask again, with the same key
		key, err := o.authorizeKey(ctx, p)
		if err != nil {
			return false, err
		}
		s, err := o.call(ctx, p, key, 0, Payments.Authorize)
		if err != nil {
			return false, err
		}
		if err := o.knownAs(ctx, &p, s); err != nil {
			return false, err
		}
		if s.Stand == Declined {
			return false, o.close(ctx, p, reasonEnded, i.tries)
		}
	}
	standing, err := o.call(ctx, p, i.key(), 0, Payments.Void)
	if err != nil {
		return false, err
	}
	switch standing.Stand {
	case Captured:
		again, err = o.late(ctx, p, standing)
	case Voided, Declined:
		err = o.close(ctx, p, reasonEnded, i.tries)
	default: // it is kept still, whatever was asked
		return false, &downError{fmt.Errorf("orders: void: it stands %s", standing.Stand)}
	}
	if again || err != nil {
		return again, err
	}
	return o.voidNoMore(ctx, p)
}

const voidNoMoreSQL = `
UPDATE intention SET done_at = clock_timestamp()
 WHERE payment_id = $1 AND step = 'void' AND done_at IS NULL AND EXISTS (SELECT FROM refund WHERE payment_id = $1)`

// voidNoMore is for money that another node gave up: nothing is to be voided of what is on its way back, or did go back. It
// would be meant for ever. It tells whether it was: then the refund is next.
func (o *Orders) voidNoMore(ctx context.Context, p Payment) (again bool, err error) {
	tag, err := o.db.Exec(ctx, voidNoMoreSQL, p.ID)
	return err == nil && tag.RowsAffected() > 0, err
}

// late is for money that came although the payment was given up: its seats are tried again, in one guarded statement.
// Who stopped the payment does not want them.
func (o *Orders) late(ctx context.Context, p Payment, s Standing) (again bool, err error) {
	if p.Reason == reasonStopped || s.Amount != p.Amount || s.Currency != p.Currency || s.Refunded > 0 {
		return o.lose(ctx, p, s.Captured, p.Reason, "")
	}
	is, err := o.authorized(ctx, &p, s, payLost, payClosed)
	switch {
	case seats.IsConstraint(err, "one hold has one payment under way"):
		return o.lose(ctx, p, s.Captured, reasonOrdered, "")
	case err != nil || !is:
		return false, err
	}
	return o.sell(ctx, p)
}
