package shop

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Checkout answers GET /events/{slug}/checkout
//
// Any form that makes no order leads here, with ?told if there is something to say about it (tell).
func (h *Handlers) Checkout(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if web.WantsJSON(r) {
		return h.Hold(w, r, s)
	}
	holder, known := h.Holder(r)
	if !known {
		return web.ErrNoHold
	}
	told := r.URL.Query().Has("told")
	typed, err := h.Orders.Typed(r.Context(), s.Event.ID, holder, told)
	if err != nil {
		return err
	}
	hold, err := s.Hold(r.Context(), holder)
	nothing := errors.Is(err, seats.ErrNoHold)
	if err != nil && !nothing {
		return err
	}
	p, err := lostBefore(r, s, holder, hold)
	if err != nil {
		return err
	}
	told = told && typed.Told()
	if nothing && p.Message == "" && !told { // they came back by the browser's button
		code, err := h.Orders.Made(r.Context(), s.Event.ID, holder)
		if err != nil {
			return err
		}
		if code != "" {
			http.Redirect(w, r, shop.OrderPath(code), http.StatusSeeOther)
			return nil
		}
	}
	return h.showCheckout(w, r, s, withTyped(p, typed, told))
}

// withTyped puts what was typed before into the page of a checkout, and what was wrong with it.
func withTyped(p shop.CheckoutPage, typed orders.Typed, told bool) shop.CheckoutPage {
	was := p.Form
	p.Form = typed.Form
	if !told {
		p.Form.Hold, p.Form.Seats = was.Hold, was.Seats
		return p
	}
	p.Mistakes = typed.Mistakes
	if typed.Message != "" {
		p.Message, p.Nearest = typed.Message, typed.Nearest
	}
	return p
}

// lostBefore is what the page of a checkout says to who comes back after others took their seats, or some of them. Its
// message is empty if nothing was lost.
func lostBefore(r *http.Request, s *seats.Sale, holder seats.ID, hold seats.Hold) (p shop.CheckoutPage, err error) {
	id, had, err := s.Had(r.Context(), holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return p, err
	}
	gone := without(had, hold.Seats)
	if len(gone) == 0 {
		return p, nil
	}
	p.Message, p.Nearest = lost(r.Context(), s, gone)
	if len(hold.Seats) == 0 {
		p.Form.Hold, p.Form.Seats = id, had
	} else {
		p.Nearest = nearest(s, gone, hold.Seats)
	}
	return p, nil
}

// showCheckout writes the page of a checkout with what p knows besides the sale and the hold.
func (h *Handlers) showCheckout(w http.ResponseWriter, r *http.Request, s *seats.Sale, p shop.CheckoutPage) error {
	holder, known := h.Holder(r)
	if !known {
		return web.ErrNoHold
	}
	hold, err := s.Hold(r.Context(), holder)
	p.Page = views.Page{Title: text.T(r.Context(), "Checkout") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "buy.js", Style: "order.css"}
	p.Begun = h.begunExchange(r, s)
	if room := h.Rooms.Of(s.Event.ID); room != nil && r.URL.Query().Has("waits") {
		p.Room = shop.RoomPath(room.Slug)
	}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Hold: &hold, Key: seats.NewID().String(), Now: h.Hub.Now()}
	switch {
	case errors.Is(err, seats.ErrNoHold) && len(p.Form.Seats) > 0:
		if p.Hold = nil; p.Message == "" {
			p.Message, p.Nearest = lost(r.Context(), s, p.Form.Seats)
		}
		if err := h.showBilling(r, s, &p); err != nil {
			return err
		}
		return web.WritePage(w, r, http.StatusOK, shop.Checkout(p))
	case err != nil:
		return err
	}
	switch paid, err := h.Orders.Payments.FindByHold(r.Context(), holder, hold.ID); {
	case err == nil && !paid.Over() && !paid.Done():
		p.Payment = &paid
		if p.Form.Name == "" {
			if p.Form, err = orders.FormOf(paid); err != nil {
				return err
			}
		}
	case err != nil && !errors.Is(err, payments.ErrNoPayment):
		return err
	}
	if err := h.showBilling(r, s, &p); err != nil {
		return err
	}
	if err := h.showCode(r, s, &p); err != nil {
		return err
	}
	if p.Season, err = h.Subscriptions.Has(r.Context(), s.Event.ID); err != nil {
		return err
	}
	p.Extras, p.CanPay = p.Form.Extras(s.Event), len(h.Orders.Methods(s.Event, 1)) > 0
	p.From, p.Methods = p.CheckoutPath(), h.Orders.Methods(s.Event, p.Cost().Total)
	if p.Terms, err = h.Pages.TermsOf(r.Context(), s.Event.Team); err != nil {
		return err
	}
	if err := h.fillDetails(r, &p.Form, p.Mistakes); err != nil {
		return err
	}
	if err := h.offerCredit(r, s, &p); err != nil {
		return err
	}
	return web.WritePage(w, r, http.StatusOK, shop.Checkout(p))
}

// wanted is an order as programs send it, and forms with the same names.
type wanted struct {
	Hold   string   `json:"hold"`
	Seats  []string `json:"seats"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Born   string   `json:"born"`
	Method string   `json:"method"`
	Code   string   `json:"code"`   // of a discount
	Terms  int      `json:"terms"`  // the version that was accepted
	Credit int64    `json:"credit"` // minor units of the total that the credit of who is signed in pays

	Billing *orders.Billing `json:"billing"` // the company that the invoice is for

	Donation int64           `json:"donation"` // minor units
	Post     *orders.Address `json:"post"`     // where the tickets go by post

	Answers map[string]string `json:"answers"` // by number of the question, from 1

	Names map[string]string `json:"names"` // on the tickets, by the label of their seat

	Total *int64 `json:"total"` // as it was shown, minor units: another total is refused, and none if the order costs something
}

// Place answers POST /events/{slug}/orders
func (h *Handlers) Place(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	form, err := h.decodeOrder(r, s)
	if err != nil {
		return err
	}
	holder, known := h.Holder(r)
	if !known {
		return web.ErrNoHold
	}
	if err := h.withinAllocation(r, s, holder, form.Seats); err != nil {
		return err
	}
	if r.PostForm.Get("apply") != "" {
		return h.applyCode(w, r, s, holder, form)
	}
	if form.Found, err = h.limitCodes(w, r, s, form.Code); err != nil {
		return err
	}
	if r.PostForm.Get("extend") != "" {
		return h.extendCheckout(w, r, s, holder, form)
	}
	if r.PostForm.Get("check") != "" {
		return h.tell(w, r, s, holder, orders.Typed{Form: form})
	}
	if key := r.PostForm.Get("types"); key != "" {
		if len(typesOf(r.PostForm)) == 0 { // the event has one type: something else was chosen
			return h.tell(w, r, s, holder, orders.Typed{Form: form})
		}
		return h.setCheckoutTypes(w, r, s, holder, form, key, "")
	}
	if other, err := h.otherTypes(r, s, holder); err != nil {
		return err
	} else if other {
		return h.setCheckoutTypes(w, r, s, holder, form, r.PostForm.Get("key")+"-types", text.T(r.Context(), "The prices are those of the ticket types that you chose. Nothing was ordered. Check the new total, then order."))
	}
	if chosen := r.PostForm.Get("instead"); chosen != "" {
		return h.takeInstead(w, r, s, holder, form, chosen)
	}
	if form.InForce, err = h.Pages.TermsOf(r.Context(), s.Event.Team); err != nil {
		return err
	}
	if form.Seller, err = h.seller(r, s, form); err != nil {
		return err
	}
	form.Account = h.account(r)
	form.Verified = cmp.Or(form.Account, h.Sessions.GetString(r.Context(), verifiedKey))
	unseen := form.Total == nil && !web.IsForm(r) // a program did not say what it was shown
	if unseen || payments.Ahead(form.Method) {
		total, err := h.Orders.Total(r.Context(), s, holder, form)
		switch {
		case err != nil:
			return err
		case total > 0 && unseen:
			return web.ErrNoTotal
		case total > 0 && payments.Ahead(form.Method):
			return h.pay(w, r, s, holder, form)
		}
	}
	h.limitOrder(r, s, holder, &form)
	if form.Unpaid.PerNetwork > 0 && form.Verified == "" && h.Hurried(w, r, web.CountsOrders, web.OrdersPerNetwork) {
		return h.refuseOrder(w, r, s, holder, form, orders.ErrUnpaidNet) // a pass lets them through
	}
	code, err := h.Orders.Place(r.Context(), s, holder, form)
	if err == nil {
		h.Limits.Of(s).Ordered(len(form.Seats))
	}
	if errors.Is(err, orders.ErrUnconfirmed) {
		return h.pay(w, r, s, holder, form)
	}
	if err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	if left, err := s.Hold(r.Context(), holder); err == nil || errors.Is(err, seats.ErrNoHold) {
		h.tellMine(r, s, left)
	}
	if !web.WantsJSON(r) {
		http.Redirect(w, r, shop.OrderPath(code), http.StatusSeeOther)
		return nil
	}
	order, err := h.Orders.Find(r.Context(), code)
	if err != nil {
		return err
	}
	w.Header().Set("Location", h.At(r, shop.OrderPath(code)))
	return web.WriteJSON(w, http.StatusCreated, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
}

// refuseOrder says what is wrong: as JSON, or on the page of the checkout with everything that was typed.
func (h *Handlers) refuseOrder(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form, err error) error {
	if errors.Is(err, orders.ErrUnpaidNet) {
		if err := h.keepTyped(r, s, holder, form); err != nil {
			return err
		}
		return h.challenged(w, r, s, shop.Sale{Event: s.Event}.CheckoutPath())
	}
	typed := orders.Typed{Form: form}
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	if errors.As(err, &refusal) && refusal.Code == seats.CodeTaken && refusal.Nearest == nil {
		refusal.Nearest = nearest(s, refusal.Seats, without(form.Seats, refusal.Seats))
	}
	switch {
	case web.WantsJSON(r) && errors.As(err, &refusal):
		return h.refuse(w, r, s, refusal)
	case web.WantsJSON(r):
		return err
	case errors.Is(err, orders.ErrUnpaid):
		typed.Message = text.T(r.Context(), web.ErrUnpaid.What) + " " + text.T(r.Context(), web.ErrUnpaid.Next)
	case errors.As(err, &typed.Mistakes):
	case errors.As(err, &refusal):
		typed.Message, typed.Nearest = refusal.In(h.Reading(r)), refusal.Nearest
	case errors.As(err, &nonsense) && !nonsense.Unknown:
		typed.Message = nonsense.In(h.Reading(r))
	case errors.Is(err, seats.ErrNoHold):
		typed.Message, typed.Nearest = lost(r.Context(), s, form.Seats)
	default:
		return err
	}
	return h.tell(w, r, s, holder, typed)
}

// keepTyped keeps what a page sent until its visitor comes back to it.
func (h *Handlers) keepTyped(r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	if web.WantsJSON(r) {
		return nil
	}
	return h.Orders.KeepTyped(r.Context(), s.Event.ID, holder, orders.Typed{Form: form})
}

// tell leads to the page of the checkout, which shows what was typed and what there is to say about it. The answer to a
// form is no page itself: it could not be loaded again, nor come back to.
func (h *Handlers) tell(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, typed orders.Typed) error {
	if err := h.Orders.KeepTyped(r.Context(), s.Event.ID, holder, typed); err != nil {
		return err
	}
	at := shop.Sale{Event: s.Event}.CheckoutPath()
	if typed.Told() {
		at += "?told"
	}
	http.Redirect(w, r, at, http.StatusSeeOther)
	return nil
}

// extendCheckout gives the hold more time and keeps everything that was typed.
func (h *Handlers) extendCheckout(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	hold, err := s.Extend(r.Context(), holder, r.PostForm.Get("extend"))
	if err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	h.tellMine(r, s, hold)
	return h.tell(w, r, s, holder, orders.Typed{Form: form})
}

// otherTypes reports whether a checkout chose other ticket types than those that are held.
func (h *Handlers) otherTypes(r *http.Request, s *seats.Sale, holder seats.ID) (bool, error) {
	types := typesOf(r.PostForm)
	if len(types) == 0 {
		return false, nil
	}
	hold, err := s.Hold(r.Context(), holder)
	if errors.Is(err, seats.ErrNoHold) {
		return false, nil // the order is refused, or was placed before
	}
	return slices.ContainsFunc(hold.Lines, func(l seats.Line) bool {
		kind, asked := types[l.Seat]
		return asked && kind != s.Prices.Types[l.Type].Key
	}), err
}

// setCheckoutTypes gives the seats the ticket types that were chosen, and keeps everything that was typed. Its message is
// shown with the new prices; it may be empty.
func (h *Handlers) setCheckoutTypes(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form, key, message string) error {
	access, err := h.accessOf(w, r, s)
	if err != nil {
		return err
	}
	hold, err := s.SetTypes(r.Context(), holder, key, typesOf(r.PostForm), access)
	if err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	h.tellMine(r, s, hold)
	form.Total = nil
	return h.tell(w, r, s, holder, orders.Typed{Form: form, Message: message})
}

// decodeOrder reads an order from JSON or a form.
func (h *Handlers) decodeOrder(r *http.Request, s *seats.Sale) (form orders.Form, err error) {
	var asked wanted
	switch {
	case web.IsForm(r):
		if err := web.ParseForm(r); err != nil {
			return form, err
		}
		f := r.PostForm
		asked = wanted{
			Hold: f.Get("hold"), Seats: f["seat"], Name: f.Get("name"), Email: f.Get("email"), Born: f.Get("born"), Method: f.Get("method"), Code: f.Get("code"), Answers: map[string]string{}, Names: map[string]string{},
		}
		asked.Billing = typedBilling(f)
		asked.Donation, _ = strconv.ParseInt(f.Get(orders.FieldDonation), 10, 64) // anything else is none
		if f.Get(orders.FieldPost) != "" {
			asked.Post = &orders.Address{Street: f.Get(orders.FieldPostStreet), Postcode: f.Get(orders.FieldPostPostcode), City: f.Get(orders.FieldPostCity), Country: f.Get(orders.FieldPostCountry)}
		}
		asked.Credit, _ = strconv.ParseInt(f.Get("credit"), 10, 64) // anything else is none
		asked.Terms, _ = strconv.Atoi(f.Get("terms"))               // anything else is no version
		if text := f.Get("total"); text != "" {
			total, err := strconv.ParseInt(text, 10, 64)
			if err != nil || total < 0 {
				return form, web.ErrTotal
			}
			asked.Total = &total
		}
		for i := range s.Event.Questions {
			asked.Answers[strconv.Itoa(i+1)] = f.Get(orders.FieldAnswer(i + 1))
		}
		for _, label := range asked.Seats {
			if idx, ok := s.Seat(label); ok {
				asked.Names[label] = f.Get(orders.FieldTicketName(strconv.Itoa(idx)))
			}
		}
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return form, err
		}
		if err := web.DecodeJSON(body, &asked); err != nil {
			return form, err
		}
	default:
		return form, web.ErrMedia
	}
	form, err = asked.form(s)
	form.Language, _ = h.LanguageOf(r)
	form.SoldBy = web.SoldBy(r)
	return form, err
}

func (a wanted) form(s *seats.Sale) (orders.Form, error) {
	form := orders.Form{Name: a.Name, Email: a.Email, Born: a.Born, Method: a.Method, Terms: a.Terms, Code: a.Code, Credit: a.Credit, Billing: a.Billing, Donation: a.Donation, Post: a.Post, Answers: a.Answers, Total: a.Total}
	var err error
	if form.Hold, err = seats.ParseID(a.Hold); err != nil {
		return form, web.ErrHoldID
	}
	for _, label := range a.Seats {
		idx, ok := s.Seat(label)
		if !ok {
			return form, web.ErrSeatLabel
		}
		form.Seats = append(form.Seats, idx)
	}
	if len(a.Names) > 0 {
		form.Names = map[int]string{}
	}
	for label, name := range a.Names {
		idx, ok := s.Seat(label)
		if !ok {
			return form, web.ErrSeatLabel
		}
		form.Names[idx] = name
	}
	slices.Sort(form.Seats)
	form.Seats = slices.Compact(form.Seats)
	return form, nil
}
