package handlers

import (
	"net/http"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/gate"
)

// GET /events/{slug}/map.bin
func (h *Handlers) mapBin(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.hub.ServeMap(w, r, s)
	return nil
}

// GET /events/{slug}/live
func (h *Handlers) live(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.hub.ServeLive(w, r, s, h.cookie(r, h.sessions.Cookie.Name))
	return nil
}

// GET /rooms/{slug}/live
func (h *Handlers) roomLive(w http.ResponseWriter, r *http.Request, room *gate.Room) error {
	h.hub.ServeRoom(w, r, room.ID, room, h.cookie(r, h.kept(visitorName)))
	return nil
}

// cookie is the value of a cookie; empty if there is none.
func (h *Handlers) cookie(r *http.Request, name string) string {
	if cookie, err := r.Cookie(name); err == nil {
		return cookie.Value
	}
	return ""
}

// tellMine lets the other pages of whoever asked show what they hold now.
func (h *Handlers) tellMine(r *http.Request, s *seats.Sale, hold seats.Hold) {
	if r.Method != http.MethodGet {
		h.hub.Mine(s, h.sessions.Token(r.Context()), hold)
	}
}
