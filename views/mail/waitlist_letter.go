package mail

import (
	"context"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// WaitLetter is a mail about a place in a waiting list.
type WaitLetter struct {
	Letterhead
	shop.Sale
	Entry   waitlist.Entry
	Kind    string // of the mail, without "wait-"
	Again   bool   // the offer is made once more
	Address string // of the place, whole
	EventAt string // address of the event's page, whole
}

// Subject is the mail's, and its first line.
func (p WaitLetter) Subject(ctx context.Context) string {
	name := p.Event.Name
	switch {
	case p.Own.Subject != "":
		return p.Own.Subject
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		return text.T(ctx, "Confirm your place on the waiting list: %s", name)
	case p.Kind == "verify":
		return text.T(ctx, "Your place on the waiting list: %s", name)
	case p.Kind == "offer" && p.Again:
		return text.T(ctx, "Seats for you, one more time: %s", name)
	case p.Kind == "offer":
		return text.T(ctx, "Seats for you: %s", name)
	case p.Kind == "missed":
		return text.T(ctx, "Your offer has expired: %s", name)
	case p.Entry.State == waitlist.Over:
		return text.T(ctx, "The waiting list is closed: %s", name)
	}
	return text.T(ctx, "You left the waiting list: %s", name)
}

// says is what the mail is about, in one sentence or two.
func (p WaitLetter) says(ctx context.Context) string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		return p.asks(ctx)
	case p.Kind == "verify":
		return text.T(ctx, "This link opens your place. Keep it private: anyone with it can take your offers and change or leave your place.")
	case p.Kind == "offer" && p.Entry.Offer != nil:
		return text.T(ctx, "These seats came back, and it’s your turn.") + " " + shop.Unordered(ctx, p.Entry.Offer) +
			text.T(ctx, "We hold them for you until %s.", views.DayTimeIn(ctx, p.Event, p.Entry.Offer.Until))
	case p.Kind == "missed" && p.Entry.Misses%2 == 1:
		return text.T(ctx, "You didn’t answer in time, so the seats went to the next person. You keep your place and get one more offer.")
	case p.Kind == "missed":
		return text.T(ctx, "You didn’t answer two offers in time, so you moved to the end of the list.")
	case p.Kind == "left" && p.Entry.State == waitlist.Over:
		return text.T(ctx, "No seats that fit came back in time. Thank you for waiting.")
	case p.Kind == "left" && p.Entry.Misses > 1:
		return text.T(ctx, "You didn’t answer four offers in time, so you’re no longer on the waiting list. You can join again, at the end.")
	}
	return text.T(ctx, "You’re no longer on the waiting list. You can join again, at the end.")
}

// asks says what is to be confirmed.
func (p WaitLetter) asks(ctx context.Context) string {
	page := shop.WaitPage{Sale: p.Sale, Entry: p.Entry}
	said := text.T(ctx, "You asked to join the waiting list for %s. Please confirm. Your place counts from the moment you asked.", page.Wants(ctx))
	if p.Entry.Consent.Given() {
		said += " " + text.T(ctx, "When it’s your turn: %s.", page.Agreed(ctx))
	}
	if p.Entry.Consent.Method == payments.Card {
		said += " " + text.T(ctx, "Save a card for that on the page of your place.")
	}
	return said
}

func (p WaitLetter) invitation(ctx context.Context) string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		return text.T(ctx, "Confirm my place")
	case p.Kind == "offer":
		return text.T(ctx, "View my seats")
	case p.Kind == "left":
		return text.T(ctx, "View event")
	}
	return text.T(ctx, "View my place")
}

func (p WaitLetter) to() string {
	if p.Kind == "left" {
		return p.EventAt
	}
	return p.Address
}

func (p WaitLetter) offered(ctx context.Context) []string {
	if p.Kind != "offer" || p.Entry.Offer == nil {
		return nil
	}
	return p.SeatsOf(ctx, p.Entry.Offer.Seats)
}

var waitAdvice = text.Mark("If you didn’t ask to join, ignore this email: no other person can use it.")

// Text is the same for programs that show plain text.
func (p WaitLetter) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n%s\n%s\n", p.Subject(ctx), views.WhenIn(ctx, p.Event), around(p.Own.Opening), p.says(ctx))
	for i, words := range p.offered(ctx) {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", words)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", p.invitation(ctx), p.to())
	if p.Kind == "verify" {
		fmt.Fprintf(&b, "\n%s\n", text.T(ctx, waitAdvice))
	}
	return b.String() + around(p.Own.Closing) + footText(ctx, p.Letterhead)
}
