package shop

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views/shop"
)

var (
	errTurnEmail   = web.NewProblem(422, "invalid", text.Mark("Enter an email address in the format name@example.com."), web.PlaceHolds, text.Mark("Change it and send it again."))
	errTurnBrowser = web.NewProblem(422, "invalid", text.Mark("This is not a push subscription of a browser."), web.PlaceHolds, text.Mark("Press the button once more. Programs send endpoint (https, a host name, port 443), p256dh and auth."))
	errTurnCalled  = web.NewProblem(409, "called", text.Mark("Your number is called already: it is your turn."), web.PlaceHolds, text.Mark("Enter the shop."))
	errTurnEnded   = web.NewProblem(409, "ended", text.Mark("This entry isn’t waiting for seats any more."), "", text.Mark("Look at its page."))
	errTurnMany    = web.NewProblem(409, "too_many", text.Mark("This entry already notifies five browsers."), web.WaitHolds, text.Mark("Stop notifications on its page, then add this one."))
	errTurnHurried = web.NewProblem(429, "too_many", text.Mark("Very many people are asking from your network right now."), web.PlaceHolds, text.Mark("Wait a few seconds, then try again."))
)

// PushWorker answers GET /push.js
//
// It is at the root, so that its scope is every page on which browsers subscribe.
func (h *Handlers) PushWorker(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	_, _ = w.Write(static.Script("push_worker.js")) // a reader who is gone needs none
	return nil
}

// turnRequest reads the form of a person who wants to be told.
func (h *Handlers) turnRequest(r *http.Request) turns.Request {
	return turns.Request{
		Email: r.PostFormValue("email"), Endpoint: r.PostFormValue("endpoint"), P256dh: r.PostFormValue("p256dh"), Auth: r.PostFormValue("auth"),
		Language: text.Tag(r.Context()), Team: web.HostTeam(r),
	}
}

// TellTurn answers POST /rooms/{slug}/notifications
//
// It has a visitor told by email or push message when their number is called, or, with stop, not told.
func (h *Handlers) TellTurn(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, err := h.Visited(r)
	if err != nil {
		return err
	}
	holder, known := h.Visitor(r)
	if !known {
		return errNoPlace
	}
	v := room.Look(r.Context(), holder, h.token(r, room))
	if v.Place == (waitingroom.Place{}) {
		return errNoPlace
	}
	ask, told := h.turnRequest(r), ""
	switch {
	case r.PostFormValue("stop") != "":
		err = h.Turns.Forget(r.Context(), v.Place)
	case h.Hurried(w, r, web.CountsTurns, web.TurnsPerNetwork):
		err = errTurnHurried
	default:
		if told = "email"; ask.Endpoint != "" {
			told = "push"
		}
		err = h.Turns.Ask(r.Context(), room, v.Place, ask)
	}
	if known := turnProblem(err); known != nil && !web.WantsJSON(r) {
		return h.showRoom(w, r, room, known.Status, v, shop.RoomPage{Failed: known.In(r.Context()), Email: ask.Email, Telling: true})
	} else if known != nil {
		return known
	}
	if err != nil {
		return err
	}
	if before := h.told(r, room, v.Place); told != "" && strings.Contains(before, told) {
		told = before
	} else if told != "" {
		told += before
	}
	h.KeepCookie(w, toldName(room), toldValue(v.Place, told))
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.RoomPath(room.Slug)+"#tell", http.StatusSeeOther)
	return nil
}

// turnProblem returns the words for an error of a request to be told; nil for other errors.
func turnProblem(err error) *web.Problem {
	var known *web.Problem
	switch {
	case errors.Is(err, turns.ErrEmail):
		return errTurnEmail
	case errors.Is(err, turns.ErrBrowser):
		return errTurnBrowser
	case errors.Is(err, turns.ErrCalled):
		return errTurnCalled
	case errors.Is(err, turns.ErrEnded):
		return errTurnEnded
	case errors.Is(err, turns.ErrMany):
		return errTurnMany
	case errors.As(err, &known):
		return known
	}
	return nil
}

// A cookie remembers how a visitor is told of their place, so that the page needs no question to the database.
func toldName(room *waitingroom.Room) string { return "told-" + placeName(room) }

func toldValue(p waitingroom.Place, told string) string {
	if told == "" {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%s", p.Epoch, p.Kind, p.Index, told)
}

// told says how the visitor with a place is told: it has the words email and push in it, or none of them.
func (h *Handlers) told(r *http.Request, room *waitingroom.Room, p waitingroom.Place) string {
	told, is := strings.CutPrefix(h.KeptCookie(r, toldName(room)), fmt.Sprintf("%d.%d.%d.", p.Epoch, p.Kind, p.Index))
	if !is {
		return "" // of a place before this one
	}
	return told
}

// TellOffers answers POST /waitlist/{code}/notifications
//
// It has a browser told of offers by push messages, or, with stop, none any more.
func (h *Handlers) TellOffers(w http.ResponseWriter, r *http.Request, n waitlist.Entry, _ *seats.Sale) (err error) {
	switch {
	case r.PostFormValue("stop") != "":
		err = h.Turns.ForgetEntry(r.Context(), n.ID)
	case h.Hurried(w, r, web.CountsTurns, web.TurnsPerNetwork):
		err = errTurnHurried
	default:
		err = h.Turns.AskEntry(r.Context(), n.ID, h.turnRequest(r))
	}
	if known := turnProblem(err); known != nil {
		return known
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.WaitPath(n.Code), http.StatusSeeOther)
	return nil
}
