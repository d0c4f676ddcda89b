package handlers

import (
	"net/http"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views/shop"
)

// showShut writes the page of an event that is not on sale.
func (h *Handlers) showShut(w http.ResponseWriter, r *http.Request, status int, p shop.ShutPage) error {
	p.Script, p.From = "shut.js", p.Path()
	if p.Message != nil && p.Message.Nearest == nil {
		p.Message = nil // the page says it by itself
	}
	return writePage(w, r, status, shop.Shut(p))
}

// GET /events/{slug}/on-sale.ics
func (h *Handlers) onSaleCalendar(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if s.Event.Status != seats.Scheduled {
		return errNoPage
	}
	address := h.origin(r) + shop.Sale{Event: s.Event}.Path()
	entry := calendar{
		id: "on-sale-" + s.Event.Slug + "@usher", summary: "On sale: " + s.Event.Name, description: address, url: address, made: time.Now(), starts: s.Event.OpensAt,
		alarm: "On sale in a quarter of an hour: " + s.Event.Name,
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="on-sale-`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(entry.text())) // a reader who is gone needs none
	return nil
}
