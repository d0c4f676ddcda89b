package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// crew is everything that runs while the box office is open. What starts later leans on what started earlier, so it is
// ended in reverse.
type crew struct {
	parts  []*part
	failed chan error // the first part that ended by itself
	once   sync.Once
}

type part struct {
	name string
	end  context.CancelFunc
	done chan struct{}
	err  error
}

func newCrew() *crew { return &crew{failed: make(chan error, 1)} }

var errNoReason = errors.New("it gave no reason")

// start runs a part until its ctx is done. Parts outlive the ctx of the program: they are ended one by one, by stop.
func (c *crew) start(ctx context.Context, name string, run func(context.Context) error) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	p := &part{name: name, end: end, done: make(chan struct{})}
	c.parts = append(c.parts, p)
	go func() {
		defer close(p.done)
		err := run(ctx)
		switch {
		case ctx.Err() == nil:
			c.once.Do(func() { c.failed <- fmt.Errorf("%s ended by itself: %w", name, cmp.Or(err, errNoReason)) })
		case !errors.Is(err, context.Canceled):
			p.err = err
		}
	}()
}

// wait returns when the program shall end (nil), or when a part ended that should not have.
func (c *crew) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.failed:
		return err
	}
}

// stop ends the parts, the last one first, each before the one it leans on.
func (c *crew) stop() error {
	var errs []error
	for i := len(c.parts) - 1; i >= 0; i-- {
		p := c.parts[i]
		p.end()
		<-p.done
		if p.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, p.err))
		}
	}
	return errors.Join(errs...)
}
