package handlers

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/shop"
)

// patientOf is how many people of one network may join by waiting, of those who may join by work: one in twenty.
const patientOf = 20

var (
	errWork     = &problem{403, "work", "This waiting room asks your browser for some work before it joins, and that was not done, or too long ago.", placeHolds, "Press the button once more. A browser without scripts waits on this page for a minute first."}
	errPatience = &problem{403, "patience", "Your browser did no work before it joined, so it waits for a minute instead.", placeHolds, "Stay on this page until the minute is over, then press the button."}
)

// GET /rooms/{slug}/work
func (h *Handlers) roomWork(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	if s := room.State(); !s.AsksWork() {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	challenge, err := room.Challenge(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, challenge)
}

// prove reads the proof of work that somebody joins with; nil if they show none, or none is asked for.
func (h *Handlers) prove(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) (*waitingroom.Proof, error) {
	text, s := r.PostFormValue("proof"), room.State()
	if text == "" || !s.AsksWork() {
		return nil, nil // there is none
	}
	proof, err := waitingroom.ReadProof(text)
	if err == nil {
		err = room.Prove(r.Context(), proof)
	}
	if err != nil {
		return nil, err
	}
	if proof.Patient() && h.hurried(w, r, countsPatience, (h.joins+patientOf-1)/patientOf) {
		return nil, errHurried
	}
	return proof, nil
}

// sorry tells somebody who cannot join yet why, and shows them the room with its button again.
func (h *Handlers) sorry(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, v waitingroom.Visit, err error) error {
	known, page := roomError(err), shop.RoomPage{Invitation: r.PostFormValue("invitation")}
	switch {
	case errors.Is(err, errHurried):
		known = errHurried
		room.Hurried()
	case errors.Is(err, waitingroom.ErrPatience):
		page.Proof = r.PostFormValue("proof") // it goes on waiting
	case errors.Is(err, waitingroom.ErrWork):
		room.NotWorked()
	default:
		return err
	}
	if wantsJSON(r) {
		return known
	}
	if holder, there := h.visitor(r); there && v.Place != (waitingroom.Place{}) {
		if v, err = h.enter(w, r, room, holder); err != nil { // it says what became of the place they had
			return err
		}
	}
	page.Failed = known.what + " " + known.holds + " " + known.next
	return h.showRoom(w, r, room, known.status, v, page)
}

// toWork is a proof of nobody's work yet: for browsers without scripts, which wait with it.
func (h *Handlers) toWork(r *http.Request, room *waitingroom.Room) string {
	challenge, err := room.Challenge(r.Context())
	if err != nil {
		h.log.Error("no work could be made for a browser", "room", room.Slug, "error", err)
		return ""
	}
	return (&waitingroom.Proof{Challenge: challenge}).String()
}
