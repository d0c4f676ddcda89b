package desk

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

type subscriptionBody struct {
	Slug         string           `json:"slug"`
	Name         string           `json:"name"`
	Currency     string           `json:"currency"`
	OpensAt      time.Time        `json:"opens_at"`
	ClosesAt     time.Time        `json:"closes_at"`
	Places       *int             `json:"places"` // how many seats it may sell; null: any number
	Sold         int              `json:"sold"`   // seats
	Subscribers  int              `json:"subscribers"`
	Paid         int64            `json:"paid"` // for all orders, refunds subtracted, minor units
	Performances []string         `json:"performances"`
	Prices       map[string]int64 `json:"prices"` // of a seat in all performances, by category, minor units
	Renewed      int              `json:"renewed"`
	KeepUntil    *time.Time       `json:"keep_until"` // until when seats are kept for subscribers of the season before; null: none are
}

func describeSubscription(l subscriptions.Listed) subscriptionBody {
	b := subscriptionBody{
		Slug: l.Slug, Name: l.Name, Currency: l.Currency, OpensAt: l.OpensAt.UTC(), ClosesAt: l.ClosesAt.UTC(), Places: l.Places, Sold: l.Sold,
		Subscribers: l.Subscribers, Paid: l.Paid, Prices: map[string]int64{},
	}
	if b.Renewed = l.Renewed; l.Renews != "" {
		until := l.KeepUntil.UTC()
		b.KeepUntil = &until
	}
	for _, p := range l.Performances {
		b.Performances = append(b.Performances, p.Slug)
	}
	for _, key := range l.Categories() {
		b.Prices[key], _ = l.Price(key)
	}
	return b
}

// Subscriptions answers GET /desk/subscriptions
func (h *Handlers) Subscriptions(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.Server.Subscriptions.List(r.Context(), m)
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, http.StatusOK, desk.Subscriptions(desk.SubscriptionsPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Subscriptions")), List: list}))
	}
	answer := struct {
		Subscriptions []subscriptionBody `json:"subscriptions"`
	}{[]subscriptionBody{}}
	for _, l := range list {
		answer.Subscriptions = append(answer.Subscriptions, describeSubscription(l))
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// NewSubscription answers GET /desk/subscriptions/new: with performance= it asks for the rest, and without it, or with choose=, for performances. series=
// marks those of a series.
func (h *Handlers) NewSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked := r.URL.Query()
	p := desk.NewSubscriptionPage{Marked: asked["performance"], Form: url.Values{}}
	if len(p.Marked) > 0 && len(p.Marked) < subscriptions.LeastPerformances || len(p.Marked) > subscriptions.MostPerformances {
		p.Mistakes = organizers.Mistakes{subscriptions.WrongNumber()}
		return h.showNewSubscription(w, r, m, http.StatusUnprocessableEntity, p)
	}
	if len(p.Marked) > 0 && !asked.Has("choose") {
		choice, err := h.Server.Subscriptions.Chosen(r.Context(), m, p.Marked)
		if err != nil {
			return err
		}
		p.Choice = &choice
	}
	return h.showNewSubscription(w, r, m, http.StatusOK, p)
}

func (h *Handlers) showNewSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.NewSubscriptionPage) error {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "New subscription"))
	p.Path = desk.SubscriptionsPath
	if p.Choice != nil {
		var err error
		if p.Before, err = h.Server.Subscriptions.List(r.Context(), m); err != nil {
			return err
		}
	}
	if p.Choice == nil {
		if err := h.choices(r, m, &p); err != nil {
			return err
		}
	}
	return web.WritePage(w, r, status, desk.NewSubscription(p))
}

// choices lists the performances that a member may choose.
func (h *Handlers) choices(r *http.Request, m organizers.Member, p *desk.NewSubscriptionPage) error {
	series := r.URL.Query().Get("series")
	list, err := h.Overview.First(r.Context(), m, overview.Filter{Show: overview.Coming, Series: series}, overview.MostOffered)
	if err != nil {
		return err
	}
	for _, l := range list {
		if l.Status == seats.Cancelled || !l.StartsAt.After(h.Hub.Now()) {
			continue
		}
		if p.Performances = append(p.Performances, l.Event); series != "" && !r.URL.Query().Has("choose") && len(p.Marked) < subscriptions.MostPerformances {
			p.Marked = append(p.Marked, l.Slug)
		}
	}
	return nil
}

// DefineSubscription answers POST /desk/subscriptions
func (h *Handlers) DefineSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if !web.IsForm(r) {
		return h.defineByProgram(w, r, m)
	}
	if err := web.ParseForm(r); err != nil {
		return err
	}
	choice, err := h.Server.Subscriptions.Chosen(r.Context(), m, r.PostForm["performance"])
	if err != nil {
		return err
	}
	p := desk.NewSubscriptionPage{Marked: r.PostForm["performance"], Form: r.PostForm}
	if len(choice.Events) == 0 {
		p.Mistakes = organizers.Mistakes{subscriptions.WrongNumber()}
		return h.showNewSubscription(w, r, m, http.StatusUnprocessableEntity, p)
	}
	f, wrong := subscriptionForm(r.PostForm, choice)
	slug := ""
	if wrong == nil {
		slug, err = h.Server.Subscriptions.Define(r.Context(), m, f, deskKeyOf(r, r.PostForm))
	}
	if p.Choice = &choice; wrong != nil || errors.As(err, &wrong) {
		p.Mistakes = wrong
		if web.WantsJSON(r) {
			return wrong
		}
		return h.showNewSubscription(w, r, m, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return h.definedSubscription(w, r, slug)
}

func (h *Handlers) definedSubscription(w http.ResponseWriter, r *http.Request, slug string) error {
	w.Header().Set("Location", shop.SubscriptionPath(slug))
	return deskWith(w, r, desk.SubscriptionPath(slug), "subscription", http.StatusCreated, struct {
		Slug string `json:"slug"`
	}{slug})
}

// subscriptionForm reads the form of a page. Times are those of the first performance.
func subscriptionForm(f url.Values, c subscriptions.Choice) (s subscriptions.Form, wrong organizers.Mistakes) {
	s = subscriptions.Form{Name: f.Get(subscriptions.FieldName), Events: f["performance"], Prices: map[string]int64{}}
	for _, of := range c.Categories {
		typed := strings.TrimSpace(f.Get(desk.FieldPrice(of.Key)))
		if typed == "" {
			continue
		}
		price, err := pricing.ReadAmount(typed, c.Events[0].Currency)
		if unreadable := (*seats.ValidationError)(nil); errors.As(err, &unreadable) {
			wrong = append(wrong, organizers.Mistake{Field: desk.FieldPrice(of.Key), Message: unreadable.Message, Args: unreadable.Args})
		}
		s.Prices[of.Key] = price
	}
	var more organizers.Mistakes
	s.OpensAt, more = subscriptionTime(f, subscriptions.FieldOpens, c.Events[0])
	wrong = append(wrong, more...)
	s.ClosesAt, more = subscriptionTime(f, subscriptions.FieldCloses, c.Events[0])
	s.Places = subscriptionPlaces(f)
	if s.Renews = f.Get(subscriptions.FieldRenews); s.Renews != "" {
		wrong = append(wrong, more...)
		s.KeepUntil, more = subscriptionTime(f, subscriptions.FieldKeep, c.Events[0])
	}
	return s, append(wrong, more...)
}

func subscriptionTime(f url.Values, field string, e seats.Event) (t time.Time, wrong organizers.Mistakes) {
	typed := strings.TrimSpace(f.Get(field))
	if typed == "" {
		return t, nil
	}
	t, err := momentOf(typed, e.Local(e.StartsAt).Location())
	if err != nil {
		return t, organizers.Mistakes{{Field: field, Message: text.Mark("Enter a time such as %s."), Args: []any{"2030-03-01 10:00"}}}
	}
	return t, nil
}

func subscriptionPlaces(f url.Values) *int {
	typed := strings.TrimSpace(f.Get(subscriptions.FieldPlaces))
	if typed == "" {
		return nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		n = 0 // refused as no number of places
	}
	return &n
}

// defineByProgram reads what a program sends.
func (h *Handlers) defineByProgram(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	var asked struct {
		Name         string           `json:"name"`
		Performances []string         `json:"performances"`
		Prices       map[string]int64 `json:"prices"`
		Places       *int             `json:"places"`
		OpensAt      time.Time        `json:"opens_at"`
		ClosesAt     time.Time        `json:"closes_at"`
		Renews       string           `json:"renews"` // slug of the subscription whose subscribers' seats are kept
		KeepUntil    time.Time        `json:"keep_until"`
		Key          string           `json:"key"`
	}
	if err := web.DecodeBody(r, &asked); err != nil {
		return err
	}
	f := subscriptions.Form{Name: asked.Name, Events: asked.Performances, Prices: asked.Prices, Places: asked.Places, OpensAt: asked.OpensAt, ClosesAt: asked.ClosesAt, Renews: asked.Renews, KeepUntil: asked.KeepUntil}
	slug, err := h.Server.Subscriptions.Define(r.Context(), m, f, keyOf(r, asked.Key))
	if err != nil {
		return err
	}
	return h.definedSubscription(w, r, slug)
}

type subscriberBody struct {
	Name         string            `json:"name"`
	Email        string            `json:"email"`
	SubscribedAt time.Time         `json:"subscribed_at"`
	Seats        []string          `json:"seats"`
	Paid         int64             `json:"paid"`
	Orders       map[string]string `json:"orders"` // by event: the code
}

type renewalBody struct {
	Name    string   `json:"name"`
	Email   string   `json:"email"`
	Seats   []string `json:"seats"`  // that are kept, or were
	Missed  []string `json:"missed"` // that could not be
	Renewed bool     `json:"renewed"`
}

// Subscription answers GET /desk/subscriptions/{subscription}
func (h *Handlers) Subscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showSubscription(w, r, m, http.StatusOK, desk.SubscriptionPage{})
}

func (h *Handlers) showSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.SubscriptionPage) (err error) {
	if p.Listed, p.People, p.Renewals, err = h.Server.Subscriptions.Of(r.Context(), m, r.PathValue("subscription")); err != nil {
		return err
	}
	if p.House, err = h.Server.Subscriptions.House(r.Context(), p.Listed.Subscription); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		p.Frame = h.frame(w, r, m, p.Name)
		if p.Before, err = h.Server.Subscriptions.List(r.Context(), m); err != nil {
			return err
		}
		p.Before = slices.DeleteFunc(p.Before, func(l subscriptions.Listed) bool { return l.ID == p.ID })
		return web.WritePage(w, r, status, desk.Subscription(p))
	}
	answer := struct {
		Subscription subscriptionBody `json:"subscription"`
		Subscribers  []subscriberBody `json:"subscribers"`
		Renewals     []renewalBody    `json:"renewals"` // of subscribers of the season before
	}{describeSubscription(p.Listed), []subscriberBody{}, []renewalBody{}}
	for _, k := range p.Renewals {
		b := renewalBody{Name: k.Name, Email: k.Email, Seats: []string{}, Missed: k.Missed, Renewed: k.Renewed}
		for _, idx := range k.Seats {
			b.Seats = append(b.Seats, p.House.Sales[0].Plan.Label(idx))
		}
		answer.Renewals = append(answer.Renewals, b)
	}
	for _, one := range p.People {
		b := subscriberBody{Name: one.Name, Email: one.Email, SubscribedAt: one.SubscribedAt.UTC(), Orders: map[string]string{}}
		for _, idx := range one.Seats {
			b.Seats = append(b.Seats, p.House.Sales[0].Plan.Label(idx))
		}
		for _, o := range one.Orders {
			b.Orders[o.Event], b.Paid = o.Code, b.Paid+o.Paid
		}
		answer.Subscribers = append(answer.Subscribers, b)
	}
	return web.WriteJSON(w, status, answer)
}

// ChangeSubscription answers POST /desk/subscriptions/{subscription}: until when it is sold, and how many seats.
func (h *Handlers) ChangeSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	l, _, _, err := h.Server.Subscriptions.Of(r.Context(), m, r.PathValue("subscription"))
	if err != nil {
		return err
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	c := subscriptions.Change{ClosesAt: l.ClosesAt, Places: l.Places}
	first := seats.Event{TimeZone: l.ByTime()[0].TimeZone}
	closes, wrong := subscriptionTime(f, subscriptions.FieldCloses, first)
	if !closes.IsZero() {
		c.ClosesAt = closes
	}
	if f.Has(subscriptions.FieldPlaces) {
		c.Places = subscriptionPlaces(f)
	}
	if wrong == nil {
		err = h.Server.Subscriptions.Change(r.Context(), m, l.Slug, c, deskKeyOf(r, f))
	}
	if wrong != nil || errors.As(err, &wrong) {
		if web.WantsJSON(r) {
			return wrong
		}
		return h.showSubscription(w, r, m, http.StatusUnprocessableEntity, desk.SubscriptionPage{Form: f, Mistakes: wrong})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.SubscriptionPath(l.Slug), "set")
}

// RenewSubscription answers POST /desk/subscriptions/{subscription}/renewal: the seats of another subscription's subscribers are kept for them.
func (h *Handlers) RenewSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	l, _, _, err := h.Server.Subscriptions.Of(r.Context(), m, r.PathValue("subscription"))
	if err != nil {
		return err
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	until, wrong := subscriptionTime(f, subscriptions.FieldKeep, seats.Event{TimeZone: l.ByTime()[0].TimeZone})
	if wrong == nil {
		err = h.Server.Subscriptions.Renew(r.Context(), m, l.Slug, f.Get(subscriptions.FieldRenews), until, deskKeyOf(r, f))
	}
	if wrong != nil || errors.As(err, &wrong) {
		if web.WantsJSON(r) {
			return wrong
		}
		return h.showSubscription(w, r, m, http.StatusUnprocessableEntity, desk.SubscriptionPage{Form: f, Mistakes: wrong})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.SubscriptionPath(l.Slug), "renewal")
}
