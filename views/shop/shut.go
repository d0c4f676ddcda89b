package shop

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views"
)

// shutTitle says in a few words why nothing can be claimed.
func (s Sale) shutTitle() string {
	switch s.Event.Status {
	case seats.Scheduled:
		return "Not on sale yet"
	case seats.Paused:
		return "The sale is paused"
	case seats.Closed:
		return "The sale is over"
	case seats.Cancelled:
		return "This event was cancelled"
	default:
		return "A draft"
	}
}

// shutWhy says what the title does not: from when on seats may be had, or the reason why they cannot; nothing if there is none.
func (s Sale) shutWhy() string {
	switch s.Event.Status {
	case seats.Paused, seats.Closed, seats.Cancelled:
		if why := s.Event.Reason; why == "" || strings.ContainsAny(why[len(why)-1:], ".!?") {
			return why
		}
		return s.Event.Reason + "."
	}
	return s.Event.Shut()
}

// whyTongue marks a reason, which the organizer wrote.
func (s Sale) whyTongue() templ.Attributes {
	if s.Event.Reason == "" {
		return nil
	}
	return views.Tongue(s.Event)
}

// shutAdvice says what still holds and what to do next.
func (s Sale) shutAdvice() string {
	holding := s.Hold != nil && len(s.Hold.Seats) > 0
	switch {
	case s.Event.Status == seats.Scheduled:
		return "This page opens by itself at that time. Times are those of the event’s place."
	case s.Event.Status == seats.Cancelled:
		return "Nothing more is sold. If you have tickets, mail tells you what comes back to you."
	case holding && s.Event.Strict:
		return "What you hold is yours until the time shown: go on to the checkout."
	case holding && s.Event.Status == seats.Paused:
		return "What you hold keeps its time, and no other visitor can take it while the sale is paused: go on to the checkout."
	case holding:
		return "What you hold is yours: go on to the checkout."
	case s.Event.Status == seats.Paused:
		return "Orders that were placed hold. This page opens by itself when the sale goes on."
	}
	return "Orders that were placed hold."
}

// shutBody is what the scripts of the page of an event that is not on sale need to know.
func (s Sale) shutBody() templ.Attributes {
	facts := s.Body()
	facts["data-geometry"], facts["data-status"] = "", string(s.Event.Status)
	if s.Event.Status == seats.Scheduled {
		facts["data-opens"], facts["data-now"] = strconv.FormatInt(s.Event.OpensAt.UnixMilli(), 10), strconv.FormatInt(s.Now.UnixMilli(), 10)
	}
	return facts
}

// moreTongue marks the words under what the list says: a time, or a reason, which the organizer wrote.
func moreTongue(e seats.Event) templ.Attributes {
	if e.Status == seats.Scheduled {
		return nil
	}
	return views.Tongue(e)
}

// offered is what the list of events says of an event that is not on sale, and the words under it.
func offered(e seats.Event) (what, more string) {
	switch e.Status {
	case seats.Scheduled:
		return "On sale from", e.Local(e.OpensAt).Format("Mon 2 Jan 2006, 15:04")
	case seats.Paused:
		return "Paused", e.Reason
	case seats.Closed:
		return "Sale over", e.Reason
	case seats.Cancelled:
		return "Cancelled", e.Reason
	}
	return "", ""
}
