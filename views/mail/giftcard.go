package mail

import (
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// GiftCard brings a gift card to its recipient.
func GiftCard(c giftcards.Card, address string) Action {
	amount := views.Money(c.Amount, c.Currency)
	what := "You got a gift card of " + amount + " for " + c.TeamName + "."
	if c.Giver != "" {
		what = c.Giver + " gave you a gift card of " + amount + " for " + c.TeamName + "."
	}
	if valid := shop.ValidWords(c); valid != "" {
		what += " " + valid
	}
	return Action{
		Subject: "Your gift card: " + c.TeamName, Button: "Redeem my gift card", Address: address, What: what, Quote: c.Message, Code: c.Voucher,
		Advice: "Anyone with the code can use the card. It pays for tickets, in whole or in part. We've attached it to print.",
	}
}

// GiftReceipt tells the buyer of a gift card that it was paid.
func GiftReceipt(c giftcards.Card, address string) Action {
	return Action{
		Subject: "Receipt for your gift card: " + c.TeamName, Button: "View my gift card", Address: address,
		What: "You paid " + views.Money(c.Amount, c.Currency) + " for a gift card of " + c.TeamName + ". We are sending it to " + c.Recipient + ". " + shop.ValidWords(c) +
			" No VAT was charged: this is a multi-purpose voucher. VAT is charged on what it pays for, and stands on that invoice.",
		Advice: "Keep the link private: anyone with it can use the card.",
	}
}
