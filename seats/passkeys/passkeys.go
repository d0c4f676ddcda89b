// Package passkeys asks browsers for passkeys (WebAuthn) and checks their answers, for the desk and for accounts of attendees.
//
// A passkey is bound to the host name of a site, needs no name to be typed (it is discoverable), and says that its owner was
// verified by the device. What a browser was asked is good for five minutes, and for one answer (Answer). Where passkeys are
// stored is the caller's.
package passkeys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/idempotency"
)

// ErrUnknown is an unknown passkey, or one that could not be added.
var ErrUnknown = errors.New("this passkey opens nothing here")

// ErrNone is the answer on a site without https: browsers keep passkeys only for https and localhost.
var ErrNone = errors.New("browsers keep passkeys only for addresses with https, and for localhost")

// Credential is a passkey as it is stored: its public key, its counter, and what is known of the device.
type Credential = webauthn.Credential

// At reports whether browsers keep passkeys for a site at this origin, such as https://tickets.example.org.
func At(origin string) bool {
	at, err := url.Parse(origin)
	return err == nil && at.Hostname() != "" && (at.Scheme == "https" || at.Hostname() == "localhost")
}

const answerWithin = 5 * time.Minute

// relying is who passkeys are for: the site at this origin.
func relying(origin string) (*webauthn.WebAuthn, error) {
	at, err := url.Parse(origin)
	if err != nil || !At(origin) {
		return nil, ErrNone
	}
	timeout := webauthn.TimeoutConfig{Enforce: true, Timeout: answerWithin, TimeoutUVD: answerWithin}
	return webauthn.New(&webauthn.Config{
		RPID: at.Hostname(), RPDisplayName: "Usher", RPOrigins: []string{origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
	})
}

// Owner is a person with passkeys.
type Owner struct {
	Handle      []byte // random: what devices know the person by
	Name        string // as devices show it, such as an email address
	Display     string
	Credentials []Credential
}

// user is an Owner as WebAuthn knows one.
type user struct{ o Owner }

func (u user) WebAuthnID() []byte                         { return u.o.Handle }
func (u user) WebAuthnName() string                       { return u.o.Name }
func (u user) WebAuthnDisplayName() string                { return u.o.Display }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.o.Credentials }

// Ceremony is what a browser is asked, and what has to be remembered until it answers.
type Ceremony struct {
	Options any    // for navigator.credentials, as JSON
	State   string // for the session
}

func ceremony(options any, state *webauthn.SessionData) (Ceremony, error) {
	text, err := json.Marshal(state)
	return Ceremony{options, string(text)}, err
}

// resume returns the site and what its browser was asked.
func resume(origin, state string) (*webauthn.WebAuthn, webauthn.SessionData, error) {
	var session webauthn.SessionData
	site, err := relying(origin)
	if err != nil {
		return nil, session, err
	}
	if err := json.Unmarshal([]byte(state), &session); err != nil {
		return nil, session, fmt.Errorf("%w: nothing was asked of this browser", ErrUnknown)
	}
	return site, session, nil
}

// Add asks a browser to make another passkey for its owner. ErrNone if the site at origin can have none.
func Add(origin string, o Owner) (c Ceremony, err error) {
	site, err := relying(origin)
	if err != nil {
		return c, err
	}
	options, state, err := site.BeginRegistration(user{o}, webauthn.WithExclusions(webauthn.Credentials(o.Credentials).CredentialDescriptors()))
	if err != nil {
		return c, fmt.Errorf("passkeys: ask for another one: %w", err)
	}
	return ceremony(options, state)
}

// Added returns the passkey that a browser made when Add asked it. ErrUnknown if its answer is none.
func Added(origin, state string, o Owner, answer []byte) (*Credential, error) {
	site, session, err := resume(origin, state)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	made, err := site.CreateCredential(user{o}, session, parsed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return made, nil
}

// Use asks a browser for any passkey that it has for the site at origin. ErrNone as for Add.
func Use(origin string) (c Ceremony, err error) {
	site, err := relying(origin)
	if err != nil {
		return c, err
	}
	options, state, err := site.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, fmt.Errorf("passkeys: ask for one: %w", err)
	}
	return ceremony(options, state)
}

// Used returns the passkey that a browser showed when Use asked for one, as it is to be stored from now on. find returns its
// owner by the handle; an error of find is returned as it is.
//
// Errors: ErrUnknown if the passkey is not the owner's, or looks like a copy.
func Used(origin, state string, answer []byte, find func(handle []byte) (Owner, error)) (*Credential, error) {
	site, session, err := resume(origin, state)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var failed error // of find, told from an unknown passkey
	used, err := site.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		var o Owner
		o, failed = find(handle)
		return user{o}, failed
	}, session, parsed)
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	case used.Authenticator.CloneWarning:
		return nil, fmt.Errorf("%w: its counter went back", ErrUnknown)
	}
	return used, nil
}

// Answer takes what a browser was asked, in the transaction of its answer. Of many answers at once one counts: the others get ErrUnknown.
func Answer(ctx context.Context, tx pgx.Tx, state string) error {
	var session webauthn.SessionData
	if err := json.Unmarshal([]byte(state), &session); err != nil {
		return fmt.Errorf("%w: nothing was asked of this browser", ErrUnknown)
	}
	key, err := idempotency.New("passkey", session.Challenge)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	first, _, err := key.Take(ctx, tx, nil)
	if err == nil && !first {
		err = fmt.Errorf("%w: this was answered already", ErrUnknown)
	}
	return err
}

// HandleOf is the handle that Add asked a browser with; nil if state is none of Add.
func HandleOf(state string) []byte {
	var session webauthn.SessionData
	if json.Unmarshal([]byte(state), &session) != nil {
		return nil
	}
	return session.UserID
}
