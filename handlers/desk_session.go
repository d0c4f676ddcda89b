package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

var (
	errDeskSignIn = &problem{403, "sign_in", "This address and this password do not belong together.", "Nothing was changed.", "Look at both again, or choose another password by mail."}
	errDeskOften  = &problem{429, "too_often", "That was tried too often.", "Nothing was changed.", "Try again in a quarter of an hour, or use a passkey."}
	errDeskBusy   = &problem{503, "busy", "Too many people are signing in at the moment.", "Nothing was changed.", "Try again in a few seconds."}
	errDeskCode   = &problem{403, "code", "This code does not work: it is wrong, too old, or was used before.", "Nothing was changed.", "Wait for the next code of your app, or use a recovery code."}
	errDeskProof  = &problem{403, "proof", "This needs proof, within the last ten minutes, that it is you.", "Nothing was changed.", "Confirm at /desk/session/proof with your password, a code or a passkey, then send it again."}
	errDeskSecond = &problem{403, "second_factor", "Your team requires a second factor.", "Nothing was changed.", "Set one up at /desk/account/second-factor, or sign in with it."}
	errDeskLink   = &problem{404, "link", "This link opens nothing: it was used, it is too old, or a newer one was made.", "Nothing was changed.", "Ask whoever gave it to you for a new one."}
)

// GET /desk/session
func (h *Handlers) deskDoor(w http.ResponseWriter, r *http.Request) error {
	to := deskBack(r.URL.Query().Get("to"))
	if _, err := h.organizers.Member(r.Context(), h.deskSession(r), ""); err == nil {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	} else if !errors.Is(err, organizers.ErrSignedOut) && !errors.Is(err, organizers.ErrNoTeam) {
		return err
	}
	return h.showSignIn(w, r, http.StatusOK, desk.SignInPage{To: to})
}

func (h *Handlers) showSignIn(w http.ResponseWriter, r *http.Request, status int, p desk.SignInPage) error {
	p.Page = views.Page{Title: "Sign in", Nonce: nonce(w), Style: "desk.css", Script: "desk_passkey.js"}
	p.Passkeys = organizers.PasskeysAt(h.origin(r))
	return writePage(w, r, status, desk.SignIn(p))
}

// POST /desk/session
func (h *Handlers) deskSignIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.organizers.SignIn(r.Context(), asked.Email, asked.Password, h.client(r))
	if wrong := signInProblem(err); wrong != nil {
		retryLater(w, err)
		if wantsJSON(r) {
			return wrong
		}
		return h.showSignIn(w, r, wrong.status, desk.SignInPage{To: deskBack(asked.To), Email: asked.Email, Wrong: wrong.what + " " + wrong.next})
	}
	if err != nil {
		return err
	}
	return h.afterPassword(w, r, s, asked.To, organizers.ByPassword)
}

// signInProblem is why somebody is not let in, if it is for them to mend; nil for other errors.
func signInProblem(err error) *problem {
	switch {
	case errors.Is(err, organizers.ErrSignIn), errors.Is(err, organizers.ErrOften), errors.Is(err, organizers.ErrBusy), errors.Is(err, organizers.ErrCode):
		return deskError(err)
	}
	return nil
}

// often says after which time a try is taken again.
func often(err error) *problem {
	p := *errDeskOften
	var o *organizers.Often
	if errors.As(err, &o) {
		p.next = "Try again " + desk.After(o.After) + ", sign in on a device where you signed in before, or use a passkey."
	}
	return &p
}

// retryLater says in a header after which time a try is taken again, if the desk refused it for now.
func retryLater(w http.ResponseWriter, err error) {
	var o *organizers.Often
	switch {
	case errors.As(err, &o):
		w.Header().Set("Retry-After", strconv.Itoa(int((o.After+time.Second-1)/time.Second)))
	case errors.Is(err, organizers.ErrBusy):
		w.Header().Set("Retry-After", "3")
	}
}

// welcomeToDesk signs a browser in and sends it on.
func (h *Handlers) welcomeToDesk(w http.ResponseWriter, r *http.Request, s organizers.Session, to string, by organizers.Proof) error {
	if err := h.enterDesk(w, r, s, by); err != nil {
		return err
	}
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, deskBack(to), http.StatusSeeOther)
	return nil
}

// DELETE /desk/session and, for forms, POST /desk/session/end
//
// What the session holds of seats stays its own.
func (h *Handlers) deskSignOut(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Clear-Site-Data", `"cache"`) // neither the cookie, which holds seats, nor what a door keeps for want of a network
	if h.sessions.Exists(r.Context(), deskKey) {
		if err := h.endDesk(r); err != nil {
			return err
		}
		h.sessions.Remove(r.Context(), deskKey)
		if err := h.keep(w, r); err != nil {
			return err
		}
	}
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, desk.SignInPath, http.StatusSeeOther)
	return nil
}

// POST /desk/session/team
func (h *Handlers) deskSwitch(w http.ResponseWriter, r *http.Request, _ organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s := h.deskSession(r)
	s.Team = asked.Team
	there, err := h.organizers.Member(r.Context(), s, "")
	if err != nil {
		return err
	}
	if there.Team != asked.Team {
		return organizers.ErrNotYours
	}
	return h.welcomeToDesk(w, r, s, "", organizers.ByPassword)
}

// POST /desk/session/everywhere
func (h *Handlers) deskSignOutEverywhere(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if err := h.organizers.SignOutEverywhere(r.Context(), m); err != nil {
		return err
	}
	return h.deskSignOut(w, r)
}

// GET /desk/setup/{token}
func (h *Handlers) setup(w http.ResponseWriter, r *http.Request) error {
	ok, err := h.organizers.IsSetup(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	if !ok {
		return errDeskLink
	}
	return h.showSetup(w, r, http.StatusOK, desk.SetupPage{})
}

func (h *Handlers) showSetup(w http.ResponseWriter, r *http.Request, status int, p desk.SetupPage) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	p.Page, p.Action = views.Page{Title: "Set up your desk", Nonce: nonce(w), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	return writePage(w, r, status, desk.Setup(p))
}

// POST /desk/setup/{token}
func (h *Handlers) setUp(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.organizers.Setup(r.Context(), r.PathValue("token"), organizers.Newcomer{Name: asked.Name, Email: asked.Email, Password: asked.Password})
	var mistakes organizers.Mistakes
	switch {
	case errors.Is(err, organizers.ErrNoLink):
		return errDeskLink
	case errors.As(err, &mistakes) && !wantsJSON(r):
		return h.showSetup(w, r, http.StatusUnprocessableEntity, desk.SetupPage{Name: asked.Name, Email: asked.Email, Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.welcomeToDesk(w, r, s, "", organizers.ByPassword)
}
