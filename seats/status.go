package seats

import (
	"fmt"
	"strings"
	"time"
)

// Status is how far an event is. Its row and the database's clock decide, whatever a node remembers.
//
//	draft ◄──► scheduled ──time──► on sale ◄──► paused
//	  │            │                  ▲ │         │
//	  └────────────┴──── at once ─────┘ ▼         ▼
//	                                  closed ◄────┘      all but drafts ──► cancelled
type Status string

// The statuses of an event.
const (
	Draft     Status = "draft"     // only its team sees it
	Scheduled Status = "scheduled" // everybody sees it, and from when on its seats may be claimed; on sale, with a time to come
	OnSale    Status = "on sale"
	Paused    Status = "paused"    // no claims, for a reason that attendees read; who holds seats may order them
	Closed    Status = "closed"    // no claims any more; who holds seats may order them
	Cancelled Status = "cancelled" // it will not be: nothing is sold, and its orders are given back
)

// Shut says why nobody can claim seats of the event, for attendees; empty while they can.
func (e Event) Shut() string {
	switch e.Status {
	case OnSale:
		return ""
	case Draft:
		return "This event is not on sale yet."
	case Scheduled:
		return "On sale from " + e.Local(e.OpensAt).Format("Monday 2 January 2006, 15:04 MST") + "."
	case Paused:
		return "The sale is paused" + e.because()
	case Closed:
		return "The sale is over" + e.because()
	case Cancelled:
		return "This event was cancelled" + e.because()
	}
	return fmt.Sprintf("This event is %s.", e.Status)
}

// because ends a sentence with the reason, as far as there is one in the language of the sentence.
func (e Event) because() string {
	if e.Reason == "" || e.Language != Language && e.Language != "" {
		return "."
	}
	return ": " + strings.TrimRight(e.Reason, ".") + "."
}

// Local is a moment on the clock of the event's place.
func (e Event) Local(t time.Time) time.Time {
	zone, err := time.LoadLocation(e.TimeZone)
	if err != nil { // a zone this system does not know: better a right time elsewhere than a wrong one there
		zone = time.UTC
	}
	return t.In(zone)
}

// under is the event with the status that a batch read.
func (e Event) under(t *terms) Event {
	e.Status, e.Reason = t.status, t.reason
	if t.opensAt != nil {
		e.OpensAt = *t.opensAt
	}
	return e
}

// shut refuses a claim while the event is not on sale; nil while it is.
func (b *batch) shut() error {
	if b.terms.status == OnSale {
		return nil
	}
	return refuseShut(b.sale.Event.under(&b.terms))
}

// calledOff refuses whatever leads to an order of an event that will not be.
func (b *batch) calledOff() error {
	if b.terms.status != Cancelled {
		return nil
	}
	return refuseShut(b.sale.Event.under(&b.terms))
}

func refuseShut(e Event) error {
	text := map[Status]string{
		Draft: "Nothing was changed.", Scheduled: "Nothing was changed. Come back then.",
		Paused:    "Nothing was changed. What you hold keeps its time, and you may go on to the checkout.",
		Closed:    "Nothing was changed. What you hold is yours until the time shown: go on to the checkout.",
		Cancelled: "Nothing was charged. Orders of it are given back.",
	}[e.Status]
	return &Refusal{Code: CodeShut, Message: e.Shut() + " " + text}
}
