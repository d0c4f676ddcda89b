package shop

import (
	"context"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/pdf"
)

// GiftCardsPath is the address where gift cards are bought.
const GiftCardsPath = "/gift-cards"

// GiftCardPath is the page of a gift card for its buyer.
func GiftCardPath(code string) string { return GiftCardsPath + "/" + code }

// GiftCardsPage asks for what stands on a gift card.
type GiftCardsPage struct {
	views.Page
	Offers   []giftcards.Offer
	Form     giftcards.Form
	Mistakes giftcards.Mistakes
	Terms    int // the version of the terms that the buyer has to accept; 0: none
}

// Offer is that of the team of the form; nil if a team is to be chosen first.
func (p GiftCardsPage) Offer() *giftcards.Offer {
	for i := range p.Offers {
		if p.Offers[i].Team == p.Form.Team || len(p.Offers) == 1 {
			return &p.Offers[i]
		}
	}
	return nil
}

// GiftCardPage is one gift card for its buyer.
type GiftCardPage struct {
	views.Page
	Card giftcards.Card
}

// headline says how a gift card stands.
func (p GiftCardPage) headline(ctx context.Context) string {
	switch p.Card.State {
	case giftcards.Open:
		if p.Card.Page != "" {
			return text.T(ctx, "Pay for your gift card")
		}
		return text.T(ctx, "We’re confirming your payment")
	case giftcards.Closed:
		return text.T(ctx, "Payment failed")
	case giftcards.Issued:
		return text.T(ctx, "Your gift card is on its way")
	}
	return text.T(ctx, "This gift card was refunded")
}

// ValidWords says until when a gift card is valid; empty if for ever.
func ValidWords(ctx context.Context, c giftcards.Card) string {
	if c.ExpiresAt == nil {
		return ""
	}
	return text.T(ctx, "Valid until %s.", views.DayIn(ctx, c.ExpiresAt.UTC().Add(-time.Second)))
}

// validFor says for how long the gift cards of an offer are valid.
func validFor(ctx context.Context, o giftcards.Offer) string {
	if o.Months == 0 {
		return text.T(ctx, "It never expires.")
	}
	return text.N(ctx, "It is valid for %d month, and until the end of that year.", "It is valid for %d months, and until the end of that year.", o.Months)
}

// giftLines is how many lines of a message a printed gift card has at most, each as it was typed.
const giftLines = 12

// GiftCardPaper is a gift card to print, as a PDF. home is the address of our pages.
func GiftCardPaper(ctx context.Context, c giftcards.Card, home string, look Print) []byte {
	doc := pdf.New(text.T(ctx, "Gift card")+", "+c.TeamName, text.Tag(ctx), c.CreatedAt)
	doc.Page(pdf.A4Width, pdf.A4Height)
	pen, inside, width := newPen(ctx, doc), paperLeft+10, paperWidth-20
	logo, part := box{paperLeft + paperWidth - 64, paperTop + 4, 60, 14}, 1.0
	if pen.rtl {
		logo.x, part = paperLeft+4, 0
	}
	logoAt(doc, look.takeLogo(doc), logo, part)
	y := pen.write(inside, paperTop+13, 12, width-60, 1, c.TeamName)
	y = pen.write(inside, y+8, 30, width, 1, text.T(ctx, "Gift card %s", views.MoneyIn(ctx, c.Amount, c.Currency)))
	if c.Giver != "" {
		y = pen.write(inside, y+1, 12, width, 1, text.T(ctx, "From %s", c.Giver))
	}
	y += 3
	lines := strings.Split(c.Message, "\n")
	for _, line := range lines[:min(len(lines), giftLines)] {
		y = pen.write(inside, y, 12, width, giftLines, line)
	}
	doc.Colour = pdf.Colour{R: 240, G: 240, B: 236}
	doc.Rectangle(paperLeft, y, paperWidth, 32, 0).Fill()
	doc.Colour = pdf.Colour{}
	pen.write(inside, y+12, 20, width, 1, c.Voucher)
	pen.write(inside, y+20, 10, width, 1, text.T(ctx, "Redeem it at %s, then pay with it at the checkout.", home+AccountPath))
	pen.write(inside, y+26, 10, width, 1, ValidWords(ctx, c))
	look.draws(doc)
	doc.Rectangle(paperLeft, paperTop, paperWidth, y+32-paperTop, 0).Draw()
	return doc.Output()
}
