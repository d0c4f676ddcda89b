package demo

import (
	"context"
	"fmt"
	"time"
)

// atLeast is how often Run looks for what other nodes left behind.
const atLeast = 30 * time.Second

const nextSQL = `SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM demo_news WHERE told_at IS NULL`

// Run tells the demo card's news when they are due, until ctx is done. It sleeps while there are none.
func (c *Card) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait := time.Second
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.wake:
		case <-timer.C:
			if err := c.tellDue(ctx); err != nil {
				timer.Reset(wait)
				continue
			}
		}
		if next, err := c.next(ctx); err == nil {
			wait = next
		}
		timer.Reset(wait)
	}
}

// next is how long until something is due.
func (c *Card) next(ctx context.Context) (time.Duration, error) {
	var seconds *float64
	if err := c.db.QueryRow(ctx, nextSQL).Scan(&seconds); err != nil {
		return 0, fmt.Errorf("demo: find the next news: %w", err)
	}
	if seconds == nil {
		return atLeast, nil
	}
	return min(max(time.Duration(*seconds*float64(time.Second)), 10*time.Millisecond), atLeast), nil
}
