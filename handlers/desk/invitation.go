package desk

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// Invitation answers GET /desk/invitations/{token}
//
// GET does not use the link up, as mail programs open every address. The button does.
func (h *Handlers) Invitation(w http.ResponseWriter, r *http.Request) error {
	return h.showInvitation(w, r, http.StatusOK, desk.InvitationPage{})
}

func (h *Handlers) showInvitation(w http.ResponseWriter, r *http.Request, status int, p desk.InvitationPage) (err error) {
	if p.Invited, err = h.Organizers.Invitation(r.Context(), r.PathValue("token")); err != nil {
		return err
	}
	p.Page, p.Action = views.Page{Title: "Join " + p.Invited.TeamName, Nonce: web.Nonce(w), Legal: h.Legal(r, p.Invited.Team), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	p.Provider = h.providerName()
	w.Header().Set("Referrer-Policy", "no-referrer")
	switch m, err := h.Organizers.Member(r.Context(), h.session(r), ""); {
	case err == nil, errors.Is(err, organizers.ErrNoTeam):
		p.Here = m
	case !errors.Is(err, organizers.ErrSignedOut):
		return err
	}
	return web.WritePage(w, r, status, desk.JoinTeam(p))
}

// JoinTeam answers POST /desk/invitations/{token}
func (h *Handlers) JoinTeam(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	token := r.PathValue("token")
	invited, err := h.Organizers.Invitation(r.Context(), token)
	if err != nil {
		return err
	}
	var s organizers.Session
	if invited.Organizer != 0 {
		s = h.session(r)
		if _, err = h.Organizers.Member(r.Context(), s, ""); errors.Is(err, organizers.ErrSignedOut) {
			return err
		}
		s, err = h.Organizers.Join(r.Context(), token, s)
	} else {
		s, err = h.Organizers.JoinAs(r.Context(), token, organizers.Newcomer{Name: asked.Name, Password: asked.Password})
	}
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showInvitation(w, r, http.StatusUnprocessableEntity, desk.InvitationPage{Name: asked.Name, Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.welcomeIn(w, r, s, "", organizers.ByPassword)
}
