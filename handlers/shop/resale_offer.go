package shop

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoResaleOffer = web.NewProblem(404, "link", text.Mark("No ticket was offered by this link."), web.NothingChanged, text.Mark("Check that you have the whole link, or ask the person who sent it."))

// resaleOffer returns what the address offers to a friend, and the event.
func (h *Handlers) resaleOffer(r *http.Request) (f orders.ResaleOffer, s *seats.Sale, err error) {
	f, err = h.Orders.ResaleOffer(r.Context(), r.PathValue("code"))
	if errors.Is(err, orders.ErrNoResaleOffer) {
		err = errNoResaleOffer
	}
	if err != nil {
		return f, nil, err
	}
	s, err = h.Inventory.Sale(r.Context(), f.Event)
	if err == nil && web.ElsewhereEvent(r, &s.Event) {
		err = web.NotHere(r, errNoResaleOffer)
	}
	return f, s, err
}

type resaleOfferAnswer struct {
	Event    string    `json:"event"`
	From     string    `json:"from"`  // the name of the buyer who offers
	State    string    `json:"state"` // see orders.ResaleOffer
	Seats    []string  `json:"seats"` // that may be bought now
	Total    int64     `json:"total"` // what they cost, minor units
	Currency string    `json:"currency"`
	Until    time.Time `json:"until"`
}

// ResaleOffer answers GET /resales/{code}
func (h *Handlers) ResaleOffer(w http.ResponseWriter, r *http.Request) error {
	f, s, err := h.resaleOffer(r)
	if err != nil {
		return err
	}
	return h.showResaleOffer(w, r, f, s, http.StatusOK, f.Refuse())
}

func (h *Handlers) showResaleOffer(w http.ResponseWriter, r *http.Request, f orders.ResaleOffer, s *seats.Sale, status int, refusal *seats.Conflict) error {
	page := shop.ResaleOfferPage{
		Page:  views.Page{Title: text.T(r.Context(), "A ticket for you") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"},
		Sale:  shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Now: h.Hub.Now()},
		Offer: f,
	}
	if refusal != nil {
		page.Message = refusal.In(h.Reading(r))
	}
	if f.State == orders.ResaleOpen {
		hold, err := s.Hold(r.Context(), f.Holder)
		if err != nil && !errors.Is(err, seats.ErrNoHold) { // it was taken or ended in this moment
			return err
		}
		if len(hold.Seats) > 0 {
			page.Hold = &hold
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, resaleOfferAnswer{f.Event, f.From, f.State, page.Labels(), page.Total(), s.Event.Currency, f.Until.UTC()})
	}
	return web.WritePage(w, r, status, shop.ResaleOffer(page))
}

// TakeResaleOffer answers POST /resales/{code}
//
// The seats are this browser's from now on, and it goes on to the checkout.
func (h *Handlers) TakeResaleOffer(w http.ResponseWriter, r *http.Request) error {
	f, s, err := h.resaleOffer(r)
	if err != nil {
		return err
	}
	holder, err := h.offerHolder(w, r)
	if err != nil {
		return err
	}
	hold, err := h.Orders.TakeResaleOffer(r.Context(), s, f.Code, holder)
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		if f, s, err = h.resaleOffer(r); err != nil {
			return err
		}
		return h.showResaleOffer(w, r, f, s, http.StatusConflict, refusal)
	case err != nil:
		return err
	}
	return h.goOnWithOffer(w, r, s, hold, f.SentTo)
}
