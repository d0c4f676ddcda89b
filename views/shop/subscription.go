package shop

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// SubscriptionPath is the page of a subscription.
func SubscriptionPath(slug string) string { return "/subscriptions/" + slug }

// RenewalPath is where the subscriber with a link renews.
func RenewalPath(code string) string { return "/renewals/" + code }

// SubscriptionOf is the page of a subscription, for whom it was opened.
func SubscriptionOf(h *subscriptions.House) string {
	if h.Renewal != nil {
		return RenewalPath(h.Renewal.Code)
	}
	return SubscriptionPath(h.Slug)
}

// KeptUntil is the time until which seats are kept for subscribers.
func KeptUntil(ctx context.Context, h *subscriptions.House) string {
	return text.Time(ctx, h.Local(h.KeepUntil), "Mon 2 January 2006, 15:04\u00a0MST")
}

// SubscriptionPage is where seats of a subscription are chosen.
type SubscriptionPage struct {
	views.Page
	House    *subscriptions.House
	States   []seats.State // of the seats of the first performance, in all performances together
	Basket   *subscriptions.Basket
	Section  int      // the rows of this one are shown
	Chosen   []int    // seats that were chosen and are not held; nil: what is held
	Message  string   // why the last choice was refused; empty for nothing
	Key      string   // of the next extension
	Methods  []string // how it may be paid, the best first
	Terms    int      // the version of the terms that the buyer has to accept; 0: none
	Form     orders.Form
	Mistakes orders.Mistakes
	Payment  *payments.Payment // that is under way for these seats; nil if none is
	Checkout bool              // it is the checkout
}

func (p SubscriptionPage) plan() *seats.Plan { return p.House.First.Plan }

// event is the first of its performances by time.
func (p SubscriptionPage) event() seats.Event { return p.performances()[0] }

// performances are its events, the first one first.
func (p SubscriptionPage) performances() []seats.Event {
	list := make([]seats.Event, len(p.House.Sales))
	for i, s := range p.House.Sales {
		list[i] = s.Event
	}
	slices.SortFunc(list, func(a, b seats.Event) int { return a.StartsAt.Compare(b.StartsAt) })
	return list
}

// cancelRule says until when the tickets of a performance may be cancelled. One without a day is that of all performances.
type cancelRule struct{ day, words string }

// cancelRules returns the rule of each performance, or one without a day if none can be cancelled or there is one performance.
func (p SubscriptionPage) cancelRules(ctx context.Context) (list []cancelRule) {
	never := true
	for _, e := range p.performances() {
		e.Policy.Resale = false // RefuseResale: tickets of a subscription are not offered back
		words := Sale{Event: e, Now: p.Basket.Now}.cancelWords(ctx, p.Basket.Total > 0)
		list = append(list, cancelRule{views.DayTimeIn(ctx, e, e.StartsAt), words})
		never = never && words == text.T(ctx, neverCancelled)
	}
	if never || len(list) == 1 {
		return []cancelRule{{words: list[0].words}}
	}
	return list
}

// limitWords says how many tickets of a performance one person gets, and what counts.
func (p SubscriptionPage) limitWords(ctx context.Context) string {
	most := p.event().SeatsPerHolder
	for _, e := range p.performances() {
		most = min(most, e.SeatsPerHolder)
	}
	return text.N(ctx,
		"You can book up to %d ticket for each performance. All your orders count: those with the same email address, account or card.",
		"You can book up to %d tickets for each performance. All your orders count: those with the same email address, account or card.",
		most)
}

func (p SubscriptionPage) path() string { return SubscriptionOf(p.House) }

func (p SubscriptionPage) at(section int) string {
	return p.path() + "?section=" + strconv.Itoa(section) + "#rows"
}

// mine reports whether the visitor holds a seat.
func (p SubscriptionPage) mine(idx int) bool {
	return p.Basket != nil && slices.Contains(p.Basket.Seats, idx)
}

func (p SubscriptionPage) free(section int) (n int) {
	s := p.plan().Sections[section]
	for idx := s.First; idx < s.First+s.Count; idx++ {
		if p.States[idx] == seats.Free || p.mine(idx) {
			n++
		}
	}
	return n
}

// rows are the seats of the section that is shown, row by row.
func (p SubscriptionPage) rows() (rows [][]int) {
	s := p.plan().Sections[p.Section]
	for idx := s.First; idx < s.First+s.Count; idx++ {
		if n := len(rows); n > 0 && p.plan().Seats[rows[n-1][0]].Row == p.plan().Seats[idx].Row {
			rows[n-1] = append(rows[n-1], idx)
			continue
		}
		rows = append(rows, []int{idx})
	}
	return rows
}

// marked are the seats that the form begins with: those that were chosen and can be had, or else those that are held.
func (p SubscriptionPage) marked() (idxs []int) {
	for _, idx := range p.Chosen {
		if p.mine(idx) || p.States[idx] == seats.Free {
			idxs = append(idxs, idx)
		}
	}
	if p.Chosen == nil && p.Basket != nil {
		return p.Basket.Seats
	}
	return idxs
}

// elsewhere are the marked seats of other sections: the form keeps them.
func (p SubscriptionPage) elsewhere() (idxs []int) {
	s := p.plan().Sections[p.Section]
	return slices.DeleteFunc(slices.Clone(p.marked()), func(idx int) bool { return idx >= s.First && idx < s.First+s.Count })
}

// categories are the keys and names of what it sells, by price.
func (p SubscriptionPage) categories() (list []seats.Category) {
	for _, c := range p.plan().Categories {
		if _, sold := p.House.Price(c.Key); sold {
			list = append(list, c)
		}
	}
	return list
}

func (p SubscriptionPage) price(ctx context.Context, category string) string {
	price, _ := p.House.Price(category)
	return views.PriceIn(ctx, price, p.House.Currency)
}

// strict reports whether seats of a performance are lost as soon as their hold expires.
func (p SubscriptionPage) strict() bool {
	return slices.ContainsFunc(p.House.Sales, func(s *seats.Sale) bool { return s.Event.Strict })
}

// noMore says why what is held has no extension; nothing if it has one, and where there is none at all.
func (p SubscriptionPage) noMore(ctx context.Context) string {
	switch {
	case p.House.Renewal != nil || p.Basket.Expired:
		return ""
	case p.Basket.ExtensionsLeft == 0:
		return text.T(ctx, noExtensions)
	case p.House.Full():
		return text.T(ctx, noSeats)
	}
	return ""
}

// stateWords says how the sale of the subscription stands; empty while it is on sale.
func (p SubscriptionPage) stateWords(ctx context.Context) string {
	s := p.House
	switch {
	case s.Now.Before(s.OpensAt):
		return text.T(ctx, "On sale from %s.", text.Time(ctx, p.event().Local(s.OpensAt), "Mon 2 January 2006, 15:04\u00a0MST"))
	case s.Keeping: // for a moment
		return text.T(ctx, "This subscription is not on sale yet.")
	case !s.Open():
		return text.T(ctx, "This subscription is no longer sold.")
	case s.Left() == 0:
		return text.T(ctx, "This subscription is sold out.")
	}
	return ""
}

// seatDot is a seat of the picture.
type seatDot struct{ X, Y, R, Look string }

// circles are the seats of the section that is shown, as the picture draws them.
func (p SubscriptionPage) circles() (list []seatDot) {
	s := p.plan().Sections[p.Section]
	if s.Area {
		return nil
	}
	for idx := s.First; idx < s.First+s.Count; idx++ {
		look := "taken"
		switch {
		case p.mine(idx):
			look = "mine"
		case p.States[idx] == seats.Free:
			look = "free"
		}
		seat := p.plan().Seats[idx]
		list = append(list, seatDot{Tenth(seat.X), Tenth(seat.Y), Tenth(max(3, p.plan().Width/150)), look})
	}
	return list
}

func (p SubscriptionPage) drawing() Sale {
	return Sale{Event: p.House.First.Event, Plan: p.plan(), Map: seats.Snapshot{States: p.States}}.Whole()
}

// corners are the outline of a section.
func (p SubscriptionPage) corners(section int) (points string) {
	for _, c := range p.plan().Sections[section].Outline {
		points += Tenth(c.X) + "," + Tenth(c.Y) + " "
	}
	return points
}

// Subscribed is what the page of an order says of the subscription that it is of; nil for most orders.
type Subscribed struct {
	Name   string
	Orders []subscriptions.OrderOf
}

func whenOf(ctx context.Context, o subscriptions.OrderOf) string {
	return text.Time(ctx, seats.Event{TimeZone: o.TimeZone}.Local(o.StartsAt), "Mon 2 January 2006, 15:04")
}

// rowLegend names a row; places of an area have none.
func rowLegend(ctx context.Context, row string) string {
	if row == "" {
		return text.T(ctx, "Places")
	}
	return RowWords(ctx, row)
}

// timeFacts are the facts about the time of the held seats that the script counts down.
func (p SubscriptionPage) timeFacts() templ.Attributes {
	page := p.path()
	if p.Checkout {
		page += "/checkout"
	}
	facts := templ.Attributes{
		"data-page": page, "data-deadline": strconv.FormatInt(p.Basket.ExpiresAt.UnixMilli(), 10), "data-now": strconv.FormatInt(p.Basket.Now.UnixMilli(), 10),
		"data-length": strconv.FormatInt(p.shortest().HoldLength.Milliseconds(), 10),
	}
	if p.House.Extends(*p.Basket) {
		facts["data-extension"] = p.path() + "/hold/extension"
	}
	return facts
}

// shortest is the performance with the shortest holds.
func (p SubscriptionPage) shortest() seats.Event {
	return slices.MinFunc(p.performances(), func(a, b seats.Event) int { return cmp.Compare(a.HoldLength, b.HoldLength) })
}

// body is nil if the page has no script.
func (p SubscriptionPage) body() templ.Attributes {
	if p.Script == "" {
		return nil
	}
	return templ.Attributes{}
}
