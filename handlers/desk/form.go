package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// deskForm reads what a form of the desk says; programs send the same names as one JSON object of texts, numbers, truths,
// and lists of texts. A program that sends no key gets one of its own: it repeats nothing.
func deskForm(r *http.Request) (url.Values, error) {
	form, err := fieldsOf(r)
	if key := keyOf(r, form.Get("key")); err == nil && key != "" {
		form.Set("key", key)
	}
	return form, err
}

// keyOf is the key of a request: that of its header or of its body. Forms and scripts of pages send one; a program may leave it out.
func keyOf(r *http.Request, sent string) string {
	if sent == "" && r.Header.Get("Authorization") != "" {
		sent = seats.NewID().String()
	}
	return cmp.Or(r.Header.Get("Idempotency-Key"), sent)
}

func fieldsOf(r *http.Request) (url.Values, error) {
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return nil, err
		}
		return r.PostForm, r.Context().Err()
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return url.Values{}, nil
	}
	if !utf8.Valid(body) {
		return nil, web.Invalid(text.Mark("The request is not valid UTF-8."))
	}
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, web.NotUnderstood(err)
	}
	return formOfObject(object)
}

// formOfObject are the fields of an object. Those of an object in it have its name before theirs, as in also.matinee.seat.
func formOfObject(object map[string]any) (url.Values, error) {
	form := url.Values{}
	for name, value := range object {
		if inner, is := value.(map[string]any); is {
			fields, err := formOfObject(inner)
			if err != nil {
				return nil, err
			}
			for field, values := range fields {
				form[name+"."+field] = values
			}
			continue
		}
		list, many := value.([]any)
		if !many {
			list = []any{value}
		}
		for _, one := range list {
			switch v := one.(type) {
			case string:
				form.Add(name, v)
			case bool:
				if v {
					form.Add(name, "on")
				}
			case float64:
				form.Add(name, fmt.Sprint(v))
			case nil:
			default:
				return nil, web.Invalid(text.Mark("“%s” is neither a text, a number, true or false, nor a list of texts."), name)
			}
		}
	}
	return form, nil
}

// deskKeyOf is the key of a form; programs may send it as a header.
func deskKeyOf(r *http.Request, form url.Values) string { return keyOf(r, form.Get("key")) }

// MemberKey is the key of what a member does with orders, made of the one of their form: two members have never the same.
func MemberKey(m organizers.Member, key string) string {
	return fmt.Sprintf("desk.%d.%s", m.Organizer, shortKey(key))
}

// shortKey leaves room for what stands beside a key in another one, and keeps keys apart that differ.
func shortKey(key string) string {
	if len(key) <= 150 {
		return key
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
}

// deskWith answers an act: a page leads on to another one, which says what was done; a program gets the answer.
func deskWith(w http.ResponseWriter, r *http.Request, path, done string, status int, answer any) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, answer)
	}
	return deskDone(w, r, path, done)
}

// deskRefused reports whether an error is one that a page of the desk shows where the form is, and its words; JSON has its own
// shape for all of them.
func deskRefused(r *http.Request, err error) (words string, is bool) {
	if err == nil || web.WantsJSON(r) {
		return "", false
	}
	return refusedWords(r.Context(), err)
}

// refusedWords are the words of a refusal, if an error is one.
func refusedWords(ctx context.Context, err error) (words string, is bool) {
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	var mistakes orders.Mistakes
	switch {
	case errors.As(err, &refusal):
		return refusal.In(ctx), true
	case errors.As(err, &nonsense):
		return nonsense.In(ctx), true
	case errors.As(err, &mistakes):
		return mistakes.In(ctx), true
	case errors.Is(err, orders.ErrNotPaid):
		return errNotPaid.Brief(ctx), true
	case errors.Is(err, orders.ErrNotDue):
		return errNotDue.Brief(ctx), true
	}
	return "", false
}

// What a program is told where a page says it beside the form.
var (
	errNotPaid = web.NewProblem(422, "not_paid", text.Mark("This is more than was paid for this order, or it was refunded before."), nothingChanged, text.Mark("Look at the order."))
	errNotDue  = web.NewProblem(409, "not_due", text.Mark("Nothing is due for this order that is paid at the box office or by bank transfer."), nothingChanged, text.Mark("Look at the order."))
)

// deskStatus is the status of a page that shows a form again.
func deskStatus(err error) int {
	var refusal *seats.Conflict
	if errors.As(err, &refusal) {
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// eventFrame is what every page about an event shows.
func (h *Handlers) eventFrame(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, title string) desk.Frame {
	page := h.frame(w, r, m, title+" · "+s.Event.Name)
	page.Event = &s.Event
	return page
}
