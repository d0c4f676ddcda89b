package desk

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// WaitListPath is the address of an event's waiting list at the desk.
func WaitListPath(slug string) string { return EventPath(slug) + "/waitlist" }

// WaitListPage is who waits for seats of an event, with what organizers may do about it.
type WaitListPage struct {
	Frame
	Sale    shop.Sale
	List    waitlist.Overview
	Steps   []waitlist.Step
	Email   string // of whom one looks; empty: of everybody
	Key     string
	Message string     // why what was asked was not done
	Form    url.Values // as it was typed
}

func (p WaitListPage) typed(field string) string { return p.Form.Get(field) }

func (p WaitListPage) path() string { return WaitListPath(p.Event.Slug) }

// place is where an entry stands, or why it does not.
func (p WaitListPage) place(n waitlist.Placed) string {
	if n.Place > 0 {
		return views.Ordinal(n.Place)
	}
	return map[string]string{
		waitlist.Unverified: "Not confirmed", waitlist.Offered: "Offered", waitlist.Served: "Served", waitlist.Left: "Left", waitlist.Over: "Over",
	}[n.State]
}

func (p WaitListPage) wants(n waitlist.Placed) string {
	return shop.WaitPage{Sale: p.Sale, Entry: n.Entry}.Wants(context.Background())
}

// how says what an entry was offered, or why others were served before it.
func (p WaitListPage) how(n waitlist.Placed) string {
	had := views.Counted(n.Had, "fitting seat")
	if n.Offer != nil {
		return strings.Join(p.Sale.LabelsOf(n.Offer.Seats), ", ") + " until " + p.at(n.Offer.Until)
	}
	words := map[string]string{
		waitlist.PassedNone: "Passed over: no fitting seat", waitlist.PassedFew: "Passed over: " + had, waitlist.PassedApart: "Passed over: " + had + ", not side by side",
		waitlist.PassedMissed: "Passed over once: let an offer go by", waitlist.PassedGathered: "Seats are gathered for a group before them",
	}[n.Passed]
	if n.Misses > 0 && words == "" {
		words = views.Counted(n.Misses, "offer") + " without an answer"
	}
	return words
}

func (p WaitListPage) at(t time.Time) string { return p.Event.Local(t).Format("2 Jan, 15:04") }

// stepWords says a step as one reads it.
func stepWords(s waitlist.Step) string {
	if s.Detail == "" {
		return s.What
	}
	return s.What + ": " + s.Detail
}
