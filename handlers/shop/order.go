package shop

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// find returns the order of the address and its event; under /tickets/ as the friend sees it who has a ticket of it.
func (h *Handlers) find(r *http.Request) (orders.Order, *seats.Sale, error) {
	read := h.Orders.Find
	if strings.HasPrefix(r.URL.Path, shop.ReceivedPath("")) {
		read = h.Orders.ReceivedTicket
	}
	order, err := read(r.Context(), r.PathValue("code"))
	if err != nil {
		return order, nil, err
	}
	for i := range order.Tickets { // where a friend is, is not the buyer's to know
		if order.Tickets[i].Friend != nil {
			order.Tickets[i].In = nil
		}
	}
	sale, err := h.Inventory.Sale(r.Context(), order.Event)
	if err == nil && web.ElsewhereEvent(r, &sale.Event) {
		err = web.NotHere(r, orders.ErrNoOrder)
	}
	return order, sale, err
}

// Order answers GET /orders/{code} and GET /tickets/{code}
func (h *Handlers) Order(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
	}
	return h.showOrder(w, r, s, order, http.StatusOK, shop.OrderPage{})
}

// showOrder writes the page of an order; page has what was typed, and why what was asked was not done.
func (h *Handlers) showOrder(w http.ResponseWriter, r *http.Request, s *seats.Sale, order orders.Order, status int, page shop.OrderPage) error {
	if answered, err := h.InFrame(w, r, s.Event.Team); answered || err != nil {
		return err
	}
	sent, err := h.Orders.LastMail(r.Context(), order.ID)
	if err != nil {
		return err
	}
	page.Page, page.Sale, page.Order, page.Sent, page.Home = views.Page{Title: text.T(r.Context(), "Order") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "buy.js", Style: "order.css ticket.css"},
		shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text(), Now: h.Hub.Now()},
		order, sent, h.Origin(r)
	if order.Rotates && len(page.Live()) > 0 {
		if page.Script = "rotating.js"; status == http.StatusOK { // else what is wrong with a form stays to be read
			page.Refresh = page.NextCode()
		}
	}
	page.Passes = web.Passes(h.Wallets)
	page.Proofs = h.proofs(r, s, order)
	if page.About, err = h.Pages.OfEvent(r.Context(), s.Event.ID); err != nil {
		h.Log.Warn("tickets have no picture", "error", err)
	}
	if order.Received != nil {
		return h.showReceived(w, r, status, page)
	}
	if page.EmailChanges, err = h.Orders.EmailChanges(r.Context(), order.ID); err != nil {
		return err
	}
	if page.Invoices, err = h.Server.Invoices.Of(r.Context(), order.Code); err != nil {
		return err
	}
	if name, list, err := h.Subscriptions.OfOrder(r.Context(), order.Code); err != nil {
		return err
	} else if len(list) > 0 {
		page.Subscribed = &shop.Subscribed{Name: name, Orders: list}
	}
	if page.Transfer, _, err = h.Banks.Transfer(r.Context(), s.Event.Team, order); err != nil {
		return err
	}
	refreshAtJoining(w, page)
	return web.WritePage(w, r, status, shop.Order(page))
}

// showReceived writes the page of a ticket that a friend has: nothing of the order, which is the buyer's.
func (h *Handlers) showReceived(w http.ResponseWriter, r *http.Request, status int, page shop.OrderPage) error {
	page.Title = text.T(r.Context(), "Your ticket") + " · " + page.Event.Name
	refreshAtJoining(w, page)
	return web.WritePage(w, r, status, shop.Received(page))
}

// refreshAtJoining loads the page again when an online event opens.
func refreshAtJoining(w http.ResponseWriter, page shop.OrderPage) {
	if left, waits := page.JoinsIn(); waits {
		w.Header().Set("Refresh", strconv.Itoa(int(left/time.Second)+2))
	}
}

// Calendar answers GET /orders/{code}/calendar.ics and GET /tickets/{code}/calendar.ics
func (h *Handlers) Calendar(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(web.CalendarOf(r.Context(), s, order, h.Origin(r)+shop.OrderAddress(order)))) // a reader who is gone needs none
	return nil
}

var errNoReceipt = web.NewProblem(http.StatusNotFound, "unknown", text.Mark("There is no receipt: nothing was paid for this order, or it has an invoice."), "", text.Mark("Look at the order's page."))

// Receipt answers GET /orders/{code}/receipt.pdf
func (h *Handlers) Receipt(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	page := shop.OrderPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order}
	if page.Invoices, err = h.Server.Invoices.Of(r.Context(), order.Code); err != nil {
		return err
	}
	if !page.HasReceipt() {
		return errNoReceipt
	}
	web.WritePDF(w, s.Event.Slug+"-"+order.Number(), page.Receipt(r.Context(), h.Print(r, s.Event.Team)))
	return nil
}

var errRotates = web.NewProblem(http.StatusConflict, "rotates", text.Mark("The codes of these tickets change all the time, so they cannot be printed or kept in a wallet."), "", text.Mark("Open the page of the tickets on a phone, and show it at the door."))

var errNoPaper = web.NewProblem(http.StatusUnprocessableEntity, "invalid", text.Mark("There is no such paper size."), "", text.Mark("Choose a4, a6, roll or office."))

// proofs are those of an order's tickets in the public log, as far as it has them. Tickets are valid without.
func (h *Handlers) proofs(r *http.Request, s *seats.Sale, order orders.Order) map[int]publiclog.Proof {
	var idxs []int
	for _, t := range order.Tickets {
		if !t.Revoked {
			idxs = append(idxs, t.Idx)
		}
	}
	found, err := h.Logs.Proofs(r.Context(), s.Event.ID, order.ID, idxs)
	if err != nil {
		h.Log.Warn("tickets have no proof of the public log", "error", err)
	}
	return found
}

// Paper answers GET /orders/{code}/tickets.pdf and GET /tickets/{code}/tickets.pdf. size is a paper, or that of the box office; without one it is the team's for buyers.
func (h *Handlers) Paper(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	if order.Rotates {
		return errRotates
	}
	look := h.Print(r, s.Event.Team)
	paper, ok := look.Branding.PaperFor(r.URL.Query().Get("size"))
	if !ok {
		return errNoPaper
	}
	if look, err = web.TicketPrint(r.Context(), h.Pages, look, s.Event.ID); err != nil {
		h.Log.Warn("tickets have no picture", "error", err)
	}
	pdf, err := shop.OrderPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order, Proofs: h.proofs(r, s, order)}.Paper(r.Context(), look, paper)
	if err != nil {
		return err
	}
	web.WritePDF(w, s.Event.Slug, pdf)
	return nil
}
