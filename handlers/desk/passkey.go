package desk

import (
	"encoding/base64"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// passkeyKey is the key of a session: what was asked of its browser, until it answers.
const passkeyKey = "passkey"

var (
	errPasskey    = web.NewProblem(403, "passkey", text.Mark("This passkey is not known here."), nothingChanged, text.Mark("Use another one, or sign in with your password."))
	errNoPasskeys = web.NewProblem(409, "no_passkeys", text.Mark("Passkeys work only at https addresses and at localhost."), nothingChanged, text.Mark("Sign in with your password, or open this page at such an address."))
)

// ask sends a browser what to ask of its authenticator, and remembers it in the session.
func (h *Handlers) ask(w http.ResponseWriter, r *http.Request, c organizers.Ceremony) error {
	h.Sessions.Put(r.Context(), passkeyKey, c.State)
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, c.Options)
}

// asked is what was asked of this browser; it is good for one answer, which the next write of the session sees to.
func (h *Handlers) asked(r *http.Request) string {
	return h.Sessions.PopString(r.Context(), passkeyKey)
}

// PasskeyOptions answers POST /desk/session/options
func (h *Handlers) PasskeyOptions(w http.ResponseWriter, r *http.Request) error {
	c, err := h.Organizers.BeginSignIn(r.Context(), h.Origin(r), h.Client(r))
	if err != nil {
		return err
	}
	return h.ask(w, r, c)
}

// PasskeySignIn answers POST /desk/session/passkey
func (h *Handlers) PasskeySignIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.Organizers.SignInWith(r.Context(), h.Origin(r), h.asked(r), asked.Answer)
	if err != nil {
		from := h.Client(r)
		h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.SignInFailed, Network: from.Network, Agent: from.Agent, Detail: "passkey"})
		return err
	}
	if err := h.enterDesk(w, r, s, organizers.ByPasskey); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, map[string]string{"to": DeskBack(asked.To)})
}

// NewPasskeyOptions answers POST /desk/account/passkeys/options
func (h *Handlers) NewPasskeyOptions(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	c, err := h.Organizers.BeginPasskey(r.Context(), m, h.Origin(r))
	if err != nil {
		return err
	}
	return h.ask(w, r, c)
}

// AddPasskey answers POST /desk/account/passkeys
func (h *Handlers) AddPasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.Organizers.AddPasskey(r.Context(), m, h.Origin(r), h.asked(r), asked.Name, asked.Answer); err != nil {
		h.About(w, r).Info("a passkey was not added", "reason", err)
		return err
	}
	if err := h.RenewToken(w, r); err != nil { // what was asked is answered
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, map[string]string{"to": desk.AccountPath + "?done=passkey"})
}

// passkeyID is the passkey that an address names.
func passkeyID(r *http.Request) ([]byte, error) {
	id, err := base64.RawURLEncoding.DecodeString(r.PathValue("id"))
	if err != nil {
		return nil, organizers.ErrNotYours
	}
	return id, nil
}

// RenamePasskey answers POST /desk/account/passkeys/{id}
func (h *Handlers) RenamePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := passkeyID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.Organizers.RenamePasskey(r.Context(), m, id, asked.Name)
	return h.accountForm(w, r, m, err, "passkey-name", desk.AccountPage{Form: "passkey"})
}

// RemovePasskey answers POST /desk/account/passkeys/{id}/removal
func (h *Handlers) RemovePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := passkeyID(r)
	if err != nil {
		return err
	}
	return h.accountForm(w, r, m, h.Organizers.RemovePasskey(r.Context(), m, id), "passkey-removed", desk.AccountPage{})
}
