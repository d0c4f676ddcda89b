package desk

import (
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var errLogSwitch = web.NewProblem(422, "invalid", text.Mark("The public log is on or off."), nothingChanged, text.Mark("Change it and send it again."))

// PublicLog answers GET /desk/events/{slug}/log
func (h *Handlers) PublicLog(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	log, err := h.Logs.Log(r.Context(), m, s.Event.ID)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.LogAnswer(log))
	}
	p := desk.PublicLogPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Public log")), Log: log, Home: h.Origin(r), May: fairness.May(s.Event, time.Now()), Reported: h.Fairness.Is(r.Context(), s.Event)}
	p.Path = desk.SettingsPath(s.Event.Slug) // the tab that leads here
	return web.WritePage(w, r, http.StatusOK, desk.PublicLog(p))
}

// SwitchLog answers POST /desk/events/{slug}/log
func (h *Handlers) SwitchLog(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	to := f.Get("enabled")
	if to != "on" && to != "off" {
		return errLogSwitch
	}
	if err := h.Logs.Switch(r.Context(), m, deskKeyOf(r, f), s.Event, to == "on"); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return h.PublicLog(w, r, m, s)
	}
	return deskDone(w, r, desk.PublicLogPath(s.Event.Slug), "set")
}

// PublishFairness answers POST /desk/events/{slug}/fairness
func (h *Handlers) PublishFairness(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.Fairness.Publish(r.Context(), m, deskKeyOf(r, f), s.Event); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		report, err := h.Fairness.Published(r.Context(), s.Event.ID)
		if err != nil {
			return err
		}
		return web.WriteJSON(w, http.StatusOK, report)
	}
	return deskDone(w, r, desk.PublicLogPath(s.Event.Slug), "fairness")
}
