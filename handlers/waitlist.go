package handlers

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

const waitHolds = "Offers that were made hold, and every place is as it was."

var (
	errNoEntry   = &problem{404, "unknown", "There is no such place in a wait list.", "Places and offers of others are as they were.", "Take the address from the mail about it, letter by letter."}
	errOver      = &problem{410, "over", "The sale of this event is over.", "Orders that were placed hold.", "See the other events."}
	errWaitOften = &problem{429, "too_often", "Three mails went to this address within the hour.", waitHolds, "Look for the newest of them, or try again in an hour."}
)

// GET /events/{slug}/waitlist
func (h *Handlers) waitList(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	return h.showJoin(w, r, s, http.StatusOK, shop.JoinPage{})
}

type listAnswer struct {
	Waiting int `json:"waiting"`
}

// showJoin writes the page on which one joins, with what p knows besides.
func (h *Handlers) showJoin(w http.ResponseWriter, r *http.Request, s *seats.Sale, status int, p shop.JoinPage) (err error) {
	if p.Waiting, err = h.waits.Waiting(r.Context(), s.Event.Slug); err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, status, listAnswer{p.Waiting})
	}
	p.Verified, p.Number, p.Alone = h.account(r), h.numberIn(r, s), h.alone(s)
	if p.Typed.Email == "" {
		p.Typed.Email = p.Verified
	}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text()}
	if s.Event.Status == seats.Closed || s.Event.Status == seats.Cancelled {
		p.Shut = s.Event.Shut()
	}
	p.Page = views.Page{Title: "Waiting list · " + s.Event.Name, Nonce: nonce(w), Style: "waitlist.css"}
	return writePage(w, r, status, shop.WaitJoin(p))
}

// numberIn is the number that somebody has in the waiting room of an event; 0 for none.
func (h *Handlers) numberIn(r *http.Request, s *seats.Sale) int64 {
	room := h.gate.Of(s.Event.ID)
	if room == nil {
		return 0
	}
	holder, known := h.visitor(r)
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

// POST /events/{slug}/waitlist
func (h *Handlers) joinWaitList(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	wish, typed, key, err := h.decodeEntry(r, s)
	if err == nil && h.hurried(w, r, countsJoins, h.joins) {
		err = errWaitHurried
	}
	var joined waitlist.Joined
	if err == nil {
		by := waitlist.Joining{Verified: h.account(r), Number: h.numberIn(r, s), Key: key}
		joined, err = h.waits.Join(r.Context(), s, wish, by)
	}
	if err != nil {
		return h.refuseJoin(w, r, s, typed, err)
	}
	h.desks.Changed(s)
	switch {
	case joined.Asked && wantsJSON(r):
		return writeJSON(w, http.StatusAccepted, askedAnswer{strings.TrimSpace(typed.Email)})
	case joined.Asked:
		return h.showJoin(w, r, s, http.StatusOK, shop.JoinPage{Asked: strings.TrimSpace(typed.Email)})
	}
	return h.goToPlace(w, r, joined.Code, http.StatusCreated)
}

var errWaitHurried = &problem{429, "too_many", "Very many people join from your network at this moment.", waitHolds, "Wait a few seconds, then send it again."}

// refuseJoin says what is wrong: as JSON, or on the same page with everything that was typed.
func (h *Handlers) refuseJoin(w http.ResponseWriter, r *http.Request, s *seats.Sale, typed shop.EntryForm, err error) error {
	p := shop.JoinPage{Typed: typed}
	var refusal *seats.Refusal
	var known *problem
	switch {
	case wantsJSON(r) && errors.As(err, &refusal):
		return h.refuse(w, r, s, refusal)
	case wantsJSON(r):
		return err
	case errors.As(err, &p.Mistakes):
		return h.showJoin(w, r, s, http.StatusUnprocessableEntity, p)
	case errors.As(err, &refusal):
		p.Message = refusal.Message
		return h.showJoin(w, r, s, http.StatusConflict, p)
	case errors.Is(err, waitlist.ErrOften):
		errWaitOften.tooOften(w)
		p.Message = errWaitOften.what + " " + errWaitOften.next
		return h.showJoin(w, r, s, errWaitOften.status, p)
	case errors.As(err, &known) && known == errWaitHurried:
		p.Message = known.what + " " + known.next
		return h.showJoin(w, r, s, known.status, p)
	}
	return err
}

// goToPlace leads to somebody's place, or describes it.
func (h *Handlers) goToPlace(w http.ResponseWriter, r *http.Request, code string, status int) error {
	if !wantsJSON(r) {
		http.Redirect(w, r, shop.WaitPath(code), http.StatusSeeOther)
		return nil
	}
	n, err := h.waits.Find(r.Context(), code)
	if err != nil {
		return err
	}
	w.Header().Set("Location", shop.WaitPath(code))
	return h.showPlace(w, r, n, status, shop.WaitPage{})
}

// waitError is what a wait list says of an error of package waitlist; nil for others.
func waitError(err error) *problem {
	var mistakes waitlist.Mistakes
	switch {
	case errors.As(err, &mistakes):
		return &problem{422, "invalid", mistakes.Error(), waitHolds, "Change it and send it again."}
	case errors.Is(err, waitlist.ErrNoEntry):
		return errNoEntry
	case errors.Is(err, waitlist.ErrOver):
		return errOver
	case errors.Is(err, waitlist.ErrOften):
		return errWaitOften
	}
	return nil
}
