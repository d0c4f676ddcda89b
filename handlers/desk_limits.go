package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

var errLimits = &problem{422, "invalid", "The challenge is off, automatic or always. The other fields are empty or whole numbers from 1 to 100,000.", "Nothing was changed.", "Change it and send it again."}

// limitsAnswer is how an event is guarded, for programs.
type limitsAnswer struct {
	limit.Settings
	Usual limit.Settings `json:"figures"` // with the usual figures in place of 0
	Alarm *limit.Alarm   `json:"alarm,omitempty"`
}

// GET /desk/events/{slug}/limits
func (h *Handlers) deskLimits(w http.ResponseWriter, r *http.Request, _ organizers.Member, s *seats.Sale) error {
	if !wantsJSON(r) {
		return deskAgain(w, r, s, "")
	}
	e := h.limits.Of(s)
	state := e.State(time.Now())
	return writeJSON(w, http.StatusOK, limitsAnswer{state.Settings, e.Figures(), state.Alarm})
}

// POST /desk/events/{slug}/limits
func (h *Handlers) deskSetLimits(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	to, err := limitsOf(f)
	if err != nil {
		return err
	}
	wish := organizers.Wish{
		Key: deskKeyOf(r, f), Form: []any{"limits", s.Event.Slug, to}, What: "changed the protection against bots of", Subject: "events/" + s.Event.Slug, Detail: to,
	}
	err = h.organizers.Carry(r.Context(), m, wish, func(also seats.Also) error {
		return h.limits.Set(r.Context(), s.Event.ID, to, also)
	})
	if errors.Is(err, limit.ErrSettings) {
		return errLimits
	}
	if err != nil {
		return err
	}
	h.desks.Changed(s)
	if f.Get("back") == "settings" && !wantsJSON(r) {
		return deskDone(w, r, desk.SettingsPath(s.Event.Slug), "set")
	}
	return deskAgain(w, r, s, f.Get("back"))
}

func limitsOf(f url.Values) (to limit.Settings, err error) {
	to.Challenge = limit.Mode(f.Get("challenge"))
	for name, n := range map[string]*int{"seats_per_network": &to.SeatsPerNetwork, "unpaid_per_network": &to.UnpaidPerNetwork, "unpaid_per_email": &to.UnpaidPerEmail} {
		if text := f.Get(name); text != "" {
			if *n, err = strconv.Atoi(text); err != nil {
				return to, errLimits
			}
		}
	}
	return to, nil
}
