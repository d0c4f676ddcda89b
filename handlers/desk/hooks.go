package desk

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/webhooks"
	"github.com/usherbox/usher/views/desk"
)

// What programs read of hooks and deliveries.
type (
	hookBody struct {
		ID           int64           `json:"id"`
		URL          string          `json:"url"`
		Kinds        []webhooks.Kind `json:"kinds"`
		CreatedAt    time.Time       `json:"created_at"`
		On           bool            `json:"on"`
		OffWhy       string          `json:"off_why,omitempty"`
		FailingSince *time.Time      `json:"failing_since,omitempty"`
		Waiting      int             `json:"waiting"`
	}
	deliveryBody struct {
		ID      string            `json:"id"`
		Type    webhooks.Kind     `json:"type"`
		At      time.Time         `json:"timestamp"`
		Data    json.RawMessage   `json:"data"`
		State   string            `json:"state"`
		Answers []webhooks.Answer `json:"answers"`
	}
	hooksAnswer struct {
		Hooks []hookBody `json:"hooks"`
	}
	HookAnswer struct {
		Hook       hookBody       `json:"hook"`
		Deliveries []deliveryBody `json:"notices"`
		More       bool           `json:"more"`
		Next       string         `json:"next_cursor,omitempty"`
	}
	secretAnswer struct {
		ID     int64  `json:"id"`
		Secret string `json:"secret"`
	}
)

func describeHook(h webhooks.Webhook) hookBody {
	return hookBody{h.ID, h.URL, h.Kinds, h.CreatedAt.UTC(), h.OffAt == nil, h.OffWhy, h.FailingSince, h.Waiting}
}

// HookList answers GET /desk/hooks
func (h *Handlers) HookList(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showHooks(w, r, m, http.StatusOK, desk.HooksPage{})
}

func (h *Handlers) showHooks(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.HooksPage) (err error) {
	if p.List, err = h.Hooks.List(r.Context(), m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := hooksAnswer{Hooks: []hookBody{}}
		for _, one := range p.List {
			answer.Hooks = append(answer.Hooks, describeHook(one))
		}
		return web.WriteJSON(w, status, answer)
	}
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Webhooks"))
	p.Path = desk.HooksPath
	return web.WritePage(w, r, status, desk.Hooks(p))
}

// NewHook answers POST /desk/hooks
//
// The page that answers has the secret in it, once: no other page ever has.
func (h *Handlers) NewHook(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	id, secret, err := h.Hooks.Make(r.Context(), m, asked.URL, asked.Kinds, asked.Key)
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showHooks(w, r, m, http.StatusUnprocessableEntity, desk.HooksPage{URL: asked.URL, Kinds: asked.Kinds, Mistakes: mistakes})
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, secretAnswer{id, secret})
	case id == 0: // a repeat of the form
		return deskDone(w, r, desk.HooksPath, "hook")
	}
	return h.writeHook(w, r, m, id, http.StatusCreated, desk.HookPage{Secret: secret})
}

// OnHook makes a handler of one about a hook of the reader's team.
func (h *Handlers) OnHook(next func(http.ResponseWriter, *http.Request, organizers.Member, int64) error) func(http.ResponseWriter, *http.Request, organizers.Member) error {
	return func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		id, err := deskID(r)
		if err != nil {
			return err
		}
		return next(w, r, m, id)
	}
}

// ShowHook answers GET /desk/hooks/{id}
func (h *Handlers) ShowHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	return h.writeHook(w, r, m, id, http.StatusOK, desk.HookPage{})
}

func (h *Handlers) writeHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64, status int, p desk.HookPage) (err error) {
	const of = "deliveries"
	page, err := web.Page(r, of, webhooks.DeliveryRows)
	if err != nil {
		return err
	}
	if page.After.At, err = beforeTime(r, page.After.At); err != nil {
		return err
	}
	if p.Hook, err = h.Hooks.Find(r.Context(), m, id); err != nil {
		return err
	}
	list, next, err := h.Hooks.Deliveries(r.Context(), m, id, page)
	if err != nil {
		return err
	}
	p.Deliveries, p.Next = list, next.Cursor(of)
	if web.WantsJSON(r) {
		answer := HookAnswer{Hook: describeHook(p.Hook), Deliveries: []deliveryBody{}, More: next != nil, Next: p.Next}
		for _, n := range p.Deliveries {
			answer.Deliveries = append(answer.Deliveries, deliveryBody{n.Name(), n.Kind, n.At.UTC(), n.Data, n.State(), n.Answers})
		}
		return web.WriteJSON(w, status, answer)
	}
	if p.Typed.URL == "" {
		p.Typed = p.Hook
	}
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Webhook"))
	return web.WritePage(w, r, status, desk.HookLog(p))
}

// ChangeHook answers POST /desk/hooks/{id}
func (h *Handlers) ChangeHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.Hooks.Change(r.Context(), m, id, asked.URL, asked.Kinds, asked.Key)
	var mistakes organizers.Mistakes
	if errors.As(err, &mistakes) && !web.WantsJSON(r) {
		return h.writeHook(w, r, m, id, http.StatusUnprocessableEntity, desk.HookPage{Typed: webhooks.Webhook{URL: asked.URL, Kinds: asked.Kinds}, Mistakes: mistakes})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.HookPath(id), "hook-changed")
}

// NewHookSecret answers POST /desk/hooks/{id}/secrets
func (h *Handlers) NewHookSecret(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	secret, err := h.Hooks.Rotate(r.Context(), m, id, asked.Key)
	switch {
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, secretAnswer{id, secret})
	case secret == "": // a repeat of the form
		return deskDone(w, r, desk.HookPath(id), "hook")
	}
	return h.writeHook(w, r, m, id, http.StatusCreated, desk.HookPage{Secret: secret})
}

// hookAct does something with a hook that needs no more than the key of its form.
func (h *Handlers) hookAct(w http.ResponseWriter, r *http.Request, to, done string, act func(asked deskAsked) error) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := act(asked); err != nil {
		return err
	}
	return deskDone(w, r, to, done)
}

// TryHook answers POST /desk/hooks/{id}/tests
func (h *Handlers) TryHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	return h.hookAct(w, r, desk.HookPath(id), "hook-sent", func(asked deskAsked) error { return h.Hooks.Try(r.Context(), m, id, asked.Key) })
}

// SwitchHook answers POST /desk/hooks/{id}/switch: on says whether it is told of things from now on.
func (h *Handlers) SwitchHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	return h.hookAct(w, r, desk.HookPath(id), "set", func(asked deskAsked) error { return h.Hooks.Switch(r.Context(), m, id, asked.On, asked.Key) })
}

// RemoveHook answers POST /desk/hooks/{id}/removal
func (h *Handlers) RemoveHook(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	return h.hookAct(w, r, desk.HooksPath, "hook-removed", func(asked deskAsked) error { return h.Hooks.Remove(r.Context(), m, id, asked.Key) })
}

// RepeatDelivery answers POST /desk/hooks/{id}/notices/{notice}/repeats
func (h *Handlers) RepeatDelivery(w http.ResponseWriter, r *http.Request, m organizers.Member, id int64) error {
	delivery, err := seats.ParseID(webhooks.Unnamed(r.PathValue("notice")))
	if err != nil {
		return organizers.ErrNotYours
	}
	return h.hookAct(w, r, desk.HookPath(id), "hook-sent", func(asked deskAsked) error { return h.Hooks.Again(r.Context(), m, id, delivery, asked.Key) })
}
