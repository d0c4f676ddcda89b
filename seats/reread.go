package seats

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// reread reads an event that is open here anew: a version of the change log said that it was changed, or its time came.
// Who asks for its Sale from now on gets what it is now.
func (o *Office) reread(ctx context.Context, slug string) error {
	o.reading.Lock()
	defer o.reading.Unlock()
	before := o.sale(slug)
	if before == nil {
		return nil
	}
	next := &Sale{Plan: before.Plan, labels: before.labels, stretches: before.stretches, works: before.works}
	err := o.see(ctx, func(tx pgx.Tx) (err error) {
		if next.Event, err = EventBySlug(ctx, tx, slug); err != nil || next.Event.PlanHash == before.Event.PlanHash {
			return err
		}
		if next.Plan, err = LoadPlan(ctx, tx, next.Event.ID); err == nil {
			next.know(next.Plan)
		}
		return err
	})
	if err != nil {
		return err
	}
	next.seats.grow(next.stretches)
	next.stale.Store(false)
	next.onSale.Store(next.Event.Status == OnSale)
	next.now.Store(next)
	o.put(slug, next)
	return nil
}

// awaitOpenings reads scheduled events anew when they are on sale, until ctx is done. It sleeps while none is
// scheduled.
func (o *Office) awaitOpenings(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.opening:
		case <-timer.C:
		}
		if err := o.openDue(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("events whose sale begins could not be read; the next try is in a second", "error", err)
			timer.Reset(time.Second)
			continue
		}
		timer.Reset(o.nextOpening())
	}
}

// openDue reads the scheduled events anew.
func (o *Office) openDue(ctx context.Context) error {
	for _, s := range o.Open() {
		if s.Event.Status != Scheduled {
			continue
		}
		if err := o.reread(ctx, s.Event.Slug); err != nil {
			return err
		}
	}
	return nil
}

// nextOpening is how long until the next event that is open here is on sale, by the clock of the database when it
// was read.
func (o *Office) nextOpening() time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, s := range o.Open() {
		if s.Event.Status == Scheduled {
			next = min(next, max(s.Event.OpensIn, 0)+time.Millisecond)
		}
	}
	return next
}

func (o *Office) wakeOpening() {
	select {
	case o.opening <- struct{}{}:
	default: // it is awake already
	}
}
