package desk

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// Events answers GET /desk
func (h *Handlers) Events(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.Organizers.Events(r.Context(), m)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.DescribeEvents(list))
	}
	return web.WritePage(w, r, http.StatusOK, desk.Events(desk.EventsPage{Frame: h.frame(w, r, m, "Events"), Events: list}))
}
