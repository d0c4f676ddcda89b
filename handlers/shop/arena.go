package shop

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Arena answers GET /arena
//
// A house that is no arena has no such page.
func (h *Handlers) Arena(w http.ResponseWriter, r *http.Request) error {
	if h.Server.Arena == nil {
		return web.ErrNoPage
	}
	now := h.Hub.Now()
	screen := h.Server.Arena.Screen(now)
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, screen)
	}
	page := views.Page{Title: text.T(r.Context(), "Arena"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Script: "arena.js", Style: "arena.css"}
	return web.WritePage(w, r, http.StatusOK, shop.Arena(shop.ArenaPage{Page: page, Screen: screen, Origin: h.Origin(r)}))
}
