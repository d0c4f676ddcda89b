package shop

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/passkeys"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// passkeyKey is the key of a session: what was asked of its browser about a passkey of an account, until it answers.
const passkeyKey = "account-passkey"

var (
	errPasskey      = web.NewProblem(403, "passkey", text.Mark("This passkey opens no account here."), web.NothingChanged, text.Mark("Try another one, or have a link mailed to you."))
	errNoPasskeys   = web.NewProblem(409, "no_passkeys", text.Mark("Passkeys work only at https addresses and at localhost."), web.NothingChanged, text.Mark("Have a link mailed to you instead."))
	errManyPasskeys = web.NewProblem(409, "limit", text.Mark("Your account has ten passkeys, the most it can have."), web.NothingChanged, text.Mark("Remove one first."))
	errLongAgo      = web.NewProblem(403, "proof", text.Mark("You signed in more than ten minutes ago."), web.NothingChanged, text.Mark("Sign out, sign in again, then do this once more."))
	errPasskeyName  = web.NewProblem(422, "invalid", text.Mark("A passkey has a name of 1 to 100 characters."), web.NothingChanged, text.Mark("Choose another name."))
	errPasskeyGone  = web.NewProblem(404, "passkey", text.Mark("Your account has no such passkey. It may have been removed already."), web.NothingChanged, text.Mark("Open your account to see those that it has."))
)

// refusedPasskey says in words why a passkey was not added or opened nothing; other errors stay as they are.
func refusedPasskey(err error) error {
	switch {
	case errors.Is(err, passkeys.ErrUnknown):
		return errPasskey
	case errors.Is(err, passkeys.ErrNone):
		return errNoPasskeys
	case errors.Is(err, credit.ErrManyPasskeys):
		return errManyPasskeys
	case errors.Is(err, credit.ErrPasskeyName):
		return errPasskeyName
	}
	return err
}

// passkeyAnswer is what a browser's script sends.
type passkeyAnswer struct {
	Name   string          `json:"name"`
	To     string          `json:"to"` // a checkout to go back to
	Answer json.RawMessage `json:"answer"`
}

// askPasskey sends a browser what to ask of its authenticator, and remembers it in the session.
func (h *Handlers) askPasskey(w http.ResponseWriter, r *http.Request, c passkeys.Ceremony, err error) error {
	if err != nil {
		return refusedPasskey(err)
	}
	h.Sessions.Put(r.Context(), passkeyKey, c.State)
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, c.Options)
}

// answeredPasskey reads the answer of a browser and takes what it was asked out of the session. The caller renews the session,
// whatever becomes of the answer: what was asked is good for one.
func (h *Handlers) answeredPasskey(r *http.Request) (answer passkeyAnswer, asked string, err error) {
	if err := web.DecodeBody(r, &answer); err != nil {
		return answer, "", err
	}
	return answer, h.Sessions.PopString(r.Context(), passkeyKey), nil
}

// NewPasskeyOptions answers POST /account/passkeys/options
func (h *Handlers) NewPasskeyOptions(w http.ResponseWriter, r *http.Request) error {
	account, err := h.provedAccount(r)
	if err != nil {
		return err
	}
	c, err := h.Credit.BeginPasskey(r.Context(), account, h.Origin(r))
	return h.askPasskey(w, r, c, err)
}

// AddPasskey answers POST /account/passkeys
func (h *Handlers) AddPasskey(w http.ResponseWriter, r *http.Request) error {
	account, err := h.provedAccount(r)
	if err != nil {
		return err
	}
	answer, asked, err := h.answeredPasskey(r)
	if err != nil {
		return err
	}
	refused := h.Credit.AddPasskey(h.Reading(r), account, h.Origin(r), asked, answer.Name, answer.Answer)
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	if refused != nil {
		h.About(w, r).Info("a passkey was not added to an account", "reason", refused)
		return refusedPasskey(refused)
	}
	h.Orders.WroteMail()
	return web.WriteJSON(w, http.StatusCreated, map[string]string{"to": shop.AccountPath + "?added"})
}

// RemovePasskey answers POST /account/passkeys/{id}/removal
func (h *Handlers) RemovePasskey(w http.ResponseWriter, r *http.Request) error {
	account, err := h.provedAccount(r)
	if err != nil {
		return err
	}
	id, err := base64.RawURLEncoding.DecodeString(r.PathValue("id"))
	if err != nil {
		return errPasskeyGone
	}
	err = h.Credit.RemovePasskey(h.Reading(r), account, id)
	if errors.Is(err, passkeys.ErrUnknown) {
		return errPasskeyGone
	}
	if err != nil {
		return err
	}
	h.Orders.WroteMail()
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.AccountPath+"?removed", http.StatusSeeOther)
	return nil
}

// PasskeyOptions answers POST /account/session/options
//
// It asks for any passkey of this site, so it says nothing of addresses.
func (h *Handlers) PasskeyOptions(w http.ResponseWriter, r *http.Request) error {
	if h.Hurried(w, r, web.CountsLinks, web.LinksPerNetwork) {
		return errTooFast
	}
	c, err := h.Credit.BeginSignIn(h.Origin(r))
	return h.askPasskey(w, r, c, err)
}

// PasskeySignIn answers POST /account/session/passkey
func (h *Handlers) PasskeySignIn(w http.ResponseWriter, r *http.Request) error {
	answer, asked, err := h.answeredPasskey(r)
	if err != nil {
		return err
	}
	email, refused := h.Credit.SignInWith(r.Context(), h.Origin(r), asked, answer.Answer)
	to := shop.AccountPath
	if refused == nil {
		if checkoutPath.MatchString(answer.To) {
			to = answer.To
		}
		h.signIn(r, email)
	}
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	h.noteSignIn(w, r, "passkey", refused)
	if refused != nil {
		return refusedPasskey(refused)
	}
	return web.WriteJSON(w, http.StatusOK, map[string]string{"to": to})
}
