package orders

import (
	"context"

	"github.com/usherbox/usher/seats/jobs"
)

// background is the background work of orders.
type background struct {
	bulk    *jobs.Job // cancellations and messages for all orders of an event
	joining *jobs.Job // mail of online events that open
	unpaid  *jobs.Job // reminders, and the end of orders that were not paid
}

const (
	dueErrandsSQL = `SELECT '', taken_until FROM errand WHERE ended_at IS NULL`
	dueJoiningSQL = `
SELECT '', opens.at
  FROM event e CROSS JOIN LATERAL (SELECT greatest(e.starts_at - e.join_early, e.join_link_at) AS at) opens
 WHERE e.online AND e.join_link <> '' AND e.status <> 'cancelled' AND clock_timestamp() < e.starts_at + interval '1 day'
   AND EXISTS (SELECT FROM orders o WHERE o.event_id = e.id` + toldToJoin + `)`
	dueUnpaidSQL = `SELECT id::text, least(remind_at, due_at) FROM orders WHERE due_at IS NOT NULL`
)

func (o *Orders) newBackground() (b background) {
	b.bulk = jobs.New("bulk jobs", dueErrandsSQL, func(ctx context.Context, _ string) (int, error) { return one(o.Errand(ctx)) })
	b.joining = jobs.New("mail about joining", dueJoiningSQL, func(ctx context.Context, _ string) (int, error) { return one(o.MailJoin(ctx)) })
	b.unpaid = jobs.New("unpaid orders", dueUnpaidSQL, o.remindOrExpire)
	return b
}

func one(did bool, err error) (int, error) {
	if did {
		return 1, err
	}
	return 0, err
}

// Jobs returns the jobs of orders and payments.
func (o *Orders) Jobs() []*jobs.Job {
	return append(o.Payments.Jobs(), o.jobs.bulk, o.jobs.joining, o.jobs.unpaid)
}
