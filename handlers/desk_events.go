package handlers

import (
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
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
	return writePage(w, r, http.StatusOK, views.DeskEvents(views.DeskEventsPage{Desk: h.deskView(w, r, m, "Events"), Events: list}))
}
