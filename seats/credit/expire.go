package credit

import (
	"context"

	"github.com/usherbox/usher/seats/jobs"
)

// A payment voids its own hold when the seats are lost. A hold past its time belongs to a payment that was abandoned. A hold
// of a payment with an order, or with seats about to be sold, stays: its money is captured.
const openHoldsSQL = `
SELECT h.id::text, h.expires_at FROM credit_hold h
 WHERE h.state = 'open' AND NOT EXISTS (SELECT FROM payment p WHERE p.id = h.id AND p.state IN ('authorized', 'sold'))`

const deleteLinksSQL = `DELETE FROM link WHERE since < clock_timestamp() - interval '1 day'`

// Jobs returns the jobs of credit: voiding expired holds, and deleting the addresses of old links.
func (l *Ledger) Jobs() []*jobs.Job {
	return []*jobs.Job{jobs.New("expired credit holds", openHoldsSQL, l.expire), jobs.Hourly("delete old credit links", func(ctx context.Context) error {
		_, err := l.db.Exec(ctx, deleteLinksSQL)
		return err
	})}
}

// expire voids a hold. It is safe beside a capture: the one that comes second finds the hold ended.
func (l *Ledger) expire(ctx context.Context, hold string) (int, error) {
	tag, err := l.db.Exec(ctx, voidSQL, hold, true)
	return int(tag.RowsAffected()), err
}
