package handlers

import (
	"encoding/base64"
	"net"
	"net/http"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// passkeyKey is the key of a session: what was asked of its browser, until it answers.
const passkeyKey = "passkey"

var (
	errDeskPasskey    = &problem{403, "passkey", "This passkey is not known here.", "Nothing was changed.", "Use another one, or sign in with your password."}
	errDeskNoPasskeys = &problem{409, "no_passkeys", "Passkeys work only at https addresses and at localhost.", "Nothing was changed.", "Sign in with your password, or open this page at such an address."}
)

// origin is how the browser of a request reaches this site: what links in mails begin with and passkeys are bound to.
func (h *Handlers) origin(r *http.Request) string {
	if h.url != "" {
		return h.url
	}
	host := r.Host
	if at, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr); known && !loopback(host) {
		host = at.String() // what a browser calls us may be anything
	}
	return "http://" + host
}

// ask sends a browser what to ask of its authenticator, and remembers it in the session.
func (h *Handlers) ask(w http.ResponseWriter, r *http.Request, c organizers.Ceremony) error {
	h.sessions.Put(r.Context(), passkeyKey, c.State)
	if err := h.keep(w, r); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, c.Options)
}

// asked is what was asked of this browser; it is good for one answer, which the next write of the session sees to.
func (h *Handlers) asked(r *http.Request) string {
	return h.sessions.PopString(r.Context(), passkeyKey)
}

// POST /desk/session/options
func (h *Handlers) passkeyOptions(w http.ResponseWriter, r *http.Request) error {
	c, err := h.organizers.BeginSignIn(r.Context(), h.origin(r), h.client(r))
	if err != nil {
		return err
	}
	return h.ask(w, r, c)
}

// POST /desk/session/passkey
func (h *Handlers) passkeySignIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, err := h.organizers.SignInWith(r.Context(), h.origin(r), h.asked(r), asked.Answer)
	if err != nil {
		from := h.client(r)
		h.organizers.Report(organizers.SecurityEvent{Kind: organizers.SignInFailed, Network: from.Network, Agent: from.Agent, Detail: "passkey"})
		return err
	}
	if err := h.enterDesk(w, r, s, organizers.ByPasskey); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]string{"to": deskBack(asked.To)})
}

// POST /desk/account/passkeys/options
func (h *Handlers) newPasskeyOptions(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	c, err := h.organizers.BeginPasskey(r.Context(), m, h.origin(r))
	if err != nil {
		return err
	}
	return h.ask(w, r, c)
}

// POST /desk/account/passkeys
func (h *Handlers) addPasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.organizers.AddPasskey(r.Context(), m, h.origin(r), h.asked(r), asked.Name, asked.Answer); err != nil {
		h.about(w, r).Info("a passkey was not added", "reason", err)
		return err
	}
	if err := h.keep(w, r); err != nil { // what was asked is answered
		return err
	}
	return writeJSON(w, http.StatusCreated, map[string]string{"to": desk.AccountPath + "?done=passkey"})
}

// passkeyID is the passkey that an address names.
func passkeyID(r *http.Request) ([]byte, error) {
	id, err := base64.RawURLEncoding.DecodeString(r.PathValue("id"))
	if err != nil {
		return nil, organizers.ErrNotYours
	}
	return id, nil
}

// POST /desk/account/passkeys/{id}
func (h *Handlers) renamePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := passkeyID(r)
	if err != nil {
		return err
	}
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	err = h.organizers.RenamePasskey(r.Context(), m, id, asked.Name)
	return h.accountForm(w, r, m, err, "passkey-name", desk.AccountPage{Form: "passkey"})
}

// POST /desk/account/passkeys/{id}/removal
func (h *Handlers) removePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := passkeyID(r)
	if err != nil {
		return err
	}
	return h.accountForm(w, r, m, h.organizers.RemovePasskey(r.Context(), m, id), "passkey-removed", desk.AccountPage{})
}
