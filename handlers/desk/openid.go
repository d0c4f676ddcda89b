package desk

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Keys of a session: what was asked of its browser at the provider, and who came back from there with the address of an
// organizer and has to sign in once in another way.
const (
	openIDKey  = "openid"
	confirmKey = "openid-confirm"
)

// confirmWithin is how long they have for it.
const confirmWithin = 10 * time.Minute

// What is said about the provider. The verb is its name.
var (
	errNoOpenID   = web.NewProblem(404, "no_openid", text.Mark("This box office has no sign-in provider."), nothingChanged, text.Mark("Sign in with your password or a passkey."))
	errDown       = web.NewProblem(503, "provider_down", text.Mark("%s cannot sign you in at the moment."), text.Mark("You are not signed in."), text.Mark("Try again in a minute, or sign in with your password or a passkey."))
	errCancelled  = web.NewProblem(403, "provider_cancelled", text.Mark("You did not sign in at %s."), nothingChanged, text.Mark("Try again, or sign in with your password or a passkey."))
	errAnswer     = web.NewProblem(403, "provider_answer", text.Mark("The answer of %s does not belong to this browser, has expired, or was used before."), nothingChanged, text.Mark("Start again on the sign-in page, in this browser."))
	errNotFresh   = web.NewProblem(403, "provider_stale", text.Mark("%s does not say that you signed in just now, so it cannot confirm that it’s you."), nothingChanged, text.Mark("Confirm with your password, a code or a passkey. You can choose a password by email."))
	errUnverified = web.NewProblem(403, "provider_unverified", text.Mark("%s has not verified your email address."), text.Mark("You are not signed in."), text.Mark("Have your address verified there, then sign in again."))
	errStranger   = web.NewProblem(403, "provider_unknown", text.Mark("You signed in at %[1]s, but %[2]s has no account here and no open invitation."), text.Mark("You are not signed in."), text.Mark("Ask an owner of a team to invite this address, then sign in again."))
	errOtherOwner = web.NewProblem(409, "provider_taken", text.Mark("Your account at %s already signs in another organizer here."), nothingChanged, text.Mark("Disconnect it there first, or choose another account at the provider."))
	errOtherOne   = web.NewProblem(403, "provider_other", text.Mark("You signed in at %s with an account that is not connected with yours here."), nothingChanged, text.Mark("Try again with the connected account."))
	errOnlyWayIn  = web.NewProblem(409, "only_way_in", text.Mark("%s is your only way to sign in."), nothingChanged, text.Mark("Add a passkey or choose a password first."))
)

var openIDProblems = web.Problems{
	openid.ErrDown: errDown, openid.ErrCancelled: errCancelled, openid.ErrAnswer: errAnswer, openid.ErrNotFresh: errNotFresh,
	organizers.ErrUnverified: errUnverified, organizers.ErrOtherOwner: errOtherOwner, organizers.ErrOtherOne: errOtherOne, organizers.ErrOnlyWayIn: errOnlyWayIn,
}

// providerName is the name of the provider; empty if there is none.
func (h *Handlers) providerName() string {
	if h.Organizers.OpenID == nil {
		return ""
	}
	return h.Organizers.OpenID.Name
}

// openIDProblem says with the provider's name what went wrong. The operator is told what they can mend.
func (h *Handlers) openIDProblem(w http.ResponseWriter, r *http.Request, id openid.Identity, err error) error {
	switch words := openIDProblems.Of(err); {
	case errors.Is(err, organizers.ErrStranger):
		return errStranger.Filled(h.providerName(), id.Email)
	case words == nil:
		return err
	default:
		if r.Context().Err() == nil && !errors.Is(err, openid.ErrCancelled) {
			h.About(w, r).Warn("a sign-in at the provider failed", "reason", err)
		}
		return words.Filled(h.providerName())
	}
}

// OpenID answers GET /desk/session/openid
func (h *Handlers) OpenID(w http.ResponseWriter, r *http.Request) error {
	return h.toProvider(w, r, desk.SignInPath, organizers.OpenIDState{For: organizers.ToSignIn})
}

// OpenIDProof answers GET /desk/session/proof/openid
func (h *Handlers) OpenIDProof(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.toProvider(w, r, desk.ProofPath, organizers.OpenIDState{For: organizers.ToProve, Organizer: m.Organizer})
}

// ConnectOpenID answers GET /desk/account/openid
func (h *Handlers) ConnectOpenID(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.toProvider(w, r, desk.AccountPath, organizers.OpenIDState{For: organizers.ToConnect, Organizer: m.Organizer})
}

// toProvider sends a browser to the provider, and remembers in its session what for. It is a link and no form, as the provider
// may lead on to other sites. Who follows a link elsewhere gets the page of ours first: another site, which had somebody
// sign in at the provider as a stranger, could have them connect the stranger's identity.
func (h *Handlers) toProvider(w http.ResponseWriter, r *http.Request, page string, s organizers.OpenIDState) error {
	if !web.WantsJSON(r) && !fromHere(r) {
		http.Redirect(w, r, page, http.StatusSeeOther)
		return nil
	}
	s.To = DeskBack(r.URL.Query().Get("to"))
	address, state, err := h.Organizers.BeginOpenID(r.Context(), h.Origin(r)+desk.OpenIDReturnPath, s, h.Client(r))
	if err != nil {
		return h.openIDProblem(w, r, openid.Identity{}, err)
	}
	h.Sessions.Put(r.Context(), openIDKey, state)
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, map[string]string{"to": address})
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// fromHere reports whether a page of ours led to a request. Browsers say so by https, and else name the page.
func fromHere(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	page, err := url.Parse(r.Referer())
	return err == nil && page.Host == r.Host
}

// OpenIDReturn answers GET /desk/session/openid/return, where the provider leads back to.
func (h *Handlers) OpenIDReturn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer") // the address has a code in it
	id, s, err := h.Organizers.AnswerOpenID(r.Context(), h.Sessions.PopString(r.Context(), openIDKey), r.URL.Query(), h.Client(r))
	if err == nil && s.For == organizers.ToSignIn {
		return h.signInByOpenID(w, r, id, s)
	}
	var m organizers.Member
	if err == nil {
		m, err = h.Organizers.Member(r.Context(), h.session(r), "")
		m.From = h.Client(r)
		if errors.Is(err, organizers.ErrNoTeam) {
			err = nil // the account is theirs all the same
		}
	}
	done := ""
	switch {
	case err != nil:
	case m.Organizer != s.Organizer: // somebody else signed in meanwhile
		err = openid.ErrAnswer
	case s.For == organizers.ToConnect:
		s.To, done = desk.AccountPath, "?done=connected"
		err = h.Organizers.ConnectOpenID(r.Context(), m.Organizer, id, m.From)
	default:
		err = h.Organizers.ProveByOpenID(r.Context(), m, id)
	}
	if err != nil {
		return h.openIDProblem(w, r, id, err)
	}
	if err := h.RenewToken(w, r); err != nil { // what was asked is answered
		return err
	}
	return goOn(w, r, s.To+done)
}

// signInByOpenID signs in who came back, or asks them to sign in once in another way.
func (h *Handlers) signInByOpenID(w http.ResponseWriter, r *http.Request, id openid.Identity, s organizers.OpenIDState) error {
	entering, err := h.Organizers.SignInByOpenID(r.Context(), id, h.Client(r))
	var unconfirmed *organizers.Unconfirmed
	if errors.As(err, &unconfirmed) {
		waiting, err := json.Marshal(confirming{*unconfirmed, time.Now()})
		if err != nil {
			return err
		}
		h.Sessions.Put(r.Context(), confirmKey, string(waiting))
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
		return goOn(w, r, desk.SignInPath+"?to="+url.QueryEscape(s.To))
	}
	if err != nil {
		return h.openIDProblem(w, r, id, err)
	}
	return h.afterPassword(w, r, entering, s.To, organizers.ByOpenID)
}

// goOn leads on to a page of the desk.
func goOn(w http.ResponseWriter, r *http.Request, to string) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, map[string]string{"to": to})
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// confirming is an identity that waits for its organizer.
type confirming struct {
	organizers.Unconfirmed
	At time.Time
}

// unconfirmed is who came back from the provider in this browser and has to sign in once in another way; nil for nobody.
func (h *Handlers) unconfirmed(ctx context.Context) *organizers.Unconfirmed {
	var c confirming
	if h.providerName() == "" || json.Unmarshal([]byte(h.Sessions.GetString(ctx, confirmKey)), &c) != nil || time.Since(c.At) > confirmWithin {
		return nil
	}
	return &c.Unconfirmed
}

// confirmOpenID connects the identity that waits in a browser with the organizer who signed in there now, if it waits for them.
func (h *Handlers) confirmOpenID(w http.ResponseWriter, r *http.Request, organizer int64) error {
	waiting := h.unconfirmed(r.Context())
	h.Sessions.Remove(r.Context(), confirmKey)
	if waiting == nil || waiting.Organizer != organizer {
		return nil
	}
	err := h.Organizers.ConnectOpenID(r.Context(), organizer, waiting.Identity, h.Client(r))
	if errors.Is(err, organizers.ErrOtherOwner) { // since then; they are signed in all the same
		h.About(w, r).Warn("an identity was not connected", "reason", err)
		return nil
	}
	return err
}

// RemoveOpenID answers POST /desk/account/openid/removal
func (h *Handlers) RemoveOpenID(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	err := h.Organizers.RemoveOpenID(r.Context(), m)
	if err != nil {
		return h.openIDProblem(w, r, openid.Identity{}, err)
	}
	return h.accountForm(w, r, m, nil, "disconnected", desk.AccountPage{})
}
