package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// suffer lets clients come while things break, heals everything, and judges what they were told. It tells how long people
// came.
func (r *run) suffer(ctx context.Context) (took time.Duration, err error) {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var watch sync.WaitGroup
	for _, w := range r.watchers {
		watch.Go(func() { w.watch(watching) })
	}
	looking, stopLooking := context.WithCancel(ctx)
	defer stopLooking()
	var look sync.WaitGroup
	look.Go(func() { r.lookOn(looking) })
	if r.settings.Checker != "" {
		look.Go(func() { r.collectRoots(looking) })
	}
	began := time.Now()
	if err := r.crowdAndHarm(ctx); err != nil {
		return 0, err
	}
	took = time.Since(began)
	stopLooking()
	look.Wait()
	err = r.judge(ctx)
	stopWatching()
	watch.Wait()
	return took, err
}

// crowdAndHarm lets clients come while things break, heals everything, and waits until everybody has their answer.
func (r *run) crowdAndHarm(ctx context.Context) error {
	if r.settings.provoke != nil {
		err := r.settings.provoke(ctx, r)
		return errors.Join(err, r.heal(ctx))
	}
	var crowd, harm sync.WaitGroup
	end := make(chan struct{})
	for i := range r.settings.Clients {
		c := r.newClient(i)
		crowd.Go(func() { c.come(ctx, end, c.step) })
	}
	r.cast(ctx, end, crowd.Go)
	broken := make(chan error, 1)
	harming := make(chan struct{})
	harm.Go(func() { broken <- r.breakThings(ctx, harming) })

	failed := r.last(ctx, broken)
	close(harming)
	harm.Wait()
	healed := r.heal(ctx)
	close(end)
	crowd.Wait()
	return errors.Join(failed, healed)
}

// enough reports whether what was waited for was seen.
func (r *run) enough() bool {
	return r.settings.Until != nil && r.settings.Until(r.history.violations())
}

// last waits for the end: the time, or what the settings wait for, or faults that cannot be done.
func (r *run) last(ctx context.Context, broken <-chan error) error {
	over := time.After(r.settings.For)
	if r.server.cluster != nil {
		over = nil // each fault has its turn
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case err := <-broken:
			if err != nil || r.server.cluster != nil {
				return err
			}
			broken = nil // no faults were asked for
		case <-ticker.C:
			if r.enough() {
				return nil
			}
		}
	}
}
