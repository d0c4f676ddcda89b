package subscriptions

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
)

// ErrNoSubscription is the answer for a subscription that is not there.
var ErrNoSubscription = errors.New("there is no such subscription")

// All is the subscriptions of a database, for one node.
type All struct {
	db        *pgxpool.Pool
	inventory *seats.Inventory
	orders    *orders.Orders
	desk      *organizers.Desk
	keeping   *jobs.Job
	seen      seen
}

// New returns the subscriptions of a database.
func New(db *pgxpool.Pool, inventory *seats.Inventory, o *orders.Orders, desk *organizers.Desk) *All {
	o.Subscribed = queueSubscriber
	a := &All{db: db, inventory: inventory, orders: o, desk: desk}
	inventory.Aliases = a.aliases
	a.keeping = jobs.New("renewals", toKeepSQL, a.Keep)
	return a
}

// Subscription is the same seat in several performances.
type Subscription struct {
	ID       int64
	Slug     string // its name in addresses
	Team     int64
	Name     string
	Currency string // ISO 4217
	OpensAt  time.Time
	ClosesAt time.Time
	Places   *int      // how many seats it may sell; nil: any number
	Sold     int       // seats
	Renewed  int       // of those, seats of subscribers who renewed: they do not count against its places
	Now      time.Time // the database's clock when this was read

	Renews    string    // name of the season before: the seats of its subscribers are kept; empty: none
	KeepUntil time.Time // until when
	Keeping   bool      // not all of them are kept yet

	Performances []Performance // by the id of their events
}

// Performance is an event of a subscription.
type Performance struct {
	Event    int64
	Slug     string
	Name     string
	StartsAt time.Time
	TimeZone string           // IANA name
	Prices   map[string]int64 // what a seat of a category costs there, by key, minor units
}

// Price is what a seat of a category costs in all performances; false if it is not sold.
func (s Subscription) Price(category string) (sum int64, sold bool) {
	for _, p := range s.Performances {
		price, there := p.Prices[category]
		if !there {
			return 0, false
		}
		sum += price
	}
	return sum, len(s.Performances) > 0
}

// ByTime are its performances, the first one first.
func (s Subscription) ByTime() []Performance {
	return slices.SortedStableFunc(slices.Values(s.Performances), func(a, b Performance) int { return a.StartsAt.Compare(b.StartsAt) })
}

// Local is a time by the clock of its first performance.
func (s Subscription) Local(t time.Time) time.Time {
	if len(s.Performances) == 0 {
		return t.UTC()
	}
	return seats.Event{TimeZone: s.ByTime()[0].TimeZone}.Local(t)
}

// Categories are the keys of what it sells, in order.
func (s Subscription) Categories() (keys []string) {
	for _, p := range s.Performances {
		for key := range p.Prices {
			if _, sold := s.Price(key); sold {
				keys = append(keys, key)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys)))
}

// Left is how many seats it may still sell; -1 for any number.
func (s Subscription) Left() int {
	if s.Places == nil {
		return -1
	}
	return max(0, *s.Places-s.Sold+s.Renewed)
}

// Open reports whether it is on sale.
func (s Subscription) Open() bool { return !s.Now.Before(s.OpensAt) && s.Now.Before(s.ClosesAt) }

// Holder is who holds seats of the subscription for a visitor.
func (s Subscription) Holder(visitor seats.ID) seats.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "usher/subscription/v1 %s %d", visitor, s.ID))
	id := seats.ID(sum[:len(seats.ID{})])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

const columns = `s.id, s.slug, s.team_id, s.name, s.currency, s.opens_at, s.closes_at, s.places, s.sold, s.renewed, clock_timestamp(),
       coalesce((SELECT name FROM subscription WHERE id = s.renews_id), ''), s.keep_until, s.renews_id IS NOT NULL AND s.kept_at IS NULL`

func (s *Subscription) scan(row pgx.Row, more ...any) error {
	var until *time.Time
	err := row.Scan(append([]any{&s.ID, &s.Slug, &s.Team, &s.Name, &s.Currency, &s.OpensAt, &s.ClosesAt, &s.Places, &s.Sold, &s.Renewed, &s.Now, &s.Renews, &until, &s.Keeping}, more...)...)
	if until != nil {
		s.KeepUntil = *until
	}
	return err
}

const (
	findSQL = `SELECT ` + columns + ` FROM subscription s WHERE s.slug = $1`

	pricesSQL = `
SELECT p.event_id, e.slug, e.name, e.starts_at, e.time_zone, p.category, p.price FROM subscription_price p JOIN event e ON e.id = p.event_id
 WHERE p.subscription_id = $1 ORDER BY p.event_id, p.category`
)

// Find returns a subscription by its slug, or ErrNoSubscription.
func (a *All) Find(ctx context.Context, slug string) (s Subscription, err error) {
	err = s.scan(a.db.QueryRow(ctx, findSQL, slug))
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNoSubscription
	}
	if err == nil {
		err = s.readPrices(ctx, a.db)
	}
	if err != nil {
		return s, fmt.Errorf("subscriptions: find %q: %w", slug, err)
	}
	return s, nil
}

func (s *Subscription) readPrices(ctx context.Context, db seats.DB) error {
	rows, err := db.Query(ctx, pricesSQL, s.ID)
	if err != nil {
		return err
	}
	var p Performance
	var price int64
	var category string
	_, err = pgx.ForEachRow(rows, []any{&p.Event, &p.Slug, &p.Name, &p.StartsAt, &p.TimeZone, &category, &price}, func() error {
		if n := len(s.Performances); n == 0 || s.Performances[n-1].Event != p.Event {
			p.Prices = map[string]int64{}
			s.Performances = append(s.Performances, p)
		}
		s.Performances[len(s.Performances)-1].Prices[category] = price
		return nil
	})
	return err
}

// sales opens its performances, by the id of their events.
func (a *All) sales(ctx context.Context, s Subscription) ([]*seats.Sale, error) {
	list := make([]*seats.Sale, len(s.Performances))
	for i, p := range s.Performances {
		var err error
		if list[i], err = a.inventory.Sale(ctx, p.Slug); err != nil {
			return nil, err
		}
	}
	return list, nil
}
