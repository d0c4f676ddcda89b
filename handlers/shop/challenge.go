package shop

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// StatusChallenge is the answer to a claim of a visitor who has to do some work first: 428 Precondition Required.
const StatusChallenge = http.StatusPreconditionRequired

var (
	errChallenge = web.NewProblem(StatusChallenge, "challenge", text.Mark("Many requests come from your network, so we check that yours comes from a browser."), web.SeatsStay, text.Mark("Do the work that the event's address /challenge gives you, then send the request again."))
	errTooFast   = web.NewProblem(http.StatusTooManyRequests, "too_many", text.Mark("You have sent too many requests in a short time."), web.SeatsStay, text.Mark("Wait for the seconds in Retry-After, then try again."))
	errCrowd     = web.NewProblem(http.StatusTooManyRequests, "too_many", text.Mark("Visitors of your network hold as many seats of this event as one network may hold."), web.SeatsStay, text.Mark("Seats that are ordered or released no longer count. Try again in a few seconds."))
)

// crowdWait is how long a visitor waits whose network holds as many seats as it may.
const crowdWait = 5 * time.Second

// ClaimsPerVisitor is how many claims one visitor may send within a minute, unless a node is told otherwise.
const ClaimsPerVisitor = 120

// admission is a claim that the limits of its event admitted. It ends with granted or end.
type admission struct {
	event   *limit.Event
	network limit.Network
	holder  seats.ID // of the seats
	key     string
	asked   int // seats of what the network may hold
	took    int // seats of what it may claim without work
	ended   bool
}

// granted counts the n seats that the visitor holds now.
func (a *admission) granted(n int) {
	a.ended = true
	a.event.Granted(a.holder, a.network, a.asked, n, a.key)
}

// end ends a claim with an error. After one that is no refusal the visitor may have the seats. It does nothing after granted.
func (a *admission) end(err error) {
	if a.ended {
		return
	}
	a.ended = true
	_, refused := errors.AsType[*seats.Conflict](err)
	_, invalid := errors.AsType[*seats.ValidationError](err)
	if refused || invalid || errors.Is(err, seats.ErrNoHold) {
		a.giveBack()
	} else {
		a.event.Unknown(a.holder, a.network, a.asked, a.key)
	}
}

// giveBack ends a claim that was not sent.
func (a *admission) giveBack() {
	a.ended = true
	if a.took > 0 {
		a.event.Return(a.network, a.took)
	}
	a.event.Refused(a.network, a.asked)
}

// admitClaim decides whether a visitor may claim n seats now, with a key or without one. It returns errTooFast, errCrowd and errChallenge if not.
func (h *Handlers) admitClaim(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, known bool, n int, key string) (*admission, error) {
	return h.admitWith(w, r, s, s, holder, known, n, &admission{holder: holder, key: key})
}

// admitWith is admitClaim for a visitor who shows the pass of another event.
func (h *Handlers) admitWith(w http.ResponseWriter, r *http.Request, s, pass *seats.Sale, visitor seats.ID, known bool, n int, a *admission) (*admission, error) {
	now := time.Now()
	a.event, a.network = h.Limits.Of(s), web.NetworkOf(r)
	if known { // of one who is new there is only this claim
		key := limit.With(web.CountsClaims, limit.IDKey(visitor)^uint64(s.Event.ID))
		if wait := h.Limits.Take(key, 1, h.Claims, now); wait > 0 {
			web.RetryAfter(w, wait)
			return a, errTooFast
		}
	}
	if web.ByProgram(r) {
		return a, nil
	}
	n = max(1, min(n, s.Event.SeatsPerHolder))
	var ok bool
	if a.asked, ok = a.event.Admit(r.Context(), a.holder, a.network, n, a.key); !ok {
		web.RetryAfter(w, crowdWait)
		return a, errCrowd
	}
	if !a.event.Asks(a.network, n, now) {
		a.took = n
		return a, nil
	}
	if s.Remaining() == 0 && !s.Prices.Coded { // the claim is refused anyway; a code may open blocked seats
		return a, nil
	}
	if err := h.needsPass(r, pass, visitor); err != nil {
		a.giveBack()
		return a, err
	}
	return a, nil
}

// needsPass returns errChallenge unless the visitor has a pass for the event.
func (h *Handlers) needsPass(r *http.Request, s *seats.Sale, holder seats.ID) error {
	pass := h.KeptCookie(r, passName(s))
	if pass == "" {
		return errChallenge
	}
	if ok, err := h.Rooms.Passes(r.Context(), s.Event.ID, holder, pass); err != nil || ok {
		return err
	}
	return errChallenge
}

func passName(s *seats.Sale) string { return "pass-" + strconv.FormatInt(s.Event.ID, 10) }

// challenged answers a request that needs a pass first: programs are told so, browsers are led to the page that does the
// work and comes back to from.
func (h *Handlers) challenged(w http.ResponseWriter, r *http.Request, s *seats.Sale, from string) error {
	to := shop.Sale{Event: s.Event}.ChallengePath()
	if !web.WantsJSON(r) {
		http.Redirect(w, r, to+"?from="+url.QueryEscape(from), http.StatusSeeOther)
		return nil
	}
	return web.WriteError(w, r, StatusChallenge, web.ErrorBody{
		Code: errChallenge.Code, Message: errChallenge.In(r.Context()), Seats: []string{}, Nearest: []string{}, To: h.At(r, to),
	})
}

// Challenge answers GET /events/{slug}/challenge
func (h *Handlers) Challenge(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	w.Header().Set("Cache-Control", "no-store")
	holder, known := h.Visitor(r)
	if !known {
		holder = h.Greet(w)
	}
	work, err := h.Rooms.ChallengeOf(r.Context(), s.Event.ID, holder)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, work)
	}
	return h.showChallenge(w, r, s, http.StatusOK, shop.ChallengePage{From: onwardTo(s, r.URL.Query().Get("from")), Proof: (&waitingroom.Proof{Challenge: work}).String()})
}

func (h *Handlers) showChallenge(w http.ResponseWriter, r *http.Request, s *seats.Sale, status int, p shop.ChallengePage) error {
	p.Page = views.Page{Title: text.T(r.Context(), "Checking your browser") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "challenge.js", Style: "list.css"}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan}
	return web.WritePage(w, r, status, shop.Challenge(p))
}

// onwardTo is a page of the event to go on to, or one of a subscription: never another site.
func onwardTo(s *seats.Sale, from string) string {
	at := shop.Sale{Event: s.Event}
	if from == at.CheckoutPath() || strings.HasPrefix(from, shop.SubscriptionPath("")) {
		return from
	}
	return comeFromPath(from, s)
}

// Solve answers POST /events/{slug}/challenge gives a visitor a pass for their work.
func (h *Handlers) Solve(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	w.Header().Set("Cache-Control", "no-store")
	proof, err := proofOf(r)
	if err != nil {
		return err
	}
	p := shop.ChallengePage{From: onwardTo(s, r.PostFormValue("from")), Proof: proof}
	err = h.givePass(w, r, s, proof)
	if known := Explain(r.Context(), err); known != nil && !web.WantsJSON(r) {
		if known != errPatience { // this work is worth nothing any more
			http.Redirect(w, r, shop.Sale{Event: s.Event}.ChallengePath()+"?from="+url.QueryEscape(p.From), http.StatusSeeOther)
			return nil
		}
		p.Failed = text.T(r.Context(), "The minute is not over yet. Please wait a little longer, then press Continue.")
		return h.showChallenge(w, r, s, known.Status, p)
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, p.From, http.StatusSeeOther)
	return nil
}

func (h *Handlers) givePass(w http.ResponseWriter, r *http.Request, s *seats.Sale, text string) error {
	holder, known := h.Visitor(r)
	proof, err := waitingroom.ReadProof(text)
	if !known || err != nil {
		return waitingroom.ErrWork
	}
	pass, _, err := h.Rooms.Pass(r.Context(), s.Event.ID, holder, proof)
	if err != nil {
		return err
	}
	if proof.Patient() && h.Hurried(w, r, web.CountsPatience, (h.Joins+patientOf-1)/patientOf) {
		return errTooFast
	}
	h.KeepCookie(w, passName(s), pass)
	return nil
}

// proofOf reads the proof from a form or from JSON.
func proofOf(r *http.Request) (string, error) {
	if web.IsForm(r) {
		err := web.ParseForm(r)
		return r.PostFormValue("proof"), err
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return "", web.ErrMedia
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	var asked struct {
		Proof string `json:"proof"`
	}
	return asked.Proof, web.DecodeJSON(body, &asked)
}

// limitOrder fills in what the limits on unpaid orders are of a form that is paid later.
func (h *Handlers) limitOrder(r *http.Request, s *seats.Sale, holder seats.ID, form *orders.Form) {
	f := h.Limits.Of(s).Figures()
	form.Network = web.NetworkOf(r).String()
	form.Unpaid = orders.UnpaidLimits{PerEmail: f.UnpaidPerEmail, PerNetwork: f.UnpaidPerNetwork}
	if f.Challenge == limit.Off || h.needsPass(r, s, holder) == nil {
		form.Unpaid.PerNetwork = 0
	}
}
