package mail

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// GiftCard brings a gift card to its recipient.
func GiftCard(ctx context.Context, c giftcards.Card, address string) Action {
	amount := views.MoneyIn(ctx, c.Amount, c.Currency)
	what := text.T(ctx, "You got a gift card worth %s from %s.", amount, c.TeamName)
	if c.Giver != "" {
		what = text.T(ctx, "%s gave you a gift card worth %s from %s.", c.Giver, amount, c.TeamName)
	}
	return Action{
		Subject: text.T(ctx, "Your gift card: %s", c.TeamName), Button: text.T(ctx, "Redeem my gift card"), Address: address,
		What: strings.TrimSpace(what + " " + shop.ValidWords(ctx, c)), Quote: c.Message, Code: c.Voucher,
		Advice: text.T(ctx, "Anyone with the code can use the card. It pays for tickets, in whole or in part. We’ve attached it to print."),
	}
}

// GiftReceipt tells the buyer of a gift card that it was paid.
func GiftReceipt(ctx context.Context, c giftcards.Card, address string) Action {
	said := []string{text.T(ctx, "You paid %s for a gift card from %s. We’re sending it to %s.", views.MoneyIn(ctx, c.Amount, c.Currency), c.TeamName, c.Recipient)}
	if valid := shop.ValidWords(ctx, c); valid != "" {
		said = append(said, valid)
	}
	said = append(said, text.T(ctx, "No VAT was charged: this is a multi-purpose voucher. VAT is charged on what it pays for, and is shown on that invoice."))
	return Action{
		Subject: text.T(ctx, "Receipt for your gift card: %s", c.TeamName), Button: text.T(ctx, "View my gift card"), Address: address, What: strings.Join(said, " "),
		Advice: text.T(ctx, "Keep this link private: anyone with it can use the card."),
	}
}
