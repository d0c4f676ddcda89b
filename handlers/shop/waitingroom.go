package shop

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/shop"
)

func placeName(room *waitingroom.Room) string { return "place-" + strconv.FormatInt(room.ID, 10) }

// token is the signed place in the browser's cookie; empty for none.
func (h *Handlers) token(r *http.Request, room *waitingroom.Room) string {
	return h.KeptCookie(r, placeName(room))
}

// Join answers POST /rooms/{slug}/places
//
// A place is given on the second contact. A browser without a visitor cookie gets one and is redirected here. If it does not
// store the cookie, it gets no number.
func (h *Handlers) Join(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, _ = h.softly(r)
	holder, known := h.Visitor(r)
	switch {
	case !known && r.URL.Query().Has("again"):
		return errNoCookie
	case !known:
		h.Greet(w)
		w.Header().Set("Location", shop.RoomPath(room.Slug)+"/places?again")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil
	}
	token := h.token(r, room)
	v := room.Look(r.Context(), holder, token)
	if v.Place == (waitingroom.Place{}) && h.Hurried(w, r, web.CountsJoins, h.Joins) {
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
	h.KeepCookie(w, placeName(room), next)
	if web.WantsJSON(r) {
		return h.showRoom(w, r, room, http.StatusCreated, waitingroom.Visit{Place: place, Number: room.Number(place)}, shop.RoomPage{})
	}
	http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
	return nil
}

// joinAs joins with an invitation, with a proof of work, again, or new.
func joinAs(r *http.Request, room *waitingroom.Room, holder seats.ID, token string, proof *waitingroom.Proof) (waitingroom.Place, string, error) {
	invitation := r.PostFormValue("invitation")
	switch {
	case room.State().Entry == waitingroom.EntryEmail && invitation != "":
		return room.JoinAs(r.Context(), holder, token, invitation)
	case proof != nil:
		return room.JoinBy(r.Context(), holder, token, proof)
	case token == "":
		return room.Join(r.Context(), holder, token) // without a query for their slot
	}
	return room.Again(r.Context(), holder, token)
}

// RoomInvitation answers GET /rooms/{slug}/invitations/{invitation}
//
// GET joins no room, as mail programs open every address. The button does.
func (h *Handlers) RoomInvitation(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	invitation := r.PathValue("invitation")
	switch err := room.Invited(r.Context(), invitation); {
	case errors.Is(err, waitingroom.ErrNoPlace):
		return errNoInvitation
	case err != nil:
		return err
	}
	r, away := h.softly(r)
	v := waitingroom.Visit{}
	if holder, known := h.Visitor(r); known {
		v = room.Look(r.Context(), holder, h.token(r, room))
	}
	return h.showRoom(w, r, room, http.StatusOK, v, shop.RoomPage{Away: away, Invitation: invitation})
}

// Admit answers POST /rooms/{slug}/admissions
func (h *Handlers) Admit(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, err := h.Visited(r)
	if err != nil {
		return err
	}
	holder, known := h.Visitor(r)
	if !known {
		return errNoPlace
	}
	v, err := h.enter(w, r, room, holder)
	if err != nil {
		return err
	}
	if events := h.covered(r, room); v.Inside && !web.WantsJSON(r) && len(events) == 1 {
		http.Redirect(w, r, "/events/"+events[0].Slug, http.StatusSeeOther)
		return nil
	}
	return h.showRoom(w, r, room, http.StatusOK, v, shop.RoomPage{})
}

// enter admits a visitor who may come in, and sets the cookies.
func (h *Handlers) enter(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, holder seats.ID) (waitingroom.Visit, error) {
	token := h.token(r, room)
	v, err := room.Enter(r.Context(), holder, token)
	if err == nil && v.Token != "" && v.Token != token {
		h.KeepCookie(w, placeName(room), v.Token)
	}
	return v, err
}

// Present answers POST /rooms/{slug}/presence
func (h *Handlers) Present(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, _ = h.softly(r)
	if holder, known := h.Visitor(r); known {
		if v := room.Look(r.Context(), holder, h.token(r, room)); v.Place.Index > 0 {
			room.Here(v.Place)
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Depart answers POST /rooms/{slug}/departure
func (h *Handlers) Depart(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, err := h.Visited(r)
	if err != nil {
		return err
	}
	holder, known := h.Visitor(r)
	if !known {
		return errNoPlace
	}
	token := h.token(r, room)
	place := room.Look(r.Context(), holder, token).Place
	if _, err := room.Leave(r.Context(), holder, token); err != nil {
		return err
	}
	if h.told(r, room, place) != "" {
		if err := h.Turns.Forget(r.Context(), place); err != nil {
			return err
		}
		h.KeepCookie(w, toldName(room), "")
	}
	h.KeepCookie(w, placeName(room), "")
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
	return nil
}

// barred returns the waiting room that a visitor has to pass first, and admits a visitor who need not wait.
func (h *Handlers) barred(w http.ResponseWriter, r *http.Request, event int64) (*waitingroom.Room, error) {
	room := h.Rooms.Of(event)
	if room == nil {
		return nil, nil // nothing bars the visitor
	}
	holder, known := h.Visitor(r)
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

// toRoom sends a visitor who has to wait to the room. Visitors who hold seats, of a presale or of a turn that ended, can still order
// them: they are sent to the checkout, which tells them of the room.
func (h *Handlers) toRoom(w http.ResponseWriter, r *http.Request, s *seats.Sale, room *waitingroom.Room) error {
	to := shop.RoomPath(room.Slug)
	if holder, known := h.Holder(r); known {
		hold, err := s.Hold(r.Context(), holder)
		switch {
		case err == nil && !hold.Expired:
			to = shop.Sale{Event: s.Event}.CheckoutPath() + "?waits=1"
		case err != nil && !errors.Is(err, seats.ErrNoHold):
			return err
		}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
