package shop

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errWaitOften = web.NewProblem(429, "too_often", text.Mark("We sent three emails to this address within the hour."), web.WaitHolds, text.Mark("Look for the newest of them, or try again in an hour."))

// WaitList answers GET /events/{slug}/waitlist
func (h *Handlers) WaitList(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	return h.showJoin(w, r, s, http.StatusOK, shop.JoinPage{})
}

type listAnswer struct {
	Waiting int `json:"waiting"`
}

// showJoin writes the page on which one joins, with what p knows besides.
func (h *Handlers) showJoin(w http.ResponseWriter, r *http.Request, s *seats.Sale, status int, p shop.JoinPage) (err error) {
	if p.Waiting, err = h.Waits.Waiting(r.Context(), s.Event.Slug); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, listAnswer{p.Waiting})
	}
	if p.Alone, err = h.alone(r, s); err != nil {
		return err
	}
	p.Verified, p.Number = h.account(r), h.numberIn(r, s)
	if p.Typed.Email == "" {
		p.Typed.Email = p.Verified
	}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Key: rand.Text()}
	p.Shut = s.Event.Status == seats.Closed || s.Event.Status == seats.Cancelled
	p.Page = views.Page{Title: text.T(r.Context(), "Waiting list") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "waitlist.css"}
	return web.WritePage(w, r, status, shop.WaitJoin(p))
}

// numberIn is the visitor's number in the waiting room of an event; 0 for none.
func (h *Handlers) numberIn(r *http.Request, s *seats.Sale) int64 {
	room := h.Rooms.Of(s.Event.ID)
	if room == nil {
		return 0
	}
	holder, known := h.Visitor(r)
	if !known {
		return 0
	}
	v := room.Look(r.Context(), holder, h.token(r, room))
	if v.Place == (waitingroom.Place{}) {
		return 0
	}
	return v.Number
}

type askedAnswer struct {
	Email string `json:"email"` // a mail with a link is on its way to it
}

// JoinWaitList answers POST /events/{slug}/waitlist
func (h *Handlers) JoinWaitList(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	wanted, typed, err := h.decodeEntry(r, s)
	if err == nil && h.Hurried(w, r, web.CountsWaits, web.WaitsPerNetwork) {
		err = errWaitHurried
	}
	var joined waitlist.Joined
	if err == nil {
		by := waitlist.Joining{Verified: h.account(r), Number: h.numberIn(r, s)}
		joined, err = h.Waits.Join(h.Reading(r), s, wanted, by)
	}
	if err != nil {
		return h.refuseJoin(w, r, s, typed, err)
	}
	h.WaitsChanged(s)
	switch {
	case joined.Asked && web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusAccepted, askedAnswer{strings.TrimSpace(typed.Email)})
	case joined.Asked:
		return h.showJoin(w, r, s, http.StatusOK, shop.JoinPage{Asked: strings.TrimSpace(typed.Email)})
	}
	return h.goToPlace(w, r, joined.Code, http.StatusCreated)
}

var errWaitHurried = web.NewProblem(429, "too_many", text.Mark("Very many people are joining from your network right now."), web.WaitHolds, text.Mark("Wait a few seconds, then try again."))

// refuseJoin says what is wrong: as JSON, or on the same page with everything that was typed.
func (h *Handlers) refuseJoin(w http.ResponseWriter, r *http.Request, s *seats.Sale, typed shop.EntryForm, err error) error {
	p := shop.JoinPage{Typed: typed}
	var refusal *seats.Conflict
	var known *web.Problem
	switch {
	case web.WantsJSON(r) && errors.As(err, &refusal):
		return h.refuse(w, r, s, refusal)
	case web.WantsJSON(r):
		return err
	case errors.As(err, &p.Mistakes):
		return h.showJoin(w, r, s, http.StatusUnprocessableEntity, p)
	case errors.As(err, &refusal):
		p.Message = refusal.In(h.Reading(r))
		return h.showJoin(w, r, s, http.StatusConflict, p)
	case errors.Is(err, waitlist.ErrOften):
		errWaitOften.TooOften(w)
		p.Message = text.T(r.Context(), errWaitOften.What) + " " + text.T(r.Context(), errWaitOften.Next)
		return h.showJoin(w, r, s, errWaitOften.Status, p)
	case errors.As(err, &known) && known == errWaitHurried:
		p.Message = text.T(r.Context(), known.What) + " " + text.T(r.Context(), known.Next)
		return h.showJoin(w, r, s, known.Status, p)
	}
	return err
}

// goToPlace redirects to a place, or describes it.
func (h *Handlers) goToPlace(w http.ResponseWriter, r *http.Request, code string, status int) error {
	if !web.WantsJSON(r) {
		http.Redirect(w, r, shop.WaitPath(code), http.StatusSeeOther)
		return nil
	}
	n, err := h.Waits.Find(r.Context(), code)
	if err != nil {
		return err
	}
	w.Header().Set("Location", shop.WaitPath(code))
	return h.showPlace(w, r, n, status, shop.WaitPage{})
}
