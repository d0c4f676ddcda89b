package shop

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Waiter makes a handler of one that wants the place in a wait list that the address names.
func (h *Handlers) Waiter(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) web.Handler {
	return h.Visit(h.OnEntry(next))
}

// OnEntry reads the waitlist entry that the address names.
func (h *Handlers) OnEntry(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		n, err := h.Waits.Find(r.Context(), r.PathValue("code"))
		if err != nil {
			return err
		}
		s, err := h.Inventory.Sale(r.Context(), n.Event)
		if err != nil {
			return err
		}
		if web.ElsewhereEvent(r, &s.Event) {
			return waitlist.ErrNoEntry
		}
		return next(w, r, n, s)
	}
}

// WaiterOnce is waiter for a form that is done once, see once. Its body is read after the code is known.
func (h *Handlers) WaiterOnce(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) web.Handler {
	return h.Waiter(func(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
		return h.Once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, n, s) })(w, r)
	})
}

type EntryAnswer struct {
	Entry EntryBody `json:"entry"`
}

type EntryBody struct {
	State      string     `json:"state"`
	Event      string     `json:"event"`
	Quantity   int        `json:"quantity"`
	Sections   []string   `json:"sections"`
	Categories []string   `json:"categories"`
	Together   bool       `json:"together"`
	Fewer      bool       `json:"fewer"`
	Until      *time.Time `json:"until,omitempty"`
	Method     string     `json:"method,omitempty"` // what is offered is ordered at once, and paid so
	Terms      int        `json:"terms,omitempty"`  // the version of the terms that was accepted for that
	Card       string     `json:"card,omitempty"`   // whether one is saved for that
	CardPage   string     `json:"card_page,omitempty"`
	Place      int        `json:"place"`
	Waiting    int        `json:"waiting"`
	Open       int        `json:"offers_open"`
	Accepted   int        `json:"offers_accepted"`
	Ended      int        `json:"offers_ended"`
	Passed     string     `json:"passed,omitempty"`
	Before     int        `json:"offers_behind"`
	Offer      *offerBody `json:"offer,omitempty"`
	Shown      string     `json:"shown"`
}

type offerBody struct {
	Seats    []string  `json:"seats"`
	Until    time.Time `json:"until"`
	Why      string    `json:"unordered,omitempty"` // why it was not ordered for who agreed to that
	Total    int64     `json:"total"`
	Fee      int64     `json:"fee"`
	Currency string    `json:"currency"`
}

func describeEntry(s *seats.Sale, p *shop.WaitPage) EntryAnswer {
	n, st := &p.Entry, &p.Stand
	body := EntryBody{
		State: n.State, Event: n.Event, Quantity: n.Wanted.Quantity, Sections: []string{}, Categories: []string{}, Together: n.Wanted.Together, Fewer: n.Wanted.Fewer,
		Until: n.Until, Method: n.Consent.Method, Terms: n.Consent.Terms, Card: p.Card, CardPage: p.CardPage, Place: st.Place, Waiting: st.Waiting, Open: st.Open, Accepted: st.Accepted, Ended: st.Ended, Passed: n.Passed, Before: st.Before, Shown: p.Shown(),
	}
	for _, i := range n.Wanted.Sections {
		body.Sections = append(body.Sections, s.Plan.Sections[i].Name)
	}
	for _, i := range n.Wanted.Categories {
		body.Categories = append(body.Categories, s.Plan.Categories[i].Key)
	}
	if o := n.Offer; o != nil {
		cost := pricing.Of(s, o.Seats)
		body.Offer = &offerBody{web.Labels(s, o.Seats), o.Until.UTC(), o.Why, cost.Total, cost.Fee, s.Event.Currency}
	}
	return EntryAnswer{body}
}

// WaitPlace answers GET /waitlist/{code}
func (h *Handlers) WaitPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, _ *seats.Sale) error {
	return h.showPlace(w, r, n, http.StatusOK, shop.WaitPage{})
}

// showPlace writes the page of a place in a wait list.
func (h *Handlers) showPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, status int, p shop.WaitPage) (err error) {
	s, err := h.Inventory.Sale(r.Context(), n.Event)
	if err != nil {
		return err
	}
	if p.Stand, err = h.Waits.Stand(r.Context(), n.ID); err != nil {
		return err
	}
	if p.Alone, err = h.alone(r, s); err != nil {
		return err
	}
	p.Entry, p.Sale = n, shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Key: rand.Text()}
	if err := h.showCard(w, r, &p); err != nil {
		return err
	}
	if h.Turns != nil && n.State == waitlist.Waiting {
		p.PushKey = h.Turns.PublicKey(r.Context())
		if p.Browsers, err = h.Turns.Browsers(r.Context(), n.ID); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeEntry(s, &p))
	}
	if len(p.Mistakes) == 0 {
		p.Typed = shop.EntryFormOf(s.Event, n)
	}
	p.Page = views.Page{Title: waitTitle(r.Context(), &p), Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "waitlist.js", Style: "waitlist.css"}
	return web.WritePage(w, r, status, shop.WaitPlace(p))
}

func waitTitle(ctx context.Context, p *shop.WaitPage) string {
	if p.Entry.State == waitlist.Offered {
		return text.T(ctx, "Seats for you") + " · " + p.Event.Name
	}
	return text.T(ctx, "Your place") + " · " + p.Event.Name
}

// ConfirmPlace answers POST /waitlist/{code}/confirm
//
// Looking confirms nothing: programs that read mail look at every address in it. The button does.
func (h *Handlers) ConfirmPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	if err := h.Waits.Confirm(r.Context(), n); err != nil {
		return err
	}
	h.WaitsChanged(s)
	return h.goToPlace(w, r, n.Code, http.StatusOK)
}

// ChangePlace answers POST /waitlist/{code}
func (h *Handlers) ChangePlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	wanted, typed, err := h.decodeEntry(r, s)
	if err == nil {
		err = h.Waits.Change(r.Context(), s, n, wanted)
	}
	p := shop.WaitPage{Typed: typed}
	if errors.As(err, &p.Mistakes) && !web.WantsJSON(r) {
		return h.showPlace(w, r, n, http.StatusUnprocessableEntity, p)
	}
	return h.answerPlace(w, r, n, s, err)
}

// LeavePlace answers POST /waitlist/{code}/leave
func (h *Handlers) LeavePlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	return h.answerPlace(w, r, n, s, h.Waits.Leave(r.Context(), s, n))
}

// DeclineOffer answers POST /waitlist/{code}/decline
func (h *Handlers) DeclineOffer(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	return h.answerPlace(w, r, n, s, h.Waits.Decline(r.Context(), s, n))
}

// answerPlace shows the place after something was done to it, or why it was not.
func (h *Handlers) answerPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale, err error) error {
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showPlace(w, r, n, http.StatusConflict, shop.WaitPage{Message: refusal.In(h.Reading(r))})
	case err != nil:
		return err
	}
	h.WaitsChanged(s)
	return h.goToPlace(w, r, n.Code, http.StatusOK)
}

// TakeOffer answers POST /waitlist/{code}/take
//
// The seats of the offer are this browser's from now on, and it goes on to the checkout.
func (h *Handlers) TakeOffer(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	holder, err := h.offerHolder(w, r)
	if err != nil {
		return err
	}
	hold, err := h.Waits.Take(r.Context(), s, n, holder)
	if errors.Is(err, seats.ErrNoHold) {
		if n, err = h.Waits.Find(r.Context(), n.Code); err != nil {
			return err
		}
		err = &seats.Conflict{Code: seats.CodeExpired, Message: text.Mark("This offer has expired, or you answered it already.")}
	}
	if err != nil {
		return h.answerPlace(w, r, n, s, err)
	}
	return h.goOnWithOffer(w, r, s, hold, n.Email)
}

// offerHolder returns the holder of the browser's session, which is about to take offered seats.
func (h *Handlers) offerHolder(w http.ResponseWriter, r *http.Request) (seats.ID, error) {
	holder, known := h.Holder(r)
	if known {
		return holder, nil
	}
	if holder, known = h.Visitor(r); !known {
		holder = seats.NewID()
	}
	h.Sessions.Put(r.Context(), web.HolderKey, holder.String())
	return holder, h.RenewToken(w, r)
}

// goOnWithOffer leads a browser that took offered seats to the checkout. The link came to email, so the address is verified.
func (h *Handlers) goOnWithOffer(w http.ResponseWriter, r *http.Request, s *seats.Sale, hold seats.Hold, email string) error {
	if h.Sessions.GetString(r.Context(), verifiedKey) != email {
		h.Sessions.Put(r.Context(), verifiedKey, email)
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
	}
	if !web.WantsJSON(r) {
		h.tellMine(r, s, hold)
		http.Redirect(w, r, "/events/"+s.Event.Slug+"/checkout", http.StatusSeeOther)
		return nil
	}
	return h.answerHold(w, r, s, hold, http.StatusCreated)
}
