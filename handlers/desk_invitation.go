package handlers

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// GET /desk/invitations/{token}
//
// Looking uses a link up for nobody: programs that read mail look at every address in it. The button does.
func (h *Handlers) invitation(w http.ResponseWriter, r *http.Request) error {
	return h.showInvitation(w, r, http.StatusOK, desk.InvitationPage{})
}

func (h *Handlers) showInvitation(w http.ResponseWriter, r *http.Request, status int, p desk.InvitationPage) (err error) {
	if p.Invited, err = h.organizers.Invitation(r.Context(), r.PathValue("token")); err != nil {
		return err
	}
	p.Page, p.Action = views.Page{Title: "Join " + p.Invited.TeamName, Nonce: nonce(w), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	w.Header().Set("Referrer-Policy", "no-referrer")
	switch m, err := h.organizers.Member(r.Context(), h.deskSession(r), ""); {
	case err == nil, errors.Is(err, organizers.ErrNoTeam):
		p.Here = m
	case !errors.Is(err, organizers.ErrSignedOut):
		return err
	}
	return writePage(w, r, status, desk.JoinTeam(p))
}

// POST /desk/invitations/{token}
func (h *Handlers) joinTeam(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	token := r.PathValue("token")
	invited, err := h.organizers.Invitation(r.Context(), token)
	if err != nil {
		return err
	}
	var s organizers.Session
	if invited.Organizer != 0 {
		s = h.deskSession(r)
		if _, err = h.organizers.Member(r.Context(), s, ""); errors.Is(err, organizers.ErrSignedOut) {
			return err
		}
		s, err = h.organizers.Join(r.Context(), token, s)
	} else {
		s, err = h.organizers.JoinAs(r.Context(), token, organizers.Newcomer{Name: asked.Name, Password: asked.Password})
	}
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !wantsJSON(r):
		return h.showInvitation(w, r, http.StatusUnprocessableEntity, desk.InvitationPage{Name: asked.Name, Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.welcomeToDesk(w, r, s, "", organizers.ByPassword)
}
