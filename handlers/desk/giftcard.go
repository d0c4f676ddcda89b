package desk

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var (
	errNoGiftCard = web.NewProblem(404, "unknown", text.Mark("There is no such gift card in your team."), nothingChanged, text.Mark("Load the page again."))
	errSpent      = web.NewProblem(409, "spent", text.Mark("This gift card was redeemed, or never paid."), nothingChanged, text.Mark("Load the page again."))
)

type giftCardsAnswer struct {
	Offer giftcards.Offer `json:"offer"`
	Cards []giftCardBody  `json:"cards"`
	Next  string          `json:"next_cursor,omitempty"`
}

type giftCardBody struct {
	ID        seats.ID   `json:"id"`
	Currency  string     `json:"currency"`
	Amount    int64      `json:"amount"`
	Buyer     string     `json:"buyer"`
	Recipient string     `json:"recipient"`
	State     string     `json:"state"`
	Redeemed  bool       `json:"redeemed"`
	Left      int64      `json:"left"` // of one that paid at the box office
	BoughtAt  time.Time  `json:"bought_at"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	Reason    string     `json:"reason,omitempty"`
}

// GiftCards answers GET /desk/gift-cards
func (h *Handlers) GiftCards(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showGiftCards(w, r, m, http.StatusOK, desk.GiftCardsPage{})
}

// showGiftCards writes the offer of the team and the cards that it sold, with what p knows besides.
func (h *Handlers) showGiftCards(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.GiftCardsPage) error {
	const of = "gift-cards"
	page, err := web.Page(r, of, giftcards.SoldRows)
	if err != nil {
		return err
	}
	offer, sold, next, err := h.Server.GiftCards.Sold(r.Context(), m, page)
	if err != nil {
		return err
	}
	p.Next = next.Cursor(of)
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Gift cards"))
	p.Path, p.Sold, p.Public = desk.GiftCardsPath, sold, h.Origin(r)+"/gift-cards"
	p.Stored, p.Payable = offer.Open, h.Server.GiftCards.Payable()
	sender, err := h.Server.Invoices.Sender(r.Context(), m)
	if err != nil && !errors.Is(err, invoices.ErrNoSender) {
		return err
	}
	p.Law = giftcards.LawOf(sender.Country)
	if p.Mistakes == nil {
		p.SetOffer(offer)
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, status, desk.GiftCards(p))
	}
	offer.Amounts = append([]int64{}, offer.Amounts...)
	answer := giftCardsAnswer{Offer: offer, Cards: []giftCardBody{}, Next: p.Next}
	for _, c := range sold {
		answer.Cards = append(answer.Cards, giftCardBody{c.ID, c.Currency, c.Amount, c.Buyer, c.Recipient, c.State, c.Spent, c.Left, c.CreatedAt.UTC(), c.ExpiresAt, c.Reason})
	}
	return web.WriteJSON(w, status, answer)
}

// SetGiftCards answers POST /desk/gift-cards
func (h *Handlers) SetGiftCards(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	p := desk.GiftCardsPage{Open: form.Get("open") != "", Currency: strings.ToUpper(strings.TrimSpace(form.Get("currency"))), Amounts: form.Get("amounts"), Months: strings.TrimSpace(form.Get("months"))}
	o := giftcards.Offer{Open: p.Open, Currency: p.Currency}
	for _, text := range strings.FieldsFunc(p.Amounts, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		amount, err := pricing.ReadAmount(text, o.Currency)
		if err != nil {
			amount = 0 // refused as no amount
		}
		o.Amounts = append(o.Amounts, amount)
	}
	if p.Months != "" {
		if o.Months, err = strconv.Atoi(p.Months); err != nil || o.Months == 0 {
			o.Months = -1 // refused as no number
		}
	}
	err = h.Server.GiftCards.SetOffer(r.Context(), m, o, deskKeyOf(r, form))
	if errors.As(err, &p.Mistakes) && !web.WantsJSON(r) {
		return h.showGiftCards(w, r, m, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.GiftCardsPath, "set")
}

// RefundGiftCard answers POST /desk/gift-cards/{id}/refunds
func (h *Handlers) RefundGiftCard(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return errNoGiftCard
	}
	switch err := h.Server.GiftCards.Refund(r.Context(), m, id); {
	case errors.Is(err, giftcards.ErrNoCard):
		return errNoGiftCard
	case errors.Is(err, giftcards.ErrSpent):
		return errSpent
	case err != nil:
		return err
	}
	return deskDone(w, r, desk.GiftCardsPath, "refunded")
}
