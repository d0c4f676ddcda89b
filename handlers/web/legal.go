package web

import (
	"cmp"
	"context"
	"net/http"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/wallets"
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

// Passes says for which wallets passes are made; w may be nil.
func Passes(w *wallets.Wallets) shop.Passes {
	return shop.Passes{Apple: w != nil && w.Apple != nil, Google: w != nil && w.Google != nil}
}

// TicketPrint adds to the look of papers what tickets of an event show besides: its picture, and when its doors open.
func TicketPrint(ctx context.Context, p *pages.Pages, look shop.Print, event int64) (shop.Print, error) {
	var err error
	if look.About, err = p.OfEvent(ctx, event); err != nil {
		return look, err
	}
	look.Picture, err = p.TicketPicture(ctx, look.About, look.Branding)
	return look, err
}
