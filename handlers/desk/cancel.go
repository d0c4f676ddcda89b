package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// mostCancelled is how many orders one form gives back. All of them are an event that is cancelled.
const mostCancelled = 100

// cancelledBody is what became of the orders that a form named.
type cancelledBody struct {
	Cancelled []string    `json:"cancelled"` // codes
	Kept      []keptOrder `json:"kept"`
}

// keptOrder is an order that was not cancelled, and why.
type keptOrder struct {
	Order   string `json:"order"`
	Message string `json:"message"`
	name    string
}

// CancelMany answers POST /desk/events/{slug}/cancellations gives many orders back, each as a whole or not at all.
func (h *Handlers) CancelMany(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	list, err := h.ordersOf(r, s, form["order"])
	if words, refused := deskRefused(r, err); refused {
		return h.showOrders(w, r, m, s, deskStatus(err), desk.OrdersPage{Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	done := cancelledBody{Cancelled: []string{}, Kept: []keptOrder{}}
	for _, order := range list {
		err := h.cancelWhole(r, m, s, order, deskKeyOf(r, form), orders.Revoking{Used: form.Get("used") != "", Override: form.Get("override") != ""})
		if refusal, refused := asRefusal(err); refused {
			done.Kept = append(done.Kept, keptOrder{order.Code, refusal.In(r.Context()), order.Name})
		} else if err != nil {
			return err
		} else {
			done.Cancelled = append(done.Cancelled, order.Code)
		}
	}
	if len(done.Kept) > 0 && !web.WantsJSON(r) {
		return h.showOrders(w, r, m, s, http.StatusConflict, desk.OrdersPage{Message: done.words(r.Context())})
	}
	return deskWith(w, r, desk.EventPath(s.Event.Slug)+"/orders", "cancelled", http.StatusOK, done)
}

// ordersOf finds the orders of an event that a form names, each once; one that is none of the event's makes the whole form wrong.
func (h *Handlers) ordersOf(r *http.Request, s *seats.Sale, codes []string) (list []orders.Order, err error) {
	if len(codes) == 0 || len(codes) > mostCancelled {
		return nil, &seats.ValidationError{Message: text.Mark("Select 1 to %d orders. Nothing was cancelled."), Args: []any{mostCancelled}}
	}
	seen := map[string]bool{}
	for _, code := range codes {
		order, err := h.Orders.Find(r.Context(), code)
		if err == nil && order.Event != s.Event.Slug {
			err = orders.ErrNoOrder
		}
		if err != nil {
			return nil, err
		}
		if !seen[order.Code] {
			list, seen[order.Code] = append(list, order), true
		}
	}
	return list, nil
}

// cancelWhole gives one of many orders back, with a line of its own in the log.
func (h *Handlers) cancelWhole(r *http.Request, m organizers.Member, s *seats.Sale, order orders.Order, key string, how orders.Revoking) error {
	if key == "" {
		return idempotency.ErrNoKey
	}
	action := organizers.Action{
		Key: shortKey(key) + "." + order.Code, Form: []any{"cancelled many", order.Code, how.Used, how.Override},
		What: text.Mark("cancelled tickets"), Subject: "events/" + s.Event.Slug + "/orders/" + order.Code, Detail: url.Values{"all": {"on"}, "override": {strconv.FormatBool(how.Override)}},
	}
	return h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		how.Also = also
		return h.Orders.RevokeBy(r.Context(), s, order, how)
	})
}

// words tell what was kept, and why.
func (c cancelledBody) words(ctx context.Context) string {
	why := make([]string, len(c.Kept))
	for i, k := range c.Kept {
		why[i] = fmt.Sprintf("%s (%s): %s", k.name, k.Order, k.Message)
	}
	return text.T(ctx, "%d of %d orders were cancelled. %s", len(c.Cancelled), len(c.Cancelled)+len(c.Kept), strings.Join(why, " "))
}
