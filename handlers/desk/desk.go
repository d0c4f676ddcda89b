// Package desk answers organizers, and those who check tickets at the door. A page and its JSON have one handler.
package desk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/webhooks"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// nothingChanged is what holds after most errors of the desk.
var nothingChanged = text.Mark("Nothing was changed.")

// The desk's words for what went wrong.
var (
	errSignedOut = web.NewProblem(401, "not_signed_in", text.Mark("You are not signed in at the desk."), nothingChanged, text.Mark("Sign in, then try again."))
	errRole      = web.NewProblem(403, "role", text.Mark("Your role in this team does not allow that."), nothingChanged, text.Mark("Ask an owner of the team; they can give you another role."))
	errNothing   = web.NewProblem(404, "unknown", text.Mark("There is nothing at this address for you."), text.Mark("Your events and your team are as they were."), text.Mark("Go to your desk."))
	errNoTeam    = web.NewProblem(403, "no_team", text.Mark("You’re no longer in a team here."), text.Mark("Your account is as it was."), text.Mark("Ask an owner of a team to invite you."))
	errOwner     = web.NewProblem(409, "last_owner", text.Mark("A team needs at least one owner, and this is the only one."), nothingChanged, text.Mark("Make another member an owner first."))
	errAPIKey    = web.NewProblem(401, "key", text.Mark("This key does not work: it was revoked, it expired, its maker left the team, or a letter of it is missing."), nothingChanged, text.Mark("Ask an owner of the team for another one."))
	errKey       = web.NewProblem(409, "key", text.Mark("This form was sent before with other content."), text.Mark("What it did the first time stays. Nothing else was changed."), text.Mark("Load the page again."))
)

// Handlers answers the addresses of the desk and of the door.
type Handlers struct {
	*web.Server
	Desks *Desks
}

// problems are the words for errors of the desk.
var problems = web.Problems{
	organizers.ErrSignedOut:  errSignedOut,
	organizers.ErrNotYours:   errNothing,
	organizers.ErrKey:        errAPIKey,
	organizers.ErrNoTeam:     errNoTeam,
	organizers.ErrLastOwner:  errOwner,
	organizers.ErrNoLink:     errLink,
	organizers.ErrBusy:       web.ErrBusy,
	organizers.ErrCode:       errCode,
	organizers.ErrSignIn:     errSignIn,
	organizers.ErrPasskey:    errPasskey,
	organizers.ErrNoPasskeys: errNoPasskeys,
	organizers.ErrNoOpenID:   errNoOpenID,
	orders.ErrNotPaid:        errNotPaid,
	orders.ErrNotDue:         errNotDue,
	orders.ErrNoMessage:      errNothing,
	seats.ErrNoBlock:         errNothing,
	guests.ErrNone:           errNothing,
	memberships.ErrNone:      errNothing,
	bookings.ErrNone:         errNothing,
	banktransfer.ErrNoEntry:  errNoEntry,
	banktransfer.ErrDecided:  errDecided,
	banktransfer.ErrOrder:    errNoOrder,
	idempotency.ErrOtherKey:  errKey,

	subscriptions.ErrNoSubscription: errNothing,
}

// Explain knows the errors of package organizers; nil if err is none.
func Explain(ctx context.Context, err error) *web.Problem {
	var mistakes organizers.Mistakes
	if p := planError(err); p != nil {
		return p
	}
	if p := bankProblem(ctx, err); p != nil {
		return p
	}
	if p := pictureProblem(ctx, err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, organizers.ErrOften):
		return web.Often(ctx, err)
	case errors.As(err, &mistakes):
		return web.NewProblem(422, "invalid", mistakes.In(ctx), nothingChanged, text.Mark("Correct it, then send it again."))
	}
	return problems.Of(err)
}

// OnEvent makes a handler of one about an event of the reader's team. It is the first wall: who is not signed in, who is no
// member of the event's team, or has a role without the need, comes no further.
func (h *Handlers) OnEvent(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member, *seats.Sale) error) web.Handler {
	return h.Member(need, h.OfEvent(next))
}

// OfEvent makes a handler of a member of one about the event of the address.
func (h *Handlers) OfEvent(next func(http.ResponseWriter, *http.Request, organizers.Member, *seats.Sale) error) func(http.ResponseWriter, *http.Request, organizers.Member) error {
	return func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		sale, err := h.Inventory.Sale(r.Context(), r.PathValue("slug"))
		if err != nil {
			return err
		}
		return next(w, r, m, sale)
	}
}

// Member makes a handler of one at the desk that is about no event. Where the address names one all the same, only
// members of its team get in.
func (h *Handlers) Member(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		keyed(r)
		r, err := h.Visited(r)
		if err != nil {
			return err
		}
		m, err := h.whoIs(r)
		switch {
		case errors.Is(err, organizers.ErrSignedOut) && !web.WantsJSON(r):
			http.Redirect(w, r, desk.SignInPath+"?to="+url.QueryEscape(deskPage(r)), http.StatusSeeOther)
			return nil
		case errors.Is(err, organizers.ErrKey):
			w.Header().Set("WWW-Authenticate", "Bearer")
			return err
		case errors.Is(err, organizers.ErrNotYours) && m.Organizer != 0:
			h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.RefusedByTeam, Organizer: m.Organizer, Network: m.From.Network, Agent: m.From.Agent, Detail: r.Pattern})
			return err
		case err != nil:
			return err
		case m.Key != 0 && h.Exhausted(w, m):
			return web.ErrKeyTooFast
		case m.Key != 0 && m.Test && r.PathValue("slug") == "" && !forTestKeys[r.Pattern]:
			return errTestKey
		case !m.May(need):
			h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.RefusedByRole, Organizer: m.Organizer, Team: m.Team, Network: m.From.Network, Agent: m.From.Agent, Detail: r.Pattern})
			return errRole
		case m.Key == 0 && m.Demands && !m.Second && need != organizers.Self:
			return h.askSecond(w, r, m)
		}
		if err := h.Organizers.Seen(r.Context(), m, m.From); err != nil {
			return err
		}
		web.Admit(r)
		if r.Method == http.MethodPost {
			defer h.Hooks.Wake() // what was changed may be told
		}
		return invalidHere(r.Context(), next(w, r, m))
	}
}

// invalidHere is an error with the words for a member if it is a *seats.ValidationError: those for visitors speak of a hold.
func invalidHere(ctx context.Context, err error) error {
	var invalid *seats.ValidationError
	if !errors.As(err, &invalid) || invalid.Unknown {
		return err
	}
	return fmt.Errorf("%w (%w)", web.NewProblem(422, "invalid", invalid.In(ctx), "", text.Mark("Correct it, then send it again.")), err)
}

// MemberOnce is member for a form that is done once, see once. Its body is read after the caller is known and allowed.
func (h *Handlers) MemberOnce(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member) error) web.Handler {
	return h.Member(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
		return h.Once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, m) })(w, r)
	})
}

// OnEventOnce is desk for a form that is done once.
func (h *Handlers) OnEventOnce(need organizers.Need, next func(http.ResponseWriter, *http.Request, organizers.Member, *seats.Sale) error) web.Handler {
	return h.OnEvent(need, func(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
		return h.Once(func(w http.ResponseWriter, r *http.Request) error { return next(w, r, m, s) })(w, r)
	})
}

// still reports whether the caller of a long request still has the need.
func (h *Handlers) still(r *http.Request, need organizers.Need) bool {
	m, err := h.whoIs(r)
	return err == nil && m.May(need)
}

// whoIs returns the member behind a request of the desk: by its API key, or else by its session.
func (h *Handlers) whoIs(r *http.Request) (organizers.Member, error) {
	from := h.Client(r)
	if key, keyed := web.APIKey(r); keyed {
		m, err := h.Organizers.ByKey(r.Context(), key, r.PathValue("slug"), from)
		web.NoteKey(r, m.Key)
		return m, err
	}
	m, err := h.Organizers.Member(r.Context(), h.session(r), r.PathValue("slug"))
	m.From = from
	return m, err
}

// keyed makes the request of a program with a key one that has no session and wants JSON, whatever it says.
func keyed(r *http.Request) {
	if _, keyed := web.APIKey(r); keyed {
		r.Header.Del("Cookie")
		if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			r.Header.Set("Accept", "application/json")
		}
	}
}

// session returns the browser's session at the desk; the zero Session if it is not signed in.
func (h *Handlers) session(r *http.Request) (s organizers.Session) {
	_, err := fmt.Sscanf(h.Sessions.GetString(r.Context(), web.DeskKey), "%d.%d.%d.%d", &s.Organizer, &s.Epoch, &s.Team, &s.ID)
	if err != nil {
		return organizers.Session{}
	}
	return s
}

// enterDesk signs the browser in as an organizer, under a new token: a leaked old one gains nothing. A session
// that has not begun yet begins, in place of another one of this browser.
func (h *Handlers) enterDesk(w http.ResponseWriter, r *http.Request, s organizers.Session, by organizers.Proof) error {
	if s.ID == 0 {
		if err := h.endDesk(r); err != nil {
			return err
		}
		var device string
		var err error
		if s, device, err = h.Organizers.Enter(r.Context(), s, h.Client(r), by); err != nil {
			return err
		}
		h.KeepDevice(w, device)
		if err := h.confirmOpenID(w, r, s.Organizer); err != nil {
			return err
		}
	}
	session := fmt.Sprintf("%d.%d.%d.%d", s.Organizer, s.Epoch, s.Team, s.ID)
	web.Enters(w, s, session)
	h.Sessions.Put(r.Context(), web.DeskKey, session)
	h.Sessions.Remove(r.Context(), secondKey)
	return h.RenewToken(w, r)
}

// endDesk ends the session at the desk of this browser, if it has one.
func (h *Handlers) endDesk(r *http.Request) error {
	s := h.session(r)
	if s.ID == 0 {
		return nil
	}
	if err := h.Organizers.EndSession(r.Context(), s.Organizer, s.ID); !errors.Is(err, organizers.ErrNotYours) {
		return err
	}
	return nil // it ended before
}

var deskAddress = regexp.MustCompile(`^/desk([/?][^\\\x00-\x20]*)?$`)

// deskPage is the page to return to after signing in.
func deskPage(r *http.Request) string {
	if r.Method == http.MethodGet {
		return r.URL.RequestURI()
	}
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return desk.Path
	}
	return DeskBack(from.RequestURI())
}

// DeskBack is an address to go on to, if it is one of the desk; otherwise the desk itself.
func DeskBack(to string) string {
	if !deskAddress.MatchString(to) || strings.HasPrefix(to, desk.SignInPath) {
		return desk.Path
	}
	return to
}

// frame is what every page of the desk shows. A form that did its work leads to a page with ?done=…, which says so.
func (h *Handlers) frame(w http.ResponseWriter, r *http.Request, m organizers.Member, title string) desk.Frame {
	notice := text.T(r.Context(), desk.Notice(r.URL.Query().Get("done")))
	return desk.Frame{Page: views.Page{Title: title, Nonce: web.Nonce(w), Legal: h.Legal(r, m.Team), Style: "desk.css", Notice: notice}, Member: m, Path: r.URL.Path, Key: rand.Text()}
}

// deskDone leads on to a page after a form did its work, which says so there; a program is told that it did.
func deskDone(w http.ResponseWriter, r *http.Request, path, done string) error {
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	path, part, cut := strings.Cut(path, "#")
	if cut {
		part = "#" + part
	}
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	http.Redirect(w, r, path+sign+"done="+done+part, http.StatusSeeOther)
	return nil
}

// deskAsked is what the forms of accounts and teams send.
type deskAsked struct {
	Key      string             `json:"key"`
	Name     string             `json:"name"`
	Email    string             `json:"email"`
	Role     organizers.Role    `json:"role"`
	Password string             `json:"password"`
	Before   string             `json:"before"` // the password until now
	To       string             `json:"to"`
	Team     int64              `json:"team"`
	Scopes   []organizers.Scope `json:"scopes"`
	URL      string             `json:"url"`
	Kinds    []webhooks.Kind    `json:"kinds"`
	On       bool               `json:"on"`
	Days     int                `json:"days"`
	Test     bool               `json:"test"`   // of a key: it is for test sales
	Event    string             `json:"event"`  // of a key: it sells the seats that Code unlocks there
	Code     string             `json:"code"`   // of an app, or a recovery code
	Answer   json.RawMessage    `json:"answer"` // of a browser that was asked for a passkey
}

func decodeDesk(r *http.Request) (asked deskAsked, err error) {
	if !web.IsForm(r) {
		return asked, web.DecodeBody(r, &asked)
	}
	if err := web.ParseForm(r); err != nil {
		return asked, err
	}
	f := r.PostForm
	team, _ := strconv.ParseInt(f.Get("team"), 10, 64) // 0 is no team
	var scopes []organizers.Scope
	for _, scope := range f["scope"] {
		scopes = append(scopes, organizers.Scope(scope))
	}
	var kinds []webhooks.Kind
	for _, kind := range f["kind"] {
		kinds = append(kinds, webhooks.Kind(kind))
	}
	days, _ := strconv.Atoi(f.Get("days")) // 0 is no time
	return deskAsked{
		Days: days, Test: f.Get("test") != "", URL: f.Get("url"), Kinds: kinds, On: f.Get("on") != "",
		Scopes: scopes, Key: f.Get("key"), Name: f.Get("name"), Email: f.Get("email"), Role: organizers.Role(f.Get("role")),
		Password: f.Get("password"), Before: f.Get("before"), Code: f.Get("code"), Event: f.Get("event"), To: f.Get("to"), Team: team,
	}, nil
}

// deskID is the number in an address; of what is none there is nothing.
func deskID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, organizers.ErrNotYours
	}
	return id, nil
}
