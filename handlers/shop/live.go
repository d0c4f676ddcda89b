package shop

import (
	"crypto/rand"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// MapBin answers GET /events/{slug}/map.bin
func (h *Handlers) MapBin(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.Hub.ServeMap(w, r, s)
	return nil
}

// Live answers GET /events/{slug}/live
func (h *Handlers) Live(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	h.Hub.ServeLive(w, r, s, h.pages(w, r))
	return nil
}

const pageName = "page"

// pages is what the live pages of a browser are known by: its session. Before there is one, the first socket leaves a random
// word in the browser, so that its pages are told of the hold that begins the session.
func (h *Handlers) pages(w http.ResponseWriter, r *http.Request) string {
	if session := h.SessionToken(r); session != "" {
		return session
	}
	word := h.KeptCookie(r, pageName)
	if word == "" {
		word = rand.Text()
		h.KeepCookie(w, pageName, word)
	}
	return word
}

// tellNewcomer gives the pages that were open before the session its token, and shows them its hold.
func (h *Handlers) tellNewcomer(r *http.Request, s *seats.Sale, token string, hold seats.Hold) {
	if word := h.KeptCookie(r, pageName); word != "" && token != "" {
		h.Hub.Renamed(word, token)
		h.Hub.Mine(s, token, hold, true)
	}
}

// RoomLive answers GET /rooms/{slug}/live
func (h *Handlers) RoomLive(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	h.Hub.ServeRoom(w, r, room.ID, room, h.KeptCookie(r, web.VisitorName))
	return nil
}

// tellMine sends the hold to the visitor's other pages.
func (h *Handlers) tellMine(r *http.Request, s *seats.Sale, hold seats.Hold) {
	if r.Method != http.MethodGet {
		before := h.SessionToken(r) != "" // who had no session has no other page
		h.Hub.Mine(s, h.Sessions.Token(r.Context()), hold, before)
	}
}
