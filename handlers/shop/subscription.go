package shop

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// subscriptionsPerNetwork is how often visitors of one network may choose seats of subscriptions within a minute.
const subscriptionsPerNetwork = 30

// house returns the subscription of the address, which names it, or is the link of a subscriber who may renew.
func (h *Handlers) house(r *http.Request) (s *subscriptions.House, err error) {
	if code := r.PathValue("code"); code != "" {
		s, err = h.Subscriptions.Renews(r.Context(), code)
	} else {
		var of subscriptions.Subscription
		if of, err = h.Subscriptions.Find(r.Context(), r.PathValue("slug")); err == nil {
			s, err = h.Subscriptions.House(r.Context(), of)
		}
	}
	if errors.Is(err, subscriptions.ErrNoSubscription) {
		return nil, web.ErrNoPage
	}
	if err != nil {
		return nil, err
	}
	if web.Elsewhere(r, s.Team) || !s.Announced() {
		return nil, web.ErrNoPage
	}
	return s, nil
}

// subscriberOf is for whom seats of a subscription are held: the visitor, or the one with the link.
func (h *Handlers) subscriberOf(r *http.Request, s *subscriptions.House) (visitor seats.ID, known bool) {
	if s.Renewal != nil {
		return seats.ID{}, true
	}
	return h.Visitor(r)
}

type subscriptionAnswer struct {
	Subscription subscriptionBody `json:"subscription"`
}

type subscriptionBody struct {
	Slug         string                `json:"slug"`
	Name         string                `json:"name"`
	Currency     string                `json:"currency"`
	OpensAt      time.Time             `json:"opens_at"`
	ClosesAt     time.Time             `json:"closes_at"`
	Left         *int                  `json:"left"` // seats that it may still sell; null: any number
	Performances []subscriptionEvent   `json:"performances"`
	Prices       map[string]int64      `json:"prices"`    // of a seat in all performances, by category, minor units
	Available    []string              `json:"available"` // labels of the seats that are available in all performances
	Hold         *subscriptionHoldBody `json:"hold"`      // of this visitor; null: none
}

type subscriptionEvent struct {
	Event    string    `json:"event"`
	StartsAt time.Time `json:"starts_at"`
}

type subscriptionHoldBody struct {
	Seats     []string  `json:"seats"`
	ExpiresAt time.Time `json:"expires_at"` // when the first of the holds ends
	Total     int64     `json:"total"`

	ExtensionsLeft int `json:"extensions_left"` // of the performance with the fewest
}

func describeSubscription(p shop.SubscriptionPage) subscriptionAnswer {
	s := p.House
	b := subscriptionBody{Slug: s.Slug, Name: s.Name, Currency: s.Currency, OpensAt: s.OpensAt.UTC(), ClosesAt: s.ClosesAt.UTC(), Prices: map[string]int64{}, Available: []string{}}
	if left := s.Left(); left >= 0 {
		b.Left = &left
	}
	for _, sale := range s.Sales {
		b.Performances = append(b.Performances, subscriptionEvent{sale.Event.Slug, sale.Event.StartsAt.UTC()})
	}
	for _, c := range s.First.Plan.Categories {
		if price, sold := s.Price(c.Key); sold {
			b.Prices[c.Key] = price
		}
	}
	for idx, state := range p.States {
		if state == seats.Free {
			b.Available = append(b.Available, s.First.Plan.Label(idx))
		}
	}
	if p.Basket != nil {
		b.Hold = &subscriptionHoldBody{Seats: []string{}, ExpiresAt: p.Basket.ExpiresAt.UTC(), Total: p.Basket.Total, ExtensionsLeft: p.Basket.ExtensionsLeft}
		for _, idx := range p.Basket.Seats {
			b.Hold.Seats = append(b.Hold.Seats, s.First.Plan.Label(idx))
		}
	}
	return subscriptionAnswer{b}
}

// Subscription answers GET /subscriptions/{slug}
func (h *Handlers) Subscription(w http.ResponseWriter, r *http.Request) error {
	s, err := h.house(r)
	if err != nil {
		return err
	}
	return h.showSubscription(w, r, s, http.StatusOK, lostSeats(r))
}

// lostSeats says that others took the seats of a hold that expired, if the script of the page saw that.
func lostSeats(r *http.Request) string {
	if !r.URL.Query().Has("lost") {
		return ""
	}
	return text.T(r.Context(), "Your hold expired, and someone else took some of these seats. You haven’t paid anything.")
}

func (h *Handlers) showSubscription(w http.ResponseWriter, r *http.Request, s *subscriptions.House, status int, message string) error {
	p, err := h.subscriptionPage(w, r, s)
	if err != nil {
		return err
	}
	p.Message = message
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeSubscription(p))
	}
	p.Section = number(r.FormValue("section"))
	for _, label := range r.Form["seat"] { // of a choice that was not held, see challengedSubscription
		if idx, there := s.First.Seat(label); there {
			p.Chosen = append(p.Chosen, idx)
		}
	}
	if p.Section < 0 || p.Section >= len(s.First.Plan.Sections) {
		p.Section = 0
	}
	return web.WritePage(w, r, status, shop.Subscription(p))
}

// subscriptionPage is what all pages of a subscription know.
func (h *Handlers) subscriptionPage(w http.ResponseWriter, r *http.Request, s *subscriptions.House) (p shop.SubscriptionPage, err error) {
	p = shop.SubscriptionPage{House: s, States: s.States(), Key: seats.NewID().String()}
	p.Page = views.Page{Title: s.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Team), Branding: h.Branding(r, s.Team), Style: "account.css subscription.css"}
	visitor, known := h.subscriberOf(r, s)
	if !known {
		return p, nil
	}
	b, err := h.Subscriptions.Basket(r.Context(), s, visitor)
	switch {
	case err == nil:
		p.Basket = &b
		if s.Renewal == nil {
			p.Script = "subscription.js"
			err = h.RenewFor(w, r, s.First, s.Holder(visitor))
		}
		return p, err
	case !errors.Is(err, seats.ErrNoHold):
		return p, err
	}
	return p, nil
}

// subscriptionSeats reads the seats of a form or of a program.
func subscriptionSeats(r *http.Request, s *subscriptions.House) (idxs []int, err error) {
	var asked struct {
		Seats []string `json:"seats"`
	}
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return nil, err
		}
		asked.Seats = r.PostForm["seat"]
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return nil, err
	}
	for _, label := range asked.Seats {
		idx, there := s.First.Seat(label)
		if !there {
			return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("A seat that you chose is not in this subscription. Choose another.")}
		}
		idxs = append(idxs, idx)
	}
	return idxs, nil
}

// HoldSubscription answers POST /subscriptions/{slug}/holds: these seats in all performances, in place of those held before; none releases all.
func (h *Handlers) HoldSubscription(w http.ResponseWriter, r *http.Request) error {
	s, err := h.house(r)
	if err != nil {
		return err
	}
	idxs, err := subscriptionSeats(r, s)
	if err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsSubscriptions, subscriptionsPerNetwork) {
		return errTooFast
	}
	b, err := h.choose(w, r, s, idxs)
	if errors.Is(err, errChallenge) {
		return h.challengedSubscription(w, r, s, idxs)
	}
	if message := h.refusedSubscription(r, err); message != "" && !web.WantsJSON(r) {
		return h.showSubscription(w, r, s, http.StatusConflict, message)
	}
	none := errors.Is(err, seats.ErrNoHold) && len(idxs) == 0
	if err != nil && !none {
		return err
	}
	if web.WantsJSON(r) {
		p := shop.SubscriptionPage{House: s, States: s.States()}
		if !none {
			p.Basket = &b
		}
		return web.WriteJSON(w, http.StatusCreated, describeSubscription(p))
	}
	to := shop.SubscriptionOf(s)
	if section := r.PostForm.Get("section"); section != "" {
		to += "?section=" + strconv.Itoa(number(section))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// choose has a visitor hold these seats in all performances. Seats that they do not hold yet count in each performance, as those of a claim
// there. errTooFast, errCrowd and errChallenge as of admitClaim.
func (h *Handlers) choose(w http.ResponseWriter, r *http.Request, s *subscriptions.House, idxs []int) (b subscriptions.Basket, err error) {
	if s.Renewal != nil { // who has the link adds no seats
		return h.Subscriptions.Choose(r.Context(), s, seats.ID{}, idxs)
	}
	visitor, known := h.Holder(r)
	if !known {
		visitor = h.NewHolder(w, r, s.First)
	}
	had, err := h.Subscriptions.Basket(r.Context(), s, visitor)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return b, err
	}
	var admitted []*admission
	if n := had.Adds(idxs); n > 0 {
		if admitted, err = h.admitSubscription(w, r, s, visitor, known, n); err != nil {
			return b, err
		}
		if !known { // only now: a session with a holder could claim elsewhere
			err = h.keepHolder(w, r, visitor)
		}
	}
	defer func() {
		for _, a := range admitted {
			a.end(nil)
		}
	}()
	if err == nil {
		b, err = h.Subscriptions.Choose(r.Context(), s, visitor, idxs)
	}
	if err != nil && !(errors.Is(err, seats.ErrNoHold) && len(idxs) == 0) {
		for _, a := range admitted {
			a.end(err)
		}
		if step := (*seats.StepError)(nil); errors.As(err, &step) {
			if refusal, is := errors.AsType[*seats.Conflict](err); is {
				h.Sales.Refused(step.Sale.Event.ID, refusal.Code)
			}
		}
		return b, err
	}
	for i, sale := range s.Sales {
		if len(admitted) == 0 {
			h.Limits.Of(sale).Released(s.Holder(visitor), len(b.Seats))
		} else {
			admitted[i].granted(len(b.Seats))
		}
	}
	return b, err
}

// admitSubscription admits the claim of n seats in each performance, or in none. The pass of the first one is good for all.
func (h *Handlers) admitSubscription(w http.ResponseWriter, r *http.Request, s *subscriptions.House, visitor seats.ID, known bool, n int) (admitted []*admission, err error) {
	for _, sale := range s.Sales {
		a, err := h.admitWith(w, r, sale, s.First, visitor, known, n, &admission{holder: s.Holder(visitor)})
		if err != nil {
			for _, a := range admitted {
				a.giveBack()
			}
			return nil, err
		}
		admitted = append(admitted, a)
	}
	return admitted, nil
}

// keepHolder stores the session of a visitor who had no holder. The holds of a subscription are of several events, and none of them writes it.
func (h *Handlers) keepHolder(w http.ResponseWriter, r *http.Request, visitor seats.ID) error {
	h.Sessions.Put(r.Context(), web.HolderKey, visitor.String())
	token, end, err := h.Sessions.Commit(r.Context())
	if err != nil {
		return err
	}
	h.Sessions.WriteSessionCookie(r.Context(), w, token, end)
	return nil
}

// challengedSubscription leads a visitor who needs a pass to the work, and back to the page with what they chose.
func (h *Handlers) challengedSubscription(w http.ResponseWriter, r *http.Request, s *subscriptions.House, idxs []int) error {
	back := url.Values{"section": {strconv.Itoa(number(r.FormValue("section")))}}
	for _, idx := range idxs {
		back.Add("seat", s.First.Plan.Label(idx))
	}
	return h.challenged(w, r, s.First, shop.SubscriptionPath(s.Slug)+"?"+back.Encode()+"#rows")
}

// ExtendSubscription answers POST /subscriptions/{slug}/hold/extension: more time in all performances, or in none. The button of the checkout sends
// what was typed along, and the page keeps it.
func (h *Handlers) ExtendSubscription(w http.ResponseWriter, r *http.Request) error {
	s, err := h.house(r)
	if err != nil {
		return err
	}
	key, err := web.KeyOf(r)
	if err != nil {
		return err
	}
	checkout := r.PostForm.Has("total")
	p := shop.SubscriptionPage{}
	if checkout {
		asked, err := decodeSubscriptionOrder(r)
		if err != nil {
			return err
		}
		p.Form = asked.form()
	}
	visitor, known := h.Visitor(r)
	if !known {
		return web.ErrNoHold
	}
	b, err := h.Subscriptions.Extend(r.Context(), s, visitor, key)
	status := http.StatusOK
	if p.Message = h.refusedSubscription(r, err); p.Message != "" && !web.WantsJSON(r) {
		status, err = http.StatusConflict, nil
	}
	switch {
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, status, describeSubscription(shop.SubscriptionPage{House: s, States: s.States(), Basket: &b}))
	case checkout:
		return h.showSubscriptionCheckout(w, r, s, status, p)
	case p.Message != "":
		return h.showSubscription(w, r, s, status, p.Message)
	}
	http.Redirect(w, r, shop.SubscriptionOf(s), http.StatusSeeOther)
	return nil
}

func number(typed string) int {
	n, _ := strconv.Atoi(typed) // anything else is the first
	return n
}

// refusedSubscription says why a performance, or the subscription, refused all; empty for other errors.
func (h *Handlers) refusedSubscription(r *http.Request, err error) string {
	refusal := (*seats.Conflict)(nil)
	if !errors.As(err, &refusal) {
		return ""
	}
	words := refusal.In(h.Reading(r))
	if step := (*seats.StepError)(nil); errors.As(err, &step) {
		e := step.Sale.Event
		// Translators: the name and the date of a performance, and why it refused.
		return text.T(r.Context(), "%[1]s, %[2]s: %[3]s", e.Name, views.WhenIn(r.Context(), e), words)
	}
	return words
}

// SubscriptionCheckout answers GET /subscriptions/{slug}/checkout
func (h *Handlers) SubscriptionCheckout(w http.ResponseWriter, r *http.Request) error {
	s, err := h.house(r)
	if err != nil {
		return err
	}
	return h.showSubscriptionCheckout(w, r, s, http.StatusOK, shop.SubscriptionPage{Message: lostSeats(r)})
}

func (h *Handlers) showSubscriptionCheckout(w http.ResponseWriter, r *http.Request, s *subscriptions.House, status int, with shop.SubscriptionPage) error {
	p, err := h.subscriptionPage(w, r, s)
	if err != nil {
		return err
	}
	if s.Renewal != nil && with.Form.Email == "" {
		with.Form.Name, with.Form.Email = s.Renewal.Name, s.Renewal.Email
	}
	if err := h.fillDetails(r, &with.Form, with.Mistakes); err != nil {
		return err
	}
	p.Form, p.Mistakes, p.Message, p.Style, p.Checkout = with.Form, with.Mistakes, with.Message, p.Style+" order.css", true
	if p.Basket != nil {
		visitor, _ := h.Visitor(r)
		if p.Methods, err = h.subscriptionMethods(r, s, *p.Basket); err != nil {
			return err
		}
		paid, err := h.Orders.Payments.FindByHold(r.Context(), s.Holder(visitor), p.Basket.Holds[0].ID)
		switch {
		case err == nil && !paid.Over() && !paid.Done():
			p.Payment = &paid
		case err != nil && !errors.Is(err, payments.ErrNoPayment):
			return err
		}
	}
	if p.Terms, err = h.Pages.TermsOf(r.Context(), s.Team); err != nil {
		return err
	}
	return web.WritePage(w, r, status, shop.SubscriptionCheckout(p))
}

// subscriptionMethods lists how a visitor may pay: with credit only if it is enough.
func (h *Handlers) subscriptionMethods(r *http.Request, s *subscriptions.House, b subscriptions.Basket) (methods []string, err error) {
	methods = h.Subscriptions.Methods(s, b)
	i, credit := slices.Index(methods, payments.Credit), int64(0)
	if i < 0 {
		return methods, nil
	}
	if account := h.account(r); account != "" {
		if credit, err = h.Credit.Balance(r.Context(), account, s.Currency); err != nil {
			return nil, err
		}
	}
	if credit < b.Total {
		methods = slices.Delete(methods, i, i+1)
	}
	return methods, nil
}

// subscriptionOrder is an order of a subscription as programs send it, and forms with the same names.
type subscriptionOrder struct {
	Seats  []string `json:"seats"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Method string   `json:"method"`
	Terms  int      `json:"terms"` // the version that was accepted
	Total  int64    `json:"total"` // as it was shown, minor units: another total is refused
}

// form is what was typed.
func (o subscriptionOrder) form() orders.Form {
	return orders.Form{Name: o.Name, Email: o.Email, Method: o.Method, Terms: o.Terms}
}

func decodeSubscriptionOrder(r *http.Request) (o subscriptionOrder, err error) {
	if !web.IsForm(r) {
		return o, web.DecodeBody(r, &o)
	}
	if err := web.ParseForm(r); err != nil {
		return o, err
	}
	f := r.PostForm
	o = subscriptionOrder{Seats: f["seat"], Name: f.Get("name"), Email: f.Get("email"), Method: f.Get("method"), Terms: number(f.Get("terms"))}
	o.Total, err = strconv.ParseInt(f.Get("total"), 10, 64)
	if err != nil {
		return o, web.ErrNoTotal
	}
	return o, nil
}

// OrderSubscription answers POST /subscriptions/{slug}/orders
func (h *Handlers) OrderSubscription(w http.ResponseWriter, r *http.Request) error {
	s, err := h.house(r)
	if err != nil {
		return err
	}
	asked, err := decodeSubscriptionOrder(r)
	if err != nil {
		return err
	}
	visitor, known := h.subscriberOf(r, s)
	if !known {
		return web.ErrNoHold
	}
	if h.Hurried(w, r, web.CountsSubscriptions, subscriptionsPerNetwork) {
		return errTooFast
	}
	p := shop.SubscriptionPage{Form: asked.form()}
	b, err := h.Subscriptions.Basket(r.Context(), s, visitor)
	if err == nil && (!slices.Equal(labelsOf(s, b), slices.Sorted(slices.Values(asked.Seats))) || b.Total != asked.Total) {
		err = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Your seats changed since this page was shown. Nothing was sold. Check your seats, then confirm.")}
	}
	if errors.Is(err, seats.ErrNoHold) { // the same form again
		var code string
		if code, err = h.ordered(r, s, visitor, p.Form); err == nil {
			return h.subscribed(w, r, shop.OrderPath(code))
		}
	}
	to := ""
	if err == nil {
		to, err = h.orderSubscription(r, s, visitor, b, p.Form)
	}
	if message := h.refusedSubscription(r, err); message != "" && !web.WantsJSON(r) {
		p.Message = message
		return h.showSubscriptionCheckout(w, r, s, http.StatusConflict, p)
	}
	if errors.As(err, &p.Mistakes) && !web.WantsJSON(r) {
		return h.showSubscriptionCheckout(w, r, s, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return h.subscribed(w, r, to)
}

// ordered returns the code of the order that the same form made before; web.ErrNoHold if none did.
func (h *Handlers) ordered(r *http.Request, s *subscriptions.House, visitor seats.ID, f orders.Form) (code string, err error) {
	if code, err = h.Orders.Made(r.Context(), s.First.Event.ID, s.Holder(visitor)); err != nil {
		return "", err
	}
	if code == "" {
		return "", web.ErrNoHold
	}
	made, err := h.Orders.Find(r.Context(), code)
	if err != nil {
		return "", err
	}
	if made.Name != strings.Join(strings.Fields(f.Name), " ") || !strings.EqualFold(made.Email, strings.TrimSpace(f.Email)) {
		return "", &seats.Conflict{Code: orders.CodeKey, Message: text.Mark("These seats were ordered a moment ago with other details. That order holds; nothing else was sold. Look at the mail about it.")}
	}
	return code, nil
}

// labelsOf are the labels of what a visitor holds, in their order.
func labelsOf(s *subscriptions.House, b subscriptions.Basket) (labels []string) {
	for _, idx := range b.Seats {
		labels = append(labels, s.First.Plan.Label(idx))
	}
	slices.Sort(labels)
	return labels
}

// orderSubscription orders what a visitor holds, or begins its payment. It returns the page that says so.
func (h *Handlers) orderSubscription(r *http.Request, s *subscriptions.House, visitor seats.ID, b subscriptions.Basket, form orders.Form) (to string, err error) {
	if form.InForce, err = h.Pages.TermsOf(r.Context(), s.Team); err != nil {
		return "", err
	}
	form.Language = text.Tag(r.Context())
	form.Account = h.account(r)
	form.Verified = cmp.Or(form.Account, h.Sessions.GetString(r.Context(), verifiedKey))
	if s.Renewal != nil { // the link was mailed to them
		form.Verified = s.Renewal.Email
	}
	h.limitOrder(r, s.First, visitor, &form)
	defer func() {
		if err == nil {
			for _, sale := range s.Sales {
				h.Limits.Of(sale).Ordered(len(b.Seats))
			}
		}
	}()
	if b.Total > 0 && payments.Ahead(form.Method) {
		p, err := h.Subscriptions.Pay(r.Context(), s, visitor, b, form)
		return shop.PaymentPath(p.Code), err
	}
	code, err := h.Subscriptions.Order(r.Context(), s, visitor, b, form)
	if errors.Is(err, orders.ErrUnconfirmed) {
		p, err := h.Subscriptions.Pay(r.Context(), s, visitor, b, form)
		return shop.PaymentPath(p.Code), err
	}
	return shop.OrderPath(code), err
}

// subscribed leads to the page of the order or the payment.
func (h *Handlers) subscribed(w http.ResponseWriter, r *http.Request, to string) error {
	if !web.WantsJSON(r) {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	w.Header().Set("Location", to)
	return web.WriteJSON(w, http.StatusCreated, struct {
		Page string `json:"page"` // of the order, or of the payment that is next
	}{to})
}
