package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// An offer is written in the transaction that holds its seats. Its entry is locked, and waits. Who agreed to have it
// ordered is told of the order, or why there is none.
const offerSQL = `
WITH made AS (
    INSERT INTO offer (id, event_id, entry_id, holder, hold_id, seats, rank, looked_at, until, by_hand)
    VALUES ($1, $2, $3, $1, $4, $5, $6, $7, $8, $9)
    RETURNING entry_id
), moved AS (
    UPDATE entry SET state = 'offered' WHERE id = $3 RETURNING id, method
), noted AS (
    INSERT INTO wait_step (event_id, entry_id, what, detail, who) VALUES ($2, $3, 'offered', $10, $11)
)
INSERT INTO mail (entry_id, kind) SELECT id, 'wait-offer' FROM moved WHERE method IS NULL`

// making is an offer about to be made.
type making struct {
	chosen
	looked time.Time
	until  time.Time
	who    string // an organizer; empty: it is their turn
	reason string
	also   seats.Also // commits with it
}

// of is the offer as the engine makes it.
func (o making) of(event int64) seats.Offer {
	id := seats.NewID()
	return seats.Offer{ID: id, Entry: o.id, Seats: o.seats, Until: o.until, Blocked: o.who != "", Write: func(q *pgx.Batch, hold seats.ID) {
		q.Queue(offerSQL, id, event, o.id, hold, o.seats, o.rank, o.looked, o.until, o.who != "", o.reason, o.who)
		if o.also != nil {
			o.also(q)
		}
	}}
}

// offer makes all the offers of a round at once. It tells whether some were refused: then the seats or the entries
// changed meanwhile.
func (l *List) offer(ctx context.Context, s *seats.Sale, st standing, list []chosen) (refused bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	end := until(st.now, st.starts, st.place(), l.Windows)
	offers := make([]seats.Offer, len(list))
	for i, c := range list {
		offers[i] = making{chosen: c, looked: st.now, until: end}.of(s.Event.ID)
	}
	var errs []error
	for _, err := range s.Offer(ctx, offers) {
		var refusal *seats.Refusal
		switch {
		case errors.As(err, &refusal):
			refused = true
		case err != nil:
			errs = append(errs, err)
		}
	}
	l.Wrote()
	if err := errors.Join(errs...); err != nil {
		return refused, fmt.Errorf("waitlist: offer: %w", err)
	}
	return refused, nil
}
