package handlers

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/orders/credit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

const (
	accountKey = "account" // of a session: the address whose mail its browser showed to read
	backKey    = "back"    // of a session: the checkout it came from

	verifiedKey = "verified" // of a session: the address to which the offer went that it took
)

var (
	errNotSignedIn  = &problem{401, "not_signed_in", "You are not signed in.", nothingChanged, "Open your credit and have a link sent to your address."}
	errNoLink       = &problem{404, "link", "This link opens nothing: it was used, it is older than half an hour, or a newer one was sent.", nothingChanged, "Open your credit and have a new one sent."}
	errOften        = &problem{429, "too_often", "Three mails went to this address within the hour.", nothingChanged, "Take the newest of them, or try again in an hour."}
	errOtherAddress = &problem{409, "key", "This form was sent before with another address. The mail to that one is on its way.", nothingChanged, "Send it once more for this one."}
	errAddress      = &problem{422, "invalid", "This is not an e-mail address such as ann@example.org.", nothingChanged, "Change it and send it again."}
)

// visit makes a handler of one that wants to know who reads, and is about no event.
func (h *Handlers) visit(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, err := h.visited(r)
		if err != nil {
			return err
		}
		return next(w, r)
	}
}

// account is the address whose credit this session may see and spend; empty if it showed none to be its own.
func (h *Handlers) account(r *http.Request) string {
	return h.sessions.GetString(r.Context(), accountKey)
}

var checkoutPath = regexp.MustCompile(`^/events/[a-z0-9-]+/checkout$`)

// backTo is the checkout that somebody came from; empty if from none.
func (h *Handlers) backTo(r *http.Request) string {
	for _, path := range []string{r.URL.Query().Get("back"), h.sessions.GetString(r.Context(), backKey)} {
		if checkoutPath.MatchString(path) {
			return path
		}
	}
	return ""
}

// keep writes the session, with a new token, so that nobody who knew the one before has what this one may do.
func (h *Handlers) keep(w http.ResponseWriter, r *http.Request) error {
	was := h.sessions.Token(r.Context())
	ctx := h.store.Rename(r.Context())
	if err := h.sessions.RenewToken(ctx); err != nil {
		return err
	}
	if h.sessions.Exists(r.Context(), deskKey) {
		h.sessions.SetDeadline(r.Context(), time.Now().Add(organizers.SessionMost).UTC()) // its own row ends it before
	}
	token, end, err := h.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	h.hub.Renamed(was, token)
	h.sessions.WriteSessionCookie(r.Context(), w, token, end)
	return nil
}

type linkAnswer struct {
	Email string `json:"email"`
}

// POST /credit/links
func (h *Handlers) askLink(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	if h.hurried(w, r, countsLinks, linksPerNetwork) {
		return errTooFast
	}
	email, err := h.credit.Ask(r.Context(), asked.Email, asked.Key)
	if wrong := refusedAddress(err); wrong != nil && !wantsJSON(r) {
		wrong.tooOften(w)
		return h.showCredit(w, r, wrong.status, shop.CreditPage{Typed: asked.Email, WrongEmail: wrong.what + " " + wrong.next})
	} else if wrong != nil {
		return wrong
	}
	if err != nil {
		return err
	}
	h.orders.WroteMail()
	if _, here := h.holder(r); here && checkoutPath.MatchString(asked.Back) {
		h.sessions.Put(r.Context(), backKey, asked.Back)
		if err := h.keep(w, r); err != nil {
			return err
		}
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusAccepted, linkAnswer{email})
	}
	return h.showCredit(w, r, http.StatusOK, shop.CreditPage{Asked: email})
}

// refusedAddress says why no link was sent to an address; nil if that is not what is wrong.
func refusedAddress(err error) *problem {
	switch {
	case errors.Is(err, credit.ErrOften):
		return errOften
	case errors.Is(err, credit.ErrAddress):
		return errAddress
	case errors.Is(err, credit.ErrKey):
		return errOtherAddress
	}
	return nil
}

// GET /credit/links/{token}
//
// Looking uses a link up for nobody: programs that read mail look at every address in it. The button does.
func (h *Handlers) link(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	email, err := h.credit.Whose(r.Context(), token)
	if errors.Is(err, credit.ErrNoLink) {
		return errNoLink
	}
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, linkAnswer{email})
	}
	page := shop.CreditPage{Page: views.Page{Title: "Your credit", Nonce: nonce(w), Style: "credit.css"}, Key: rand.Text(), Token: token, Typed: email}
	return writePage(w, r, http.StatusOK, shop.Credit(page))
}

// POST /credit/session
func (h *Handlers) signIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	email, err := h.credit.Open(r.Context(), asked.Token, asked.Key)
	if errors.Is(err, credit.ErrNoLink) {
		return errNoLink
	}
	if err != nil {
		return err
	}
	to := h.backTo(r)
	if to == "" {
		to = shop.CreditPath
	}
	h.sessions.Put(r.Context(), accountKey, email)
	h.sessions.Remove(r.Context(), backKey)
	if err := h.keep(w, r); err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusCreated, linkAnswer{email})
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// DELETE /credit/session and, for forms, POST /credit/session/end
//
// What the session holds stays its own; only the address is forgotten.
func (h *Handlers) signOut(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Clear-Site-Data", `"cache"`) // neither the cookie, which holds seats, nor what a door keeps for want of a network
	if h.account(r) != "" {
		h.sessions.Remove(r.Context(), accountKey)
		if err := h.keep(w, r); err != nil {
			return err
		}
	}
	if wantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.CreditPath, http.StatusSeeOther)
	return nil
}

// offerCredit puts what the reader's credit can do for an order on the page of its checkout. It is a way to pay only if it
// is enough.
func (h *Handlers) offerCredit(r *http.Request, s *seats.Sale, p *shop.CheckoutPage) (err error) {
	i := slices.Index(p.Methods, orders.Credit)
	if i < 0 {
		return nil
	}
	p.Purse = &shop.Purse{Account: h.account(r)}
	if p.Purse.Account != "" {
		if p.Purse.Balance, err = h.credit.Balance(r.Context(), p.Purse.Account, s.Event.Currency); err != nil {
			return err
		}
		if p.Form.Name == "" && p.Form.Email == "" {
			p.Form.Email = p.Purse.Account
		}
	}
	if p.Purse.Balance < s.Total(p.Hold.Seats) {
		p.Methods = slices.Delete(p.Methods, i, i+1)
	}
	return nil
}

// decodeBody reads JSON; another kind of body is refused.
func decodeBody(r *http.Request, to any) error {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return errMedia
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return decodeJSON(body, to)
}
