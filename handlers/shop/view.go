package shop

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// SeatView answers GET /events/{slug}/views/{plan}/{file}: the organizer's picture of what is seen from the section of a seat, else
// a drawing of what is seen from the seat.
func (h *Handlers) SeatView(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	number, svg := strings.CutSuffix(r.PathValue("file"), ".svg")
	idx, err := strconv.Atoi(number)
	if !svg || err != nil || idx < 0 || idx >= len(s.Plan.Seats) || r.PathValue("plan") != s.Event.PlanHash {
		return web.ErrNoPage
	}
	about, err := h.Pages.OfEvent(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	var photos []pages.Picture
	if about != nil {
		photos = about.Views()
	}
	for _, p := range photos {
		if p.Section == s.Plan.Sections[s.Plan.Seats[idx].Section].Name && len(p.Widths) > 0 {
			w.Header().Set("Cache-Control", "public, max-age=300")
			http.Redirect(w, r, views.PicturePath(p.Hash, p.Widths[0]), http.StatusSeeOther)
			return nil
		}
	}
	w.Header().Set("Cache-Control", "public, max-age=300") // there may be a picture later
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write(shop.SeatView(s.Plan, idx)) // a reader who is gone needs none
	return nil
}
