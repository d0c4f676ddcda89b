package desk

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// APIKeys answers GET /desk/keys
func (h *Handlers) APIKeys(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showKeys(w, r, m, http.StatusOK, desk.KeysPage{})
}

func (h *Handlers) showKeys(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.KeysPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "API keys"))
	p.Path = desk.KeysPath
	if p.List, err = h.Organizers.APIKeys(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.Keys(p))
}

// NewAPIKey answers POST /desk/keys
//
// The page that answers has the key in it, once: no other page ever has.
func (h *Handlers) NewAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	of := organizers.Allocation{Event: strings.TrimSpace(asked.Event), Code: cmp.Or(pricing.SpellCode(asked.Code), strings.TrimSpace(asked.Code))}
	key, err := h.Organizers.NewAPIKey(r.Context(), m, asked.Name, asked.Scopes, asked.Days, asked.Test, of, asked.Key)
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showKeys(w, r, m, http.StatusUnprocessableEntity, desk.KeysPage{Name: asked.Name, Scopes: asked.Scopes, Days: asked.Days, Test: asked.Test, Allocation: of, Mistakes: mistakes})
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, map[string]string{"key": key})
	case key == "": // a repeat of the form
		return deskDone(w, r, desk.KeysPath, "key")
	}
	return h.showKeys(w, r, m, http.StatusCreated, desk.KeysPage{New: key, NewName: asked.Name})
}

// RevokeAPIKey answers POST /desk/keys/{id}/revocation
func (h *Handlers) RevokeAPIKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.Organizers.RevokeAPIKey(r.Context(), m, id, asked.Key); err != nil {
		return err
	}
	return deskDone(w, r, desk.KeysPath, "revoked")
}

// requestList is a list with cursors.
const requestList = "requests"

type requestsAnswer struct {
	Requests []requestBody `json:"requests"`
	Next     string        `json:"next_cursor,omitempty"`
}

type requestBody struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Key     int64     `json:"key"`
	KeyName string    `json:"key_name"`
	Method  string    `json:"method"`
	Route   string    `json:"route"`
	Status  int       `json:"status"`
	MS      int64     `json:"ms"`
	Request string    `json:"request"`
	Once    bool      `json:"once"`
	Repeat  bool      `json:"repeat"`
	Code    string    `json:"code,omitempty"`
	Message string    `json:"message,omitempty"`
	Fields  []string  `json:"fields,omitempty"`
}

var errStatus = web.NewProblem(422, "invalid", text.Mark("The status is neither one such as 404, nor 2xx, 4xx or 5xx."), "", text.Mark("Change it, or leave it out."))

// KeyRequests answers GET /desk/keys/requests
//
// An owner sees those of all keys, and a program those of its own.
func (h *Handlers) KeyRequests(w http.ResponseWriter, r *http.Request, m organizers.Member) (err error) {
	if m.Key == 0 && !m.May(organizers.Own) {
		return errRole
	}
	q := r.URL.Query()
	p := desk.RequestsPage{Status: q.Get("status")}
	if p.Filter.From, p.Filter.To, err = statuses(p.Status); err != nil {
		return err
	}
	if key := q.Get("key"); key != "" {
		if p.Filter.Key, err = strconv.ParseInt(key, 10, 64); err != nil {
			return web.ErrNoPage
		}
	}
	if p.Filter.Page, err = web.Page(r, requestList, organizers.RequestRows); err != nil {
		return err
	}
	list, next, err := h.Organizers.ListRequests(r.Context(), m, p.Filter)
	if err != nil {
		return err
	}
	p.List, p.Next = list, next.Cursor(requestList)
	if web.WantsJSON(r) {
		answer := requestsAnswer{Requests: []requestBody{}, Next: p.Next}
		for _, one := range list {
			answer.Requests = append(answer.Requests, requestBody{
				one.ID, one.At.UTC(), one.Key, one.KeyName, one.Method, one.Route, one.Status, one.Took.Milliseconds(), one.Name, one.Once != nil, one.Repeat,
				one.Code, desk.ErrorWords(r.Context(), one), one.Fields,
			})
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Request log"))
	if p.Keys, err = h.Organizers.APIKeys(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, http.StatusOK, desk.Requests(p))
}

// statuses reads a status such as 404, or 4xx for all of its class.
func statuses(asked string) (from, to int, err error) {
	if asked == "" {
		return 0, 0, nil
	}
	class, whole := strings.CutSuffix(asked, "xx")
	n, err := strconv.Atoi(class)
	switch {
	case err == nil && whole && n >= 1 && n <= 5:
		return n * 100, n*100 + 99, nil
	case err == nil && !whole && n >= 100 && n <= 599:
		return n, n, nil
	}
	return 0, 0, errStatus
}
