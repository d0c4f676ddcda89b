package shop

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoSubscription = web.NewProblem(404, "link", text.Mark("This link unsubscribes no address."), web.NothingChanged, text.Mark("Open the newest email that we sent you, or write to the organizer."))

type unsubscribeBody struct {
	Team         string `json:"team"`
	Unsubscribed bool   `json:"unsubscribed"`
}

// AskUnsubscribe answers GET /unsubscribe/{order}
//
// Looking ends nothing: programs that read mail look at every address in it.
func (h *Handlers) AskUnsubscribe(w http.ResponseWriter, r *http.Request) error {
	id, err := seats.ParseID(r.PathValue("order"))
	if err != nil {
		return errNoSubscription
	}
	s, err := h.Automatic.Subscription(r.Context(), id)
	return h.showUnsubscribe(w, r, s, err)
}

// Unsubscribe answers POST /unsubscribe/{order}: at once, as programs for mail ask for (RFC 8058), and with again the way back.
func (h *Handlers) Unsubscribe(w http.ResponseWriter, r *http.Request) error {
	id, err := seats.ParseID(r.PathValue("order"))
	if err != nil {
		return errNoSubscription
	}
	again := false
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
		again = r.PostForm.Get("again") != ""
	}
	s, err := h.Automatic.Unsubscribe(r.Context(), id, again)
	return h.showUnsubscribe(w, r, s, err)
}

func (h *Handlers) showUnsubscribe(w http.ResponseWriter, r *http.Request, s letters.Subscription, err error) error {
	if errors.Is(err, letters.ErrNoLink) {
		return errNoSubscription
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, unsubscribeBody{s.TeamName, s.Unsubscribed})
	}
	return web.WritePage(w, r, http.StatusOK, shop.Unsubscribe(shop.UnsubscribePage{
		Page: views.Page{Title: text.T(r.Context(), "Unsubscribe"), Nonce: web.Nonce(w), Legal: h.Legal(r, s.Team), Branding: h.Branding(r, s.Team), Style: "account.css"}, Subscription: s, Path: r.URL.Path,
	}))
}
