package handlers

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// GET /desk/account
func (h *Handlers) deskAccount(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showAccount(w, r, m, http.StatusOK, desk.AccountPage{})
}

func (h *Handlers) showAccount(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.AccountPage) (err error) {
	p.Frame = h.deskView(w, r, m, "Your account")
	p.Script, p.Path, p.Origin = "desk_passkey.js", desk.AccountPath, h.origin(r)
	if p.List, err = h.organizers.Passkeys(r.Context(), m); err != nil {
		return err
	}
	if p.Sessions, err = h.organizers.Sessions(r.Context(), m); err != nil {
		return err
	}
	if p.Happened, err = h.organizers.OwnEvents(r.Context(), m); err != nil {
		return err
	}
	if p.RecoveryLeft, err = h.organizers.RecoveryLeft(r.Context(), m); err != nil {
		return err
	}
	return writePage(w, r, status, desk.Account(p))
}

// accountForm answers a form of the account's page.
func (h *Handlers) accountForm(w http.ResponseWriter, r *http.Request, m organizers.Member, err error, done string, again desk.AccountPage) error {
	switch {
	case err == nil:
		return deskDone(w, r, desk.AccountPath, done)
	case wantsJSON(r):
		return err
	case errors.As(err, &again.Mistakes):
		return h.showAccount(w, r, m, http.StatusUnprocessableEntity, again)
	case errors.Is(err, organizers.ErrSignIn):
		again.WrongBefore = "This is not your current password."
		return h.showAccount(w, r, m, http.StatusForbidden, again)
	}
	return err
}

// POST /desk/account
func (h *Handlers) renameAccount(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	return h.accountForm(w, r, m, h.organizers.SetName(r.Context(), m, asked.Name), "name", desk.AccountPage{Form: "name", Name: asked.Name})
}

// POST /desk/account/password
func (h *Handlers) changePassword(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.organizers.ChangePassword(r.Context(), m, asked.Before, asked.Password)
	if err == nil {
		by := organizers.ByPassword
		by.Second = m.Second // they showed it in the session that ends
		if err := h.enterDesk(w, r, s, by); err != nil {
			return err
		}
	}
	return h.accountForm(w, r, m, err, "password", desk.AccountPage{Form: "password"})
}

// GET /desk/password
func (h *Handlers) forgotPassword(w http.ResponseWriter, r *http.Request) error {
	return h.showForgotten(w, r, http.StatusOK, desk.ForgottenPage{})
}

func (h *Handlers) showForgotten(w http.ResponseWriter, r *http.Request, status int, p desk.ForgottenPage) error {
	p.Page = views.Page{Title: "Another password", Nonce: nonce(w), Style: "desk.css"}
	return writePage(w, r, status, desk.Forgotten(p))
}

// POST /desk/password
//
// The answer is the same whether or not there is such an organizer.
func (h *Handlers) askPassword(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.organizers.AskPassword(r.Context(), asked.Email, h.client(r))
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !wantsJSON(r):
		return h.showForgotten(w, r, http.StatusUnprocessableEntity, desk.ForgottenPage{Email: asked.Email, Mistakes: mistakes})
	case err != nil:
		return err
	case wantsJSON(r):
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return h.showForgotten(w, r, http.StatusOK, desk.ForgottenPage{Asked: asked.Email})
}

// GET /desk/password/{token}
func (h *Handlers) passwordLink(w http.ResponseWriter, r *http.Request) error {
	return h.showPassword(w, r, http.StatusOK, desk.PasswordPage{})
}

func (h *Handlers) showPassword(w http.ResponseWriter, r *http.Request, status int, p desk.PasswordPage) (err error) {
	if p.Member, err = h.organizers.WhosePassword(r.Context(), r.PathValue("token")); err != nil {
		return err
	}
	p.Page, p.Action = views.Page{Title: "Another password", Nonce: nonce(w), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	w.Header().Set("Referrer-Policy", "no-referrer")
	return writePage(w, r, status, desk.AnotherPassword(p))
}

// POST /desk/password/{token}
func (h *Handlers) resetPassword(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.organizers.ResetPassword(r.Context(), r.PathValue("token"), asked.Password, h.client(r))
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !wantsJSON(r):
		return h.showPassword(w, r, http.StatusUnprocessableEntity, desk.PasswordPage{Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.afterPassword(w, r, s, "", organizers.ByLink) // a link is no second factor
}
