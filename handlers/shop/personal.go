package shop

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoDataLink = web.NewProblem(404, "link", text.Mark("This link no longer works: it was used, it has expired, or we sent you a newer one."), web.NothingChanged, text.Mark("Request your data again."))

// PersonalData answers GET /personal-data
func (h *Handlers) PersonalData(w http.ResponseWriter, r *http.Request) error {
	return h.showPersonal(w, r, http.StatusOK, shop.PersonalPage{Key: rand.Text()})
}

func (h *Handlers) showPersonal(w http.ResponseWriter, r *http.Request, status int, p shop.PersonalPage) error {
	p.Page = views.Page{Title: text.T(r.Context(), "Your personal data"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "account.css"}
	return web.WritePage(w, r, status, shop.Personal(p))
}

// AskPersonalData answers POST /personal-data
//
// A mail goes out whether or not the address is known, so the answer does not reveal that.
func (h *Handlers) AskPersonalData(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsLinks, web.LinksPerNetwork) {
		return errTooFast
	}
	email, err := h.Credit.AskForData(h.Reading(r), asked.Email, asked.Key)
	if wrong := refusedAddress(err); wrong != nil && !web.WantsJSON(r) {
		wrong.TooOften(w)
		return h.showPersonal(w, r, wrong.Status, shop.PersonalPage{Email: asked.Email, Wrong: text.T(r.Context(), wrong.What) + " " + text.T(r.Context(), wrong.Next), Key: rand.Text()})
	} else if wrong != nil {
		return wrong
	}
	if err != nil {
		return err
	}
	h.Orders.WroteMail()
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, linkAnswer{email})
	}
	return h.showPersonal(w, r, http.StatusOK, shop.PersonalPage{Asked: email})
}

// PersonalLink answers GET /personal-data/{token}
//
// GET shows the address alone, as mail programs open every link. The buttons show the data.
func (h *Handlers) PersonalLink(w http.ResponseWriter, r *http.Request) error {
	email, err := h.Credit.DataAddress(r.Context(), r.PathValue("token"))
	if errors.Is(err, credit.ErrNoLink) {
		return errNoDataLink
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, linkAnswer{email})
	}
	return h.showPersonal(w, r, http.StatusOK, shop.PersonalPage{Token: r.PathValue("token"), Email: email, Key: rand.Text()})
}

// ExportPersonalData answers POST /personal-data/{token}
//
// It uses the link up. The page that did so goes on with the key of its form: who finds the link later sees nothing.
func (h *Handlers) ExportPersonalData(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(r); web.IsForm(r) && err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsLinks, web.LinksPerNetwork) {
		return errTooFast
	}
	key := r.PostForm.Get("key")
	email, err := h.Credit.OpenData(r.Context(), r.PathValue("token"), key)
	if errors.Is(err, credit.ErrNoLink) {
		return errNoDataLink
	}
	if err != nil {
		return err
	}
	records, err := h.Server.Privacy.ExportOwn(r.Context(), email)
	if err != nil {
		return err
	}
	written, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return err
	}
	switch as := r.PostForm.Get("as"); {
	case as == "pdf":
		return web.WritePerson(w, text.T(r.Context(), "Your personal data: %s", email), as, written)
	case as == "json" || web.WantsJSON(r):
		return web.WritePerson(w, "", "json", written)
	}
	return h.showPersonal(w, r, http.StatusOK, shop.PersonalPage{Token: r.PathValue("token"), Email: email, Key: key, Text: string(written)})
}
