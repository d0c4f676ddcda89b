package mail

import (
	"context"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// WaitLetter is a mail about a place in a waiting list.
type WaitLetter struct {
	shop.Sale
	Entry   waitlist.Entry
	Kind    string // of the mail, without "wait-"
	Again   bool   // the offer is made once more
	Address string // of the place, whole
	EventAt string // address of the event's page, whole
	Legal   []views.Link
}

// Subject is the mail's, and its first line.
func (p WaitLetter) Subject() string {
	what := map[string]string{
		"verify": "Confirm your place in the waiting list: ", "offer": "Seats for you: ", "missed": "Your offer has ended: ", "left": "You left the waiting list: ",
	}[p.Kind]
	if p.Kind == "offer" && p.Again {
		what = "Seats for you, once more: "
	}
	if p.Kind == "left" && p.Entry.State == waitlist.Over {
		what = "The wait is over: "
	}
	if p.Kind == "verify" && p.Entry.State != waitlist.Unverified {
		what = "Your place in the waiting list: "
	}
	return what + p.Event.Name
}

// says is what the mail is about, in one sentence or two.
func (p WaitLetter) says() string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		page := shop.WaitPage{Sale: p.Sale, Entry: p.Entry}
		text := "You, we hope, want to wait for " + page.Wants() + ". Confirm it, and you wait from the moment you asked."
		if p.Entry.Consent.Given() {
			text += " What you are offered is then " + page.Agreed() + "."
		}
		if p.Entry.Consent.Method == payments.Card {
			text += " Save a card for that on the page of your place."
		}
		return text
	case p.Kind == "verify":
		return "This is the address of your place. Anyone with it may take offers and change or leave the place: keep it to yourself."
	case p.Kind == "offer" && p.Entry.Offer != nil:
		return "These seats came back, and it is your turn. " + shop.Unordered(p.Entry.Offer) + "They are held for you until " + p.Moment(p.Entry.Offer.Until) + "."
	case p.Kind == "missed" && p.Entry.Misses%2 == 1:
		return "Its time was over, so its seats went to the next. You keep your place: the next seats that fit are offered to you once more."
	case p.Kind == "missed":
		return "Its time was over for the second time, so you wait at the end of the list now."
	case p.Kind == "left" && p.Entry.State == waitlist.Over:
		return "The time until which you waited is over, and no seats that fit came back. Thank you for waiting."
	case p.Kind == "left" && p.Entry.Misses > 1:
		return "Four offers ended without an answer, so you do not wait any more. You may join again, at the end."
	}
	return "You do not wait any more. You may join again, at the end."
}

func (p WaitLetter) invitation() string {
	switch {
	case p.Kind == "verify" && p.Entry.State == waitlist.Unverified:
		return "Confirm my place"
	case p.Kind == "offer":
		return "Take the seats"
	case p.Kind == "left":
		return "Look at the event"
	}
	return "Look at my place"
}

func (p WaitLetter) to() string {
	if p.Kind == "left" {
		return p.EventAt
	}
	return p.Address
}

func (p WaitLetter) offered() []string {
	if p.Kind != "offer" || p.Entry.Offer == nil {
		return nil
	}
	return p.SeatsOf(context.Background(), p.Entry.Offer.Seats)
}

const waitAdvice = "If you did not ask to wait, do nothing: no other person can use this mail."

// Text is the same for programs that show plain text.
func (p WaitLetter) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n", p.Subject(), views.When(p.Event), p.says())
	for i, words := range p.offered() {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", words)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", p.invitation(), p.to())
	if p.Kind == "verify" {
		fmt.Fprintf(&b, "\n%s\n", waitAdvice)
	}
	return b.String() + footText(p.Legal)
}
