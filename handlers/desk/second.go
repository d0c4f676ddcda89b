package desk

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// secondKey is the key of a session: who showed a password and has a second factor to show yet.
const secondKey = "second"

// secondWithin is how long they have for it.
const secondWithin = 10 * time.Minute

// afterPassword signs in after a password or a link, or asks for the second factor first.
func (h *Handlers) afterPassword(w http.ResponseWriter, r *http.Request, s organizers.Session, to string, by organizers.Proof) error {
	needs, _, err := h.Organizers.NeedsSecond(r.Context(), s)
	if err != nil {
		return err
	}
	if !needs {
		return h.welcomeIn(w, r, s, to, by)
	}
	h.Sessions.Put(r.Context(), secondKey, fmt.Sprintf("%d.%d.%d", s.Organizer, s.Epoch, time.Now().Unix()))
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	path := desk.SecondPath + "?to=" + url.QueryEscape(DeskBack(to))
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, map[string]string{"to": path})
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// half is who showed their password in this browser a moment ago and has a second factor to show yet.
func (h *Handlers) half(r *http.Request) (s organizers.Session, ok bool) {
	var at int64
	_, err := fmt.Sscanf(h.Sessions.GetString(r.Context(), secondKey), "%d.%d.%d", &s.Organizer, &s.Epoch, &at)
	return s, err == nil && time.Since(time.Unix(at, 0)) < secondWithin
}

// SecondStep answers GET /desk/session/second
func (h *Handlers) SecondStep(w http.ResponseWriter, r *http.Request) error {
	return h.showSecondStep(w, r, http.StatusOK, desk.SecondPage{To: DeskBack(r.URL.Query().Get("to"))})
}

func (h *Handlers) showSecondStep(w http.ResponseWriter, r *http.Request, status int, p desk.SecondPage) error {
	s, ok := h.half(r)
	if !ok {
		http.Redirect(w, r, desk.SignInPath+"?to="+url.QueryEscape(p.To), http.StatusSeeOther)
		return nil
	}
	_, keyed, err := h.Organizers.NeedsSecond(r.Context(), s)
	if err != nil {
		return err
	}
	p.Page = views.Page{Title: "Second factor", Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Style: "desk.css", Script: "desk_passkey.js"}
	p.Keyed = keyed && organizers.PasskeysAt(h.Origin(r))
	return web.WritePage(w, r, status, desk.Second(p))
}

// ShowSecond answers POST /desk/session/second
func (h *Handlers) ShowSecond(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, ok := h.half(r)
	if !ok {
		return organizers.ErrSignedOut
	}
	by, err := h.Organizers.Second(r.Context(), s.Organizer, asked.Code, h.Client(r))
	if wrong := signInProblem(r.Context(), err); wrong != nil && !web.WantsJSON(r) {
		web.RetryLater(w, err)
		return h.showSecondStep(w, r, wrong.Status, desk.SecondPage{To: DeskBack(asked.To), Wrong: wrong.Brief(r.Context())})
	}
	if err != nil {
		return err
	}
	return h.welcomeIn(w, r, s, asked.To, by)
}

// Proved makes a handler of a member of one that needs proof, not long ago, of who they are. Programs with a key have none
// to give: what a key opens it opens. A form goes on once its member confirmed who they are, with what they typed.
func (h *Handlers) Proved(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) web.Handler {
	return h.Member(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		if r.Method != http.MethodPost || web.WantsJSON(r) || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			return h.proved(w, r, m, next)
		}
		proof, err := takeProof(r)
		if err != nil {
			return err
		}
		if !m.IsProved() {
			if m, err = h.proveWithForm(w, r, m, proof); err != nil || !m.IsProved() {
				return err
			}
		}
		return next(w, r, m)
	})
}

// ProvedFirst is proved for what cannot be undone or answers with a file: its member confirms who they are, and then sends it again.
func (h *Handlers) ProvedFirst(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) web.Handler {
	return h.Member(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		return h.proved(w, r, m, next)
	})
}

func (h *Handlers) proved(w http.ResponseWriter, r *http.Request, m organizers.Member, next func(http.ResponseWriter, *http.Request, organizers.Member) error) error {
	if !m.IsProved() {
		return h.askProof(w, r)
	}
	return next(w, r, m)
}

// formProof is what came with a form to confirm who its member is. All is empty the first time.
type formProof struct{ password, code, page string }

// takeProof takes the proof out of a form, which is then as it was the first time.
func takeProof(r *http.Request) (p formProof, err error) {
	if err := web.ParseForm(r); err != nil {
		return p, err
	}
	p = formProof{r.PostForm.Get(desk.ProofPassword), r.PostForm.Get(desk.ProofCode), r.PostForm.Get(desk.ProofFrom)}
	for _, form := range []url.Values{r.PostForm, r.Form} {
		for _, name := range []string{desk.ProofPassword, desk.ProofCode, desk.ProofFrom} {
			form.Del(name)
		}
	}
	return p, nil
}

// proveWithForm has a member confirm who they are with the form that needs it. While they did not, it answers with the page that asks
// for that: the whole form is in it, and is sent again with the proof.
func (h *Handlers) proveWithForm(w http.ResponseWriter, r *http.Request, m organizers.Member, proof formProof) (organizers.Member, error) {
	p := desk.ProofPage{To: deskPage(r), Kept: &desk.KeptForm{Path: r.URL.RequestURI(), Fields: r.PostForm}}
	if proof.page != "" { // the page of the form, and not this one
		p.To = DeskBack(proof.page)
	}
	if proof.password == "" && proof.code == "" {
		return m, h.showProof(w, r, m, http.StatusForbidden, p)
	}
	wrong, err := h.prove(w, r, m, proof.password, proof.code, &p)
	if err != nil {
		return m, err
	}
	if wrong != nil {
		return m, h.showProof(w, r, m, wrong.Status, p)
	}
	if err := h.RenewToken(w, r); err != nil {
		return m, err
	}
	if m.Proved, m.Second = true, m.Second || proof.code != ""; !m.IsProved() { // a password is not enough
		return m, h.showProof(w, r, m, http.StatusForbidden, p)
	}
	return m, nil
}

// prove takes a password or a code as proof. If it is not the right one, the page says so.
func (h *Handlers) prove(w http.ResponseWriter, r *http.Request, m organizers.Member, password, code string, p *desk.ProofPage) (wrong *web.Problem, err error) {
	if code != "" {
		err = h.Organizers.ProveCode(r.Context(), m, code)
	} else {
		err = h.Organizers.ProvePassword(r.Context(), m, password)
	}
	if wrong = signInProblem(r.Context(), err); wrong == nil || web.WantsJSON(r) {
		return nil, err
	}
	web.RetryLater(w, err)
	p.Wrong, p.WrongCode = wrong.Brief(r.Context()), code != ""
	if errors.Is(err, organizers.ErrSignIn) {
		p.Wrong = text.T(r.Context(), "This is not your current password.")
	}
	return wrong, nil
}

// ProvedOnce is proved for what a form does once.
func (h *Handlers) ProvedOnce(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) web.Handler {
	return h.ProvedFirst(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		return h.Once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, m) })(w, r)
	})
}

// askProof leads to the page where a member shows who they are. What they sent is not done; they send it again, as it may have had files.
func (h *Handlers) askProof(w http.ResponseWriter, r *http.Request) error {
	if web.WantsJSON(r) {
		return errProof
	}
	web.Undone(w)
	q := url.Values{"to": {deskPage(r)}}
	if r.Method != http.MethodGet {
		q.Set("again", "yes")
	}
	http.Redirect(w, r, desk.ProofPath+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}

// askSecond redirects to the second factor, to show it or to set one up, if the team demands one.
func (h *Handlers) askSecond(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if web.WantsJSON(r) {
		return errSecond
	}
	web.Undone(w)
	path := desk.SecondFactorPath
	if m.HasSecond() {
		path = desk.ProofPath + "?to=" + url.QueryEscape(deskPage(r))
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// ProofPage answers GET /desk/session/proof
func (h *Handlers) ProofPage(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	q := r.URL.Query()
	return h.showProof(w, r, m, http.StatusOK, desk.ProofPage{To: proofBack(q.Get("to")), Again: q.Get("again") != ""})
}

// proofBack is where to go on to: an address of the desk, but not one that asks for proof.
func proofBack(to string) string { return DeskBack(to) }

func (h *Handlers) showProof(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.ProofPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Confirm it’s you"))
	p.Script, p.Passkeys = "desk_passkey.js", m.Keyed && organizers.PasskeysAt(h.Origin(r))
	if p.Connection, err = h.Organizers.Connection(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.Proof(p))
}

// Confirm answers POST /desk/session/proof
func (h *Handlers) Confirm(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	p := desk.ProofPage{To: proofBack(asked.To)}
	wrong, err := h.prove(w, r, m, asked.Password, asked.Code, &p)
	if err != nil {
		return err
	}
	if wrong != nil {
		return h.showProof(w, r, m, wrong.Status, p)
	}
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, proofBack(asked.To), http.StatusSeeOther)
	return nil
}

// ProvePasskey answers POST /desk/session/proof/passkey
func (h *Handlers) ProvePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.Organizers.ProvePasskey(r.Context(), m, h.Origin(r), h.asked(r), asked.Answer); err != nil {
		return err
	}
	if err := h.RenewToken(w, r); err != nil { // what was asked is answered
		return err
	}
	return web.WriteJSON(w, http.StatusOK, map[string]string{"to": proofBack(asked.To)})
}

// SecondFactor answers GET /desk/account/second-factor
func (h *Handlers) SecondFactor(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showSecondFactor(w, r, m, http.StatusOK, desk.SecondFactorPage{})
}

func (h *Handlers) showSecondFactor(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.SecondFactorPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Second factor"))
	p.Script, p.Path, p.Origin = "desk_passkey.js", desk.AccountPath, h.Origin(r)
	if !m.Codes && p.Recovery == nil {
		site, _ := url.Parse(h.Origin(r))
		if p.App, err = h.Organizers.BeginApp(r.Context(), m, site.Hostname()); err != nil {
			return err
		}
	}
	if p.RecoveryLeft, err = h.Organizers.RecoveryLeft(r.Context(), m); err != nil {
		return err
	}
	return web.WritePage(w, r, status, desk.SecondFactor(p))
}

// recovery shows recovery codes, which no other page ever does.
func (h *Handlers) recovery(w http.ResponseWriter, r *http.Request, m organizers.Member, list []string) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, map[string][]string{"recovery_codes": list})
	}
	return h.showSecondFactor(w, r, m, http.StatusCreated, desk.SecondFactorPage{Recovery: list})
}

// ConfirmApp answers POST /desk/account/codes
func (h *Handlers) ConfirmApp(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	list, err := h.Organizers.ConfirmApp(r.Context(), m, asked.Code)
	if wrong := signInProblem(r.Context(), err); wrong != nil && !web.WantsJSON(r) && !m.Codes {
		web.RetryLater(w, err)
		return h.showSecondFactor(w, r, m, wrong.Status, desk.SecondFactorPage{Wrong: text.T(r.Context(), "This is not the code that the app shows now. Look at it again, and at the clock of your phone.")})
	}
	if err != nil {
		return err
	}
	m.Codes, m.Second = true, true
	return h.recovery(w, r, m, list)
}

// RemoveApp answers POST /desk/account/codes/removal
func (h *Handlers) RemoveApp(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.accountForm(w, r, m, h.Organizers.RemoveApp(r.Context(), m), "app-removed", desk.AccountPage{})
}

// NewRecoveryCodes answers POST /desk/account/recovery
func (h *Handlers) NewRecoveryCodes(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.Organizers.NewRecoveryCodes(r.Context(), m)
	if err != nil {
		return err
	}
	return h.recovery(w, r, m, list)
}

// EndSession answers POST /desk/account/sessions/{id}/end
func (h *Handlers) EndSession(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	if id == m.Session {
		return h.SignOut(w, r)
	}
	return h.accountForm(w, r, m, h.Organizers.EndSession(r.Context(), m.Organizer, id), "session-ended", desk.AccountPage{})
}
