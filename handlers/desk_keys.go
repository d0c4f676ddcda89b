package handlers

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// GET /desk/keys
func (h *Handlers) apiKeys(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showKeys(w, r, m, http.StatusOK, desk.KeysPage{})
}

func (h *Handlers) showKeys(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.KeysPage) (err error) {
	p.Frame = h.deskView(w, r, m, "Keys for programs")
	p.Path = desk.KeysPath
	if p.List, err = h.organizers.APIKeys(r.Context(), m); err != nil {
		return err
	}
	return writePage(w, r, status, desk.Keys(p))
}

// POST /desk/keys
//
// The page that answers has the key in it, once: no other page ever has.
func (h *Handlers) newAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	key, err := h.organizers.NewAPIKey(r.Context(), m, asked.Name, asked.Scopes, asked.Days, asked.Key)
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !wantsJSON(r):
		return h.showKeys(w, r, m, http.StatusUnprocessableEntity, desk.KeysPage{Name: asked.Name, Scopes: asked.Scopes, Days: asked.Days, Mistakes: mistakes})
	case err != nil:
		return err
	case wantsJSON(r):
		return writeJSON(w, http.StatusCreated, map[string]string{"key": key})
	case key == "": // a repeat of the form
		return deskDone(w, r, desk.KeysPath, "key")
	}
	return h.showKeys(w, r, m, http.StatusCreated, desk.KeysPage{New: key, NewName: asked.Name})
}

// POST /desk/keys/{id}/revocation
func (h *Handlers) revokeAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.organizers.RevokeAPIKey(r.Context(), m, id, asked.Key); err != nil {
		return err
	}
	return deskDone(w, r, desk.KeysPath, "revoked")
}
