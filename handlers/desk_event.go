package handlers

import (
	"net/http"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/desk"
	"github.com/usherbox/usher/views"
)

// GET /desk/events/{slug}
func (h *Handlers) deskEvent(w http.ResponseWriter, r *http.Request, m desk.Member, s *seats.Sale) error {
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, describe(s, s.Snapshot()))
	}
	page := h.deskView(w, r, m, s.Event.Name)
	page.Event = &s.Event
	return writePage(w, r, http.StatusOK, views.DeskEvent(views.DeskEventPage{Desk: page, Sale: views.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}}))
}
