package desk

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type teamAnswer struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Members     []colleagueBody  `json:"members"`
	Invitations []invitationBody `json:"invitations"`

	SecondFactor bool `json:"second_factor"` // every member needs one
}

type colleagueBody struct {
	ID    int64           `json:"id"`
	Name  string          `json:"name"`
	Email string          `json:"email"`
	Role  organizers.Role `json:"role"`
	Since time.Time       `json:"since"`
}

type invitationBody struct {
	ID        int64           `json:"id"`
	Email     string          `json:"email"`
	Role      organizers.Role `json:"role"`
	ExpiresAt time.Time       `json:"expires_at"`
}

func describeTeam(p desk.TeamPage) teamAnswer {
	answer := teamAnswer{ID: p.Member.Team, Name: p.Member.TeamName, Members: []colleagueBody{}, Invitations: []invitationBody{}, SecondFactor: p.Member.Demands}
	for _, c := range p.Colleagues {
		answer.Members = append(answer.Members, colleagueBody{c.Organizer, c.Name, c.Email, c.Role, c.Since.UTC()})
	}
	for _, i := range p.Invitations {
		answer.Invitations = append(answer.Invitations, invitationBody{i.ID, i.Email, i.Role, i.ExpiresAt.UTC()})
	}
	return answer
}

// Team answers GET /desk/team
func (h *Handlers) Team(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showTeam(w, r, m, http.StatusOK, desk.TeamPage{})
}

// showTeam writes the page of the reader's team, with what p knows besides.
func (h *Handlers) showTeam(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.TeamPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Team"))
	p.Path = desk.TeamPath
	if p.Colleagues, err = h.Organizers.Colleagues(r.Context(), m); err != nil {
		return err
	}
	if m.May(organizers.Own) {
		if p.Invitations, err = h.Organizers.Invitations(r.Context(), m); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeTeam(p))
	}
	return web.WritePage(w, r, status, desk.Team(p))
}

// teamForm answers a form of the team's page: on to the page if it did its work, or with it and what was wrong.
func (h *Handlers) teamForm(w http.ResponseWriter, r *http.Request, m organizers.Member, err error, done string, again desk.TeamPage) error {
	switch {
	case err == nil:
		return deskDone(w, r, desk.TeamPath, done)
	case web.WantsJSON(r):
		return err
	case errors.As(err, &again.Mistakes):
		return h.showTeam(w, r, m, http.StatusUnprocessableEntity, again)
	case errors.Is(err, organizers.ErrLastOwner):
		again.Wrong = errOwner.Brief(r.Context())
		return h.showTeam(w, r, m, errOwner.Status, again)
	}
	return err
}

// RenameTeam answers POST /desk/team
func (h *Handlers) RenameTeam(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.Organizers.Rename(r.Context(), m, asked.Name, asked.Key)
	return h.teamForm(w, r, m, err, "renamed", desk.TeamPage{Form: "rename", Name: asked.Name})
}

// NewTeam answers POST /desk/teams
func (h *Handlers) NewTeam(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	team, err := h.Organizers.NewTeam(r.Context(), m, asked.Name, asked.Key)
	if err == nil && team != 0 {
		s := h.session(r)
		s.Team = team
		if err := h.enterDesk(w, r, s, organizers.ByPassword); err != nil {
			return err
		}
	}
	return h.teamForm(w, r, m, err, "team", desk.TeamPage{Form: "new", Name: asked.Name})
}

// Invite answers POST /desk/team/invitations
func (h *Handlers) Invite(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.Organizers.Invite(r.Context(), m, asked.Email, asked.Role, asked.Key)
	return h.teamForm(w, r, m, err, "invited", desk.TeamPage{Form: "invite", Email: asked.Email, Role: asked.Role})
}

// WithdrawInvitation answers POST /desk/team/invitations/{id}/withdrawal
func (h *Handlers) WithdrawInvitation(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.ofTeam(w, r, m, "withdrawn", func(id int64, asked deskAsked) error {
		return h.Organizers.Withdraw(r.Context(), m, id, asked.Key)
	})
}

// DemandSecond answers POST /desk/team/second-factor
func (h *Handlers) DemandSecond(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	done := "not-demanded"
	if asked.On {
		done = "demanded"
	}
	return h.teamForm(w, r, m, h.Organizers.Demand(r.Context(), m, asked.On, asked.Key), done, desk.TeamPage{Form: "second"})
}

// SetRole answers POST /desk/team/members/{id}
func (h *Handlers) SetRole(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.ofTeam(w, r, m, "role", func(id int64, asked deskAsked) error {
		return h.Organizers.SetRole(r.Context(), m, id, asked.Role, asked.Key)
	})
}

// RemoveMember answers POST /desk/team/members/{id}/removal
func (h *Handlers) RemoveMember(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.ofTeam(w, r, m, "removed", func(id int64, asked deskAsked) error {
		return h.Organizers.Remove(r.Context(), m, id, asked.Key)
	})
}

// ofTeam does something to a member or an invitation of the team.
func (h *Handlers) ofTeam(w http.ResponseWriter, r *http.Request, m organizers.Member, done string, do func(id int64, asked deskAsked) error) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	return h.teamForm(w, r, m, do(id, asked), done, desk.TeamPage{Form: "members"})
}
