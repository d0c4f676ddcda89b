package shop

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoDeposit = web.NewProblem(404, "link", text.Mark("There is no deposit under this link, or none is asked for any more."), web.NothingChanged, text.Mark("Check that you have the whole link, or ask the organizer."))

// depositsPerNetwork is how often visitors of one network may begin to pay a deposit within a minute.
const depositsPerNetwork = 10

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

	Method    string              `json:"method,omitempty"` // by which it can be paid on its page
	Payment   *depositPaymentBody `json:"payment,omitempty"`
	Documents []web.InvoiceBody   `json:"documents"`
}

// depositPaymentBody is a payment on the page of a deposit. Page is where it is paid.
type depositPaymentBody struct {
	State  string `json:"state"`
	Method string `json:"method"`
	Amount int64  `json:"amount"`
	Page   string `json:"page,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// deposit returns the booking with the deposit of the address, and its sale.
func (h *Handlers) deposit(r *http.Request) (k bookings.Booking, s *seats.Sale, err error) {
	event, k, err := h.Bookings.ByDeposit(r.Context(), r.PathValue("code"))
	if errors.Is(err, bookings.ErrNone) {
		return k, nil, errNoDeposit
	}
	if err != nil {
		return k, nil, err
	}
	s, err = h.Inventory.Sale(r.Context(), event)
	if err == nil && web.ElsewhereEvent(r, &s.Event) {
		err = web.NotHere(r, errNoDeposit)
	}
	return k, s, err
}

// Deposit answers GET /deposits/{code}
func (h *Handlers) Deposit(w http.ResponseWriter, r *http.Request) error {
	return h.showDeposit(w, r, http.StatusOK, "")
}

// showDeposit writes the page of a deposit, with why a payment was refused. An open payment is asked about if its contact comes to pay it, or
// returned from the page of the provider, or if it is of another amount than is asked for now.
func (h *Handlers) showDeposit(w http.ResponseWriter, r *http.Request, status int, refused string) error {
	k, s, err := h.deposit(r)
	if err != nil {
		return err
	}
	payment, err := h.Bookings.LastPayment(r.Context(), k.ID)
	if err != nil {
		return err
	}
	if payment != nil && payment.State == bookings.PaymentOpen && r.Method == http.MethodGet && (r.URL.Query().Has("back") || payment.Page == "" || payment.Amount != k.Deposit.Amount) {
		asked, err := h.Bookings.Ask(r.Context(), *payment)
		if err != nil {
			return err
		}
		if payment = &asked; asked.State != bookings.PaymentOpen {
			if k, s, err = h.deposit(r); err != nil {
				return err
			}
		}
	}
	if payment != nil && payment.Amount != k.Deposit.Amount {
		payment.Page = "" // it is just being ended
	}
	documents, err := h.Server.Invoices.OfDeposit(r.Context(), k.ID)
	if err != nil {
		return err
	}
	d, due := k.Deposit, shop.DepositDue(s.Event, k)
	page := shop.DepositPage{
		Page: views.Page{Title: text.T(r.Context(), "Deposit") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"},
		Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Now: h.Hub.Now()}, Booking: k, Payment: payment, Documents: documents, Refused: refused,
	}
	if due {
		page.Method = h.Bookings.PayableOnline(s.Event)
		if page.Transfer.Details, err = h.Banks.Details(r.Context(), s.Event.Team); err != nil {
			return err
		}
		page.Transfer.Reference, page.Transfer.Amount, page.Transfer.Currency = banktransfer.Reference(k.ID), d.Amount, s.Event.Currency
	}
	if web.WantsJSON(r) {
		answer := depositAnswer{s.Event.Slug, k.State, due, d.Amount, s.Event.Currency, d.Due.UTC(), web.UTC(d.Refundable), web.UTC(d.PaidAt), d.Outcome, page.Transfer.Reference, page.Method, nil, []web.InvoiceBody{}}
		if payment != nil {
			answer.Payment = &depositPaymentBody{payment.State, payment.Method, payment.Amount, payment.Page, payment.Reason}
		}
		for _, d := range documents {
			answer.Documents = append(answer.Documents, web.DescribeInvoice(d))
		}
		return web.WriteJSON(w, status, answer)
	}
	if payment != nil && payment.State == bookings.PaymentOpen {
		page.Refresh = "10;url=" + shop.DepositPath(d.Code) + "?back" // nothing is typed here
		if r.URL.Query().Has("go") && payment.Page != "" {
			w.Header().Set("Refresh", "0; url="+payment.Page)
		}
	}
	return web.WritePage(w, r, status, shop.Deposit(page))
}

// PayDeposit answers POST /deposits/{code}/payments
func (h *Handlers) PayDeposit(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Amount int64  `json:"amount"` // as it was shown, minor units
		Key    string `json:"key"`
	}
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
		asked.Amount, _ = strconv.ParseInt(r.PostForm.Get("amount"), 10, 64) // anything else was not shown
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsDeposits, depositsPerNetwork) {
		return errTooFast
	}
	k, s, err := h.deposit(r)
	if err != nil {
		return err
	}
	err = h.Bookings.PayOnline(h.Reading(r), s, k, asked.Amount)
	var refused *seats.Conflict
	if errors.As(err, &refused) && !web.WantsJSON(r) {
		return h.showDeposit(w, r, http.StatusConflict, text.T(r.Context(), refused.Message, refused.Args...))
	}
	if err != nil {
		return err
	}
	at := shop.DepositPath(k.Deposit.Code)
	if web.WantsJSON(r) {
		w.Header().Set("Location", at)
		return web.WriteJSON(w, http.StatusAccepted, struct {
			Deposit string `json:"deposit"` // its address, which says where to pay
		}{at})
	}
	http.Redirect(w, r, at+"?go", http.StatusSeeOther) // a form may not lead to another site
	return nil
}

// DepositInvoice answers GET /deposits/{code}/invoices/{file}
//
// The file is the number of a document with .pdf or .xml.
func (h *Handlers) DepositInvoice(w http.ResponseWriter, r *http.Request) error {
	k, s, err := h.deposit(r)
	if err != nil {
		return err
	}
	list, err := h.Server.Invoices.OfDeposit(r.Context(), k.ID)
	if err != nil {
		return err
	}
	file := r.PathValue("file")
	label := strings.TrimSuffix(strings.TrimSuffix(file, ".pdf"), ".xml")
	for _, d := range list {
		if d.Label == label {
			return h.WriteInvoice(w, r, d, strings.TrimPrefix(file, label), s.Event.Team)
		}
	}
	return web.ErrNoPage
}
