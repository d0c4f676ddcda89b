package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sessions"
)

const SessionLength = seats.SessionLength

// NewSessions sets sessions up. Over plain HTTP a browser keeps no secure cookie, so it gets another name and no promise.
func NewSessions(store *sessions.Sessions, secure bool) *scs.SessionManager {
	m := scs.New()
	m.Store, m.Lifetime, m.Codec = store, SessionLength, Codec{} // the store hashes tokens itself
	m.Cookie.Name, m.Cookie.Secure = "usher", false
	if secure {
		m.Cookie.Name, m.Cookie.Secure = "__Host-usher", true
	}
	m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = true, http.SameSiteLaxMode, "/"
	return m
}

// By makes a handler of one that wants to know who reads.
func (h *Server) By(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) Handler {
	return h.With(func(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
		r, err := h.Visited(r)
		if err != nil {
			return err
		}
		if err := h.Renew(w, r, s); err != nil {
			return err
		}
		return next(w, r, s)
	})
}

// Renew keeps the session of a visitor with seats from ending, and its cookie. The store writes it once in half of its
// length.
func (h *Server) Renew(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if r.Header["Cookie"] == nil {
		return nil
	}
	if holder, known := h.Holder(r); known {
		return h.RenewFor(w, r, s, holder)
	}
	return nil
}

// RenewFor is Renew for seats that the visitor has as another holder: those of a subscription.
func (h *Server) RenewFor(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID) error {
	if _, known := h.Holder(r); !known || time.Until(h.Sessions.Deadline(r.Context())) > SessionLength/2 {
		return nil
	}
	token := h.Sessions.Token(r.Context())
	if err := h.Store.Renew(r.Context(), token, s.Event.ID, holder); err != nil {
		return err
	}
	h.Sessions.WriteSessionCookie(r.Context(), w, token, time.Now().Add(SessionLength))
	return nil
}

// Act makes a handler of one that changes seats for the visitor.
func (h *Server) Act(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) Handler {
	return h.With(func(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
		return h.acts(w, r, func(w http.ResponseWriter, r *http.Request) error {
			if err := h.Renew(w, r, s); err != nil {
				return err
			}
			return next(w, r, s)
		})
	})
}

// Acting makes a handler of one that changes seats of an event that its address does not name.
func (h *Server) Acting(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return h.acts(w, r, next) }
}

// acts loads the session so that what next does to seats is bound to it, and clears the cookie of one that ended.
func (h *Server) acts(w http.ResponseWriter, r *http.Request, next Handler) error {
	r, err := h.load(h.Store.Act(r.Context()), r)
	if err != nil {
		return err
	}
	err = next(w, r)
	if errors.Is(err, seats.ErrSessionEnded) {
		h.Sessions.WriteSessionCookie(r.Context(), w, "", time.Time{})
	}
	return err
}

// Visited loads the session a request's cookie names. Who only looks has none.
func (h *Server) Visited(r *http.Request) (*http.Request, error) { return h.load(r.Context(), r) }

func (h *Server) load(ctx context.Context, r *http.Request) (*http.Request, error) {
	if !h.Sessions.Cookie.Secure && !loopback(r.Host) {
		h.warnOnce.Do(func() {
			h.Log.Warn("people come over plain HTTP: their cookies can be read on the way. Put TLS in front and set USHER_URL=https://…", "host", r.Host)
		})
	}
	ctx, err := h.Sessions.Load(ctx, h.SessionToken(r))
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	return r.WithContext(ctx), nil
}

// SessionToken is what the cookie of a session says; empty if there is none.
func (h *Server) SessionToken(r *http.Request) string { return cookieOf(r, h.Sessions.Cookie.Name) }

func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const HolderKey = "holder"

// Holder is who asks, if the session knows.
func (h *Server) Holder(r *http.Request) (seats.ID, bool) {
	name := h.Sessions.GetString(r.Context(), HolderKey)
	if name == "" {
		return seats.ID{}, false
	}
	id, err := seats.ParseID(name)
	return id, err == nil
}

// NewHolder returns a new holder for a session that has none.
func (h *Server) NewHolder(w http.ResponseWriter, r *http.Request, s *seats.Sale) seats.ID {
	if holder, known := h.Visitor(r); known { // they waited or did work as this holder
		return holder
	}
	if h.Rooms.Of(s.Event.ID) != nil { // their slot outlives a claim that is refused
		return h.Greet(w)
	}
	return seats.NewID()
}

// NewSession gives a visitor's session their holder. If they have none, one is written together with a claim that wins;
// welcome tells the browser then, and returns its token.
func (h *Server) NewSession(r *http.Request, holder seats.ID) (welcome func(http.ResponseWriter) string, err error) {
	if len(h.Sessions.Keys(r.Context())) > 0 {
		h.Sessions.Put(r.Context(), HolderKey, holder.String())
		_, _, err := h.Sessions.Commit(r.Context())
		return func(http.ResponseWriter) string { return "" }, err
	}
	token, end := "", time.Now().Add(SessionLength).UTC()
	h.Store.Newcomer(r.Context(), func() (string, []byte, time.Time) {
		token = newToken()
		return token, NewRecord(end, holder), end
	})
	return func(w http.ResponseWriter) string { h.Welcome(w, token, end); return token }, nil
}

// newToken returns a random token that begins with the time: see sessions.Sessions.
func newToken() string { return strconv.FormatInt(time.Now().UnixMilli(), 36) + "." + rand.Text() }

// Welcome writes the cookie of a new session as the session manager does, only quicker: a crowd of newcomers gets one each. It has no Expires,
// which no browser reads beside Max-Age (RFC 6265, 4.1.2.2).
func (h *Server) Welcome(w http.ResponseWriter, token string, end time.Time) {
	cookie := append(make([]byte, 0, 192), h.Sessions.Cookie.Name...)
	cookie = append(append(append(cookie, '='), token...), "; Path=/; Max-Age="...)
	cookie = strconv.AppendInt(cookie, int64(time.Until(end).Seconds()+1), 10)
	cookie = append(cookie, "; HttpOnly"...)
	if h.Sessions.Cookie.Secure {
		cookie = append(cookie, "; Secure"...)
	}
	w.Header()["Set-Cookie"] = append(w.Header()["Set-Cookie"], string(append(cookie, "; SameSite=Lax"...)))
}

// Codec writes sessions as JSON: their values are words, and a person can read the rows.
type Codec struct{}

type record struct {
	End    time.Time      `json:"end"`
	Values map[string]any `json:"values"`
}

// Encode is part of scs.Codec.
func (Codec) Encode(end time.Time, values map[string]any) ([]byte, error) {
	return json.Marshal(record{end, values})
}

// NewRecord is the session of a newcomer as codec writes it, only quicker.
func NewRecord(end time.Time, holder seats.ID) []byte {
	text := end.AppendFormat(append(make([]byte, 0, 128), `{"end":"`...), time.RFC3339Nano)
	return append(append(append(text, `","values":{"holder":"`...), holder.String()...), `"}}`...)
}

// Decode is part of scs.Codec. Unreadable data is an empty session.
func (Codec) Decode(data []byte) (time.Time, map[string]any, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return time.Time{}, map[string]any{}, nil // written by an earlier version: it starts anew
	}
	return r.End, r.Values, nil
}

// Visit makes a handler of one that wants to know who reads, and is about no event.
func (h *Server) Visit(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		r, err := h.Visited(r)
		if err != nil {
			return err
		}
		return next(w, r)
	}
}

// RenewToken writes the session under a new token, so that a leaked old token gains nothing.
func (h *Server) RenewToken(w http.ResponseWriter, r *http.Request) error {
	was := h.Sessions.Token(r.Context())
	ctx := h.Store.Rename(r.Context())
	if err := h.Sessions.RenewToken(ctx); err != nil {
		return err
	}
	if h.Sessions.Exists(r.Context(), DeskKey) {
		h.Sessions.SetDeadline(r.Context(), time.Now().Add(organizers.SessionMost).UTC()) // its own row ends it before
	}
	token, end, err := h.Sessions.Commit(ctx)
	if err != nil {
		return err
	}
	h.Hub.Renamed(was, token)
	h.Sessions.WriteSessionCookie(r.Context(), w, token, end)
	return nil
}

// placeLength is how many seconds a browser keeps a place.
const placeLength = 24 * 60 * 60

// kept is the name of a cookie of ours; over TLS browsers make sure that it is.
func (h *Server) kept(name string) string {
	if strings.HasPrefix(h.Sessions.Cookie.Name, "__Host-") {
		return "__Host-usher-" + name
	}
	return "usher-" + name
}

// KeepCookie has the browser keep a value for a day; an empty one is forgotten.
func (h *Server) KeepCookie(w http.ResponseWriter, name, value string) {
	h.keepCookie(w, name, value, placeLength)
}

// keepCookie has the browser keep a value for so many seconds; an empty one is forgotten.
func (h *Server) keepCookie(w http.ResponseWriter, name, value string, age int) {
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: h.kept(name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: h.Sessions.Cookie.Secure, SameSite: http.SameSiteLaxMode,
	})
}

const VisitorName = "visitor"

var wordLength = len(rand.Text())

// Visitor is the holder of the session, or, for a visitor who never held a seat, one that follows from a random
// word that their browser keeps. So two million who wait need no row. The holder tells nothing about the word: who knows a
// holder still cannot be them. Their session gets the same holder when they have one.
func (h *Server) Visitor(r *http.Request) (seats.ID, bool) {
	if token := h.SessionToken(r); token != "" {
		if holder, known := h.Holder(r); known {
			return holder, true
		}
	}
	word := h.KeptCookie(r, VisitorName)
	if len(word) != wordLength {
		return seats.ID{}, false
	}
	return HolderOf(word), true
}

func HolderOf(word string) seats.ID {
	sum := sha256.Sum256([]byte("usher/visitor/v1" + word))
	return seats.ID(sum[:len(seats.ID{})])
}

// Greet gives a browser a word to keep, and tells who it is from now on.
func (h *Server) Greet(w http.ResponseWriter) seats.ID {
	word := rand.Text()
	h.KeepCookie(w, VisitorName, word)
	return HolderOf(word)
}

// DeskKey is the key of a session: which organizer signed in with it.
const DeskKey = "desk"

// KeptCookie is the value that the browser keeps by KeepCookie; empty if there is none.
func (h *Server) KeptCookie(r *http.Request, name string) string {
	if r.Header["Cookie"] == nil { // a crowd of newcomers has none
		return ""
	}
	return cookieOf(r, h.kept(name))
}

// cookieOf is the value of a cookie; empty if there is none.
func cookieOf(r *http.Request, name string) string {
	if cookie, err := r.Cookie(name); err == nil {
		return cookie.Value
	}
	return ""
}
