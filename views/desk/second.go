package desk

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Addresses of sign-in and second factors.
const (
	SecondPath       = "/desk/session/second"
	ProofPath        = "/desk/session/proof"
	SecondFactorPath = "/desk/account/second-factor"

	OpenIDPath        = "/desk/session/openid"
	OpenIDReturnPath  = "/desk/session/openid/return"
	OpenIDProofPath   = "/desk/session/proof/openid"
	OpenIDAccountPath = "/desk/account/openid"
)

// SecondPage asks for the second factor after the password.
type SecondPage struct {
	views.Page
	To    string // where they wanted to go
	Wrong string
	Keyed bool // a passkey of theirs would do
}

// ProofPage asks a member to confirm their identity.
type ProofPage struct {
	Frame
	To       string
	Again    bool      // a change was not saved for lack of proof
	Kept     *KeptForm // the change, which is sent again with the proof; nil without one
	Passkeys bool      // they have one, and this site can use it
	organizers.Connection
	Wrong     string
	WrongCode bool // it is about the code, not the password
}

// KeptForm is a form of the desk that needs proof of who sent it.
type KeptForm struct {
	Path   string
	Fields url.Values
}

// The fields of a proof that comes with a form.
const (
	ProofPassword = "proof_password"
	ProofCode     = "proof_code"
	ProofFrom     = "proof_from" // the page of the form
)

// field is the name of a field of the proof: with a form it has one that no field of the form has.
func (p ProofPage) field(usual, withForm string) string {
	if p.Kept != nil {
		return withForm
	}
	return usual
}

func (p ProofPage) path() string {
	if p.Kept != nil {
		return p.Kept.Path
	}
	return ProofPath
}

func (p ProofPage) wrongPassword() string {
	if p.WrongCode {
		return ""
	}
	return p.Wrong
}

func (p ProofPage) wrongCode() string {
	if !p.WrongCode {
		return ""
	}
	return p.Wrong
}

// SecondFactorPage is where a member sets their second factor up.
type SecondFactorPage struct {
	Frame
	App          organizers.App // to scan; zero if there is one
	Recovery     []string       // codes that were made a moment ago
	RecoveryLeft int
	Origin       string
	Wrong        string
}

// After says in words how long from now something is.
func After(d time.Duration) string {
	switch {
	case d <= time.Second:
		return "in a second"
	case d < 2*time.Minute:
		return fmt.Sprintf("in %d seconds", int((d+time.Second-1)/time.Second))
	}
	return fmt.Sprintf("in %d minutes", int((d+time.Minute-1)/time.Minute))
}

// eventWords says what kind of security event it is.
func eventWords(ctx context.Context, e organizers.Happened) string {
	switch e.Kind {
	case organizers.SignedIn:
		return text.T(ctx, "Signed in")
	case organizers.SignInFailed:
		return text.T(ctx, "Sign-in failed")
	case organizers.SignInSlowed:
		return text.T(ctx, "Sign-in refused after too many tries")
	case organizers.SecondFailed:
		return text.T(ctx, "Wrong second factor")
	case organizers.ProofFailed:
		return text.T(ctx, "Confirmation failed")
	case organizers.RefusedByRole:
		return text.T(ctx, "Refused: the role does not allow it")
	case organizers.RefusedByTeam:
		return text.T(ctx, "Refused: another team’s, or not found")
	case organizers.KeyRefused:
		return text.T(ctx, "Key refused")
	case organizers.KeyNewNetwork:
		return text.T(ctx, "Key used from a new network")
	case organizers.AccountChanged:
		return text.T(ctx, "Account changed")
	case organizers.TeamChanged:
		return text.T(ctx, "Team changed")
	case organizers.Foreign:
		return text.T(ctx, "Request from another site")
	}
	return e.Kind
}

// happened are the details of security events, and the browsers in them.
var happened = text.NewStored(
	text.Mark("%s on %s"),
	text.Mark("%s, new device"), text.Mark("key %s"), text.Mark("invited as %s"), text.Mark("role %s")).Naming(
	text.Mark("password"), text.Mark("passkey"), text.Mark("code"), text.Mark("recovery code"), text.Mark("link"), text.Mark("openid"), string(organizers.Owner), string(organizers.Manager), string(organizers.Viewer), string(organizers.Door), string(organizers.Marketing), string(organizers.Accounting), string(organizers.Till))

var _ = []string{
	text.Mark("app added"), text.Mark("app removed"), text.Mark("recovery codes made"), text.Mark("every second factor removed by the operator"), text.Mark("signed out by the operator"),
	text.Mark("provider connected"), text.Mark("provider disconnected"), text.Mark("passkey added"), text.Mark("passkey removed"), text.Mark("key made"), text.Mark("member removed"),
}

// eventMore says the rest of a security event.
func eventMore(ctx context.Context, e organizers.Happened, named bool) string {
	var words []string
	if named {
		switch {
		case e.Email != "":
			words = append(words, e.Who+", "+e.Email)
		case e.Kind == organizers.SignInFailed || e.Kind == organizers.SignInSlowed:
			words = append(words, text.T(ctx, "unknown email address"))
		}
	}
	for _, word := range []string{happened.In(ctx, e.Detail), happened.In(ctx, e.Agent), e.Network} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " · ")
}

// maySecurity reports whether the reader sees security events: owners do.
func (p LogPage) maySecurity() bool { return p.Member.May(organizers.Own) }
