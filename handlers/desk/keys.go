package desk

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// APIKeys answers GET /desk/keys
func (h *Handlers) APIKeys(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showKeys(w, r, m, http.StatusOK, desk.KeysPage{})
}

func (h *Handlers) showKeys(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.KeysPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "API keys"))
	p.Path = desk.KeysPath
	if p.List, err = h.Organizers.APIKeys(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.Keys(p))
}

// NewAPIKey answers POST /desk/keys
//
// The page that answers has the key in it, once: no other page ever has.
func (h *Handlers) NewAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	key, err := h.Organizers.NewAPIKey(r.Context(), m, asked.Name, asked.Scopes, asked.Days, asked.Key)
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showKeys(w, r, m, http.StatusUnprocessableEntity, desk.KeysPage{Name: asked.Name, Scopes: asked.Scopes, Days: asked.Days, Mistakes: mistakes})
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, map[string]string{"key": key})
	case key == "": // a repeat of the form
		return deskDone(w, r, desk.KeysPath, "key")
	}
	return h.showKeys(w, r, m, http.StatusCreated, desk.KeysPage{New: key, NewName: asked.Name})
}

// RevokeAPIKey answers POST /desk/keys/{id}/revocation
func (h *Handlers) RevokeAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.Organizers.RevokeAPIKey(r.Context(), m, id, asked.Key); err != nil {
		return err
	}
	return deskDone(w, r, desk.KeysPath, "revoked")
}
