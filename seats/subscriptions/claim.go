package subscriptions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// CodeOver is the code of a refusal: the subscription is not on sale, or sold out.
const CodeOver = "subscription"

// Basket is the seats that a visitor holds in all performances.
type Basket struct {
	Seats     []int        // of the first performance
	Holds     []seats.Hold // of each
	ExpiresAt time.Time    // of the hold that ends first
	Now       time.Time
	Expired   bool // one of them ended; the seats are the visitor's until another claims one
	Total     int64

	ExtensionsLeft int // of the performance with the fewest
}

// Basket returns what a visitor holds in all performances. seats.ErrNoHold if that is nothing.
func (a *All) Basket(ctx context.Context, h *House, visitor seats.ID) (b Basket, err error) {
	return h.basket(ctx, h.Holder(visitor))
}

func (h *House) basket(ctx context.Context, holder seats.ID) (b Basket, err error) {
	for k, s := range h.Sales {
		hold, err := s.Hold(ctx, holder)
		if err != nil {
			return Basket{}, err
		}
		b.Holds = append(b.Holds, hold)
		if k == 0 {
			b.Seats = hold.Seats
		}
		if k == 0 || hold.ExpiresAt.Before(b.ExpiresAt) {
			b.ExpiresAt, b.Now = hold.ExpiresAt, hold.Now
		}
		if k == 0 || hold.ExtensionsLeft < b.ExtensionsLeft {
			b.ExtensionsLeft = hold.ExtensionsLeft
		}
		b.Expired = b.Expired || hold.Expired
		b.Seats = slices.DeleteFunc(slices.Clone(b.Seats), func(idx int) bool { return !slices.Contains(hold.Seats, h.at[k][idx]) })
	}
	if len(b.Seats) == 0 {
		return Basket{}, seats.ErrNoHold
	}
	b.Total = h.Total(b.Seats)
	return b, nil
}

// Choose gives a visitor these seats of the first performance, in all performances or in none, in place of those that they hold. The holds
// are bound to the visitor's session, if the context has one (seats.WithVisit).
//
// Errors: *seats.ValidationError; a *seats.StepError with the refusal of one performance; a *seats.Conflict if the subscription is not on sale;
// the database's.
func (a *All) Choose(ctx context.Context, h *House, visitor seats.ID, idxs []int) (Basket, error) {
	if refusal := h.over(len(idxs)); refusal != nil && len(idxs) > 0 { // seats are let go at any time
		return Basket{}, refusal
	}
	for _, idx := range idxs {
		if idx < 0 || idx >= len(h.First.Plan.Seats) || !h.Has(idx) {
			return Basket{}, &seats.ValidationError{Unknown: true, Message: text.Mark("A seat that you chose is not in this subscription. Choose another.")}
		}
	}
	holder := h.Holder(visitor)
	had, err := h.basket(ctx, holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return Basket{}, err
	}
	want := wanted(idxs)
	if extra := func(idx int) bool { return !slices.Contains(had.Seats, idx) }; h.Renewal != nil && (had.Expired || slices.ContainsFunc(want, extra)) {
		return Basket{}, &seats.Conflict{Code: CodeOver, Message: text.Mark("These seats are not kept for you. Look at those that are.")}
	}
	steps, err := h.choosing(holder, had, want)
	if err != nil {
		return Basket{}, err
	}
	if len(steps) > 0 {
		given := slices.DeleteFunc(slices.Clone(had.Seats), func(idx int) bool { return slices.Contains(want, idx) })
		if _, err := a.inventory.Together(ctx, h.queueGivenUp(given), steps...); err != nil {
			return Basket{}, err
		}
	}
	return h.basket(ctx, holder)
}

// Extend gives what a visitor holds its whole time again, in all performances or in none: see seats.Sale.Extend, also for the key. What is kept for
// renewal has no extension: it ends at its own time.
//
// Errors: seats.ErrNoHold; a *seats.StepError with the refusal of one performance; a *seats.Conflict if the holds could not be ordered any more;
// the database's.
func (a *All) Extend(ctx context.Context, h *House, visitor seats.ID, key string) (Basket, error) {
	holder := h.Holder(visitor)
	had, err := h.basket(ctx, holder)
	if err != nil {
		return Basket{}, err
	}
	if refusal := h.over(len(had.Seats)); refusal != nil {
		return Basket{}, refusal
	}
	var steps []seats.Step
	for _, s := range h.Sales {
		steps = append(steps, s.Extending(holder, key))
	}
	if _, err := a.inventory.Together(ctx, nil, steps...); err != nil {
		return Basket{}, err
	}
	return h.basket(ctx, holder)
}

// Extends reports whether Extend would give a basket more time, as far as this node knows.
func (h *House) Extends(b Basket) bool {
	return h.Renewal == nil && !b.Expired && b.ExtensionsLeft > 0 && h.over(len(b.Seats)) == nil && !h.Full()
}

// Full reports whether a performance has no other seat left, as this node last read.
func (h *House) Full() bool {
	return slices.ContainsFunc(h.Sales, func(s *seats.Sale) bool { return s.Remaining() == 0 })
}

func wanted(idxs []int) []int { return slices.Compact(slices.Sorted(slices.Values(idxs))) }

// Adds counts the seats that Choose would claim beside those of a basket, in each performance.
func (b Basket) Adds(idxs []int) (n int) {
	for _, idx := range wanted(idxs) {
		if b.Expired || !slices.Contains(b.Seats, idx) {
			n++
		}
	}
	return n
}

// choosing are the steps from what a holder has to what they want, the same in each performance.
func (h *House) choosing(holder seats.ID, had Basket, want []int) (steps []seats.Step, err error) {
	if had.Expired { // what is not named is let go
		had.Seats = nil
	}
	gone := slices.DeleteFunc(slices.Clone(had.Seats), func(idx int) bool { return slices.Contains(want, idx) })
	more := slices.DeleteFunc(slices.Clone(want), func(idx int) bool { return slices.Contains(had.Seats, idx) })
	for k, s := range h.Sales {
		if len(gone) > 0 {
			steps = append(steps, s.Releasing(holder, h.there(k, gone)...))
		}
		if len(more) > 0 {
			st, err := s.Claiming(holder, "", seats.ClaimRequest{Seats: h.labels(more)})
			if err != nil {
				return nil, err
			}
			steps = append(steps, st)
		}
	}
	return steps, nil
}

// over refuses seats of a subscription that is not on sale, or that may not sell so many.
func (h *House) over(n int) error {
	left := h.Left()
	if h.Renewal != nil { // kept seats are sold before it opens, and beyond its places
		left = -1
	}
	switch {
	case h.Renewal == nil && (h.Now.Before(h.OpensAt) || h.Keeping):
		return &seats.Conflict{Code: CodeOver, Message: text.Mark("This subscription is not on sale yet.")}
	case !h.Now.Before(h.ClosesAt):
		return &seats.Conflict{Code: CodeOver, Message: text.Mark("This subscription is no longer sold.")}
	case left == 0:
		return &seats.Conflict{Code: CodeOver, Message: text.Mark("This subscription is sold out.")}
	case left >= 0 && n > left:
		return &seats.Conflict{Code: CodeOver, Message: text.Mark("This subscription has %s left. Choose fewer."), Args: []any{text.Some(left, "%d seat", "%d seats")}}
	}
	return nil
}
