package desk

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type privacyAnswer struct {
	Months   int           `json:"months"`
	Erasures []erasureBody `json:"erasures"`
}

type erasureBody struct {
	ID     int64     `json:"id"`
	Event  string    `json:"event,omitempty"`
	Orders int       `json:"orders"`
	At     time.Time `json:"at"`
}

// Privacy answers GET /desk/privacy
func (h *Handlers) Privacy(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showPrivacy(w, r, m, http.StatusOK, desk.PrivacyPage{})
}

// showPrivacy writes the page with what p knows besides.
func (h *Handlers) showPrivacy(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.PrivacyPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Privacy"))
	p.Path = desk.PrivacyPath
	if p.Months, p.Erasures, err = h.Server.Privacy.Settings(r.Context(), m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := privacyAnswer{p.Months, []erasureBody{}}
		for _, e := range p.Erasures {
			answer.Erasures = append(answer.Erasures, erasureBody{e.ID, e.Event, e.Orders, e.At.UTC()})
		}
		return web.WriteJSON(w, status, answer)
	}
	return web.WritePage(w, r, status, desk.Privacy(p))
}

// SetRetention answers POST /desk/privacy
func (h *Handlers) SetRetention(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	months := 0
	if text := f.Get("months"); text != "" {
		if months, err = strconv.Atoi(text); err != nil {
			months = -1
		}
	}
	err = h.Server.Privacy.SetRetention(r.Context(), m, months, deskKeyOf(r, f))
	if again := (desk.PrivacyPage{Typed: f}); errors.As(err, &again.Mistakes) && !web.WantsJSON(r) {
		return h.showPrivacy(w, r, m, http.StatusUnprocessableEntity, again)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.PrivacyPath, "retention")
}

// ExportPerson answers POST /desk/privacy/exports
func (h *Handlers) ExportPerson(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	record, err := h.Server.Privacy.Export(r.Context(), m, f.Get("email"))
	if err != nil {
		return h.privacyRefused(w, r, m, f, err)
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	return web.WritePerson(w, "What "+record.Team+" knows of "+record.Email, f.Get("as"), text)
}

// ErasePerson answers POST /desk/privacy/erasures
func (h *Handlers) ErasePerson(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	done, err := h.Server.Privacy.Erase(r.Context(), m, f.Get("email"))
	switch {
	case err != nil:
		return h.privacyRefused(w, r, m, f, err)
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusOK, map[string]int{"orders": done.Orders, "credit_kept": done.Credit, "addresses": done.Addresses})
	}
	return h.showPrivacy(w, r, m, http.StatusOK, desk.PrivacyPage{Erased: &done})
}

// privacyRefused says why a person was neither exported nor erased.
func (h *Handlers) privacyRefused(w http.ResponseWriter, r *http.Request, m organizers.Member, f url.Values, err error) error {
	again := desk.PrivacyPage{Typed: f}
	var blocked *privacy.Blocked
	switch {
	case errors.As(err, &blocked) && web.WantsJSON(r):
		return web.NewProblem(409, "needed", blocked.In(r.Context()), text.Mark("Nothing was erased."), text.Mark("Cancel the orders first, or wait until they are over."))
	case errors.As(err, &blocked):
		again.Wrong = text.T(r.Context(), "%s Nothing was erased. Cancel the orders first, or wait until they are over.", blocked)
		return h.showPrivacy(w, r, m, http.StatusConflict, again)
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		return h.showPrivacy(w, r, m, http.StatusUnprocessableEntity, again)
	}
	return err
}
