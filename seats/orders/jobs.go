package orders

import (
	"context"
	"fmt"

	"github.com/usherbox/usher/seats/jobs"
)

// background is the background work of orders.
type background struct {
	payments *jobs.Job // calls to providers that are due: a lost answer, a provider that was down, a node that died
	inbox    *jobs.Job // webhooks of providers
	cards    *jobs.Job // saved cards that are of no use any more
	bulk     *jobs.Job // cancellations and messages for all orders of an event
	joining  *jobs.Job // mail of online events that open
	unpaid   *jobs.Job // reminders, and the end of orders that were not paid
}

const (
	dueIntentionsSQL = `SELECT payment_id::text, next_try FROM intention WHERE done_at IS NULL`
	dueInboxSQL      = `SELECT '', received_at FROM inbox WHERE done_at IS NULL`
	dueMandatesSQL   = `
SELECT m.id::text, m.next_try FROM mandate m
 WHERE m.state = 'ending' AND NOT EXISTS (SELECT FROM payment p WHERE p.mandate = m.id AND p.state IN ('open', 'authorized', 'sold'))`
	dueErrandsSQL = `SELECT '', taken_until FROM errand WHERE ended_at IS NULL`
	dueJoiningSQL = `
SELECT '', opens.at
  FROM event e CROSS JOIN LATERAL (SELECT greatest(e.starts_at - e.join_early, e.join_link_at) AS at) opens
 WHERE e.online AND e.join_link <> '' AND e.status <> 'cancelled' AND clock_timestamp() < e.starts_at + interval '1 day'
   AND EXISTS (SELECT FROM orders o WHERE o.event_id = e.id` + toldToJoin + `)`
	dueUnpaidSQL = `SELECT id::text, least(remind_at, due_at) FROM orders WHERE due_at IS NOT NULL`
)

func (o *Orders) newBackground() (b background) {
	b.payments = jobs.New("payments", dueIntentionsSQL, o.workDue)
	b.payments.AtOnce = 8
	b.inbox = jobs.New("provider webhooks", dueInboxSQL, func(ctx context.Context, _ string) (int, error) { return o.readInbox(ctx) })
	b.cards = jobs.New("saved cards", dueMandatesSQL, o.forgetDue)
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
	b := o.jobs
	return []*jobs.Job{b.payments, b.inbox, b.cards, b.bulk, b.joining, b.unpaid}
}

// Ask makes a payment due now, for an attendee who came back from the provider.
func (o *Orders) Ask(ctx context.Context, p Payment) error {
	if _, err := o.db.Exec(ctx, askAgainSQL, p.ID); err != nil {
		return fmt.Errorf("orders: ask about a payment: %w", err)
	}
	return o.work(ctx, p.ID)
}
