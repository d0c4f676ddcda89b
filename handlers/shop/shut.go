package shop

import (
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views/shop"
)

// showShut writes the page of an event that is not on sale.
func (h *Handlers) showShut(w http.ResponseWriter, r *http.Request, status int, p shop.ShutPage) error {
	p.Script, p.From = "shut.js", p.Path()
	if p.Message != nil && p.Message.Nearest == nil {
		p.Message = nil // the page says it by itself
	}
	return web.WritePage(w, r, status, shop.Shut(p))
}

// OnSaleCalendar answers GET /events/{slug}/on-sale.ics
func (h *Handlers) OnSaleCalendar(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if s.Event.Status != seats.Scheduled {
		return web.ErrNoPage
	}
	address := h.Origin(r) + shop.Sale{Event: s.Event}.Path()
	entry := web.Calendar{
		ID: "on-sale-" + s.Event.Slug + "@usher", Summary: "On sale: " + s.Event.Name, Description: address, URL: address, Made: time.Now(), Starts: s.Event.OpensAt,
		Alarm: "On sale in a quarter of an hour: " + s.Event.Name,
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="on-sale-`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(entry.Text())) // a reader who is gone needs none
	return nil
}
