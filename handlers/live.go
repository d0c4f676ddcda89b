package handlers

import (
	"net/http"

	"github.com/usherbox/usher/seats"
)

// GET /events/{slug}/map.bin
func (h *Handlers) mapBin(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.hub.ServeMap(w, r, s)
	return nil
}

// GET /events/{slug}/live
func (h *Handlers) live(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	session := ""
	if cookie, err := r.Cookie(h.sessions.Cookie.Name); err == nil {
		session = cookie.Value
	}
	h.hub.ServeLive(w, r, s, session)
	return nil
}
