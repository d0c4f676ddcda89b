package handlers

import (
	"crypto/rand"
	"net/http"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// GET /events/{slug}/map.bin
func (h *Handlers) mapBin(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.hub.ServeMap(w, r, s)
	return nil
}

// GET /events/{slug}/live
func (h *Handlers) live(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.hub.ServeLive(w, r, s, h.pages(w, r))
	return nil
}

const pageName = "page"

// pages is what the live pages of a browser are known by: its session. Before there is one, the first socket leaves a random
// word in the browser, so that its pages are told of the hold that begins the session.
func (h *Handlers) pages(w http.ResponseWriter, r *http.Request) string {
	if session := h.cookie(r, h.sessions.Cookie.Name); session != "" {
		return session
	}
	word := h.cookie(r, h.kept(pageName))
	if word == "" {
		word = rand.Text()
		h.keepCookie(w, pageName, word)
	}
	return word
}

// tellNewcomer gives the pages that were open before the session its token, and shows them its hold.
func (h *Handlers) tellNewcomer(r *http.Request, s *seats.Sale, token string, hold seats.Hold) {
	if word := h.cookie(r, h.kept(pageName)); word != "" && token != "" {
		h.hub.Renamed(word, token)
		h.hub.Mine(s, token, hold, true)
	}
}

// GET /rooms/{slug}/live
func (h *Handlers) roomLive(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
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
		before := h.cookie(r, h.sessions.Cookie.Name) != "" // who had no session has no other page
		h.hub.Mine(s, h.sessions.Token(r.Context()), hold, before)
	}
}
