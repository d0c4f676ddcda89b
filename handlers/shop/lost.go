package shop

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// lost says what became of seats that a checkout has lost, and what to take
// instead: the same where they are free again, else the nearest.
func lost(ctx context.Context, s *seats.Sale, gone []int) (message string, instead []int) {
	states := s.Snapshot().States
	free := func(idx int) bool { return states[idx].Shown() == seats.Free }
	instead = slices.DeleteFunc(slices.Clone(gone), func(idx int) bool { return !free(idx) })
	again := len(instead)
	instead = append(instead, nearest(s, slices.DeleteFunc(slices.Clone(gone), free), instead)...)
	switch {
	case again == len(gone):
		message = text.T(ctx, "Your hold expired, and these seats are still available. You haven’t paid anything. Hold them again, or choose others.")
	case again > 0:
		message = text.T(ctx, "Your hold expired, and someone else took some of these seats. You haven’t paid anything.")
	case len(gone) > 2:
		message = text.N(ctx, "Sorry, %d seat was taken by someone else after your hold expired. You haven’t paid anything.", "Sorry, %d seats were taken by someone else after your hold expired. You haven’t paid anything.", len(gone))
	case len(gone) == 2:
		message = text.T(ctx, "Sorry, %s were taken by someone else after your hold expired. You haven’t paid anything.", text.List(ctx, []string{shop.SeatWords(ctx, s.Plan, gone[0]), shop.SeatWords(ctx, s.Plan, gone[1])}))
	default:
		message = text.T(ctx, "Sorry, %s was taken by someone else after your hold expired. You haven’t paid anything.", shop.SeatWords(ctx, s.Plan, gone[0]))
	}
	if len(instead) == 0 {
		message += " " + text.T(ctx, "No seats near them are available. Choose others.")
	}
	return message, instead
}

// nearest lists free seats in place of lost ones, without those that are still held.
func nearest(s *seats.Sale, gone, beside []int) []int {
	near := s.Nearest(slices.Concat(gone, beside)) // in that order
	return near[:min(len(near), len(gone))]
}

// without lists those that are not among others.
func without(idxs, others []int) []int {
	return slices.DeleteFunc(slices.Clone(idxs), func(idx int) bool { return slices.Contains(others, idx) })
}

// takeInstead claims what the page of a checkout offered in place of seats that were lost, together with what is left of
// them, and keeps everything that was typed.
func (h *Handlers) takeInstead(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form, chosen string) error {
	key, err := web.KeyOf(r)
	if err != nil {
		return err
	}
	if key != "" {
		key += "-instead" // the form's own key is that of an order
	}
	request := seats.ClaimRequest{}
	hold, err := s.Hold(r.Context(), holder)
	switch {
	case err == nil && hold.Expired:
		request.Seats = web.Labels(s, hold.Seats)
	case err != nil && !errors.Is(err, seats.ErrNoHold):
		return err
	}
	more := hold.Expired
	for text := range strings.SplitSeq(chosen, ",") {
		idx, err := strconv.Atoi(text)
		if err != nil || idx < 0 || idx >= len(s.Plan.Seats) {
			return web.ErrSeatIndex
		}
		request.Seats = append(request.Seats, s.Plan.Label(idx))
		more = more || !slices.Contains(hold.Seats, idx)
	}
	if !more { // the form came before
		return h.tell(w, r, s, holder, orders.Typed{Form: form})
	}
	admitted, err := h.admitClaim(w, r, s, holder, true, request.Size(), key)
	if err != nil {
		if err := h.keepTyped(r, s, holder, form); err != nil {
			return err
		}
		if errors.Is(err, errChallenge) {
			return h.challenged(w, r, s, shop.Sale{Event: s.Event}.CheckoutPath())
		}
		return err
	}
	defer admitted.end(nil)
	if _, err := h.claimAdmitted(w, r, s, request, admitted); err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	return h.tell(w, r, s, holder, orders.Typed{Form: form})
}
