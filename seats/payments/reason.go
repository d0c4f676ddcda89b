package payments

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/text"
)

// Reason says why there is no order. It is stored in English, and translated sentence by sentence.
type Reason string

// What an attendee reads about a payment without an order.
const (
	reasonTime    = "Your time for paying is over. Nothing was charged."
	reasonTaken   = "Your seats were taken by someone else after your hold expired. Nothing was charged."
	reasonStopped = "You stopped the payment. Nothing was charged."
	reasonEnded   = "The payment was ended before it was finished. Nothing was charged."
	reasonOrdered = "These seats were ordered another way. Nothing was charged."
	reasonMail    = "Your email address was not confirmed in time. Nothing was ordered."
	reasonPrice   = "The price changed while you paid. Nothing was charged. Look at your seats again."
	reasonAwaited = "Your payment was not confirmed in time. If it still arrives, we try your seats again, or it goes back to you."
	reasonSoldOut = "The subscription was sold out while you paid. Nothing was charged."
	reasonBounced = "Your payment failed"
	reasonReader  = "The card reader did not take the payment"
	reasonNoCard  = "No card was read in time. Nothing was charged."
)

// The sentences of reasons, for translators.
var _ = []string{
	text.Mark("Your time for paying is over."), text.Mark("Your seats were taken by someone else after your hold expired."), text.Mark("You stopped the payment."),
	text.Mark("The payment was ended before it was finished."), text.Mark("These seats were ordered another way."), text.Mark("Your email address was not confirmed in time."),
	text.Mark("The price changed while you paid."), text.Mark("The price changed before you confirmed."), text.Mark("Look at your seats again."),
	text.Mark("You cancelled the order before it was confirmed."), text.Mark("Your payment was not confirmed in time."),
	text.Mark("If it still arrives, we try your seats again, or it goes back to you."), text.Mark("If your payment still arrives, it goes back to you."),
	text.Mark("The subscription was sold out while you paid."), text.Mark("Nothing was charged."), text.Mark("Nothing was ordered."), text.Mark("What you paid goes back to you."),
	text.Mark("Refunded at the provider."), text.Mark("Your payment failed."), text.Mark("Your payment was declined."),
	text.Mark("The card reader did not take the payment."), text.Mark("No card was read in time."),
	// Translators: a reason behind "The card reader did not take the payment:".
	text.Mark("the card reader is offline."), text.Mark("the card reader is busy."), text.Mark("the card reader did not answer."), text.Mark("there is no such card reader any more."),
	text.Mark("the customer cancelled it at the card reader."), text.Mark("it was ended at the card reader."), text.Mark("the card could not be read."),
	text.Mark("the bank declined the card."), text.Mark("the card has expired."), text.Mark("the card provider refused it."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("no card is kept for it any more."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("the bank did not pay."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("the demo card was told to decline."),
}

// What is noted about a payment, and what is behind it.
var noted = text.NewStored(
	text.Mark("The provider has %s %s, and the order is %s %s."),
	text.Mark("The provider awaits %s %s, and the order is %s %s."),
	text.Mark("The provider took %s %s for an order of %s %s."),
	text.Mark("%s %s were given back at the provider, not here. The tickets of %s are still valid: cancel them at the desk."),
	text.Mark("The %s provider could not give it back: %s"),
	text.Mark("a refund of %s %s was refused: it is %s. %s"),
	text.Mark("Tried to authorize it %s times: %s"), text.Mark("Tried to capture it %s times: %s"), text.Mark("Tried to void it %s times: %s"),
	text.Mark("Tried to refund it %s times: %s"), text.Mark("Tried to look it up %s times: %s"),
	text.Mark("The booking has ended, or its event was cancelled."),
	text.Mark("Tried to pay a deposit back %s times: %s"), text.Mark("Tried to take a deposit for more than two hours: %s"),
)

// Sentences in front of a reason.
var before = []string{
	text.Mark("It was paid, but there is no order:"), text.Mark("The order stands, but its money could not be taken:"),
}

// In says it in the language of its reader. Several sentences may be one message: the longest one is translated. What a
// provider says in its own words stays.
func (r Reason) In(ctx context.Context) string {
	for _, first := range before {
		if because, found := strings.CutPrefix(string(r), first+" "); found {
			return text.T(ctx, first) + " " + Reason(because).In(ctx)
		}
	}
	left := strings.SplitAfter(string(r), ". ")
	var said []string
	for len(left) > 0 {
		n := len(left)
		sentence := func() string { return strings.TrimSpace(strings.Join(left[:n], "")) }
		for n > 1 && noted.In(ctx, sentence()) == sentence() {
			n--
		}
		words := noted.In(ctx, sentence())
		if what, because, found := strings.Cut(sentence(), ": "); found && words == sentence() {
			words = strings.TrimRight(text.T(ctx, what+"."), ".。") + ": " + text.T(ctx, because)
		}
		said, left = append(said, words), left[n:]
	}
	return strings.Join(said, " ")
}

// notOrdered returns the reason of a payment in the words for an order that waits for its email.
func notOrdered(reason string) string {
	switch reason {
	case reasonTime:
		return reasonMail
	case reasonStopped:
		return "You cancelled the order before it was confirmed. Nothing was ordered."
	}
	reason = strings.Replace(reason, "while you paid", "before you confirmed", 1)
	return strings.Replace(reason, "Nothing was charged.", "Nothing was ordered.", 1)
}
