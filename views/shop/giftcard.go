package shop

import (
	"bytes"
	"fmt"
	"strings"
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

// giftLines is how many lines of a message a printed gift card has at most, each as it was typed.
const giftLines = 12

// GiftCardPaper is a gift card to print. home is the address of our pages.
func GiftCardPaper(c giftcards.Card, home string) ([]byte, error) {
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(c.CreatedAt)
	doc.SetModificationDate(c.CreatedAt)
	doc.SetTitle("Gift card, "+c.TeamName, true)
	doc.SetLang("en")
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	pen, inside, width := newPen(doc), paperLeft+10, paperWidth-20
	y := pen.write(inside, paperTop+13, 12, width, 1, c.TeamName)
	y = pen.write(inside, y+8, 30, width, 1, "Gift card "+views.Money(c.Amount, c.Currency))
	if c.Giver != "" {
		y = pen.write(inside, y+1, 12, width, 1, "From "+c.Giver)
	}
	y += 3
	lines := strings.Split(c.Message, "\n")
	for _, line := range lines[:min(len(lines), giftLines)] {
		y = pen.write(inside, y, 12, width, giftLines, line)
	}
	doc.SetFillColor(240, 240, 236)
	doc.Rect(paperLeft, y, paperWidth, 32, "F")
	pen.write(inside, y+12, 20, width, 1, c.Voucher)
	pen.write(inside, y+20, 10, width, 1, "Redeem it at "+home+CreditPath+", then pay with it at the checkout.")
	pen.write(inside, y+26, 10, width, 1, ValidWords(c))
	doc.SetDrawColor(120, 120, 120)
	doc.Rect(paperLeft, paperTop, paperWidth, y+32-paperTop, "D")
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print a gift card: %w", err)
	}
	return b.Bytes(), nil
}
