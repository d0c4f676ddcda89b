package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// secondKey is the key of a session: who showed a password and has a second factor to show yet.
const secondKey = "second"

// secondWithin is how long they have for it.
const secondWithin = 10 * time.Minute

// afterPassword lets somebody in who showed a password or a link, or asks for their second factor first.
func (h *Handlers) afterPassword(w http.ResponseWriter, r *http.Request, s organizers.Session, to string, by organizers.Proof) error {
	needs, _, err := h.organizers.NeedsSecond(r.Context(), s)
	if err != nil {
		return err
	}
	if !needs {
		return h.welcomeToDesk(w, r, s, to, by)
	}
	h.sessions.Put(r.Context(), secondKey, fmt.Sprintf("%d.%d.%d", s.Organizer, s.Epoch, time.Now().Unix()))
	if err := h.keep(w, r); err != nil {
		return err
	}
	path := desk.SecondPath + "?to=" + url.QueryEscape(deskBack(to))
	if wantsJSON(r) {
		return writeJSON(w, http.StatusAccepted, map[string]string{"to": path})
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// half is who showed their password in this browser a moment ago and has a second factor to show yet.
func (h *Handlers) half(r *http.Request) (s organizers.Session, ok bool) {
	var at int64
	_, err := fmt.Sscanf(h.sessions.GetString(r.Context(), secondKey), "%d.%d.%d", &s.Organizer, &s.Epoch, &at)
	return s, err == nil && time.Since(time.Unix(at, 0)) < secondWithin
}

// GET /desk/session/second
func (h *Handlers) secondStep(w http.ResponseWriter, r *http.Request) error {
	return h.showSecondStep(w, r, http.StatusOK, desk.SecondPage{To: deskBack(r.URL.Query().Get("to"))})
}

func (h *Handlers) showSecondStep(w http.ResponseWriter, r *http.Request, status int, p desk.SecondPage) error {
	s, ok := h.half(r)
	if !ok {
		http.Redirect(w, r, desk.SignInPath+"?to="+url.QueryEscape(p.To), http.StatusSeeOther)
		return nil
	}
	_, keyed, err := h.organizers.NeedsSecond(r.Context(), s)
	if err != nil {
		return err
	}
	p.Page = views.Page{Title: "Second factor", Nonce: nonce(w), Style: "desk.css", Script: "desk_passkey.js"}
	p.Keyed = keyed && organizers.PasskeysAt(h.origin(r))
	return writePage(w, r, status, desk.Second(p))
}

// POST /desk/session/second
func (h *Handlers) showSecond(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	s, ok := h.half(r)
	if !ok {
		return organizers.ErrSignedOut
	}
	by, err := h.organizers.Second(r.Context(), s.Organizer, asked.Code, h.client(r))
	if wrong := signInProblem(err); wrong != nil && !wantsJSON(r) {
		retryLater(w, err)
		return h.showSecondStep(w, r, wrong.status, desk.SecondPage{To: deskBack(asked.To), Wrong: wrong.what + " " + wrong.next})
	}
	if err != nil {
		return err
	}
	return h.welcomeToDesk(w, r, s, asked.To, by)
}

// proved makes a handler of a member of one that needs proof, not long ago, of who they are. Programs with a key have none
// to give: what a key opens it opens.
func (h *Handlers) proved(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) handler {
	return h.member(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		if !m.IsProved() {
			return h.askProof(w, r)
		}
		return next(w, r, m)
	})
}

// provedOnce is proved for what a form does once.
func (h *Handlers) provedOnce(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) handler {
	return h.proved(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		return h.once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, m) })(w, r)
	})
}

// askProof leads to the page where a member shows who they are. What they sent is not done; they send it again.
func (h *Handlers) askProof(w http.ResponseWriter, r *http.Request) error {
	if wantsJSON(r) {
		return errDeskProof
	}
	undone(w)
	q := url.Values{"to": {deskPage(r)}}
	if r.Method != http.MethodGet {
		q.Set("again", "yes")
	}
	http.Redirect(w, r, desk.ProofPath+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}

// askSecond leads a member whose team demands a second factor to where they show it, or set one up.
func (h *Handlers) askSecond(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if wantsJSON(r) {
		return errDeskSecond
	}
	undone(w)
	path := desk.SecondFactorPath
	if m.HasSecond() {
		path = desk.ProofPath + "?to=" + url.QueryEscape(deskPage(r))
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// GET /desk/session/proof
func (h *Handlers) proofPage(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	q := r.URL.Query()
	return h.showProof(w, r, m, http.StatusOK, desk.ProofPage{To: proofBack(q.Get("to")), Again: q.Get("again") != ""})
}

// proofBack is where to go on to: an address of the desk, but not one that asks for proof.
func proofBack(to string) string { return deskBack(to) }

func (h *Handlers) showProof(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.ProofPage) error {
	p.Frame = h.deskView(w, r, m, "Confirm it’s you")
	p.Script, p.Passkeys = "desk_passkey.js", m.Keyed && organizers.PasskeysAt(h.origin(r))
	return writePage(w, r, status, desk.Proof(p))
}

// POST /desk/session/proof
func (h *Handlers) confirm(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if asked.Code != "" {
		err = h.organizers.ProveCode(r.Context(), m, asked.Code)
	} else {
		err = h.organizers.ProvePassword(r.Context(), m, asked.Password)
	}
	if wrong := signInProblem(err); wrong != nil && !wantsJSON(r) {
		retryLater(w, err)
		p := desk.ProofPage{To: proofBack(asked.To), Wrong: wrong.what + " " + wrong.next, WrongCode: asked.Code != ""}
		if errors.Is(err, organizers.ErrSignIn) {
			p.Wrong = "This is not your password."
		}
		return h.showProof(w, r, m, wrong.status, p)
	}
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, proofBack(asked.To), http.StatusSeeOther)
	return nil
}

// POST /desk/session/proof/passkey
func (h *Handlers) provePasskey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	if err := h.organizers.ProvePasskey(r.Context(), m, h.origin(r), h.asked(r), asked.Answer); err != nil {
		return err
	}
	if err := h.keep(w, r); err != nil { // what was asked is answered
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]string{"to": proofBack(asked.To)})
}

// GET /desk/account/second-factor
func (h *Handlers) secondFactor(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showSecondFactor(w, r, m, http.StatusOK, desk.SecondFactorPage{})
}

func (h *Handlers) showSecondFactor(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.SecondFactorPage) (err error) {
	p.Frame = h.deskView(w, r, m, "Second factor")
	p.Script, p.Path, p.Origin = "desk_passkey.js", desk.AccountPath, h.origin(r)
	if !m.Codes && p.Recovery == nil {
		site, _ := url.Parse(h.origin(r))
		if p.App, err = h.organizers.BeginApp(r.Context(), m, site.Hostname()); err != nil {
			return err
		}
	}
	if p.RecoveryLeft, err = h.organizers.RecoveryLeft(r.Context(), m); err != nil {
		return err
	}
	return writePage(w, r, status, desk.SecondFactor(p))
}

// recovery shows recovery codes, which no other page ever does.
func (h *Handlers) recovery(w http.ResponseWriter, r *http.Request, m organizers.Member, list []string) error {
	if wantsJSON(r) {
		return writeJSON(w, http.StatusCreated, map[string][]string{"recovery_codes": list})
	}
	return h.showSecondFactor(w, r, m, http.StatusCreated, desk.SecondFactorPage{Recovery: list})
}

// POST /desk/account/codes
func (h *Handlers) confirmApp(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	asked, err := decodeDesk(r)
	if err != nil {
		return err
	}
	list, err := h.organizers.ConfirmApp(r.Context(), m, asked.Code)
	if wrong := signInProblem(err); wrong != nil && !wantsJSON(r) && !m.Codes {
		retryLater(w, err)
		return h.showSecondFactor(w, r, m, wrong.status, desk.SecondFactorPage{Wrong: "This is not the code that the app shows now. Look at it again, and at the clock of your phone."})
	}
	if err != nil {
		return err
	}
	m.Codes, m.Second = true, true
	return h.recovery(w, r, m, list)
}

// POST /desk/account/codes/removal
func (h *Handlers) removeApp(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.accountForm(w, r, m, h.organizers.RemoveApp(r.Context(), m), "app-removed", desk.AccountPage{})
}

// POST /desk/account/recovery
func (h *Handlers) newRecoveryCodes(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.organizers.NewRecoveryCodes(r.Context(), m)
	if err != nil {
		return err
	}
	return h.recovery(w, r, m, list)
}

// POST /desk/account/sessions/{id}/end
func (h *Handlers) endSession(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	if id == m.Session {
		return h.deskSignOut(w, r)
	}
	return h.accountForm(w, r, m, h.organizers.EndSession(r.Context(), m.Organizer, id), "session-ended", desk.AccountPage{})
}
