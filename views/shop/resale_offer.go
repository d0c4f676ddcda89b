package shop

import (
	"context"
	"time"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// ResaleOfferPage is where a friend buys tickets that were offered to them alone. Sale.Hold has their seats; nil if they may not buy.
type ResaleOfferPage struct {
	views.Page
	Sale
	Offer   orders.ResaleOffer
	Message string // why it may not be bought; may be empty
}

// ResalePath is the address at which a friend buys.
func ResalePath(code string) string { return "/resales/" + code }

// buyWords names the button: how many seats, and what they cost.
func (p ResaleOfferPage) buyWords(ctx context.Context) string {
	return text.N(ctx, "Take %d seat", "Take %d seats", len(p.Hold.Seats)) + " · " + views.PriceIn(ctx, p.costs(p.Hold.Seats), p.Event.Currency)
}

// Total is what the seats of the hold cost with their fees; 0 without a hold.
func (p ResaleOfferPage) Total() int64 {
	if p.Hold == nil {
		return 0
	}
	return p.costs(p.Hold.Seats)
}

// Labels names the seats of the hold.
func (p ResaleOfferPage) Labels() []string {
	labels := []string{}
	if p.Hold != nil {
		for _, idx := range p.Hold.Seats {
			labels = append(labels, p.Plan.Label(idx))
		}
	}
	return labels
}

// friendWords says what naming a friend means.
func (p OrderPage) friendWords(ctx context.Context) string {
	until := p.Now.Add(min(24*time.Hour, p.Order.ResaleEnds.Sub(p.Now)/2)) // as seats/orders does
	return text.T(ctx, "We email your friend a private link. Only they can buy until %s. After that, anyone can.", views.DayTimeIn(ctx, p.Event, until))
}

// offeredBackWords says for whom a ticket is on sale, and until when it is valid.
func (p OrderPage) offeredBackWords(ctx context.Context, t orders.Ticket) string {
	if to := t.OfferedTo; to != nil {
		return text.T(ctx, "%[1]s: only %[2]s can buy it until %[3]s. Your ticket is valid until they have paid.", p.seatWords(ctx, t.Idx), to.Email, views.DayTimeIn(ctx, p.Event, to.Until))
	}
	return text.T(ctx, "%s is offered back. Your ticket is valid until the seat is sold.", p.seatWords(ctx, t.Idx))
}
