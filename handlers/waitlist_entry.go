package handlers

import (
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// waiter makes a handler of one that wants the place in a wait list that the address names.
func (h *Handlers) waiter(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) handler {
	return h.visit(h.onEntry(next))
}

// onEntry reads the waitlist entry that the address names.
func (h *Handlers) onEntry(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		n, err := h.waits.Find(r.Context(), r.PathValue("code"))
		if err != nil {
			return err
		}
		s, err := h.office.Sale(r.Context(), n.Event)
		if err != nil {
			return err
		}
		return next(w, r, n, s)
	}
}

// waiterOnce is waiter for a form that is done once, see once. Its body is read after the code is known.
func (h *Handlers) waiterOnce(next func(http.ResponseWriter, *http.Request, waitlist.Entry, *seats.Sale) error) handler {
	return h.waiter(func(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
		return h.once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, n, s) })(w, r)
	})
}

type entryAnswer struct {
	Entry entryBody `json:"entry"`
}

type entryBody struct {
	State      string     `json:"state"`
	Event      string     `json:"event"`
	Quantity   int        `json:"quantity"`
	Sections   []string   `json:"sections"`
	Categories []string   `json:"categories"`
	Together   bool       `json:"together"`
	Fewer      bool       `json:"fewer"`
	Until      *time.Time `json:"until,omitempty"`
	Method     string     `json:"method,omitempty"` // what is offered is ordered at once, and paid so
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

func describeEntry(s *seats.Sale, p *shop.WaitPage) entryAnswer {
	n, st := &p.Entry, &p.Stand
	body := entryBody{
		State: n.State, Event: n.Event, Quantity: n.Wanted.Quantity, Sections: []string{}, Categories: []string{}, Together: n.Wanted.Together, Fewer: n.Wanted.Fewer,
		Until: n.Until, Method: n.Consent.Method, Card: p.Card, CardPage: p.CardPage, Place: st.Place, Waiting: st.Waiting, Open: st.Open, Accepted: st.Accepted, Ended: st.Ended, Passed: n.Passed, Before: st.Before, Shown: p.Shown(),
	}
	for _, i := range n.Wanted.Sections {
		body.Sections = append(body.Sections, s.Plan.Sections[i].Name)
	}
	for _, i := range n.Wanted.Categories {
		body.Categories = append(body.Categories, s.Plan.Categories[i].Key)
	}
	if o := n.Offer; o != nil {
		cost := s.Cost(o.Seats)
		body.Offer = &offerBody{labels(s, o.Seats), o.Until.UTC(), o.Why, cost.Total, cost.Fee, s.Event.Currency}
	}
	return entryAnswer{body}
}

// GET /waitlist/{code}
func (h *Handlers) waitPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, _ *seats.Sale) error {
	return h.showPlace(w, r, n, http.StatusOK, shop.WaitPage{})
}

// showPlace writes somebody's place in a wait list, with what p knows besides.
func (h *Handlers) showPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, status int, p shop.WaitPage) (err error) {
	s, err := h.office.Sale(r.Context(), n.Event)
	if err != nil {
		return err
	}
	if p.Stand, err = h.waits.Stand(r.Context(), n.ID); err != nil {
		return err
	}
	p.Entry, p.Alone, p.Sale = n, h.alone(s), shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text()}
	if err := h.showCard(w, r, &p); err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, status, describeEntry(s, &p))
	}
	if len(p.Mistakes) == 0 {
		p.Typed = shop.EntryFormOf(s.Event, n)
	}
	p.Page = views.Page{Title: waitTitle(&p), Nonce: nonce(w), Script: "waitlist.js", Style: "waitlist.css"}
	return writePage(w, r, status, shop.WaitPlace(p))
}

func waitTitle(p *shop.WaitPage) string {
	if p.Entry.State == waitlist.Offered {
		return "Seats for you · " + p.Event.Name
	}
	return "Your place · " + p.Event.Name
}

// POST /waitlist/{code}/confirm
//
// Looking confirms nothing: programs that read mail look at every address in it. The button does.
func (h *Handlers) confirmPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	if err := h.waits.Confirm(r.Context(), n); err != nil {
		return err
	}
	h.desks.Changed(s)
	return h.goToPlace(w, r, n.Code, http.StatusOK)
}

// POST /waitlist/{code}
func (h *Handlers) changePlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	wish, typed, _, err := h.decodeEntry(r, s)
	if err == nil {
		err = h.waits.Change(r.Context(), s, n, wish)
	}
	p := shop.WaitPage{Typed: typed}
	if errors.As(err, &p.Mistakes) && !wantsJSON(r) {
		return h.showPlace(w, r, n, http.StatusUnprocessableEntity, p)
	}
	return h.answerPlace(w, r, n, s, err)
}

// POST /waitlist/{code}/leave
func (h *Handlers) leavePlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	return h.answerPlace(w, r, n, s, h.waits.Leave(r.Context(), s, n))
}

// POST /waitlist/{code}/decline
func (h *Handlers) declineOffer(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	return h.answerPlace(w, r, n, s, h.waits.Decline(r.Context(), s, n))
}

// answerPlace shows the place after something was done to it, or why it was not.
func (h *Handlers) answerPlace(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale, err error) error {
	var refusal *seats.Refusal
	switch {
	case errors.As(err, &refusal) && wantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showPlace(w, r, n, http.StatusConflict, shop.WaitPage{Message: refusal.Message})
	case err != nil:
		return err
	}
	h.desks.Changed(s)
	return h.goToPlace(w, r, n.Code, http.StatusOK)
}

// POST /waitlist/{code}/take
//
// The seats of the offer are this browser's from now on, and it goes on to the checkout.
func (h *Handlers) takeOffer(w http.ResponseWriter, r *http.Request, n waitlist.Entry, s *seats.Sale) error {
	holder, known := h.holder(r)
	if !known {
		if holder, known = h.visitor(r); !known {
			holder = seats.NewID()
		}
		h.sessions.Put(r.Context(), holderKey, holder.String())
		if err := h.keep(w, r); err != nil {
			return err
		}
	}
	hold, err := h.waits.Take(r.Context(), s, n, holder)
	if errors.Is(err, seats.ErrNoHold) {
		if n, err = h.waits.Find(r.Context(), n.Code); err != nil {
			return err
		}
		err = &seats.Refusal{Code: seats.CodeLapsed, Message: "This offer is not open any more: its time is over, or it was answered. Nothing was taken."}
	}
	if err != nil {
		return h.answerPlace(w, r, n, s, err)
	}
	if h.sessions.GetString(r.Context(), verifiedKey) != n.Email { // the link came to this address
		h.sessions.Put(r.Context(), verifiedKey, n.Email)
		if err := h.keep(w, r); err != nil {
			return err
		}
	}
	if !wantsJSON(r) {
		h.tellMine(r, s, hold)
		http.Redirect(w, r, "/events/"+s.Event.Slug+"/checkout", http.StatusSeeOther)
		return nil
	}
	return h.answerHold(w, r, s, hold, http.StatusCreated)
}
