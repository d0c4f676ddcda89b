package series

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// seen is series as this node read them last, by their slug or by an event. A crowd does not wait for the database.
type seen struct {
	mu   sync.Mutex
	kept map[string]keptSeries
}

type keptSeries struct {
	series Series
	err    error // nil or ErrNoSeries
	at     time.Time
}

const (
	fresh    = 5 * time.Second
	mostKept = 2000
)

func (c *seen) read(key string, read func() (Series, error)) (Series, error) {
	c.mu.Lock()
	k, known := c.kept[key]
	c.mu.Unlock()
	if known && time.Since(k.at) < fresh {
		return k.series, k.err
	}
	k.at = time.Now()
	if k.series, k.err = read(); k.err != nil && !errors.Is(k.err, ErrNoSeries) {
		return k.series, k.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= mostKept {
		c.kept = map[string]keptSeries{}
	}
	c.kept[key] = k
	return k.series, k.err
}

// forget makes this node read all series anew, after a member changed one.
func (c *seen) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = nil
}

// Announced returns a series that attendees may see; it may be a few seconds old. ErrNoSeries if there is none.
func (a *All) Announced(ctx context.Context, slug string) (Series, error) {
	s, err := a.seen.read("slug "+slug, func() (Series, error) { return a.Find(ctx, slug) })
	if err == nil && !s.Announced {
		err = ErrNoSeries
	}
	return s, err
}

// Seen returns the series of an event that attendees may see; it may be a few seconds old. ErrNoSeries if there is none.
func (a *All) Seen(ctx context.Context, event int64) (Series, error) {
	if a == nil {
		return Series{}, ErrNoSeries
	}
	s, err := a.seen.read(fmt.Sprint("event ", event), func() (Series, error) { return a.Of(ctx, event) })
	if err == nil && !s.Announced {
		err = ErrNoSeries
	}
	return s, err
}
