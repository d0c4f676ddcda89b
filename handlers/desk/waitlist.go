package desk

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// entryRows and mostSteps are how many of each a page of a wait list usually shows.
const (
	entryRows = 100
	mostSteps = 40
)

var (
	errNoReason   = web.NewProblem(422, "reason", text.Mark("Actions out of turn need a reason. It goes into the log."), web.WaitHolds, text.Mark("Say why, then send it again."))
	errNotWaiting = web.NewProblem(404, "unknown", text.Mark("This address is not on the waiting list of this event."), web.WaitHolds, text.Mark("Look at the list again."))
	errNoWaitAct  = web.NewProblem(422, "invalid", text.Mark("A waiting list has no such action."), web.WaitHolds, text.Mark("Use the forms of the desk: pause, resume, first, offer and remove."))
)

// WaitList answers GET /desk/events/{slug}/waitlist
func (h *Handlers) WaitList(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showWaitList(w, r, m, s, http.StatusOK, desk.WaitListPage{Form: url.Values{}})
}

func (h *Handlers) showWaitList(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.WaitListPage) (err error) {
	lists := waitlist.Control{List: h.Waits}
	p.Email = strings.TrimSpace(r.URL.Query().Get("email"))
	const of = "waitlist"
	page, err := web.Page(r, of, entryRows)
	if err != nil {
		return err
	}
	if p.List, err = lists.Show(r.Context(), s.Event.Slug, p.Email, page); err != nil {
		return err
	}
	p.Next = p.List.Next.Cursor(of)
	if p.Steps, err = lists.Steps(r.Context(), s.Event.Slug, p.Email, mostSteps); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeWaitList(s, &p))
	}
	p.Frame, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Waiting list")), seats.NewID().String()
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}
	return web.WritePage(w, r, status, desk.WaitList(p))
}

type WaitListBody struct {
	Paused     bool         `json:"paused"`
	Note       string       `json:"note,omitempty"`
	Waitlisted int          `json:"kept"`
	Waiting    int          `json:"waiting"`
	Open       int          `json:"offers_open"`
	Accepted   int          `json:"offers_accepted"`
	Ended      int          `json:"offers_ended"`
	Entries    []waiterBody `json:"entries"`
	Steps      []stepBody   `json:"steps"`
	Next       string       `json:"next_cursor,omitempty"`
}

type waiterBody struct {
	Email    string    `json:"email"`
	State    string    `json:"state"`
	Place    int       `json:"place"`
	Quantity int       `json:"quantity"`
	Together bool      `json:"together"`
	Fewer    bool      `json:"fewer"`
	Joined   time.Time `json:"joined_at"`
	Misses   int       `json:"misses"`
	Passed   string    `json:"passed,omitempty"`
	Offered  []string  `json:"offered,omitempty"`
}

type stepBody struct {
	At     time.Time `json:"at"`
	Email  string    `json:"email,omitempty"`
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"`
	Who    string    `json:"who,omitempty"`
}

func describeWaitList(s *seats.Sale, p *desk.WaitListPage) WaitListBody {
	o := &p.List
	body := WaitListBody{o.Paused, o.Note, o.Waitlisted, o.Waiting, o.Figures.Open, o.Figures.Accepted, o.Figures.Ended, []waiterBody{}, []stepBody{}, p.Next}
	for _, n := range o.Entries {
		one := waiterBody{n.Email, n.State, n.Place, n.Wanted.Quantity, n.Wanted.Together, n.Wanted.Fewer, n.JoinedAt.UTC(), n.Misses, n.Passed, nil}
		if n.Offer != nil {
			one.Offered = web.Labels(s, n.Offer.Seats)
		}
		body.Entries = append(body.Entries, one)
	}
	for _, step := range p.Steps {
		body.Steps = append(body.Steps, stepBody{step.At.UTC(), step.Email, step.What, step.Detail, step.Who})
	}
	return body
}

// waitAct is something that organizers do to a wait list.
type waitAct struct {
	what string // a verb in the past, for the log
	do   func(context.Context, waitlist.Control) error
}

// waitActOf is what a form asks to do to the wait list of an event.
func waitActOf(s *seats.Sale, form url.Values) (act waitAct, err error) {
	slug, email, reason := s.Event.Slug, form.Get("email"), form.Get("reason")
	switch form.Get("do") {
	case "pause":
		act = waitAct{text.Mark("paused the waiting list"), func(ctx context.Context, c waitlist.Control) error { return c.Pause(ctx, slug, reason) }}
	case "resume":
		act = waitAct{text.Mark("resumed the waiting list"), func(ctx context.Context, c waitlist.Control) error { return c.Resume(ctx, slug) }}
	case "first":
		act = waitAct{text.Mark("put an entry first in the waiting list"), func(ctx context.Context, c waitlist.Control) error { return c.Priority(ctx, slug, email, reason) }}
	case "remove":
		act = waitAct{text.Mark("took an entry off the waiting list"), func(ctx context.Context, c waitlist.Control) error { return c.Remove(ctx, slug, email, reason) }}
	case "offer":
		list, err := sales.Pick(s, form.Get("seats"))
		if err != nil {
			return act, err
		}
		act = waitAct{text.Mark("offered seats out of turn"), func(ctx context.Context, c waitlist.Control) error {
			_, err := c.Offer(ctx, slug, email, reason, list)
			return err
		}}
	default:
		return act, errNoWaitAct
	}
	return act, nil
}

// SteerWaitList answers POST /desk/events/{slug}/waitlist: do is pause, resume, first, offer or remove.
func (h *Handlers) SteerWaitList(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	act, err := waitActOf(s, form)
	if err == nil {
		detail := map[string]string{}
		for _, field := range []string{"email", "reason", "seats"} {
			if typed := strings.TrimSpace(form.Get(field)); typed != "" {
				detail[field] = typed
			}
		}
		noted := maps.Clone(detail)
		delete(noted, "email") // the log does not keep who waits; the entry's own record does
		action := organizers.Action{
			Key: deskKeyOf(r, form), Form: []any{act.what, s.Event.Slug, detail}, What: act.what, Subject: "events/" + s.Event.Slug + "/waitlist", Detail: noted,
		}
		err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
			return act.do(r.Context(), waitlist.Control{List: h.Waits, Who: m.Name, Also: also})
		})
	}
	if words, status := waitRefused(r, err); words != "" {
		return h.showWaitList(w, r, m, s, status, desk.WaitListPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, deskWaitError(err))
	}
	h.Desks.Changed(s)
	path := desk.WaitListPath(s.Event.Slug)
	if web.WantsJSON(r) {
		return h.showWaitList(w, r, m, s, http.StatusOK, desk.WaitListPage{})
	}
	return deskDone(w, r, path, "waitlist-"+form.Get("do"))
}

// deskWaitError says at the desk what package waitlist says of an entry; other errors stay as they are.
func deskWaitError(err error) error {
	switch {
	case errors.Is(err, waitlist.ErrNoReason):
		return errNoReason
	case errors.Is(err, waitlist.ErrNoEntry):
		return errNotWaiting
	case errors.Is(err, waitlist.ErrOver):
		return web.ErrOver
	}
	return err
}

// waitRefused is what the page says of an error where the form is, with the status; empty if the error is none of a form.
func waitRefused(r *http.Request, err error) (words string, status int) {
	if words, refused := deskRefused(r, err); refused {
		return words, deskStatus(err)
	}
	var known *web.Problem
	if err == nil || web.WantsJSON(r) || !errors.As(deskWaitError(err), &known) {
		return "", 0
	}
	return known.Brief(r.Context()), known.Status
}
