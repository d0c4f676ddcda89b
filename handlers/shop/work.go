package shop

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/shop"
)

// patientOf is how many people of one network may join by waiting, of those who may join by work: one in twenty.
const patientOf = 20

var (
	errWork     = web.NewProblem(403, "work", text.Mark("This waiting room asks your browser for some work before it joins, and that was not done, or too long ago."), web.PlaceHolds, text.Mark("Press the button once more. A browser without scripts waits on this page for a minute first."))
	errPatience = web.NewProblem(403, "patience", text.Mark("Your browser did not do the work for joining, so it waits for a minute instead."), web.PlaceHolds, text.Mark("Stay on this page until the minute is over, then press the button."))
)

// RoomWork answers GET /rooms/{slug}/work
func (h *Handlers) RoomWork(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	if s := room.State(); !s.AsksWork() {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	challenge, err := room.Challenge(r.Context())
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, challenge)
}

// prove reads the proof of work of a join; nil if it has none, or none is asked for.
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
	if proof.Patient() && h.Hurried(w, r, web.CountsPatience, (h.Joins+patientOf-1)/patientOf) {
		return nil, errHurried
	}
	return proof, nil
}

// sorry says why a visitor cannot join yet, and shows the room with its button again.
func (h *Handlers) sorry(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, v waitingroom.Visit, err error) error {
	known, page := Explain(r.Context(), err), shop.RoomPage{Invitation: r.PostFormValue("invitation")}
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
	if web.WantsJSON(r) {
		return known
	}
	if holder, there := h.Visitor(r); there && v.Place != (waitingroom.Place{}) {
		if v, err = h.enter(w, r, room, holder); err != nil { // it says what became of the place they had
			return err
		}
	}
	page.Failed = known.In(r.Context())
	return h.showRoom(w, r, room, known.Status, v, page)
}

// toWork is a proof without work: browsers without scripts wait instead.
func (h *Handlers) toWork(r *http.Request, room *waitingroom.Room) string {
	challenge, err := room.Challenge(r.Context())
	if err != nil {
		h.Log.Error("no work could be made for a browser", "room", room.Slug, "error", err)
		return ""
	}
	return (&waitingroom.Proof{Challenge: challenge}).String()
}
