package shop

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoGiftCards = web.NewProblem(404, "unknown", text.Mark("No gift cards are on sale here."), web.NothingChanged, text.Mark("Ask the organizer."))

// giftCardsPerNetwork is how many gift cards visitors of one network may begin to buy within a minute.
const giftCardsPerNetwork = 10

type giftCardsAnswer struct {
	Offers []giftOffer `json:"offers"`
}

type giftOffer struct {
	giftcards.Offer
	Terms *web.TermsBody `json:"terms,omitempty"` // that a buyer accepts
}

type giftCardAnswer struct {
	Code      string `json:"code"`
	State     string `json:"state"`
	Currency  string `json:"currency"`
	Amount    int64  `json:"amount"`
	Recipient string `json:"recipient"`
	Page      string `json:"page,omitempty"`   // where it is paid
	Reason    string `json:"reason,omitempty"` // why it was not sold
}

// GiftCards answers GET /gift-cards
func (h *Handlers) GiftCards(w http.ResponseWriter, r *http.Request) error {
	team, _ := strconv.ParseInt(r.URL.Query().Get("team"), 10, 64) // anything else is none
	return h.showGiftCards(w, r, http.StatusOK, shop.GiftCardsPage{Form: giftcards.Form{Team: team}})
}

func (h *Handlers) showGiftCards(w http.ResponseWriter, r *http.Request, status int, p shop.GiftCardsPage) (err error) {
	offers, err := h.Server.GiftCards.Offers(r.Context())
	if err != nil {
		return err
	}
	for _, o := range offers {
		if !web.Elsewhere(r, o.Team) {
			p.Offers = append(p.Offers, o)
		}
	}
	if web.WantsJSON(r) {
		return h.listGiftCards(w, r, status, p.Offers)
	}
	if o := p.Offer(); o != nil {
		if p.Terms, err = h.Pages.TermsOf(r.Context(), o.Team); err != nil {
			return err
		}
	}
	p.Page = views.Page{Title: text.T(r.Context(), "Gift cards"), Nonce: web.Nonce(w), Legal: h.Legal(r, p.Form.Team), Branding: h.Branding(r, p.Form.Team), Style: "account.css"}
	return web.WritePage(w, r, status, shop.GiftCards(p))
}

func (h *Handlers) listGiftCards(w http.ResponseWriter, r *http.Request, status int, offers []giftcards.Offer) error {
	answer := giftCardsAnswer{[]giftOffer{}}
	for _, o := range offers {
		terms, err := h.Pages.TermsOf(r.Context(), o.Team)
		if err != nil {
			return err
		}
		answer.Offers = append(answer.Offers, giftOffer{o, web.DescribeTerms(o.Team, terms)})
	}
	return web.WriteJSON(w, status, answer)
}

// giftWanted is what forms and programs send.
type giftWanted struct {
	Team      int64  `json:"team"`
	Amount    int64  `json:"amount"` // minor units
	Email     string `json:"email"`
	Recipient string `json:"recipient"`
	Giver     string `json:"giver"`
	Message   string `json:"message"`
	Terms     int    `json:"terms"` // the version that was accepted
	Key       string `json:"key"`
}

func decodeGift(r *http.Request) (f giftcards.Form, err error) {
	var asked giftWanted
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return f, err
		}
		p := r.PostForm
		asked = giftWanted{Email: p.Get("email"), Recipient: p.Get("recipient"), Giver: p.Get("giver"), Message: p.Get("message")}
		asked.Team, _ = strconv.ParseInt(p.Get("team"), 10, 64)     // anything else sells none
		asked.Amount, _ = strconv.ParseInt(p.Get("amount"), 10, 64) // anything else is not offered
		asked.Terms, _ = strconv.Atoi(p.Get("terms"))               // anything else is no version
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return f, err
	}
	return giftcards.Form{Team: asked.Team, Amount: asked.Amount, Buyer: asked.Email, Recipient: asked.Recipient, Giver: asked.Giver, Message: asked.Message, Terms: asked.Terms}, nil
}

// BuyGiftCard answers POST /gift-cards
func (h *Handlers) BuyGiftCard(w http.ResponseWriter, r *http.Request) error {
	form, err := decodeGift(r)
	if err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsGiftCards, giftCardsPerNetwork) {
		return errTooFast
	}
	if form.InForce, err = h.Pages.TermsOf(r.Context(), form.Team); err != nil {
		return err
	}
	card, err := h.Server.GiftCards.Buy(h.Reading(r), form)
	p := shop.GiftCardsPage{Form: form}
	switch {
	case errors.As(err, &p.Mistakes) && !web.WantsJSON(r):
		return h.showGiftCards(w, r, http.StatusUnprocessableEntity, p)
	case errors.Is(err, giftcards.ErrNoOffer):
		return errNoGiftCards
	case err != nil:
		return err
	}
	at := shop.GiftCardPath(card.Code)
	if web.WantsJSON(r) {
		w.Header().Set("Location", at)
		return web.WriteJSON(w, http.StatusCreated, describeGift(card))
	}
	http.Redirect(w, r, at+"?go", http.StatusSeeOther) // a form may not lead to another site
	return nil
}

func describeGift(c giftcards.Card) giftCardAnswer {
	return giftCardAnswer{c.Code, c.State, c.Currency, c.Amount, c.Recipient, c.Page, c.Reason}
}

// giftCard returns the card of the address.
func (h *Handlers) giftCard(r *http.Request) (giftcards.Card, error) {
	c, err := h.Server.GiftCards.Find(r.Context(), r.PathValue("code"))
	if errors.Is(err, giftcards.ErrNoCard) {
		return c, web.ErrNoPage
	}
	return c, err
}

// GiftCard answers GET /gift-cards/{code}
func (h *Handlers) GiftCard(w http.ResponseWriter, r *http.Request) error {
	c, err := h.giftCard(r)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("back") || c.Page == "" {
		if c, err = h.Server.GiftCards.Ask(r.Context(), c); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeGift(c))
	}
	page := views.Page{Title: text.T(r.Context(), "Gift card"), Nonce: web.Nonce(w), Legal: h.Legal(r, c.Team), Branding: h.Branding(r, c.Team), Style: "account.css"}
	if c.State == giftcards.Open {
		page.Refresh = "10;url=" + shop.GiftCardPath(c.Code) + "?back" // nothing is typed here
	}
	if r.URL.Query().Has("go") && c.Page != "" {
		w.Header().Set("Refresh", "0; url="+c.Page)
	}
	return web.WritePage(w, r, http.StatusOK, shop.GiftCard(shop.GiftCardPage{Page: page, Card: c}))
}

// GiftCardPaper answers GET /gift-cards/{code}/card.pdf
func (h *Handlers) GiftCardPaper(w http.ResponseWriter, r *http.Request) error {
	c, err := h.giftCard(r)
	if err != nil {
		return err
	}
	if c.State != giftcards.Issued {
		return web.ErrNoPage
	}
	pdf := shop.GiftCardPaper(r.Context(), c, h.Origin(r), h.Print(r, c.Team))
	web.WritePDF(w, "gift-card", pdf)
	return nil
}
