package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Some methods take days: the attendee agreed to a debit, or has a slip to pay. Manual capture does not exist for them: the
// money comes first. Meanwhile the payment itself holds its seats (seats.Sale.Await), for as long as the method takes. When
// the money is there the seats are sold; when it does not come they are free again, and a mail says so.

// mostAwaited is the longest time that a method may take. It is only offered that long before an event.
const mostAwaited = 14 * 24 * time.Hour

// Awaited reports whether the attendee paid, and the provider has yet to say whether the money comes.
func (p Payment) Awaited() bool { return p.AwaitedUntil != nil && p.State == open }

// Keeper returns the holder of the seats of a payment: the visitor, or the payment itself once the money is awaited.
func (p Payment) Keeper() seats.ID {
	if p.AwaitedUntil != nil {
		return p.ID
	}
	return p.Holder
}

// A payment that another node gave up meets a state that may not be null, and no seat is moved.
const awaitSQL = `
UPDATE payment SET awaited_until = $2, page = '', state = CASE WHEN state = 'open' THEN state END WHERE id = $1`

// Webhooks make it due at once; this is for those that are lost. One that came while the provider was asked made it due again, and may
// know more than the answer.
const askLaterSQL = `
UPDATE intention SET next_try = clock_timestamp() + interval '6 hours'
 WHERE payment_id = $1 AND done_at IS NULL AND step IN ('authorize', 'void') AND next_try > clock_timestamp()`

// await is for money that comes days later.
func (ps *Payments) await(ctx context.Context, p Payment, s Standing) (again bool, err error) {
	switch {
	case p.Shared(), p.ChangesTypes(): // methods that take days are not offered for several orders or differences: what comes is late
		return ps.lose(ctx, p, 0, reasonEnded, "")
	case p.awaitOver:
		return ps.lose(ctx, p, 0, reasonAwaited, "")
	case s.Amount != p.Amount || s.Currency != p.Currency:
		return ps.lose(ctx, p, 0, reasonEnded, fmt.Sprintf("The provider awaits %d %s, and the order is %d %s.", s.Amount, s.Currency, p.Amount, p.Currency))
	case p.AwaitedUntil == nil:
		sale, err := ps.office.Sale(ctx, p.Event)
		if err != nil {
			return false, err
		}
		err = sale.Await(ctx, seats.Awaiting{From: p.Holder, To: p.ID, Seats: p.Seats, Agreed: p.Lines, Length: min(max(s.Wait, p.Length), mostAwaited), Write: func(q *pgx.Batch, until time.Time) {
			q.Queue(awaitSQL, p.ID, until)
		}})
		var conflict *seats.Conflict
		if errors.As(err, &conflict) {
			return ps.lose(ctx, p, 0, conflict.Error()+" If your payment still arrives, it goes back to you.", "")
		}
		if err != nil {
			return false, err
		}
		ps.Changed()
	}
	return false, ps.askLater(ctx, p)
}

// askLater asks the provider again in some hours, unless a webhook comes first.
func (ps *Payments) askLater(ctx context.Context, p Payment) error {
	_, err := ps.db.Exec(ctx, askLaterSQL, p.ID)
	return err
}
