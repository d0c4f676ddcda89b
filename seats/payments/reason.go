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
)

// The sentences of reasons, for translators.
var _ = []string{
	text.Mark("Your time for paying is over."), text.Mark("Your seats were taken by someone else after your hold expired."), text.Mark("You stopped the payment."),
	text.Mark("The payment was ended before it was finished."), text.Mark("These seats were ordered another way."), text.Mark("Your email address was not confirmed in time."),
	text.Mark("The price changed while you paid."), text.Mark("The price changed before you confirmed."), text.Mark("Look at your seats again."),
	text.Mark("You took the order back before it was confirmed."), text.Mark("Your payment was not confirmed in time."),
	text.Mark("If it still arrives, we try your seats again, or it goes back to you."), text.Mark("If your payment still arrives, it goes back to you."),
	text.Mark("The subscription was sold out while you paid."), text.Mark("Nothing was charged."), text.Mark("Nothing was ordered."), text.Mark("What you paid goes back to you."),
	text.Mark("Your payment failed."), text.Mark("Your payment was declined."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("no card is kept for it any more."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("the bank did not pay."),
	// Translators: a reason behind "Your payment was declined:".
	text.Mark("the demo card was told to decline."),
}

// In says it in the language of its reader. Several sentences may be one message: the longest one is translated. What a
// provider says in its own words stays.
func (r Reason) In(ctx context.Context) string {
	left := strings.SplitAfter(string(r), ". ")
	var said []string
	for len(left) > 0 {
		n := len(left)
		sentence := func() string { return strings.TrimSpace(strings.Join(left[:n], "")) }
		for n > 1 && text.T(ctx, sentence()) == sentence() {
			n--
		}
		words := text.T(ctx, sentence())
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
		return "You took the order back before it was confirmed. Nothing was ordered."
	}
	reason = strings.Replace(reason, "while you paid", "before you confirmed", 1)
	return strings.Replace(reason, "Nothing was charged.", "Nothing was ordered.", 1)
}
