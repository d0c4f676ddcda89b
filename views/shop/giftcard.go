package shop

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
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

// GiftCardPaper is a gift card to print. home is the address of our pages.
func GiftCardPaper(ctx context.Context, c giftcards.Card, home string, look Print) ([]byte, error) {
	ctx = onPaper(ctx)
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(c.CreatedAt)
	doc.SetModificationDate(c.CreatedAt)
	doc.SetTitle(text.T(ctx, "Gift card")+", "+c.TeamName, true)
	doc.SetLang(text.Tag(ctx))
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	pen, inside, width := newPen(doc), paperLeft+10, paperWidth-20
	look.logo(doc, paperLeft+paperWidth-64, paperTop+4, 60, 14)
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
	doc.SetFillColor(240, 240, 236)
	doc.Rect(paperLeft, y, paperWidth, 32, "F")
	pen.write(inside, y+12, 20, width, 1, c.Voucher)
	pen.write(inside, y+20, 10, width, 1, text.T(ctx, "Redeem it at %s, then pay with it at the checkout.", home+AccountPath))
	pen.write(inside, y+26, 10, width, 1, ValidWords(ctx, c))
	look.draws(doc)
	doc.Rect(paperLeft, paperTop, paperWidth, y+32-paperTop, "D")
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print a gift card: %w", err)
	}
	return b.Bytes(), nil
}
