package shop

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Home answers GET /
func (h *Handlers) Home(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, shop.EventsPath, http.StatusSeeOther)
	return nil
}

// Events answers GET /events: a page of the programme, or with past= of the archive.
func (h *Handlers) Events(w http.ResponseWriter, r *http.Request) error {
	filter, wrong := programme.Read(r.URL.Query())
	filter.Team = web.HostTeam(r)
	if wrong != "" && web.WantsJSON(r) {
		return web.NewProblem(http.StatusUnprocessableEntity, "invalid", wrong, "", text.Mark("Change the address and ask again."))
	}
	status := http.StatusUnprocessableEntity
	page := shop.EventsPage{Filter: filter, Wrong: wrong, Now: h.Hub.Now()}
	if wrong == "" {
		var err error
		if page.Found, err = h.Programme.List(r.Context(), filter, programme.Size); err != nil {
			return err
		}
		status = http.StatusOK
	}
	if web.WantsJSON(r) {
		next := ""
		if after := page.Found.Next; after.ID != 0 {
			filter.After = after
			next = shop.EventsAt(filter)
		}
		return web.WriteJSON(w, status, web.DescribeProgramme(page.Found.Cards, next))
	}
	choices, err := h.Programme.Choices(r.Context(), filter.Team)
	if err != nil {
		return err
	}
	page.Choices = *choices
	about := &views.Share{URL: h.Origin(r) + shop.EventsAt(filter), Description: text.T(r.Context(), "Events and tickets: dates, prices with all fees, and what is left."), Feeds: true}
	page.Page = views.Page{Title: text.T(r.Context(), "Programme"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Share: about}
	if header := page.Branding.Picture(pages.Header); header != nil {
		w.Header().Set("Link", views.PictureAhead(*header, "100vw"))
	}
	return web.WritePage(w, r, status, shop.Events(page))
}
