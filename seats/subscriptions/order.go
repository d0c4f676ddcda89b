package subscriptions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// An order of a subscription, with its subscriber: the first of the orders writes that, too.
const subscriberSQL = `
WITH made AS (
    INSERT INTO subscriber (id, subscription_id, seats) VALUES ($1, $2, cardinality($4::integer[]))
        ON CONFLICT (id) DO NOTHING
    RETURNING id, subscription_id, seats
), renewed AS (
    UPDATE renewal r SET renewed_by = made.id FROM made WHERE r.subscription_id = made.subscription_id AND r.subscriber_id = $5
    RETURNING made.seats
), counted AS (
    UPDATE subscription s SET sold = s.sold + made.seats, renewed = s.renewed + coalesce((SELECT seats FROM renewed), 0) FROM made WHERE s.id = made.subscription_id
)
INSERT INTO subscriber_order (order_id, subscriber_id, event_id, seats) SELECT $3, $1, event_id, $4 FROM orders WHERE id = $3`

// queueSubscriber is part of orders: it writes what an order of a subscription belongs to.
func queueSubscriber(q *pgx.Batch, f orders.Form, order seats.ID) {
	var renews *seats.ID
	if f.Subscriber.Renews != (seats.ID{}) {
		renews = &f.Subscriber.Renews
	}
	q.Queue(subscriberSQL, f.Subscriber.ID, f.Subscriber.Subscription, order, f.Seats, renews)
}

// errSoldOut is the refusal of an order that would sell more seats than the subscription has.
var errSoldOut = &seats.Conflict{Code: CodeOver, Message: text.Mark("This subscription is sold out. Nothing was ordered.")}

// Parts are what a visitor orders: their hold in each performance, at the prices of the subscription.
func (h *House) Parts(b Basket) []orders.Part {
	parts := make([]orders.Part, len(h.Sales))
	for k, s := range h.Sales {
		set := pricing.Set{Name: h.Name, Prices: make([]int64, len(s.Plan.Categories))}
		for i, c := range s.Plan.Categories {
			set.Prices[i] = h.Performances[k].Prices[c.Key]
		}
		there := h.there(k, b.Seats)
		slices.Sort(there)
		parts[k] = orders.Part{Sale: s, Hold: b.Holds[k].ID, Seats: there, Set: set}
	}
	return parts
}

// Order orders what a visitor holds, all of it or nothing: paid later or free of charge. It returns the code of the first order. Errors are those of
// orders.PlaceTogether; orders.ErrUnconfirmed if it is to be begun with Pay.
func (a *All) Order(ctx context.Context, h *House, visitor seats.ID, b Basket, f orders.Form) (code string, err error) {
	if refusal := h.over(len(b.Seats)); refusal != nil {
		return "", refusal
	}
	f.Subscriber = h.subscriber(b)
	code, err = a.orders.PlaceTogether(ctx, h.Holder(visitor), f, h.Parts(b))
	if seats.IsConstraint(err, "a subscription sells no more than its places") {
		return "", errSoldOut
	}
	return code, err
}

// Pay begins the one payment of what a visitor holds. Its places are counted when it is sold. Errors are those of orders.PayTogether.
func (a *All) Pay(ctx context.Context, h *House, visitor seats.ID, b Basket, f orders.Form) (payments.Payment, error) {
	if refusal := h.over(len(b.Seats)); refusal != nil {
		return payments.Payment{}, refusal
	}
	if h.Renewal != nil { // kept for the one with the link, until a time and beyond any session
		ctx = seats.WithVisit(ctx, nil)
	}
	f.Subscriber = h.subscriber(b)
	return a.orders.PayTogether(ctx, h.Holder(visitor), f, h.Parts(b))
}

// Methods lists how what a visitor holds may be paid.
func (a *All) Methods(h *House, b Basket) []string { return a.orders.MethodsTogether(h.Parts(b)) }

func (h *House) subscriber(b Basket) *orders.Subscriber {
	s := &orders.Subscriber{ID: b.Holds[0].ID, Subscription: h.ID}
	if h.Renewal != nil {
		s.Renews = h.Renewal.Of
	}
	return s
}

// OrderOf is an order of a subscriber in one performance.
type OrderOf struct {
	Code     string
	Event    string // slug
	Name     string // of the event
	StartsAt time.Time
	TimeZone string // IANA name
}

const ofOrderSQL = `
SELECT s.name, o.code, e.slug, e.name, e.starts_at, e.time_zone
  FROM orders this JOIN subscriber_order mine ON mine.order_id = this.id
  JOIN subscriber b ON b.id = mine.subscriber_id JOIN subscription s ON s.id = b.subscription_id
  JOIN subscriber_order x ON x.subscriber_id = b.id JOIN orders o ON o.id = x.order_id JOIN event e ON e.id = o.event_id
 WHERE this.code = $1
 ORDER BY e.starts_at, e.id`

// OfOrder returns the orders of the same subscriber as the order with this code, with the name of the subscription; none if the order is of none.
func (a *All) OfOrder(ctx context.Context, code string) (name string, list []OrderOf, err error) {
	rows, err := a.db.Query(ctx, ofOrderSQL, code)
	if err == nil {
		var o OrderOf
		_, err = pgx.ForEachRow(rows, []any{&name, &o.Code, &o.Event, &o.Name, &o.StartsAt, &o.TimeZone}, func() error {
			list = append(list, o)
			return nil
		})
	}
	if err != nil {
		return "", nil, fmt.Errorf("subscriptions: of an order: %w", err)
	}
	return name, list, nil
}
