package web

import (
	"net/http"

	"github.com/usherbox/usher/views"
)

// Legal returns links to the legal texts of a team, or of the operator for team 0. A page without them is better than none.
func (h *Server) Legal(r *http.Request, team int64) []views.Link {
	list, err := h.Pages.Published(r.Context(), team)
	if err != nil {
		h.Log.Warn("a page has no links to legal texts", "error", err)
	}
	return views.LegalLinks(list, "")
}
