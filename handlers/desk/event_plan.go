package desk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// EventPlan answers GET /desk/events/{slug}/plan
func (h *Handlers) EventPlan(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showEventPlan(w, r, m, s, http.StatusOK, "")
}

func (h *Handlers) showEventPlan(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, wrong string) error {
	plans, err := h.Organizers.Plans(r.Context(), m)
	if err != nil {
		return err
	}
	page := desk.EventPlanPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Plan of %s", s.Event.Name)), Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Plans: plans, Key: rand.Text(), Wrong: wrong}
	page.Event, page.Path = &s.Event, desk.EventPath(s.Event.Slug)+"/plan"
	return web.WritePage(w, r, status, desk.EventPlan(page))
}

// ReplacePlan answers POST /desk/events/{slug}/plan: the event gets a newer version of its plan.
func (h *Handlers) ReplacePlan(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var id int64
	var version int
	if _, err := fmt.Sscanf(form.Get("plan"), "%d@%d", &id, &version); err != nil {
		if web.WantsJSON(r) {
			return organizers.Mistakes{{Field: "plan", Message: text.Mark("Choose a plan and its version, such as 3@1.")}}
		}
		return h.showEventPlan(w, r, m, s, http.StatusUnprocessableEntity, text.T(r.Context(), "Choose a plan."))
	}
	next, err := h.Organizers.Plan(r.Context(), m, id, version)
	if err != nil {
		return err
	}
	action := organizers.Action{
		Key: deskKeyOf(r, form), Form: []any{"plan", s.Event.Slug, id, version}, What: text.Mark("replaced the plan of an event"), Subject: "events/" + s.Event.Slug,
		Detail: map[string]any{"plan": id, "version": version, "name": next.Name},
	}
	err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		_, err := events.ReplacePlan(r.Context(), h.Inventory, s.Event.Slug, next, also)
		return err
	})
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	switch {
	case web.WantsJSON(r) && err != nil:
		return h.problemOf(w, r, s, err)
	case errors.As(err, &refusal):
		return h.showEventPlan(w, r, m, s, http.StatusConflict, refusal.In(r.Context()))
	case errors.As(err, &nonsense):
		return h.showEventPlan(w, r, m, s, http.StatusUnprocessableEntity, nonsense.In(r.Context()))
	case err != nil:
		return err
	}
	return deskDone(w, r, desk.EventPath(s.Event.Slug)+"/plan", "replaced")
}

// CopyPlan answers POST /desk/events/{slug}/plan/copies: the event's plan becomes one of the team's, to be edited.
func (h *Handlers) CopyPlan(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	document, err := plan.Document(s.Plan)
	if err != nil {
		return err
	}
	id, err := h.Organizers.NewPlan(r.Context(), m, deskKeyOf(r, form), "copied from "+s.Event.Name, document)
	if err != nil {
		return err
	}
	return planMade(w, r, id, "/editor")
}
