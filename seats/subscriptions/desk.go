package subscriptions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Listed is a subscription with what came of it.
type Listed struct {
	Subscription
	Subscribers int
	Paid        int64 // for all orders, refunds subtracted, minor units
}

const listSQL = `
SELECT ` + columns + `, b.subscribers, b.paid
  FROM subscription s,
       LATERAL (SELECT count(DISTINCT b.id) AS subscribers, coalesce(sum(o.paid), 0)::bigint AS paid
                  FROM subscriber b JOIN subscriber_order x ON x.subscriber_id = b.id JOIN orders o ON o.id = x.order_id
                 WHERE b.subscription_id = s.id) b
 WHERE s.slug = $1 OR $1 IS NULL
 ORDER BY s.closes_at <= clock_timestamp(), s.opens_at, s.id`

// List lists the subscriptions of a member's team, those on sale first.
func (a *All) List(ctx context.Context, m organizers.Member) (list []Listed, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error { list, err = listed(ctx, tx, nil); return err })
	if err != nil {
		return nil, fmt.Errorf("subscriptions: list: %w", err)
	}
	return list, nil
}

func listed(ctx context.Context, tx pgx.Tx, slug *string) (list []Listed, err error) {
	rows, err := tx.Query(ctx, listSQL, slug)
	if err != nil {
		return nil, err
	}
	list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Listed, err error) {
		return l, l.scan(row, &l.Subscribers, &l.Paid)
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].readPrices(ctx, tx); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Subscriber is a person with seats of a subscription.
type Subscriber struct {
	Name, Email  string // of their first order; empty if they were erased
	SubscribedAt time.Time
	Seats        []int // of the first performance by the id of its event
	Orders       []SubscriberOrder
}

// SubscriberOrder is the order of a subscriber in one performance.
type SubscriberOrder struct {
	Code, Event string // the event by its slug
	Cancelled   bool
	Paid        int64
}

const subscribersSQL = `
SELECT b.id, b.created_at, x.seats, o.name, o.email, o.code, e.slug, o.state = 'cancelled', o.paid
  FROM subscriber b JOIN subscriber_order x ON x.subscriber_id = b.id JOIN orders o ON o.id = x.order_id JOIN event e ON e.id = o.event_id
 WHERE b.subscription_id = $1
 ORDER BY b.created_at, b.id, e.id`

// Of returns a subscription of a member's team with its subscribers, the first one first, and what became of those of the season before. ErrNoSubscription if it is not theirs.
func (a *All) Of(ctx context.Context, m organizers.Member, slug string) (l Listed, people []Subscriber, renewals []Kept, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		list, err := listed(ctx, tx, &slug)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return ErrNoSubscription
		}
		l = list[0]
		if people, err = subscribers(ctx, tx, l.ID); err != nil {
			return err
		}
		renewals, err = kept(ctx, tx, l.ID)
		return err
	})
	if err != nil {
		return l, nil, nil, fmt.Errorf("subscriptions: %q at the desk: %w", slug, err)
	}
	return l, people, renewals, nil
}

func subscribers(ctx context.Context, tx pgx.Tx, subscription int64) (people []Subscriber, err error) {
	rows, err := tx.Query(ctx, subscribersSQL, subscription)
	if err != nil {
		return nil, err
	}
	var id, last seats.ID
	var b Subscriber
	var o SubscriberOrder
	_, err = pgx.ForEachRow(rows, []any{&id, &b.SubscribedAt, &b.Seats, &b.Name, &b.Email, &o.Code, &o.Event, &o.Cancelled, &o.Paid}, func() error {
		if len(people) == 0 || id != last {
			people, last = append(people, b), id
		}
		p := &people[len(people)-1]
		p.Orders = append(p.Orders, o)
		b = Subscriber{}
		return nil
	})
	return people, err
}

const recipientsSQL = `
SELECT DISTINCT lower(o.email)
  FROM subscription s JOIN subscriber b ON b.subscription_id = s.id JOIN subscriber_order x ON x.subscriber_id = b.id JOIN orders o ON o.id = x.order_id
 WHERE s.slug = $1 AND o.email <> '' AND EXISTS (SELECT FROM ticket WHERE order_id = o.id AND revoked_at IS NULL)
 ORDER BY 1`

// Recipients lists the addresses with a valid ticket of a subscription of the member's team, each once. ErrNoSubscription if it is not theirs.
func (a *All) Recipients(ctx context.Context, m organizers.Member, slug string) (emails []string, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		list, err := listed(ctx, tx, &slug)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return ErrNoSubscription
		}
		rows, err := tx.Query(ctx, recipientsSQL, slug)
		if err == nil {
			emails, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("subscriptions: recipients of %q: %w", slug, err)
	}
	return emails, nil
}

// Category is one that a subscription of some performances may sell.
type Category struct {
	Key, Name string
	Apart     int64 // what a seat costs in all of them, one by one
}

// Choice is performances that a member chose for a subscription.
type Choice struct {
	Events     []seats.Event // the first one first
	Categories []Category    // that all of them have
}

// Chosen opens performances that a member chose, and says what a subscription of them may sell. Errors are those of Inventory.Sale;
// organizers.ErrNotYours.
func (a *All) Chosen(ctx context.Context, m organizers.Member, slugs []string) (c Choice, err error) {
	sales, err := a.theirs(ctx, m, slugs)
	if err != nil || len(sales) == 0 {
		return c, err
	}
	for _, of := range sales[0].Plan.Categories {
		if slices.ContainsFunc(sales, func(s *seats.Sale) bool { return s.Plan.CategoryKeyed(of.Key) < 0 }) {
			continue
		}
		one := Category{Key: of.Key, Name: of.Name}
		for _, price := range weights(sales, of.Key) {
			one.Apart += price
		}
		c.Categories = append(c.Categories, one)
	}
	for _, s := range sales {
		c.Events = append(c.Events, s.Event)
	}
	slices.SortStableFunc(c.Events, func(a, b seats.Event) int { return a.StartsAt.Compare(b.StartsAt) })
	return c, nil
}

// theirs opens performances of a member's team, each once, by the id of their events.
func (a *All) theirs(ctx context.Context, m organizers.Member, slugs []string) (sales []*seats.Sale, err error) {
	for _, slug := range slices.Compact(slices.Sorted(slices.Values(slugs))) {
		s, err := a.inventory.Sale(ctx, slug)
		if err != nil {
			return nil, err
		}
		if !m.Owns(s.Event) {
			return nil, organizers.ErrNotYours
		}
		sales = append(sales, s)
	}
	slices.SortFunc(sales, func(a, b *seats.Sale) int { return int(a.Event.ID - b.Event.ID) })
	return sales, nil
}

// Change is what may be changed of a subscription while it is sold.
type Change struct {
	ClosesAt time.Time
	Places   *int // nil: any number
}

const changeSQL = `UPDATE subscription SET closes_at = $2, places = $3 WHERE id = $1`

// Change changes a subscription, once for a key. It may be closed at once, and never sells fewer seats than it sold.
//
// Errors: ErrNoSubscription; organizers.Mistakes; those of organizers.Desk.WithAudit; the database's.
func (a *All) Change(ctx context.Context, m organizers.Member, slug string, c Change, key string) error {
	s, err := a.Find(ctx, slug)
	if err != nil {
		return err
	}
	if s.Team != m.Team {
		return ErrNoSubscription
	}
	var wrong organizers.Mistakes
	if !c.ClosesAt.After(s.OpensAt) {
		wrong = append(wrong, organizers.Mistake{Field: FieldCloses, Message: text.Mark("A subscription ends after it begins.")})
	}
	wrong = append(wrong, wrongPlaces(c.Places)...)
	if wrong != nil {
		return wrong
	}
	act := organizers.Action{Key: key, Form: []any{"subscription change", slug, c}, What: text.Mark("changed the subscription"), Subject: "subscriptions/" + slug}
	err = a.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, changeSQL, s.ID, c.ClosesAt, c.Places); err != nil {
				return err
			}
			return also.Run(ctx, tx)
		})
	})
	if seats.IsConstraint(err, "a subscription sells no more than its places") {
		return organizers.Mistakes{{Field: FieldPlaces, Message: text.Mark("So many seats were sold already: %d."), Args: []any{s.Sold - s.Renewed}}}
	}
	if seats.IsConstraint(err, "seats are kept while a subscription is sold") {
		return organizers.Mistakes{{Field: FieldCloses, Message: text.Mark("Seats are kept for subscribers longer than that. Choose a later time.")}}
	}
	if err != nil {
		return fmt.Errorf("subscriptions: change %q: %w", slug, err)
	}
	return nil
}
