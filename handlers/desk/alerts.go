package desk

import (
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type alertBody struct {
	needBody
	Began time.Time  `json:"began_at"`
	Ended *time.Time `json:"ended_at,omitempty"` // left out: it lasts
}

type alertsAnswer struct {
	Kinds  []alerts.Kind `json:"kinds"` // that the reader may choose from
	Chosen []alerts.Kind `json:"chosen"`
	Alerts []alertBody   `json:"alerts"`
}

// Alerts answers GET /desk/alerts
func (h *Handlers) Alerts(w http.ResponseWriter, r *http.Request, m organizers.Member) (err error) {
	p := desk.AlertsPage{Kinds: alerts.For(m.Role)}
	if p.Chosen, err = h.Server.Alerts.Choice(r.Context(), m); err != nil {
		return err
	}
	if p.List, err = h.Server.Alerts.List(r.Context(), m); err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		p.Frame = h.frame(w, r, m, text.T(r.Context(), "Alerts"))
		return web.WritePage(w, r, http.StatusOK, desk.Alerts(p))
	}
	answer := alertsAnswer{Kinds: p.Kinds, Chosen: append([]alerts.Kind{}, p.Chosen...), Alerts: []alertBody{}}
	for _, a := range p.List {
		n := a.Need
		want := desk.WantOf(r.Context(), n)
		answer.Alerts = append(answer.Alerts, alertBody{needBody{n.Kind, n.Event, n.Order, want.Title, want.Text, want.Path, n.Amount, n.Currency}, a.Began.UTC(), a.Ended})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// ChooseAlerts answers POST /desk/alerts
func (h *Handlers) ChooseAlerts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var kinds []alerts.Kind
	for _, k := range form["kind"] {
		kinds = append(kinds, alerts.Kind(k))
	}
	if err := h.Server.Alerts.Choose(r.Context(), m, deskKeyOf(r, form), kinds); err != nil {
		return err
	}
	return deskDone(w, r, desk.AlertsPath, "set")
}

// TryAlerts answers POST /desk/alerts/tests
func (h *Handlers) TryAlerts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.Server.Alerts.Try(r.Context(), m, deskKeyOf(r, form)); err != nil {
		return err
	}
	return deskDone(w, r, desk.AlertsPath, "alert-sent")
}
