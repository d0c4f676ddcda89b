package desk

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// SubscriptionsPath is the address of the subscriptions of a team.
const SubscriptionsPath = Path + "/subscriptions"

// SubscriptionPath is the address of a subscription at the desk.
func SubscriptionPath(slug string) string { return SubscriptionsPath + "/" + slug }

// FieldPrice is the field of the price of a category.
func FieldPrice(category string) string { return "price." + category }

// SubscriptionsPage lists the subscriptions of a team.
type SubscriptionsPage struct {
	Frame
	List []subscriptions.Listed
}

// NewSubscriptionPage makes a subscription in two steps: first its performances are chosen, then the rest.
type NewSubscriptionPage struct {
	Frame
	Performances []seats.Event // that may be chosen
	Marked       []string      // of them, by slug
	Choice       *subscriptions.Choice
	Before       []subscriptions.Listed // seasons before: the seats of their subscribers may be kept
	Form         url.Values             // as it was sent
	Mistakes     organizers.Mistakes
}

func (p NewSubscriptionPage) marked(e seats.Event) bool { return slices.Contains(p.Marked, e.Slug) }

// again is the address of the first step, with what was chosen.
func (p NewSubscriptionPage) again() string {
	return SubscriptionsPath + "/new?" + url.Values{"performance": p.Marked, "choose": {"on"}}.Encode()
}

func (p NewSubscriptionPage) first() seats.Event { return p.Choice.Events[0] }

// apart says what a seat of a category costs in all performances, one by one.
func (p NewSubscriptionPage) apart(ctx context.Context, c subscriptions.Category) string {
	return text.T(ctx, "Bought singly: %s", views.MoneyIn(ctx, c.Apart, p.first().Currency))
}

// SubscriptionPage is a subscription with its subscribers.
type SubscriptionPage struct {
	Frame
	subscriptions.Listed
	House    *subscriptions.House
	People   []subscriptions.Subscriber
	Renewals []subscriptions.Kept   // of those of the season before
	Before   []subscriptions.Listed // seasons before: the seats of their subscribers may be kept
	Form     url.Values             // of a change, as it was sent; nil: nothing was
	Mistakes organizers.Mistakes
	Public   string // its page for attendees
}

// closes and places are what the form of a change says.
func (p SubscriptionPage) closes() string {
	if p.Form.Has(subscriptions.FieldCloses) {
		return p.Form.Get(subscriptions.FieldCloses)
	}
	return p.Local(p.ClosesAt).Format(MomentForm)
}

func (p SubscriptionPage) places() string {
	if p.Form.Has(subscriptions.FieldPlaces) {
		return p.Form.Get(subscriptions.FieldPlaces)
	}
	if p.Places == nil {
		return ""
	}
	return strconv.Itoa(*p.Places)
}

// seats names the seats of a subscriber.
func (p SubscriptionPage) seats(ctx context.Context, b subscriptions.Subscriber) (words []string) {
	for _, idx := range b.Seats {
		words = append(words, shop.SeatWords(ctx, p.House.Sales[0].Plan, idx))
	}
	return words
}

// kept names what is kept for a subscriber of the season before.
func (p SubscriptionPage) kept(ctx context.Context, k subscriptions.Kept) (words []string) {
	for _, idx := range k.Seats {
		words = append(words, shop.SeatWords(ctx, p.House.Sales[0].Plan, idx))
	}
	return words
}

// became says what became of the seats that were kept for a subscriber.
func (p SubscriptionPage) became(ctx context.Context, k subscriptions.Kept) string {
	switch {
	case k.Renewed:
		return text.T(ctx, "Renewed")
	case len(k.Seats) == 0:
		return text.T(ctx, "Nothing kept")
	case p.Now.Before(p.KeepUntil):
		return text.T(ctx, "Kept")
	}
	return text.T(ctx, "Not renewed")
}

// renewed counts those who renewed.
func (p SubscriptionPage) renewed() (n int) {
	for _, k := range p.Renewals {
		if k.Renewed {
			n++
		}
	}
	return n
}

// orderOf is the order of a subscriber in a performance; nil if there is none.
func orderOf(b subscriptions.Subscriber, event string) *subscriptions.SubscriberOrder {
	for i := range b.Orders {
		if b.Orders[i].Event == event {
			return &b.Orders[i]
		}
	}
	return nil
}

func paidOf(b subscriptions.Subscriber) (sum int64) {
	for _, o := range b.Orders {
		sum += o.Paid
	}
	return sum
}

// categoryName is what the first performance calls a category.
func (p SubscriptionPage) categoryName(key string) string {
	plan := p.House.First.Plan
	if at := plan.CategoryKeyed(key); at >= 0 {
		return plan.Categories[at].Name
	}
	return key
}

func (p SubscriptionPage) price(ctx context.Context, category string) string {
	sum, _ := p.Price(category)
	return views.MoneyIn(ctx, sum, p.Currency)
}

// soldOf says how many seats of a subscription were sold.
func soldOf(ctx context.Context, l subscriptions.Listed) string {
	if l.Places == nil {
		return text.N(ctx, "%d seat sold", "%d seats sold", l.Sold)
	}
	return text.T(ctx, "%[1]d of %[2]d sold", l.Sold, *l.Places)
}

// saleOf says when a subscription is sold.
func saleOf(ctx context.Context, s subscriptions.Subscription) string {
	when := func(t time.Time) string { return text.Time(ctx, s.Local(t), "2 Jan 2006, 15:04") }
	switch {
	case !s.Now.Before(s.ClosesAt):
		return text.T(ctx, "Ended on %s", when(s.ClosesAt))
	case s.Now.Before(s.OpensAt):
		return text.T(ctx, "On sale from %[1]s until %[2]s", when(s.OpensAt), when(s.ClosesAt))
	}
	return text.T(ctx, "On sale until %s", when(s.ClosesAt))
}

// renewalHint says what renewal does.
func renewalHint(ctx context.Context) string {
	return text.T(ctx, "Subscribers get mail with a link at once. Until the time below only they can have their seats, in all performances together. After that the seats are on sale for everyone. Renewed seats do not count towards “Seats for sale”.")
}

// spanOf is the days of the first and the last performance.
func spanOf(ctx context.Context, s subscriptions.Subscription) string {
	list := s.ByTime()
	return text.Time(ctx, s.Local(list[0].StartsAt), "2 Jan 2006") + " – " + text.Time(ctx, s.Local(list[len(list)-1].StartsAt), "2 Jan 2006")
}

// startOf is when a performance begins.
func startOf(ctx context.Context, p subscriptions.Performance) string {
	return text.Time(ctx, seats.Event{TimeZone: p.TimeZone}.Local(p.StartsAt), "Mon 2 Jan 2006, 15:04")
}

// dayOfPerformance is a short head of a column.
func dayOfPerformance(ctx context.Context, p subscriptions.Performance) string {
	return text.Time(ctx, seats.Event{TimeZone: p.TimeZone}.Local(p.StartsAt), "2 Jan 2006")
}
