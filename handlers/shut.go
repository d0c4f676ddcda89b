package handlers

import (
	"net/http"
	"time"

	ics "github.com/arran4/golang-ical"

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

// reminder is how long a calendar tells of a sale before it begins.
const reminder = "-PT15M"

// GET /events/{slug}/on-sale.ics
func (h *Handlers) onSaleCalendar(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if s.Event.Status != seats.Scheduled {
		return errNoPage
	}
	address := h.origin(r) + shop.Sale{Event: s.Event}.Path()
	calendar := ics.NewCalendarFor("Usher")
	calendar.SetMethod(ics.MethodPublish)
	e := calendar.AddEvent("on-sale-" + s.Event.Slug + "@usher")
	e.SetDtStampTime(time.Now())
	e.SetStartAt(s.Event.OpensAt)
	e.SetSummary("On sale: " + s.Event.Name)
	e.SetDescription(address)
	e.SetURL(address)
	alarm := e.AddAlarm()
	alarm.SetAction(ics.ActionDisplay)
	alarm.SetDescription("On sale in a quarter of an hour: " + s.Event.Name)
	alarm.SetTrigger(reminder)
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="on-sale-`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(calendar.Serialize(ics.WithNewLineWindows))) // a reader who is gone needs none
	return nil
}
