package desk

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

var (
	errSignIn = web.NewProblem(403, "sign_in", text.Mark("Wrong email or password."), nothingChanged, text.Mark("Check both, or choose another password by email."))

	errCode   = web.NewProblem(403, "code", text.Mark("This code does not work: it is wrong, too old, or was used before."), nothingChanged, text.Mark("Wait for the next code of your app, or use a recovery code."))
	errProof  = web.NewProblem(403, "proof", text.Mark("This needs proof, within the last ten minutes, that it is you."), nothingChanged, text.Mark("Confirm at /desk/session/proof with your password, a code or a passkey, then send it again."))
	errSecond = web.NewProblem(403, "second_factor", text.Mark("Your team requires a second factor."), nothingChanged, text.Mark("Set one up at /desk/account/second-factor, or sign in with it."))
	errLink   = web.NewProblem(404, "link", text.Mark("This link does not work: it was used, it has expired, or a newer one was made."), nothingChanged, text.Mark("Ask the person who gave it to you for a new one."))
)

// SignInPage answers GET /desk/session
func (h *Handlers) SignInPage(w http.ResponseWriter, r *http.Request) error {
	to := DeskBack(r.URL.Query().Get("to"))
	if _, err := h.Organizers.Member(r.Context(), h.session(r), ""); err == nil {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	} else if !errors.Is(err, organizers.ErrSignedOut) && !errors.Is(err, organizers.ErrNoTeam) {
		return err
	}
	return h.showSignIn(w, r, http.StatusOK, desk.SignInPage{To: to})
}

func (h *Handlers) showSignIn(w http.ResponseWriter, r *http.Request, status int, p desk.SignInPage) error {
	p.Page = views.Page{Title: text.T(r.Context(), "Sign in"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Style: "desk.css", Script: "desk_passkey.js"}
	p.Passkeys, p.Provider = organizers.PasskeysAt(h.Origin(r)), h.providerName()
	if waiting := h.unconfirmed(r.Context()); waiting != nil {
		p.Confirms, p.Email = waiting.Identity.Email, cmp.Or(p.Email, waiting.Identity.Email)
	}
	return web.WritePage(w, r, status, desk.SignIn(p))
}

// SignIn answers POST /desk/session
func (h *Handlers) SignIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.Organizers.SignIn(r.Context(), asked.Email, asked.Password, h.Client(r))
	if wrong := signInProblem(r.Context(), err); wrong != nil {
		web.RetryLater(w, err)
		if web.WantsJSON(r) {
			return wrong
		}
		return h.showSignIn(w, r, wrong.Status, desk.SignInPage{To: DeskBack(asked.To), Email: asked.Email, Wrong: wrong.Brief(r.Context())})
	}
	if err != nil {
		return err
	}
	return h.afterPassword(w, r, s, asked.To, organizers.ByPassword)
}

// signInProblem says why a sign-in failed, if the organizer can mend it; nil for other errors.
func signInProblem(ctx context.Context, err error) *web.Problem {
	switch {
	case errors.Is(err, organizers.ErrSignIn), errors.Is(err, organizers.ErrOften), errors.Is(err, organizers.ErrBusy), errors.Is(err, organizers.ErrCode):
		return Explain(ctx, err)
	}
	return nil
}

// welcomeIn signs a browser in and sends it on.
func (h *Handlers) welcomeIn(w http.ResponseWriter, r *http.Request, s organizers.Session, to string, by organizers.Proof) error {
	if err := h.enterDesk(w, r, s, by); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, DeskBack(to), http.StatusSeeOther)
	return nil
}

// SignOut answers DELETE /desk/session and, for forms, POST /desk/session/end
//
// What the session holds of seats stays its own.
func (h *Handlers) SignOut(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Clear-Site-Data", `"cache"`) // neither the cookie, which holds seats, nor what a door keeps for want of a network
	if h.Sessions.Exists(r.Context(), web.DeskKey) {
		if err := h.endDesk(r); err != nil {
			return err
		}
		h.Sessions.Remove(r.Context(), web.DeskKey)
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, desk.SignInPath, http.StatusSeeOther)
	return nil
}

// Switch answers POST /desk/session/team
func (h *Handlers) Switch(w http.ResponseWriter, r *http.Request, _ organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s := h.session(r)
	s.Team = asked.Team
	there, err := h.Organizers.Member(r.Context(), s, "")
	if err != nil {
		return err
	}
	if there.Team != asked.Team {
		return organizers.ErrNotYours
	}
	return h.welcomeIn(w, r, s, "", organizers.ByPassword)
}

// SignOutEverywhere answers POST /desk/session/everywhere
func (h *Handlers) SignOutEverywhere(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if err := h.Organizers.SignOutEverywhere(r.Context(), m); err != nil {
		return err
	}
	return h.SignOut(w, r)
}

// SetupPage answers GET /desk/setup/{token}
func (h *Handlers) SetupPage(w http.ResponseWriter, r *http.Request) error {
	ok, err := h.Organizers.IsSetup(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	if !ok {
		return errLink
	}
	return h.showSetup(w, r, http.StatusOK, desk.SetupPage{})
}

func (h *Handlers) showSetup(w http.ResponseWriter, r *http.Request, status int, p desk.SetupPage) error {
	p.Page, p.Action = views.Page{Title: text.T(r.Context(), "Set up your desk"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Style: "desk.css", Script: "desk_passkey.js"}, r.URL.Path
	w.Header().Set("Referrer-Policy", "no-referrer")
	return web.WritePage(w, r, status, desk.Setup(p))
}

// SetUp answers POST /desk/setup/{token}
func (h *Handlers) SetUp(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.Organizers.Setup(r.Context(), r.PathValue("token"), organizers.Newcomer{Name: asked.Name, Email: asked.Email, Password: asked.Password})
	var mistakes organizers.Mistakes
	switch {
	case errors.Is(err, organizers.ErrNoLink):
		return errLink
	case errors.As(err, &mistakes) && !web.WantsJSON(r):
		return h.showSetup(w, r, http.StatusUnprocessableEntity, desk.SetupPage{Name: asked.Name, Email: asked.Email, Mistakes: mistakes})
	case err != nil:
		return err
	}
	return h.welcomeIn(w, r, s, "", organizers.ByPassword)
}
