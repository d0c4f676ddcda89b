package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var errLimits = web.NewProblem(422, "invalid", text.Mark("The challenge is off, automatic or always. The other fields are empty or whole numbers from 1 to 100,000."), nothingChanged, text.Mark("Change it and send it again."))

// limitsAnswer is how an event is guarded, for programs.
type limitsAnswer struct {
	limit.Settings
	Usual limit.Settings `json:"figures"` // with the usual figures in place of 0
	Alarm *limit.Alarm   `json:"alarm,omitempty"`
}

// ShowLimits answers GET /desk/events/{slug}/limits
func (h *Handlers) ShowLimits(w http.ResponseWriter, r *http.Request, _ organizers.Member, s *seats.Sale) error {
	if !web.WantsJSON(r) {
		return deskAgain(w, r, s, "", "live-limits")
	}
	e := h.Limits.Of(s)
	state := e.State(time.Now())
	return web.WriteJSON(w, http.StatusOK, limitsAnswer{state.Settings, e.Figures(), state.Alarm})
}

// SetLimits answers POST /desk/events/{slug}/limits
func (h *Handlers) SetLimits(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	to, err := limitsOf(f)
	if err != nil {
		return err
	}
	action := organizers.Action{
		Key: deskKeyOf(r, f), Form: []any{"limits", s.Event.Slug, to}, What: text.Mark("changed the protection against bots of"), Subject: "events/" + s.Event.Slug, Detail: to,
	}
	err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		return h.Limits.Set(r.Context(), s.Event.ID, to, also)
	})
	if errors.Is(err, limit.ErrSettings) {
		return errLimits
	}
	if err != nil {
		return err
	}
	h.Desks.Changed(s)
	if f.Get("back") == "settings" && !web.WantsJSON(r) {
		return deskDone(w, r, desk.SettingsPath(s.Event.Slug), "set")
	}
	return deskAgain(w, r, s, f.Get("back"), "live-limits")
}

func limitsOf(f url.Values) (to limit.Settings, err error) {
	to.Challenge = limit.Mode(f.Get("challenge"))
	for name, n := range map[string]*int{"seats_per_network": &to.SeatsPerNetwork, "held_per_network": &to.HeldPerNetwork, "unpaid_per_network": &to.UnpaidPerNetwork, "unpaid_per_email": &to.UnpaidPerEmail} {
		if text := f.Get(name); text != "" {
			if *n, err = strconv.Atoi(text); err != nil {
				return to, errLimits
			}
		}
	}
	return to, nil
}
