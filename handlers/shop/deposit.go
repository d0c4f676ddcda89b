package shop

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoDeposit = web.NewProblem(404, "link", text.Mark("There is no deposit under this link, or none is asked for any more."), web.NothingChanged, text.Mark("Check that you have the whole link, or ask the organizer."))

type depositAnswer struct {
	Event      string     `json:"event"`
	State      string     `json:"state"` // of the booking
	Due        bool       `json:"due"`   // it is to be paid
	Amount     int64      `json:"amount"`
	Currency   string     `json:"currency"`
	DueAt      time.Time  `json:"due_at"`
	Refundable *time.Time `json:"refundable,omitempty"`
	PaidAt     *time.Time `json:"paid_at,omitempty"`
	Outcome    string     `json:"outcome,omitempty"`
	Reference  string     `json:"reference,omitempty"` // of a bank transfer
}

// Deposit answers GET /deposits/{code}
func (h *Handlers) Deposit(w http.ResponseWriter, r *http.Request) error {
	event, k, err := h.Bookings.ByDeposit(r.Context(), r.PathValue("code"))
	if errors.Is(err, bookings.ErrNone) {
		return errNoDeposit
	}
	if err != nil {
		return err
	}
	s, err := h.Inventory.Sale(r.Context(), event)
	if err == nil && web.ElsewhereEvent(r, s.Event) {
		err = web.NotHere(r, errNoDeposit)
	}
	if err != nil {
		return err
	}
	d, due := k.Deposit, shop.DepositDue(s.Event, k)
	page := shop.DepositPage{
		Page: views.Page{Title: text.T(r.Context(), "Deposit") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"},
		Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Now: h.Hub.Now()}, Booking: k,
	}
	if due {
		if page.Transfer.Details, err = h.Banks.Details(r.Context(), s.Event.Team); err != nil {
			return err
		}
		page.Transfer.Reference, page.Transfer.Amount, page.Transfer.Currency = banktransfer.Reference(k.ID), d.Amount, s.Event.Currency
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, depositAnswer{s.Event.Slug, k.State, due, d.Amount, s.Event.Currency, d.Due.UTC(), web.UTC(d.Refundable), web.UTC(d.PaidAt), d.Outcome, page.Transfer.Reference})
	}
	return web.WritePage(w, r, http.StatusOK, shop.Deposit(page))
}
