package subscriptions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"
)

// Offered is a subscription on sale, as pages of its performances tell of it.
type Offered struct {
	Slug, Name   string
	Performances int
	From         int64 // what the cheapest seat costs in all of them, minor units
	Currency     string
}

// seen is what is on sale, by event or series, as this node read it last.
type seen struct {
	mu    sync.Mutex
	kept  map[[2]int64]keptOffers
	reads singleflight.Group
}

type keptOffers struct {
	list []Offered
	at   time.Time
}

const (
	fresh     = 5 * time.Second
	mostKept  = 2000
	mostShown = 3 // subscriptions on a page of another thing
)

// OnSale lists subscriptions on sale that an event is in, or any performance of a series, if that is not 0. It may be a few seconds
// old: a crowd does not wait for the database.
func (a *All) OnSale(ctx context.Context, event, series int64) ([]Offered, error) {
	if a == nil {
		return nil, nil
	}
	c, key := &a.seen, [2]int64{event, series}
	c.mu.Lock()
	k, known := c.kept[key]
	c.mu.Unlock()
	if known && time.Since(k.at) < fresh {
		return k.list, nil
	}
	read := c.reads.DoChan(fmt.Sprint(key), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fresh)
		defer cancel()
		list, err := a.onSale(ctx, event, series)
		if err == nil {
			c.keep(key, list)
		}
		return list, err
	})
	if known { // what is a little old is better than a page that waits
		return k.list, nil
	}
	select {
	case r := <-read:
		list, _ := r.Val.([]Offered)
		return list, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *seen) keep(key [2]int64, list []Offered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= mostKept {
		c.kept = map[[2]int64]keptOffers{}
	}
	c.kept[key] = keptOffers{list, time.Now()}
}

// Attendees see a subscription once none of its performances is a draft, and others than subscribers once the seats of these are kept.
const onSaleSQL = `
SELECT s.slug, s.name, (SELECT count(DISTINCT event_id) FROM subscription_price WHERE subscription_id = s.id), low.sum, s.currency
  FROM subscription s,
       LATERAL (SELECT min(sum) AS sum FROM (SELECT sum(price)::bigint FROM subscription_price WHERE subscription_id = s.id GROUP BY category) c) low
 WHERE s.id IN (SELECT p.subscription_id FROM subscription_price p JOIN event e ON e.id = p.event_id WHERE e.id = $1 OR e.series_id = $2)
   AND s.opens_at <= clock_timestamp() AND s.closes_at > clock_timestamp() AND (s.renews_id IS NULL OR s.kept_at IS NOT NULL)
   AND coalesce(s.sold - s.renewed < s.places, true)
   AND NOT EXISTS (SELECT FROM subscription_price p JOIN event e ON e.id = p.event_id WHERE p.subscription_id = s.id AND e.status IN ('draft', 'cancelled'))
 ORDER BY s.id LIMIT $3`

func (a *All) onSale(ctx context.Context, event, series int64) ([]Offered, error) {
	rows, err := a.db.Query(ctx, onSaleSQL, event, series, mostShown)
	if err != nil {
		return nil, fmt.Errorf("subscriptions: of event %d: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Offered])
	if err != nil {
		return nil, fmt.Errorf("subscriptions: of event %d: %w", event, err)
	}
	return list, nil
}
