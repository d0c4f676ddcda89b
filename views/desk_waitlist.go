package views

import (
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/waitlist"
)

// DeskWaitListPath is the address of an event's waiting list at the desk.
func DeskWaitListPath(slug string) string { return DeskEventPath(slug) + "/waitlist" }

// DeskWaitListPage is who waits for seats of an event, with what organizers may do about it.
type DeskWaitListPage struct {
	Desk
	Sale    Sale
	List    waitlist.Overview
	Steps   []waitlist.Step
	Email   string // of whom one looks; empty: of everybody
	Key     string
	Message string     // why what was asked was not done
	Form    url.Values // as it was typed
}

func (p DeskWaitListPage) typed(field string) string { return p.Form.Get(field) }

func (p DeskWaitListPage) path() string { return DeskWaitListPath(p.Event.Slug) }

// place is where an entry stands, or why it does not.
func (p DeskWaitListPage) place(n waitlist.Placed) string {
	if n.Place > 0 {
		return ordinal(n.Place)
	}
	return map[string]string{
		waitlist.Unverified: "Not confirmed", waitlist.Offered: "Offered", waitlist.Served: "Served", waitlist.Left: "Left", waitlist.Over: "Over",
	}[n.State]
}

func (p DeskWaitListPage) wants(n waitlist.Placed) string {
	return WaitPage{Sale: p.Sale, Entry: n.Entry}.wants()
}

// how says what an entry was offered, or why others were served before it.
func (p DeskWaitListPage) how(n waitlist.Placed) string {
	had := counted(n.Had, "fitting seat")
	if n.Offer != nil {
		return strings.Join(p.Sale.labelsOf(n.Offer.Seats), ", ") + " until " + p.at(n.Offer.Until)
	}
	words := map[string]string{
		waitlist.PassedNone: "Passed over: no fitting seat", waitlist.PassedFew: "Passed over: " + had, waitlist.PassedApart: "Passed over: " + had + ", not side by side",
		waitlist.PassedMissed: "Passed over once: let an offer go by", waitlist.PassedGathered: "Seats are gathered for a group before them",
	}[n.Passed]
	if n.Misses > 0 && words == "" {
		words = counted(n.Misses, "offer") + " without an answer"
	}
	return words
}

func (p DeskWaitListPage) at(t time.Time) string { return p.Event.Local(t).Format("2 Jan, 15:04") }

// labelsOf names seats as far as the plan has them.
func (s Sale) labelsOf(idxs []int) (labels []string) {
	for _, idx := range idxs {
		if idx >= 0 && idx < len(s.Plan.Seats) {
			labels = append(labels, s.Plan.Label(idx))
		}
	}
	return labels
}

// stepWords says a step as one reads it.
func stepWords(s waitlist.Step) string {
	if s.Detail == "" {
		return s.What
	}
	return s.What + ": " + s.Detail
}
