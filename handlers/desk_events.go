package handlers

import (
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// GET /desk
func (h *Handlers) deskEvents(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.organizers.Events(r.Context(), m)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, describeEvents(list))
	}
	return writePage(w, r, http.StatusOK, desk.Events(desk.EventsPage{Frame: h.deskView(w, r, m, "Events"), Events: list}))
}
