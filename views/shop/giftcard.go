package shop

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/giftcards"
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
}

// offer is that of the team of the form; nil if a team is to be chosen first.
func (p GiftCardsPage) offer() *giftcards.Offer {
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
func (p GiftCardPage) headline() string {
	switch p.Card.State {
	case giftcards.Open:
		if p.Card.Page != "" {
			return "Pay for your gift card"
		}
		return "One moment"
	case giftcards.Closed:
		return "Payment failed"
	case giftcards.Issued:
		return "Your gift card is on its way"
	}
	return "This gift card was paid back"
}

// ValidWords says until when a gift card is valid; empty if for ever.
func ValidWords(c giftcards.Card) string {
	if c.ExpiresAt == nil {
		return ""
	}
	return "Valid until " + c.ExpiresAt.UTC().Add(-time.Second).Format("2 January 2006") + "."
}

// validFor says for how long the gift cards of an offer are valid.
func validFor(o giftcards.Offer) string {
	if o.Months == 0 {
		return "It never expires."
	}
	return "It is valid for " + views.Counted(o.Months, "month") + ", and to the end of that year."
}

// GiftCardPaper is a gift card to print. home is the address of our pages.
func GiftCardPaper(c giftcards.Card, home string) ([]byte, error) {
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(c.CreatedAt)
	doc.SetModificationDate(c.CreatedAt)
	doc.SetTitle("Gift card, "+c.TeamName, true)
	doc.SetLang("en")
	doc.SetAutoPageBreak(false, 0)
	pen := newPen(doc)
	doc.AddPage()
	doc.SetDrawColor(120, 120, 120)
	doc.RoundedRect(paperLeft, paperTop, paperWidth, 130, 4, "1234", "D")
	from := ""
	if c.Giver != "" {
		from = "From " + c.Giver
	}
	y := paperTop + 10
	for _, line := range []struct {
		size  float64
		lines int
		text  string
	}{
		{12, 2, c.TeamName}, {26, 1, "Gift card " + views.Money(c.Amount, c.Currency)}, {12, 1, from}, {12, 9, c.Message}, {18, 1, c.Voucher}, {10, 2, "Redeem it at " + home + CreditPath + ", then pay with it at the checkout."}, {10, 1, ValidWords(c)},
	} {
		if line.text != "" {
			y = pen.write(paperLeft+8, y, line.size, paperWidth-16, line.lines, line.text) + 4
		}
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print a gift card: %w", err)
	}
	return b.Bytes(), nil
}
