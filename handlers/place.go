package handlers

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/shop"
)

// placeLength is how many seconds a browser keeps a place.
const placeLength = 24 * 60 * 60

// kept is the name of a cookie of ours; over TLS browsers make sure that it is.
func (h *Handlers) kept(name string) string {
	if strings.HasPrefix(h.sessions.Cookie.Name, "__Host-") {
		return "__Host-usher-" + name
	}
	return "usher-" + name
}

func (h *Handlers) keepCookie(w http.ResponseWriter, name, value string) {
	age := placeLength
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: h.kept(name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: h.sessions.Cookie.Secure, SameSite: http.SameSiteLaxMode,
	})
}

func placeName(room *waitingroom.Room) string { return "place-" + strconv.FormatInt(room.ID, 10) }

// token is the place that a browser kept; empty for none.
func (h *Handlers) token(r *http.Request, room *waitingroom.Room) string {
	if cookie, err := r.Cookie(h.kept(placeName(room))); err == nil {
		return cookie.Value
	}
	return ""
}

const visitorName = "visitor"

// visitor is who asks: the holder of their session, or, for somebody who never held a seat, one that follows from a random
// word that their browser keeps. So two million who wait need no row. The holder tells nothing about the word: who knows a
// holder still cannot be them. Their session gets the same holder when they have one.
func (h *Handlers) visitor(r *http.Request) (seats.ID, bool) {
	if token := h.sessionToken(r); token != "" {
		if holder, known := h.holder(r); known {
			return holder, true
		}
	}
	cookie, err := r.Cookie(h.kept(visitorName))
	if err != nil {
		return seats.ID{}, false
	}
	return holderOf(cookie.Value), len(cookie.Value) == len(rand.Text())
}

func holderOf(word string) seats.ID {
	sum := sha256.Sum256([]byte("usher/visitor/v1" + word))
	return seats.ID(sum[:len(seats.ID{})])
}

// greet gives a browser a word to keep, and tells who it is from now on.
func (h *Handlers) greet(w http.ResponseWriter) seats.ID {
	word := rand.Text()
	h.keepCookie(w, visitorName, word)
	return holderOf(word)
}

// POST /rooms/{slug}/places
//
// A place is given on the second contact: who has kept nothing is sent here again with something to keep, and who then
// comes without it gets no number.
func (h *Handlers) join(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, _ = h.softly(r)
	holder, known := h.visitor(r)
	switch {
	case !known && r.URL.Query().Has("again"):
		return errNoCookie
	case !known:
		h.greet(w)
		w.Header().Set("Location", shop.RoomPath(room.Slug)+"/places?again")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil
	}
	token := h.token(r, room)
	v := room.Look(r.Context(), holder, token)
	if v.Place == (waitingroom.Place{}) && h.hurried(w, r, countsJoins, h.joins) {
		return h.sorry(w, r, room, v, errHurried)
	}
	proof, err := h.prove(w, r, room)
	if err != nil {
		return h.sorry(w, r, room, v, err)
	}
	place, next, err := joinAs(r, room, holder, token, proof)
	if err != nil {
		return h.sorry(w, r, room, v, err)
	}
	h.keepCookie(w, placeName(room), next)
	if wantsJSON(r) {
		return h.showRoom(w, r, room, http.StatusCreated, waitingroom.Visit{Place: place, Number: room.Number(place)}, shop.RoomPage{})
	}
	http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
	return nil
}

// joinAs joins as whoever somebody is: with an invitation, with work that was done, again, or new.
func joinAs(r *http.Request, room *waitingroom.Room, holder seats.ID, token string, proof *waitingroom.Proof) (waitingroom.Place, string, error) {
	invitation := r.PostFormValue("invitation")
	switch {
	case room.State().Entry == waitingroom.EntryEmail && invitation != "":
		return room.JoinAs(r.Context(), holder, token, invitation)
	case proof != nil:
		return room.JoinBy(r.Context(), holder, token, proof)
	case token == "":
		return room.Join(r.Context(), holder, token) // it costs no look at who is inside
	}
	return room.Again(r.Context(), holder, token)
}

// GET /rooms/{slug}/invitations/{invitation}
//
// Looking joins nobody: programs that read mail look at every address in it. The button does.
func (h *Handlers) roomInvitation(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	invitation := r.PathValue("invitation")
	switch err := room.Invited(r.Context(), invitation); {
	case errors.Is(err, waitingroom.ErrNoPlace):
		return errNoInvitation
	case err != nil:
		return err
	}
	r, away := h.softly(r)
	v := waitingroom.Visit{}
	if holder, known := h.visitor(r); known {
		v = room.Look(r.Context(), holder, h.token(r, room))
	}
	return h.showRoom(w, r, room, http.StatusOK, v, shop.RoomPage{Away: away, Invitation: invitation})
}

// POST /rooms/{slug}/admissions
func (h *Handlers) admit(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, err := h.visited(r)
	if err != nil {
		return err
	}
	holder, known := h.visitor(r)
	if !known {
		return errNoPlace
	}
	v, err := h.enter(w, r, room, holder)
	if err != nil {
		return err
	}
	if events := h.covered(r, room); v.Inside && !wantsJSON(r) && len(events) == 1 {
		http.Redirect(w, r, "/events/"+events[0].Slug, http.StatusSeeOther)
		return nil
	}
	return h.showRoom(w, r, room, http.StatusOK, v, shop.RoomPage{})
}

// enter lets somebody in if they may, and has their browser keep what it is to keep.
func (h *Handlers) enter(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, holder seats.ID) (waitingroom.Visit, error) {
	token := h.token(r, room)
	v, err := room.Enter(r.Context(), holder, token)
	if err == nil && v.Token != "" && v.Token != token {
		h.keepCookie(w, placeName(room), v.Token)
	}
	return v, err
}

// POST /rooms/{slug}/presence
func (h *Handlers) present(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, _ = h.softly(r)
	if holder, known := h.visitor(r); known {
		if v := room.Look(r.Context(), holder, h.token(r, room)); v.Place.Index > 0 {
			room.Here(v.Place)
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// POST /rooms/{slug}/departure
func (h *Handlers) depart(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, err := h.visited(r)
	if err != nil {
		return err
	}
	holder, known := h.visitor(r)
	if !known {
		return errNoPlace
	}
	if _, err := room.Leave(r.Context(), holder, h.token(r, room)); err != nil {
		return err
	}
	h.keepCookie(w, placeName(room), "")
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
	return nil
}

// barred tells whether somebody has to go to the waiting room of an event first, and lets them in if they need not.
func (h *Handlers) barred(w http.ResponseWriter, r *http.Request, event int64) (*waitingroom.Room, error) {
	room := h.gate.Of(event)
	if room == nil {
		return nil, nil // nothing bars the visitor
	}
	holder, known := h.visitor(r)
	if !known {
		if room.State().Phase == waitingroom.PhaseThrough {
			return nil, nil // looking needs no slot
		}
		return room, nil
	}
	v, err := h.enter(w, r, room, holder)
	if err != nil || v.Inside {
		return nil, err
	}
	return room, nil
}
