package payments

import (
	"context"

	"github.com/usherbox/usher/seats/jobs"
)

// background is the background work of payments.
type background struct {
	attempts *jobs.Job // calls to providers that are due: a lost answer, a provider that was down, a node that died
	inbox    *jobs.Job // webhooks of providers
	cards    *jobs.Job // stored cards that are not needed any more
}

const (
	dueAttemptsSQL = `SELECT payment_id::text, next_try FROM intention WHERE done_at IS NULL`
	dueInboxSQL    = `SELECT '', received_at FROM inbox WHERE done_at IS NULL`
	dueMandatesSQL = `
SELECT m.id::text, m.next_try FROM mandate m
 WHERE m.state = 'ending' AND NOT EXISTS (SELECT FROM payment p WHERE p.mandate = m.id AND p.state IN ('open', 'authorized', 'sold'))`
)

func (ps *Payments) newBackground() (b background) {
	b.attempts = jobs.New("payments", dueAttemptsSQL, ps.workDue)
	b.attempts.AtOnce = 8
	b.inbox = jobs.New("provider webhooks", dueInboxSQL, func(ctx context.Context, _ string) (int, error) { return ps.readInbox(ctx) })
	b.cards = jobs.New("saved cards", dueMandatesSQL, ps.deleteDueCard)
	return b
}

// Jobs returns the jobs of payments.
func (ps *Payments) Jobs() []*jobs.Job {
	return []*jobs.Job{ps.jobs.attempts, ps.jobs.inbox, ps.jobs.cards}
}

// Wake makes this node look for due attempts now.
func (ps *Payments) Wake() { ps.jobs.attempts.Wake() }
