package subscriptions

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats"
)

// House is the seats of a subscription, as this node knows them, by those of its first performance.
type House struct {
	Subscription
	First *seats.Sale
	Sales []*seats.Sale // by the id of their events; the first is First

	Renewal *Renewal // for whom it is opened; nil: for any visitor

	at [][]int // for each performance, the idx there of each seat of the first; -1: it has none, or in another category
}

// House opens the performances of a subscription.
func (a *All) House(ctx context.Context, s Subscription) (*House, error) {
	sales, err := a.sales(ctx, s)
	if err != nil {
		return nil, err
	}
	h := &House{Subscription: s, First: sales[0], Sales: sales, at: make([][]int, len(sales))}
	plan := h.First.Plan
	for k, other := range sales {
		h.at[k] = make([]int, len(plan.Seats))
		for idx := range plan.Seats {
			there, is := other.Seat(plan.Label(idx))
			if !is || other.Plan.Categories[other.Plan.Seats[there].Category].Key != plan.Categories[plan.Seats[idx].Category].Key {
				there = -1
			}
			h.at[k][idx] = there
		}
	}
	return h, nil
}

// there are the idx in a performance of seats of the first one.
func (h *House) there(k int, idxs []int) []int {
	list := make([]int, len(idxs))
	for i, idx := range idxs {
		list[i] = h.at[k][idx]
	}
	return list
}

// Holder is who holds seats of the subscription for a visitor, or for whom they are kept.
func (h *House) Holder(visitor seats.ID) seats.ID {
	if h.Renewal != nil {
		return h.Renewal.Holder
	}
	return h.Subscription.Holder(visitor)
}

// Announced reports whether attendees may see it: none of its performances is a draft.
func (h *House) Announced() bool {
	return !slices.ContainsFunc(h.Sales, func(s *seats.Sale) bool { return s.Event.Status == seats.Draft })
}

// Category is the key of the category of a seat of the first performance.
func (h *House) Category(idx int) string {
	return h.First.Plan.Categories[h.First.Plan.Seats[idx].Category].Key
}

// Has reports whether a seat of the first performance is in all of them, in a category that the subscription sells.
func (h *House) Has(idx int) bool {
	if _, sold := h.Price(h.Category(idx)); !sold {
		return false
	}
	for k := range h.at {
		if h.at[k][idx] < 0 {
			return false
		}
	}
	return true
}

// States are what the seats of the first performance are in all of them together: available only if they are in each.
func (h *House) States() []seats.State {
	states := make([]seats.State, len(h.First.Plan.Seats))
	for k, s := range h.Sales {
		there := s.Snapshot().States
		for idx := range states {
			at := h.at[k][idx]
			switch {
			case at < 0 || at >= len(there):
				states[idx] = seats.Blocked
			case there[at] == seats.Free || states[idx] == seats.Blocked:
			case states[idx] == seats.Free || there[at] == seats.Sold:
				states[idx] = there[at]
			}
		}
	}
	for idx := range states {
		if !h.Has(idx) {
			states[idx] = seats.Blocked
		}
	}
	return states
}

// labels are the labels of seats of the first performance.
func (h *House) labels(idxs []int) []string {
	list := make([]string, len(idxs))
	for i, idx := range idxs {
		list[i] = h.First.Plan.Label(idx)
	}
	return list
}

// Total is what seats of the first performance cost in all of them.
func (h *House) Total(idxs []int) (sum int64) {
	for _, idx := range idxs {
		price, _ := h.Price(h.Category(idx))
		sum += price
	}
	return sum
}
