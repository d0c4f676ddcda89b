package shop

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views/shop"
)

// alone are the payment methods that need no further answer of the buyer, and the terms that they have to accept for that.
func (h *Handlers) alone(r *http.Request, s *seats.Sale) (a shop.Alone, err error) {
	if a.Terms, err = h.Pages.TermsOf(r.Context(), s.Event.Team); err != nil {
		return a, err
	}
	total := int64(0)
	for i := range s.Plan.Categories {
		kind, _ := s.Prices.Default(i)
		price, _ := s.Prices.Price(0, kind, i)
		total = max(total, shop.AllIn(s.Event, seats.Line{Type: kind, Category: i, Price: price}))
	}
	a.Methods = h.Orders.AloneMethods(s.Event, total)
	return a, nil
}

// consentOf reads the consent of a form and notes what is wrong with it.
func (h *Handlers) consentOf(r *http.Request, s *seats.Sale, typed shop.EntryForm, wrong waitlist.Mistakes) (c waitlist.Consent, err error) {
	if typed.Method == "" {
		return c, nil
	}
	a, err := h.alone(r, s)
	if err != nil {
		return c, err
	}
	if !slices.Contains(a.Methods, typed.Method) {
		wrong[waitlist.FieldMethod] = text.Mark("This event can’t be ordered at once with this payment method.")
	}
	c = waitlist.Consent{Method: typed.Method, Name: typed.Name, Terms: typed.Terms, InForce: a.Terms}
	if typed.Method == payments.Free {
		return c, nil
	}
	most, err := pricing.ReadAmount(strings.TrimSpace(typed.Most), s.Event.Currency)
	if c.Most = most; err != nil || most == 0 {
		wrong[waitlist.FieldMost] = text.Mark("Enter the maximum price.")
	}
	return c, nil
}

// cardAway is said while the provider of cards does not answer.
var cardAway = &seats.Conflict{Code: "unavailable", Message: text.Mark("We can’t reach the card provider right now. Try again in a minute. Until a card is saved, we ask you when it’s your turn.")}

// mandateOf is the mandate of an entry, as far as it is known here; none if its person agreed to nothing that needs one. asks has
// the provider asked.
func (h *Handlers) mandateOf(ctx context.Context, n waitlist.Entry, asks bool) (m payments.Mandate, err error) {
	if n.State != waitlist.Waiting || !h.Orders.Payments.StoresCards(n.Consent.Method) || n.Mandate == (seats.ID{}) {
		return m, nil
	}
	if asks {
		return h.Orders.Payments.Mandate(ctx, n.Mandate)
	}
	return h.Orders.Payments.KnownMandate(ctx, n.Mandate)
}

// showCard adds to the page of a place how its card stands. Who comes back from the provider is told what it says; who is on
// the way there goes on.
func (h *Handlers) showCard(w http.ResponseWriter, r *http.Request, p *shop.WaitPage) error {
	n := p.Entry
	if n.State != waitlist.Waiting || !h.Orders.Payments.StoresCards(n.Consent.Method) {
		return nil
	}
	asked := r.URL.Query()
	m, err := h.mandateOf(r.Context(), n, asked.Has("card"))
	if err != nil && asked.Has("card") {
		h.About(w, r).Warn("the state of a saved card is not known; it is asked again when it is needed", "error", err)
		m, err = h.mandateOf(r.Context(), n, false)
	}
	if err != nil {
		return err
	}
	switch {
	case m.Given():
		p.Card = shop.CardSaved
	case asked.Has("go") && m.Page != "":
		w.Header().Set("Refresh", "0; url="+m.Page)
		fallthrough
	default:
		p.Card, p.CardPage = shop.CardWanted, m.Page
	}
	return nil
}

// SaveCard answers POST /waitlist/{code}/card
//
// It redirects to the provider's page, where a card for the agreed order is saved.
func (h *Handlers) SaveCard(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	m, err := h.mandateOf(r.Context(), n, true)
	if err == nil && !m.Given() && m.Page == "" {
		m, err = h.askForCard(r.Context(), n, s)
	}
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal):
		return h.answerPlace(w, r, n, s, err)
	case err != nil:
		h.About(w, r).Warn("the card provider was asked for a page and gave none", "error", err)
		return h.answerPlace(w, r, n, s, cardAway)
	case web.WantsJSON(r) || m.Given():
		return h.goToPlace(w, r, n.Code, http.StatusOK)
	}
	http.Redirect(w, r, shop.WaitPath(n.Code)+"?go", http.StatusSeeOther)
	return nil
}

// askForCard begins a mandate for the agreed order.
func (h *Handlers) askForCard(ctx context.Context, n waitlist.Entry, s *seats.Sale) (m payments.Mandate, err error) {
	if !h.Orders.Payments.StoresCards(n.Consent.Method) {
		return m, &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("You haven’t agreed to an order that is paid by card.")}
	}
	k := payments.CardRequest{Mandate: seats.NewID(), Email: n.Email, What: shop.CardText(ctx, shop.Sale{Event: s.Event, Plan: s.Plan}, n), Back: shop.WaitPath(n.Code)}
	if err := h.Waits.StoreMandate(ctx, n, k.Mandate, h.Orders.Payments.NewMandate(n.Consent.Method, k)); err != nil {
		return m, err
	}
	return h.Orders.Payments.Mandate(ctx, k.Mandate)
}
