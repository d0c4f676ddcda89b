package shop

import (
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/passkeys"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

const (
	accountKey = "account" // of a session: the address that it proved to own
	provedKey  = "proved"  // of a session: when it did
	agentKey   = "agent"   // of a session: in which browser
	backKey    = "back"    // of a session: the checkout it came from

	verifiedKey = "verified" // of a session: the address to which the offer went that it took
)

var (
	errNotSignedIn  = web.NewProblem(401, "not_signed_in", text.Mark("You’re not signed in."), web.NothingChanged, text.Mark("Open your account and request a link."))
	errNoLink       = web.NewProblem(404, "link", text.Mark("This link no longer works: it was used, it has expired, or we sent you a newer one."), web.NothingChanged, text.Mark("Open your account and request a new one."))
	errOften        = web.NewProblem(429, "too_often", text.Mark("We sent three emails to this address within the hour."), web.NothingChanged, text.Mark("Look for the newest of them, or try again in an hour."))
	errOtherAddress = web.NewProblem(409, "key", text.Mark("This form was sent before with another address."), web.NothingChanged, text.Mark("Send it once more for this one."))
	errAddress      = web.NewProblem(422, "invalid", text.Mark("Enter an email address in the format name@example.com."), web.NothingChanged, text.Mark("Change it and send it again."))
)

// accountLasts is for how long a session is that of an address: one with seats is renewed for longer than that.
const accountLasts = 24 * time.Hour

// account is the address with the credit that this session may spend; empty if it proved none within accountLasts.
func (h *Handlers) account(r *http.Request) string {
	if h.signedInFor(r) > accountLasts {
		return ""
	}
	return h.Sessions.GetString(r.Context(), accountKey)
}

// signedInFor is how long ago this session proved to own its address.
func (h *Handlers) signedInFor(r *http.Request) time.Duration {
	at, err := time.Parse(time.RFC3339, h.Sessions.GetString(r.Context(), provedKey))
	if err != nil {
		return math.MaxInt64
	}
	return time.Since(at)
}

// signIn has a session be that of an address which it proved to own in this moment.
func (h *Handlers) signIn(r *http.Request, email string) {
	h.Sessions.Put(r.Context(), accountKey, email)
	h.Sessions.Put(r.Context(), provedKey, time.Now().UTC().Format(time.RFC3339))
	h.Sessions.Put(r.Context(), agentKey, h.Client(r).Agent)
	h.Sessions.Remove(r.Context(), backKey)
	h.Sessions.Remove(r.Context(), passkeyKey) // it was asked for the account of before
}

// noteSignIn logs that an attendee signed in to an account, or did not: how, and from which network. Not the address (docs/security.md).
func (h *Handlers) noteSignIn(w http.ResponseWriter, r *http.Request, how string, refused error) {
	log := h.About(w, r).With("how", how, "network", web.NetworkOf(r).String())
	if refused != nil {
		log.InfoContext(r.Context(), "an attendee did not sign in", "reason", refused)
		return
	}
	log.InfoContext(r.Context(), "an attendee signed in")
}

// proofLasts is for how long after signing in a session may change what opens the account. One that is found open later may not.
const proofLasts = 10 * time.Minute

// provedAccount is the address that this session proved to own within proofLasts.
func (h *Handlers) provedAccount(r *http.Request) (email string, err error) {
	if email = h.account(r); email == "" {
		return "", errNotSignedIn
	}
	if h.signedInFor(r) > proofLasts {
		return "", errLongAgo
	}
	return email, nil
}

var checkoutPath = regexp.MustCompile(`^/events/[a-z0-9-]+/checkout$`)

// backTo is the checkout that the visitor came from; empty if from none.
func (h *Handlers) backTo(r *http.Request) string {
	for _, path := range []string{r.URL.Query().Get("back"), h.Sessions.GetString(r.Context(), backKey)} {
		if checkoutPath.MatchString(path) {
			return path
		}
	}
	return ""
}

type accountAnswer struct {
	Email    string         `json:"email"`
	Orders   []ownedBody    `json:"orders"`
	Waitlist []waitsBody    `json:"waitlist"`
	Accounts []creditBody   `json:"accounts"`
	Sessions []signedInBody `json:"sessions"` // that are signed in as it, this one first
}

type signedInBody struct {
	Agent string    `json:"agent"` // the browser; empty if it is not known
	Since time.Time `json:"since"`
	Here  bool      `json:"here"` // this one
}

type ownedBody struct {
	Code    string    `json:"code"`
	Number  string    `json:"number"`
	Event   string    `json:"event"`
	Name    string    `json:"name"`
	Starts  time.Time `json:"starts_at"`
	Tickets int       `json:"tickets"`
	Due     int64     `json:"due"`
	Path    string    `json:"path"` // the address of the page
}

type waitsBody struct {
	Event    string    `json:"event"`
	Name     string    `json:"name"`
	Starts   time.Time `json:"starts_at"`
	Quantity int       `json:"quantity"`
	State    string    `json:"state"`
	Path     string    `json:"path"` // the address of the entry
}

type creditBody struct {
	Currency string     `json:"currency"`
	Balance  int64      `json:"balance"`
	Lines    []lineBody `json:"lines"`
	Older    bool       `json:"older"`
}

type lineBody struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Amount int64     `json:"amount"`
	Order  string    `json:"order,omitempty"`
	Event  string    `json:"event,omitempty"`
}

func describeAccount(p shop.AccountPage) accountAnswer {
	answer := accountAnswer{Email: p.Account, Orders: []ownedBody{}, Waitlist: []waitsBody{}, Accounts: []creditBody{}, Sessions: []signedInBody{}}
	for _, s := range p.SignedIn {
		answer.Sessions = append(answer.Sessions, signedInBody(s))
	}
	for _, o := range slices.Concat(p.Coming, p.Past) {
		answer.Orders = append(answer.Orders, ownedBody{o.Code, orders.Number(o.ID), o.Event, o.Name, o.StartsAt.UTC(), o.Tickets, o.Due, shop.OwnedPath(o)})
	}
	for _, n := range p.Waits {
		answer.Waitlist = append(answer.Waitlist, waitsBody{n.Event, n.Name, n.StartsAt.UTC(), n.Quantity, n.State, shop.WaitPath(n.Code)})
	}
	for _, s := range p.Statements {
		account := creditBody{Currency: s.Currency, Balance: s.Balance, Lines: []lineBody{}, Older: s.Older}
		for _, line := range s.Lines {
			account.Lines = append(account.Lines, lineBody{line.At.UTC(), line.Kind, line.Amount, line.Order, line.Event})
		}
		answer.Accounts = append(answer.Accounts, account)
	}
	return answer
}

// Account answers GET /account
func (h *Handlers) Account(w http.ResponseWriter, r *http.Request) error {
	if web.WantsJSON(r) && h.account(r) == "" {
		return errNotSignedIn
	}
	var p shop.AccountPage
	if r.URL.Query().Has("loaded") {
		p.Notice = text.T(h.Reading(r), "The amount of your voucher is in your credit.")
	}
	if r.URL.Query().Has("added") {
		p.Notice = text.T(h.Reading(r), "The passkey was added. You can sign in with it now.")
	}
	if r.URL.Query().Has("ended") {
		p.Notice = text.T(h.Reading(r), "You are signed out everywhere else.")
	}
	if r.URL.Query().Has("removed") {
		p.Notice = text.T(h.Reading(r), "The passkey was removed and no longer works.")
	}
	return h.showAccount(w, r, http.StatusOK, p)
}

// showAccount writes what the signed-in visitor has, or asks for an address. Under the domain of a team,
// its orders and waiting lists are listed alone.
func (h *Handlers) showAccount(w http.ResponseWriter, r *http.Request, status int, p shop.AccountPage) (err error) {
	title := text.T(r.Context(), "Find your tickets")
	if p.Account = h.account(r); p.Account != "" {
		title = text.T(r.Context(), "Your account")
		w.Header().Set("Cache-Control", "no-store") // the back button must not show it after signing out
		if p.Coming, p.Past, err = h.Orders.OfEmail(r.Context(), p.Account, web.HostTeam(r)); err != nil {
			return err
		}
		if p.Waits, err = h.Waits.OfEmail(r.Context(), p.Account, web.HostTeam(r)); err != nil {
			return err
		}
		if p.Keys, err = h.Credit.Passkeys(r.Context(), p.Account); err != nil {
			return err
		}
		if p.Statements, err = h.Credit.Statements(r.Context(), p.Account); err != nil {
			return err
		}
		if p.SignedIn, err = h.signedIn(r, p.Account); err != nil {
			return err
		}
		p.Proved = h.signedInFor(r) <= proofLasts
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeAccount(p))
	}
	p.Page = views.Page{Title: title, Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "account.css", Notice: p.Notice}
	if p.Passkeys = passkeys.At(h.Origin(r)); p.Passkeys {
		p.Script = "account.js"
	}
	p.Back, p.Key = h.backTo(r), rand.Text()
	return web.WritePage(w, r, status, shop.Account(p))
}

type linkAnswer struct {
	Email string `json:"email"`
}

// AskLink answers POST /account/links
func (h *Handlers) AskLink(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsLinks, web.LinksPerNetwork) {
		return errTooFast
	}
	email, err := h.Credit.Ask(h.Reading(r), asked.Email, asked.Key)
	if wrong := refusedAddress(err); wrong != nil && !web.WantsJSON(r) {
		wrong.TooOften(w)
		return h.showAccount(w, r, wrong.Status, shop.AccountPage{Typed: asked.Email, WrongEmail: text.T(r.Context(), wrong.What) + " " + text.T(r.Context(), wrong.Next)})
	} else if wrong != nil {
		return wrong
	}
	if err != nil {
		return err
	}
	h.Orders.WroteMail()
	if _, here := h.Holder(r); here && checkoutPath.MatchString(asked.Back) {
		h.Sessions.Put(r.Context(), backKey, asked.Back)
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, linkAnswer{email})
	}
	return h.showAccount(w, r, http.StatusOK, shop.AccountPage{Asked: email})
}

// refusedAddress says why no link was sent to an address; nil if that is not what is wrong.
func refusedAddress(err error) *web.Problem {
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

// Link answers GET /account/links/{token}
//
// GET does not use the link up, as mail programs open every address. The button does.
func (h *Handlers) Link(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	email, err := h.Credit.Address(r.Context(), token)
	if errors.Is(err, credit.ErrNoLink) {
		return errNoLink
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, linkAnswer{email})
	}
	page := shop.AccountPage{Page: views.Page{Title: text.T(r.Context(), "Your account"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "account.css"}, Key: rand.Text(), Token: token, Typed: email}
	return web.WritePage(w, r, http.StatusOK, shop.Account(page))
}

// SignIn answers POST /account/session
func (h *Handlers) SignIn(w http.ResponseWriter, r *http.Request) error {
	asked, err := decodeCredit(r)
	if err != nil {
		return err
	}
	email, err := h.Credit.Open(r.Context(), asked.Token, asked.Key)
	if errors.Is(err, credit.ErrNoLink) {
		h.noteSignIn(w, r, "link", err)
		return errNoLink
	}
	if err != nil {
		return err
	}
	to := h.backTo(r)
	if to == "" {
		to = shop.AccountPath
	}
	h.signIn(r, email)
	if err := h.RenewToken(w, r); err != nil {
		return err
	}
	h.noteSignIn(w, r, "link", nil)
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, linkAnswer{email})
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// SignOut answers DELETE /account/session and, for forms, POST /account/session/end
//
// What the session holds stays its own; only the address is forgotten.
func (h *Handlers) SignOut(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Clear-Site-Data", `"cache"`) // neither the cookie, which holds seats, nor what a door keeps for want of a network
	if h.account(r) != "" {
		h.Sessions.Remove(r.Context(), accountKey)
		h.Sessions.Remove(r.Context(), provedKey)
		h.Sessions.Remove(r.Context(), passkeyKey)
		if err := h.RenewToken(w, r); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.AccountPath, http.StatusSeeOther)
	return nil
}

// signedIn lists the sessions that are signed in as an address, this one first and then the latest.
func (h *Handlers) signedIn(r *http.Request, email string) (list []shop.SignedIn, err error) {
	all, err := h.Store.OfAccount(r.Context(), email)
	for key, values := range all {
		agent, _ := values[agentKey].(string)
		if since, is := signedInSince(values); is {
			list = append(list, shop.SignedIn{Agent: agent, Since: since, Here: h.Store.IsOf(h.SessionToken(r), key)})
		}
	}
	slices.SortFunc(list, func(a, b shop.SignedIn) int {
		switch {
		case a.Here:
			return -1
		case b.Here:
			return 1
		}
		return b.Since.Compare(a.Since)
	})
	return list, err
}

// signedInSince reports when the session with these values signed in, and whether it still is.
func signedInSince(values map[string]any) (since time.Time, is bool) {
	at, _ := values[provedKey].(string)
	since, err := time.Parse(time.RFC3339, at)
	return since, err == nil && time.Since(since) <= accountLasts
}

// SignOutOthers answers POST /account/sessions/end: the other sessions of the address end, and their seats become available.
func (h *Handlers) SignOutOthers(w http.ResponseWriter, r *http.Request) error {
	account, err := h.provedAccount(r)
	if err != nil {
		return err
	}
	_, err = h.Store.SignOut(r.Context(), account, func(key string, values map[string]any) bool {
		_, is := signedInSince(values)
		return is && !h.Store.IsOf(h.SessionToken(r), key)
	})
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, shop.AccountPath+"?ended", http.StatusSeeOther)
	return nil
}

// fillDetails fills the form of a checkout with the address of a visitor who is signed in, and with the name of its latest order.
// Under the domain of a team, it is an order of that team. What was typed before stays.
func (h *Handlers) fillDetails(r *http.Request, form *orders.Form, wrong orders.Mistakes) (err error) {
	account := h.account(r)
	if account == "" || form.Name != "" || form.Email != "" || len(wrong) > 0 {
		return nil
	}
	form.Email = account
	form.Name, err = h.Orders.NameOf(r.Context(), account, web.HostTeam(r))
	return err
}

// offerCredit puts what the reader's credit can do for an order on the page of its checkout. It is a way to pay only if it
// is enough.
func (h *Handlers) offerCredit(r *http.Request, s *seats.Sale, p *shop.CheckoutPage) (err error) {
	i := slices.Index(p.Methods, payments.Credit)
	if i < 0 {
		return nil
	}
	p.Wallet = &shop.Wallet{Account: h.account(r)}
	if p.Wallet.Account != "" {
		if p.Wallet.Balance, err = h.Credit.Balance(r.Context(), p.Wallet.Account, s.Event.Currency); err != nil {
			return err
		}
	}
	if p.Wallet.Balance < p.Cost().Total {
		p.Methods = slices.Delete(p.Methods, i, i+1)
	}
	return nil
}
