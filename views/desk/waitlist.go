package desk

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views/shop"
)

// WaitListPath is the address of an event's waiting list at the desk.
func WaitListPath(slug string) string { return EventPath(slug) + "/waitlist" }

// WaitListPage is who waits for seats of an event, with what organizers may do about it.
type WaitListPage struct {
	Frame
	Next    string // cursor of the next page; empty: there is none
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

// rest is the address of the entries behind those of this page.
func (p WaitListPage) rest() string {
	q := url.Values{"cursor": {p.Next}}
	if p.Email != "" {
		q.Set("email", p.Email)
	}
	return p.path() + "?" + q.Encode()
}

// place is where an entry stands, or why it does not.
func (p WaitListPage) place(ctx context.Context, n waitlist.Placed) string {
	if n.Place > 0 {
		return text.T(ctx, "No. %d", n.Place)
	}
	return text.T(ctx, map[string]string{
		waitlist.Unverified: text.Mark("Not confirmed"), waitlist.Offered: text.Mark("Offered"), waitlist.Served: text.Mark("Served"), waitlist.Left: text.Mark("Left"), waitlist.Over: text.Mark("Over"),
	}[n.State])
}

func (p WaitListPage) wants(ctx context.Context, n waitlist.Placed) string {
	return shop.WaitPage{Sale: p.Sale, Entry: n.Entry}.Wants(ctx)
}

// how says what an entry was offered, or why others were served before it.
func (p WaitListPage) how(ctx context.Context, n waitlist.Placed) string {
	switch {
	case n.Offer != nil:
		return text.T(ctx, "%s until %s", strings.Join(p.Sale.LabelsOf(n.Offer.Seats), text.T(ctx, ", ")), p.at(ctx, n.Offer.Until))
	case n.Passed == waitlist.PassedNone:
		return text.T(ctx, "Passed over: no fitting seat")
	case n.Passed == waitlist.PassedFew:
		return text.N(ctx, "Passed over: only %d fitting seat", "Passed over: only %d fitting seats", n.Had)
	case n.Passed == waitlist.PassedApart:
		return text.N(ctx, "Passed over: %d fitting seat, not side by side", "Passed over: %d fitting seats, not side by side", n.Had)
	case n.Passed == waitlist.PassedMissed:
		return text.T(ctx, "Passed over once, because an offer was not answered")
	case n.Passed == waitlist.PassedGathered:
		return text.T(ctx, "Seats are collected for a group before them")
	case n.Misses > 0:
		return text.N(ctx, "%d offer without an answer", "%d offers without an answer", n.Misses)
	}
	return ""
}

func (p WaitListPage) at(ctx context.Context, t time.Time) string {
	return text.Time(ctx, p.Event.Local(t), "2 Jan, 15:04")
}

// stepWords says a step as one reads it.
func stepWords(ctx context.Context, s waitlist.Step) string {
	what := text.T(ctx, cmp.Or(stepWhats[s.What], s.What))
	if s.Detail == "" {
		return what
	}
	return text.T(ctx, "%s: %s", what, text.Isolate(ctx, text.T(ctx, s.Detail)))
}

var (
	// stepWhats are the steps of entries in words.
	stepWhats = map[string]string{
		"verified": text.Mark("confirmed the email"), "changed": text.Mark("changed the entry"), "asked to save a card": text.Mark("asked to save a card"), "put first": text.Mark("put first"),
		"offered": text.Mark("got an offer"), "accepted": text.Mark("accepted the offer"), "declined": text.Mark("declined the offer"), "missed": text.Mark("missed the offer"),
		"not ordered": text.Mark("not ordered for"), "passed over": text.Mark("passed over"), "left": text.Mark("left the list"), "over": text.Mark("ended"),
	}
	_ = [...]string{text.Mark("it left the list"), text.Mark("it keeps its rank"), text.Mark("it waits at the end"), text.Mark("the sale"), text.Mark("the time until which it waited")}
)
