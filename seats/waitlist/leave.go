package waitlist

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const leaveSQL = `
WITH gone AS (
    UPDATE entry SET state = 'left' WHERE id = $1 AND state IN ('new', 'waiting') RETURNING id, event_id
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, who, detail) SELECT event_id, id, 'left', $2, $3 FROM gone
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-left' FROM gone`

// Leave takes an entry off the list; what it is offered goes to the next. A repeat changes nothing more.
func (l *List) Leave(ctx context.Context, s *seats.Sale, n Entry) error {
	if n.Offer != nil {
		return l.Decline(ctx, s, n)
	}
	tag, err := l.db.Exec(ctx, leaveSQL, n.ID, "", "")
	if err != nil {
		return fmt.Errorf("waitlist: leave: %w", err)
	}
	if tag.RowsAffected() == 0 { // it was done, or it was offered seats in this moment
		if n, err = l.Find(ctx, n.Code); err != nil {
			return err
		}
		return l.Decline(ctx, s, n)
	}
	l.Wrote()
	l.Wake(n.Event)
	return nil
}

const declineSQL = `UPDATE offer SET declined_at = clock_timestamp() WHERE id = $1 AND state = 'open'`

const undeclineSQL = `UPDATE offer SET declined_at = NULL WHERE id = $1 AND state = 'open'`

// Decline gives back what an entry is offered and takes it off the list: the next one is asked at once. A
// *seats.Refusal while a payment for the seats is under way.
func (l *List) Decline(ctx context.Context, s *seats.Sale, n Entry) error {
	if n.Offer == nil {
		return nil // it was done, or its time is over
	}
	if _, err := l.db.Exec(ctx, declineSQL, n.Offer.ID); err != nil {
		return fmt.Errorf("waitlist: decline: %w", err)
	}
	left, err := s.Release(ctx, n.Offer.Holder)
	switch {
	case errors.Is(err, seats.ErrNoHold): // it was over before
	case err != nil:
		return fmt.Errorf("waitlist: decline: %w", err)
	case len(left.Seats) > 0:
		if _, err := l.db.Exec(ctx, undeclineSQL, n.Offer.ID); err != nil {
			return fmt.Errorf("waitlist: decline: %w", err)
		}
		return &seats.Refusal{Code: seats.CodePaying, Seats: left.Seats, Message: "These seats are being paid for. Nothing was given back. Stop the payment on its page first."}
	}
	l.Wake(n.Event)
	return nil
}

const takenSQL = `UPDATE offer SET holder = $2, hold_id = $3 WHERE id = $1 AND state = 'open'`

// Take makes the seats that an entry is offered those of a browser's session, for the checkout. The link is enough to do so,
// with one browser after the other; the seats are with the last one. Errors are those of seats.Sale.Take.
func (l *List) Take(ctx context.Context, s *seats.Sale, n Entry, to seats.ID) (seats.Hold, error) {
	if n.Offer == nil {
		return seats.Hold{}, seats.ErrNoHold
	}
	o := n.Offer
	return s.Take(ctx, seats.Taking{From: o.Holder, To: to, Fresh: o.Holder == o.ID, Write: func(q *pgx.Batch, hold seats.ID) {
		q.Queue(takenSQL, o.ID, to, hold)
	}})
}
