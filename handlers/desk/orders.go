package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// Lists of the orders of an event, for cursors.
const (
	ordersList  = "orders"
	changesList = "order changes"
)

type foundBody struct {
	Code      string    `json:"code"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	State     string    `json:"state"`
	Method    string    `json:"method"`
	Currency  string    `json:"currency"`
	Paid      int64     `json:"paid"`
	Due       int64     `json:"due"`
	CreatedAt time.Time `json:"created_at"`
	AtOffice  bool      `json:"at_office"`
	Seats     []string  `json:"seats"`
}

// ListOrders answers GET /desk/events/{slug}/orders
func (h *Handlers) ListOrders(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if !web.WantsJSON(r) {
		return h.showOrders(w, r, m, s, http.StatusOK, desk.OrdersPage{Words: r.URL.Query().Get("q")})
	}
	read := h.findOrders
	if wantsChanges(r, changesList) {
		read = h.changedOrders
	}
	list, next, more, err := read(r, s, r.URL.Query().Get("q"))
	if err != nil {
		return err
	}
	answer := struct {
		Orders []foundBody `json:"orders"`
		More   bool        `json:"more"`
		Next   string      `json:"next_cursor,omitempty"`
	}{[]foundBody{}, more, next}
	for _, f := range list {
		answer.Orders = append(answer.Orders, foundBody{f.Code, f.Name, f.Email, f.State, f.Method, f.Currency, f.Paid, f.Due, f.CreatedAt.UTC(), f.AtOffice, web.Labels(s, f.Seats)})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// findOrders reads the page of the orders of an event that is asked for, and the cursor of the next one; empty if there is none.
func (h *Handlers) findOrders(r *http.Request, s *seats.Sale, words string) (list []orders.Found, next string, more bool, err error) {
	look := orders.Search{Words: words}
	if look.Page, err = web.Page(r, ordersList, orders.SearchRows); err != nil {
		return nil, "", false, err
	}
	if look.Page.After.At, err = beforeTime(r, look.Page.After.At); err != nil {
		return nil, "", false, err
	}
	list, place, err := h.Orders.Search(r.Context(), s, look)
	return list, place.Cursor(ordersList), place != nil, err
}

// changedOrders reads a page of the orders of an event that changed since a time or a cursor. There is always a next one, to ask for later.
func (h *Handlers) changedOrders(r *http.Request, s *seats.Sale, words string) (list []orders.Found, next string, more bool, err error) {
	page, err := changesPage(r, changesList, orders.SearchRows)
	if err != nil {
		return nil, "", false, err
	}
	if words != "" {
		return nil, "", false, web.Invalid(text.Mark("q and updated_since do not go together."))
	}
	list, place, more, err := h.Orders.Changed(r.Context(), s, page)
	if errors.Is(err, paging.ErrAhead) {
		err = web.ErrCursor
	}
	return list, place.Cursor(changesList), more, err
}

// wantsChanges reports whether a request is for what changed: it has updated_since, or a cursor of such a list.
func wantsChanges(r *http.Request, list string) bool {
	_, on := paging.Read(list, r.URL.Query().Get("cursor"))
	return on || r.URL.Query().Has("updated_since")
}

// changesPage reads which part of what changed is asked for: since a time or after a cursor.
func changesPage(r *http.Request, list string, usual int) (page paging.Page, err error) {
	if page, err = web.Page(r, list, usual); err != nil || r.URL.Query().Get("cursor") != "" {
		return page, err
	}
	if page.After.At, err = time.Parse(time.RFC3339Nano, r.URL.Query().Get("updated_since")); err != nil {
		return page, web.Invalid(text.Mark("updated_since is not a time such as 2030-03-01T20:00:00Z."))
	}
	return page, nil
}

// beforeTime is the time of before, with which lists were read in pages at first; without it, the time of the cursor.
func beforeTime(r *http.Request, cursor time.Time) (time.Time, error) {
	before := r.URL.Query().Get("before")
	if before == "" || !cursor.IsZero() {
		return cursor, nil
	}
	at, err := time.Parse(time.RFC3339Nano, before)
	if err != nil {
		return cursor, web.Invalid(text.Mark("before is not a time such as 2030-03-01T20:00:00Z."))
	}
	return at, nil
}

func (h *Handlers) showOrders(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.OrdersPage) error {
	list, next, _, err := h.findOrders(r, s, p.Words)
	if err != nil {
		return err
	}
	p.Frame, p.Plan, p.Orders, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Orders")), s.Plan, list, seats.NewID().String()
	if next != "" {
		p.Older = url.Values{"q": {p.Words}, "cursor": {next}}.Encode()
	}
	return web.WritePage(w, r, status, desk.Orders(p))
}

// orderOf is the order of the address, if it is one of the event's.
func (h *Handlers) orderOf(r *http.Request, s *seats.Sale) (orders.Order, error) {
	order, err := h.Orders.Find(r.Context(), r.PathValue("code"))
	if err == nil && order.Event != s.Event.Slug {
		err = orders.ErrNoOrder
	}
	return order, err
}

// describeDeskOrder is an order as programs of its team read it.
func describeDeskOrder(s *seats.Sale, order orders.Order) web.OrderBody {
	b := web.DescribeOrder(s, order)
	b.FreeReason = order.Reason
	return b
}

// Order answers GET /desk/events/{slug}/orders/{code}
func (h *Handlers) Order(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	order, err := h.orderOf(r, s)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.OrderAnswer{Order: describeDeskOrder(s, order)})
	}
	return h.showOrder(w, r, m, s, order, http.StatusOK, desk.OrderPage{})
}

func (h *Handlers) showOrder(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, order orders.Order, status int, p desk.OrderPage) error {
	sent, err := h.Orders.LastMail(r.Context(), order.ID)
	if err != nil {
		return err
	}
	p.Frame, p.Order, p.Sent, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Order of %s", order.Name)), order, sent, seats.NewID().String()
	if p.EmailChanges, err = h.Orders.EmailChanges(r.Context(), order.ID); err != nil {
		return err
	}
	if p.Passages, err = h.Orders.Passages(r.Context(), order.ID); err != nil {
		return err
	}
	if p.Invoices, err = h.Server.Invoices.Of(r.Context(), order.Code); err != nil {
		return err
	}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}
	dates, err := h.otherDates(r, s)
	if err != nil {
		return err
	}
	for _, c := range dates {
		p.Dates = append(p.Dates, desk.OtherDate{Slug: c.Slug, Local: c.Local, Free: c.Free})
	}
	return web.WritePage(w, r, status, desk.Order(p))
}

// orderAct is something a member does with the order of the address.
type orderAct struct {
	what string // a verb in the past
	done string // what the page says then
	do   func(o orders.Order, form url.Values, tickets []seats.ID, key string, also seats.TxHook) error
}

// OnOrder makes a handler of something that is done with an order.
func (h *Handlers) OnOrder(act func(r *http.Request, m organizers.Member, s *seats.Sale) orderAct) func(http.ResponseWriter, *http.Request, organizers.Member, *seats.Sale) error {
	return func(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
		order, err := h.orderOf(r, s)
		if err != nil {
			return err
		}
		form, err := deskForm(r)
		if err != nil {
			return err
		}
		return h.doOrder(w, r, m, s, order, form, act(r, m, s))
	}
}

// doOrder does something with an order, and shows what it is then.
func (h *Handlers) doOrder(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, order orders.Order, form url.Values, a orderAct) error {
	tickets, err := ticketsOf(form)
	if err != nil {
		return err
	}
	key := deskKeyOf(r, form)
	details := url.Values{}
	for name, values := range form {
		if name != "key" {
			details[name] = values
		}
	}
	action := organizers.Action{Key: key, Form: []any{a.what, order.Code, details}, What: a.what, Subject: "events/" + s.Event.Slug + "/orders/" + order.Code, Detail: details}
	err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		return a.do(order, form, tickets, MemberKey(m, key), also)
	})
	if words, refused := deskRefused(r, err); refused {
		return h.showOrder(w, r, m, s, order, deskStatus(err), desk.OrderPage{Message: words, Form: form})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if order, err = h.orderOf(r, s); err != nil {
		return err
	}
	return deskWith(w, r, desk.OrderPath(s.Event.Slug, order.Code), a.done, http.StatusOK, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
}

func ticketsOf(form url.Values) (tickets []seats.ID, err error) {
	for _, ticket := range form["ticket"] {
		id, err := seats.ParseID(ticket)
		if err != nil {
			return nil, orders.ErrNoTicket
		}
		tickets = append(tickets, id)
	}
	return tickets, nil
}

// CancelOrder answers POST /desk/events/{slug}/orders/{code}/cancellations
func (h *Handlers) CancelOrder(r *http.Request, _ organizers.Member, s *seats.Sale) orderAct {
	return orderAct{text.Mark("cancelled tickets"), "cancelled", func(o orders.Order, form url.Values, tickets []seats.ID, _ string, also seats.TxHook) error {
		if len(tickets) == 0 && form.Get("all") == "" {
			return &seats.ValidationError{Message: text.Mark("No ticket was chosen. Nothing was cancelled.")}
		}
		return h.Orders.RevokeBy(r.Context(), s, o, orders.Revoking{Used: form.Get("used") != "", Override: form.Get("override") != "", Also: also}, tickets...)
	}}
}

// Refund answers POST /desk/events/{slug}/orders/{code}/refunds
func (h *Handlers) Refund(r *http.Request, _ organizers.Member, _ *seats.Sale) orderAct {
	return orderAct{text.Mark("gave back a part of what was paid"), "refunded", func(o orders.Order, form url.Values, _ []seats.ID, key string, also seats.TxHook) error {
		amount, err := pricing.ReadAmount(strings.TrimSpace(form.Get("amount")), o.Currency)
		if err != nil || amount <= 0 {
			return &seats.ValidationError{Message: text.Mark("Enter an amount, such as 10.00. Nothing was changed.")}
		}
		reason := strings.TrimSpace(form.Get("reason"))
		if reason == "" {
			reason = text.Mark("Refunded by the organizer.")
		}
		return h.Orders.RefundAnd(r.Context(), o, key, amount, reason, also)
	}}
}

// Move answers POST /desk/events/{slug}/orders/{code}/moves
func (h *Handlers) Move(r *http.Request, _ organizers.Member, s *seats.Sale) orderAct {
	return orderAct{text.Mark("moved tickets"), "moved", func(o orders.Order, form url.Values, tickets []seats.ID, key string, also seats.TxHook) error {
		to, err := sales.Pick(s, form.Get("to"))
		if err != nil {
			return err
		}
		return h.Orders.Move(r.Context(), s, o, orders.Moving{Key: key, Tickets: tickets, To: to}, also)
	}}
}

// Resend answers POST /desk/events/{slug}/orders/{code}/mails
func (h *Handlers) Resend(r *http.Request, _ organizers.Member, _ *seats.Sale) orderAct {
	return orderAct{text.Mark("sent the email again"), "sent", func(o orders.Order, _ url.Values, _ []seats.ID, key string, also seats.TxHook) error {
		return h.Orders.ResendAnd(r.Context(), o, key, also)
	}}
}

// Paid answers POST /desk/events/{slug}/orders/{code}/payments
func (h *Handlers) Paid(r *http.Request, m organizers.Member, _ *seats.Sale) orderAct {
	return orderAct{text.Mark("noted as paid"), "paid", func(o orders.Order, form url.Values, _ []seats.ID, _ string, also seats.TxHook) error {
		entry, err := h.tillEntry(r, m, o, form, false)
		if err != nil {
			return err
		}
		also = seats.Both(also, entry)
		_, _, err = h.Orders.MarkPaid(r.Context(), o.Code, also)
		return err
	}}
}

// ExtendDue answers POST /desk/events/{slug}/orders/{code}/due
func (h *Handlers) ExtendDue(r *http.Request, _ organizers.Member, s *seats.Sale) orderAct {
	return orderAct{text.Mark("gave more time to pay"), "extended", func(o orders.Order, form url.Values, _ []seats.ID, _ string, also seats.TxHook) error {
		until, err := momentOf(form.Get("until"), s.Event.Local(s.Event.StartsAt).Location())
		if err != nil {
			return &seats.ValidationError{Message: text.Mark("Enter a date and time, such as 2030-03-01 20:00. Nothing was changed.")}
		}
		err = h.Orders.ExtendDue(r.Context(), o.Code, until, also)
		if errors.Is(err, orders.ErrNotDue) {
			return &seats.ValidationError{Message: text.Mark("Choose a time in the future, for an order that is not paid yet. Nothing was changed.")}
		}
		return err
	}}
}

// PaidOut answers POST /desk/events/{slug}/orders/{code}/payouts
func (h *Handlers) PaidOut(r *http.Request, m organizers.Member, _ *seats.Sale) orderAct {
	return orderAct{text.Mark("noted as paid out"), "paidout", func(o orders.Order, form url.Values, _ []seats.ID, _ string, also seats.TxHook) error {
		entry, err := h.tillEntry(r, m, o, form, true)
		if err != nil {
			return err
		}
		also = seats.Both(seats.Both(also, entry), organizers.TellOwners(m, organizers.NoticeOrderPaidBack, o.Code))
		amount, _, err := h.Orders.Payments.PaidOut(r.Context(), o.Code, also)
		if err == nil && amount == 0 {
			return &seats.ValidationError{Message: text.Mark("This order has no refund to pay out by hand. Nothing was changed.")}
		}
		return err
	}}
}

// problemOf answers what no page of the desk shows by itself.
func (h *Handlers) problemOf(w http.ResponseWriter, r *http.Request, s *seats.Sale, err error) error {
	if refusal, is := asRefusal(err); is && web.WantsJSON(r) {
		if step := (*seats.StepError)(nil); errors.As(err, &step) {
			e := step.Sale.Event
			return web.WriteError(w, r, http.StatusConflict, web.ErrorBody{
				Code: refusal.Code, Event: e.Slug, Seats: web.Labels(step.Sale, refusal.Seats), Nearest: web.Labels(step.Sale, refusal.Nearest),
				// Translators: the name and the date of a performance, and why it refused.
				Message: text.T(r.Context(), "%[1]s, %[2]s: %[3]s", e.Name, views.WhenIn(r.Context(), e), refusal.In(r.Context())),
			})
		}
		return h.WriteRefusal(w, r, s, refusal)
	}
	return err
}
