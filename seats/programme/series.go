package programme

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// seriesDates are the performances of series as this node read them last.
type seriesDates struct {
	mu    sync.Mutex
	kept  map[int64]keptDates
	reads singleflight.Group
}

type keptDates struct {
	cards []Card
	at    time.Time
}

const (
	mostDates  = 400 // performances of a series
	mostKept   = 200 // series with dates in the memory of a node
	datesFresh = time.Second
)

// OfSeries lists the announced performances of a series that are to come, the next one first. They may be a second old: a
// crowd does not wait for the database.
func (g *Programme) OfSeries(ctx context.Context, series int64) ([]Card, error) {
	c := &g.dates
	c.mu.Lock()
	kept := c.kept[series]
	c.mu.Unlock()
	if time.Since(kept.at) < datesFresh {
		return kept.cards, nil
	}
	read := c.reads.DoChan(strconv.FormatInt(series, 10), func() (any, error) {
		began := time.Now()
		cards, err := g.each(context.WithoutCancel(ctx), Filter{}, nil, mostDates, series)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.kept == nil || len(c.kept) >= mostKept {
			c.kept = map[int64]keptDates{}
		}
		c.kept[series] = keptDates{cards, began}
		return cards, nil
	})
	select {
	case r := <-read:
		cards, _ := r.Val.([]Card)
		return cards, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ForgetSeries makes this node read the dates of all series anew, after a member changed one.
func (g *Programme) ForgetSeries() {
	g.dates.mu.Lock()
	defer g.dates.mu.Unlock()
	g.dates.kept = nil
}
