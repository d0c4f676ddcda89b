package desk

import (
	"cmp"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/subscriptions"
)

type subscriptionBody struct {
	Slug         string           `json:"slug"`
	Name         string           `json:"name"`
	Currency     string           `json:"currency"`
	OpensAt      time.Time        `json:"opens_at"`
	ClosesAt     time.Time        `json:"closes_at"`
	Places       *int             `json:"places"` // how many seats it may sell; null: any number
	Sold         int              `json:"sold"`   // seats
	Performances []string         `json:"performances"`
	Prices       map[string]int64 `json:"prices"` // of a seat in all performances, by category, minor units
}

// Subscriptions answers GET /desk/subscriptions
func (h *Handlers) Subscriptions(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.Server.Subscriptions.List(r.Context(), m)
	if err != nil {
		return err
	}
	answer := struct {
		Subscriptions []subscriptionBody `json:"subscriptions"`
	}{[]subscriptionBody{}}
	for _, s := range list {
		b := subscriptionBody{Slug: s.Slug, Name: s.Name, Currency: s.Currency, OpensAt: s.OpensAt.UTC(), ClosesAt: s.ClosesAt.UTC(), Places: s.Places, Sold: s.Sold, Prices: map[string]int64{}}
		for _, p := range s.Performances {
			b.Performances = append(b.Performances, p.Slug)
			for category, price := range p.Prices {
				b.Prices[category] += price
			}
		}
		answer.Subscriptions = append(answer.Subscriptions, b)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// DefineSubscription answers POST /desk/subscriptions
func (h *Handlers) DefineSubscription(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	var asked struct {
		Name         string           `json:"name"`
		Performances []string         `json:"performances"`
		Prices       map[string]int64 `json:"prices"`
		Places       *int             `json:"places"`
		OpensAt      time.Time        `json:"opens_at"`
		ClosesAt     time.Time        `json:"closes_at"`
		Key          string           `json:"key"`
	}
	if err := web.DecodeBody(r, &asked); err != nil {
		return err
	}
	f := subscriptions.Form{Name: asked.Name, Events: asked.Performances, Prices: asked.Prices, Places: asked.Places, OpensAt: asked.OpensAt, ClosesAt: asked.ClosesAt}
	slug, err := h.Server.Subscriptions.Define(r.Context(), m, f, cmp.Or(r.Header.Get("Idempotency-Key"), asked.Key))
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/subscriptions/"+slug)
	return web.WriteJSON(w, http.StatusCreated, struct {
		Slug string `json:"slug"`
	}{slug})
}
