package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

func asRefusal(err error) (*seats.Conflict, bool) {
	var refusal *seats.Conflict
	return refusal, errors.As(err, &refusal)
}

// ListSeats answers GET /desk/events/{slug}/seats
func (h *Handlers) ListSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showSeats(w, r, m, s, http.StatusOK, desk.SeatsPage{Form: r.URL.Query()})
}

func (h *Handlers) showSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.SeatsPage) error {
	p.Frame, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Seats")), seats.NewID().String()
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot()}
	section, err := strconv.Atoi(p.Form.Get("section"))
	if err != nil || section < 0 || section >= len(s.Plan.Sections) {
		section = 0
	}
	p.Section = section
	at := s.Plan.Sections[section]
	if p.Blocked, err = h.Sales.Blocked(r.Context(), s, at.First, at.First+at.Count-1); err != nil {
		return err
	}
	if list, err := chosen(s, p.Form); err == nil && len(list) > 0 {
		if f, err := officeForm(s, p.Form, list); err == nil {
			p.Lines, p.Cost, _ = f.Quote(s) // what is wrong with it was said, or is once it is sold
		}
	}
	p.Methods, p.Script = orders.OfficeMethods(), "desk_seats.js"
	return web.WritePage(w, r, status, desk.Seats(p))
}

// chosen are the seats of a form: those that are marked, and those that are written.
func chosen(s *seats.Sale, form url.Values) ([]int, error) {
	list, err := sales.Pick(s, form.Get("seats"))
	if err != nil {
		return nil, err
	}
	for _, label := range form["seat"] {
		idx, ok := s.Seat(label)
		if !ok {
			return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no seat “%s”. Nothing was changed."), Args: []any{label}}
		}
		list = append(list, idx)
	}
	return list, nil
}

func sectionQuery(form url.Values) string {
	if section := form.Get("section"); section != "" {
		return "?section=" + url.QueryEscape(section)
	}
	return ""
}

// officeForm is the sale of these seats by a form. It names the ticket type of a seat by its idx or label, and that of the other seats once.
func officeForm(s *seats.Sale, form url.Values, list []int) (orders.OfficeForm, error) {
	f := orders.OfficeForm{Seats: list, Name: form.Get("name"), Email: form.Get("email"), Method: form.Get("method"), Code: form.Get("code")}
	if typed := form.Get("total"); typed != "" {
		total, err := strconv.ParseInt(typed, 10, 64)
		if err != nil {
			return f, web.Invalid(text.Mark("The total is a whole number of minor units."))
		}
		f.Total = &total
	}
	own := map[int]string{}
	for field := range form {
		label, is := strings.CutPrefix(field, shop.TypePrefix)
		if !is {
			continue
		}
		idx, err := strconv.Atoi(label)
		if err != nil {
			if idx, is = s.Seat(label); !is {
				return f, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no seat “%s”. Nothing was sold."), Args: []any{label}}
			}
		}
		own[idx] = form.Get(field)
	}
	for _, idx := range list {
		if key := cmp.Or(own[idx], form.Get("type")); key != "" {
			if f.Types == nil {
				f.Types = map[int]string{}
			}
			f.Types[idx] = key
		}
	}
	return f, nil
}

type quotedTicket struct {
	Seat  string `json:"seat"`
	Type  string `json:"type"`
	Price int64  `json:"price"`
}

// quoteSeats answers what a sale would cost, and sells nothing.
func (h *Handlers) quoteSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, form url.Values, f orders.OfficeForm) error {
	f, err := h.Orders.WithCode(r.Context(), s, f)
	var lines []seats.Line
	var cost pricing.Cost
	if err == nil {
		lines, cost, err = f.Quote(s)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSeats(w, r, m, s, deskStatus(err), desk.SeatsPage{Form: form, Message: words})
	}
	switch {
	case err != nil:
		return h.problemOf(w, r, s, err)
	case !web.WantsJSON(r):
		return h.showSeats(w, r, m, s, http.StatusOK, desk.SeatsPage{Form: form})
	}
	answer := struct {
		Currency string         `json:"currency"`
		Total    int64          `json:"total"`
		Discount int64          `json:"discount"`
		Tickets  []quotedTicket `json:"tickets"`
	}{s.Event.Currency, cost.Total, cost.Discount, []quotedTicket{}}
	for i, l := range lines {
		answer.Tickets = append(answer.Tickets, quotedTicket{s.Plan.Label(l.Seat), s.Prices.Types[l.Type].Key, cost.Lines[i].Cost()})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// SellSeats answers POST /desk/events/{slug}/sales, the box office.
func (h *Handlers) SellSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	code := ""
	list, err := chosen(s, form)
	var f orders.OfficeForm
	if err == nil {
		f, err = officeForm(s, form, list)
	}
	if err == nil && form.Get("update") != "" {
		return h.quoteSeats(w, r, m, s, form, f)
	}
	if err == nil {
		key := deskKeyOf(r, form)
		f.Key = MemberKey(m, key)
		act := organizers.Action{
			Key: key, Form: []any{"sell", s.Event.Slug, f, form.Get("paid_by")}, What: text.Mark("sold at the box office"), Subject: "events/" + s.Event.Slug + "/orders",
			Detail: map[string]any{"seats": web.Labels(s, list), "method": f.Method},
		}
		err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
			session, err := till.Selling(r.Context(), h.Organizers, m, s.Event.Currency, form.Get("paid_by"))
			if err != nil {
				return err
			}
			if session != 0 {
				f.Entry = till.OfSale(session, form.Get("paid_by"))
			}
			code, err = h.Orders.SellAtOffice(r.Context(), s, f, also)
			return err
		})
		if err == nil && code == "" { // the form came before: the order it made
			code, err = h.Orders.SellAtOffice(r.Context(), s, f, nil)
		}
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSeats(w, r, m, s, deskStatus(err), desk.SeatsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	order, err := h.Orders.Find(r.Context(), code)
	if err != nil {
		return err
	}
	to := desk.OrderPath(s.Event.Slug, code)
	if !m.May(organizers.Look) {
		to = shop.OrderPath(code) // the door has no page of orders
	}
	return deskWith(w, r, to, "sold", http.StatusCreated, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
}

type momentBody struct {
	Version int64     `json:"version"`
	At      time.Time `json:"at"`
	State   string    `json:"state"`
	Who     string    `json:"who,omitempty"`
	Order   string    `json:"order,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// Seat answers GET /desk/events/{slug}/seats/{idx}
func (h *Handlers) Seat(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	idx, err := strconv.Atoi(r.PathValue("idx"))
	if err != nil || idx < 0 || idx >= len(s.Plan.Seats) {
		return web.ErrSeatIndex
	}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // what is no number is after the newest
	list, back, err := h.Sales.Timeline(r.Context(), s, idx, before)
	if err != nil {
		return err
	}
	of, err := h.Orders.OfSeat(r.Context(), s.Event.ID, idx)
	if err != nil {
		return err
	}
	moments := desk.Moments(r.Context(), list, of)
	if web.WantsJSON(r) {
		answer := struct {
			Seat    string       `json:"seat"`
			Moments []momentBody `json:"moments"`
			Back    int64        `json:"back,omitempty"`
		}{s.Plan.Label(idx), []momentBody{}, back}
		for _, m := range moments {
			answer.Moments = append(answer.Moments, momentBody{m.Version, m.At.UTC(), m.State.String(), m.Who, m.Order, m.Reason})
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	page := desk.SeatPage{Frame: h.eventFrame(w, r, m, s, s.Plan.WordsIn(r.Context(), idx)), Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}, Idx: idx, Moments: moments, Back: back}
	return web.WritePage(w, r, http.StatusOK, desk.Seat(page))
}
