package web

import (
	"cmp"
	"net/http"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Legal returns links to the legal texts of a team, or of the operator for team 0. A page without them is better than none.
func (h *Server) Legal(r *http.Request, team int64) []views.Link {
	list, err := h.Pages.Published(r.Context(), cmp.Or(team, HostTeam(r)))
	if err != nil {
		h.Log.Warn("a page has no links to legal texts", "error", err)
	}
	return views.LegalLinks(list, "")
}

// Branding returns what a team has its pages look like, or the only team for team 0. A page in the standard look is better than
// none.
func (h *Server) Branding(r *http.Request, team int64) *pages.Branding {
	branding, err := h.Pages.BrandingOf(r.Context(), cmp.Or(team, HostTeam(r)))
	if err != nil {
		h.Log.Warn("a page has the standard look", "error", err)
	}
	return framedBranding(r, branding)
}

// Print returns the branding of a team for papers. A paper in the standard look is better than none.
func (h *Server) Print(r *http.Request, team int64) shop.Print {
	p := shop.Print{Branding: h.Branding(r, team)}
	var err error
	if p.Logo, err = h.Pages.LogoFile(r.Context(), p.Branding); err != nil {
		h.Log.Warn("a paper has no logo", "error", err)
	}
	return p
}
