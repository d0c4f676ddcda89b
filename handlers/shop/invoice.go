package shop

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/views/shop"
)

// Invoices answers GET /orders/{code}/invoices
func (h *Handlers) Invoices(w http.ResponseWriter, r *http.Request) error {
	order, err := h.Orders.Find(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		http.Redirect(w, r, shop.OrderPath(order.Code), http.StatusSeeOther)
		return nil
	}
	list, err := h.Server.Invoices.Of(r.Context(), order.Code)
	if err != nil {
		return err
	}
	answer := invoicesAnswer{Documents: []web.InvoiceBody{}}
	for _, d := range list {
		answer.Documents = append(answer.Documents, web.DescribeInvoice(d))
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

type invoicesAnswer struct {
	Documents []web.InvoiceBody `json:"documents"`
}

// Invoice answers GET /orders/{code}/invoices/{file}
//
// The file is the number of a document with .pdf or .xml.
func (h *Handlers) Invoice(w http.ResponseWriter, r *http.Request) error {
	list, err := h.Server.Invoices.Of(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	file := r.PathValue("file")
	label := strings.TrimSuffix(strings.TrimSuffix(file, ".pdf"), ".xml")
	for _, d := range list {
		if d.Label == label {
			_, s, err := h.find(r)
			if err != nil {
				return err
			}
			return h.WriteInvoice(w, r, d, strings.TrimPrefix(file, label), s.Event.Team)
		}
	}
	return web.ErrNoPage
}
