package desk

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// Account answers GET /desk/account
func (h *Handlers) Account(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showAccount(w, r, m, http.StatusOK, desk.AccountPage{})
}

func (h *Handlers) showAccount(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.AccountPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Your account"))
	p.Script, p.Path, p.Origin = "desk_passkey.js", desk.AccountPath, h.Origin(r)
	if p.List, err = h.Organizers.Passkeys(r.Context(), m); err != nil {
		return err
	}
	if p.Connection, err = h.Organizers.Connection(r.Context(), m); err != nil {
		return err
	}
	if p.Sessions, err = h.Organizers.Sessions(r.Context(), m); err != nil {
		return err
	}
	if p.Happened, err = h.Organizers.OwnEvents(r.Context(), m); err != nil {
		return err
	}
	if p.RecoveryLeft, err = h.Organizers.RecoveryLeft(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.Account(p))
}

// accountForm answers a form of the account's page.
func (h *Handlers) accountForm(w http.ResponseWriter, r *http.Request, m organizers.Member, err error, done string, again desk.AccountPage) error {
	switch {
	case err == nil:
		return deskDone(w, r, desk.AccountPath, done)
	case web.WantsJSON(r):
		return err
	case errors.As(err, &again.Mistakes):
		return h.showAccount(w, r, m, http.StatusUnprocessableEntity, again)
	case errors.Is(err, organizers.ErrSignIn):
		again.WrongBefore = text.T(r.Context(), "This is not your current password.")
		return h.showAccount(w, r, m, http.StatusForbidden, again)
	}
	return err
}

// RenameAccount answers POST /desk/account
func (h *Handlers) RenameAccount(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	return h.accountForm(w, r, m, h.Organizers.SetName(r.Context(), m, asked.Name), "name", desk.AccountPage{Form: "name", Name: asked.Name})
}

// ChangePassword answers POST /desk/account/password
func (h *Handlers) ChangePassword(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.Organizers.ChangePassword(r.Context(), m, asked.Before, asked.Password)
	if err == nil {
		by := organizers.ByPassword
		by.Second = m.Second // they showed it in the session that ends
		if err := h.enterDesk(w, r, s, by); err != nil {
			return err
		}
	}
	return h.accountForm(w, r, m, err, "password", desk.AccountPage{Form: "password"})
}

// ForgotPassword answers GET /desk/password
func (h *Handlers) ForgotPassword(w http.ResponseWriter, r *http.Request) error {
	return h.showForgotten(w, r, http.StatusOK, desk.ForgottenPage{})
}

func (h *Handlers) showForgotten(w http.ResponseWriter, r *http.Request, status int, p desk.ForgottenPage) error {
	p.Page = views.Page{Title: text.T(r.Context(), "Another password"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Style: "desk.css"}
	return web.WritePage(w, r, status, desk.Forgotten(p))
}

// AskPassword answers POST /desk/password
//
// The answer is the same whether or not there is such an organizer.
func (h *Handlers) AskPassword(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.Organizers.AskPassword(r.Context(), asked.Email, h.Client(r))
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showForgotten(w, r, http.StatusUnprocessableEntity, desk.ForgottenPage{Email: asked.Email, Mistakes: mistakes})
	case err != nil:
		return err
	case web.WantsJSON(r):
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return h.showForgotten(w, r, http.StatusOK, desk.ForgottenPage{Asked: asked.Email})
}

// PasswordLink answers GET /desk/password/{token}
func (h *Handlers) PasswordLink(w http.ResponseWriter, r *http.Request) error {
	return h.showPassword(w, r, http.StatusOK, desk.PasswordPage{})
}

func (h *Handlers) showPassword(w http.ResponseWriter, r *http.Request, status int, p desk.PasswordPage) (err error) {
	if p.Member, err = h.Organizers.WhosePassword(r.Context(), r.PathValue("token")); err != nil {
		return err
	}
	p.Page, p.Action = views.Page{Title: text.T(r.Context(), "Another password"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	w.Header().Set("Referrer-Policy", "no-referrer")
	return web.WritePage(w, r, status, desk.AnotherPassword(p))
}

// ResetPassword answers POST /desk/password/{token}
func (h *Handlers) ResetPassword(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.Organizers.ResetPassword(r.Context(), r.PathValue("token"), asked.Password, h.Client(r))
	var mistakes organizers.Mistakes
	switch {
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showPassword(w, r, http.StatusUnprocessableEntity, desk.PasswordPage{Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.afterPassword(w, r, s, "", organizers.ByLink) // a link is no second factor
}
