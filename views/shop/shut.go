package shop

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// shutTitle says in a few words why nothing can be claimed.
func (s Sale) shutTitle(ctx context.Context) string {
	switch s.Event.Status {
	case seats.Scheduled:
		return text.T(ctx, "Not on sale yet")
	case seats.Paused:
		return text.T(ctx, "The sale is paused")
	case seats.Closed:
		return text.T(ctx, "The sale is over")
	case seats.Cancelled:
		return text.T(ctx, "This event was cancelled")
	default:
		return text.T(ctx, "Draft")
	}
}

// CalledOff reports whether the event was cancelled.
func (s Sale) CalledOff() bool { return s.Event.Status == seats.Cancelled }

// shutWhy says what the title does not: from when on seats may be had, or the reason why they cannot; nothing if there is none.
func (s Sale) shutWhy(ctx context.Context) string {
	switch s.Event.Status {
	case seats.Scheduled:
		return text.T(ctx, "On sale from %s.", views.DayTimeIn(ctx, s.Event, s.Event.OpensAt))
	case seats.Paused, seats.Closed, seats.Cancelled:
		if why := s.Event.Reason; why == "" || strings.ContainsAny(why[len(why)-1:], ".!?") {
			return why
		}
		return s.Event.Reason + "."
	}
	return text.T(ctx, "This event is not on sale yet.")
}

// whyTongue marks a reason, which the organizer wrote.
func (s Sale) whyTongue(ctx context.Context) templ.Attributes {
	if s.Event.Reason == "" {
		return nil
	}
	return views.TongueIn(ctx, s.Event)
}

// shutAdvice says what still holds and what to do next.
func (s Sale) shutAdvice(ctx context.Context) string {
	holding := s.Hold != nil && len(s.Hold.Seats) > 0
	switch {
	case s.Event.Status == seats.Scheduled:
		return text.T(ctx, "This page opens by itself at that time. All times are local to the venue.")
	case s.Event.Status == seats.Cancelled:
		return text.T(ctx, "No more tickets are sold. If you have tickets, we’ll email you about your refund.")
	case holding && s.Event.Strict:
		return text.T(ctx, "Your seats are held for you until the time shown. Continue to the checkout.")
	case holding && s.Event.Status == seats.Paused:
		return text.T(ctx, "Your seats are held for you while the sale is paused. Continue to the checkout.")
	case holding:
		return text.T(ctx, "Your seats are held for you. Continue to the checkout.")
	case s.Event.Status == seats.Paused:
		return text.T(ctx, "Orders stay valid. This page opens by itself when the sale resumes.")
	case s.Event.TestOf != 0:
		return text.T(ctx, "This test is over.")
	}
	return text.T(ctx, "Orders stay valid.")
}

// shutBody is what the scripts of the page of an event that is not on sale need to know.
func (s Sale) shutBody(ctx context.Context) templ.Attributes {
	facts := s.Body(ctx)
	facts["data-geometry"], facts["data-status"] = "", string(s.Event.Status)
	if s.Event.Status == seats.Scheduled {
		facts["data-opens"], facts["data-now"] = strconv.FormatInt(s.Event.OpensAt.UnixMilli(), 10), strconv.FormatInt(s.Now.UnixMilli(), 10)
	}
	return facts
}

// moreTongue marks the words under what the list says: a time, or a reason, which the organizer wrote.
func moreTongue(ctx context.Context, e seats.Event) templ.Attributes {
	if e.Status == seats.Scheduled {
		return nil
	}
	return views.TongueIn(ctx, e)
}

// offered is what the list of events says of an event that is not on sale, and the words under it.
func offered(ctx context.Context, e seats.Event) (what, more string) {
	switch e.Status {
	case seats.Scheduled:
		return text.T(ctx, "On sale from"), text.Time(ctx, e.Local(e.OpensAt), "Mon 2 January 2006, 15:04")
	case seats.Paused:
		return text.T(ctx, "Sale paused"), e.Reason
	case seats.Closed:
		return text.T(ctx, "Sale over"), e.Reason
	case seats.Cancelled:
		return text.T(ctx, "Cancelled"), e.Reason
	}
	return "", ""
}
