package handlers

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/sessions"
)

const sessionLength = seats.SessionLength

// newSessions sets sessions up. Over plain HTTP a browser keeps no secure cookie, so it gets another name and no promise.
func newSessions(store *sessions.Sessions, secure bool) *scs.SessionManager {
	m := scs.New()
	m.Store, m.Lifetime, m.Codec = store, sessionLength, codec{} // the store hashes tokens itself
	m.Cookie.Name, m.Cookie.Secure = "usher", false
	if secure {
		m.Cookie.Name, m.Cookie.Secure = "__Host-usher", true
	}
	m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = true, http.SameSiteLaxMode, "/"
	return m
}

// by makes a handler of one that wants to know who reads.
func (h *Handlers) by(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) handler {
	return h.with(func(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
		r, err := h.visited(r)
		if err != nil {
			return err
		}
		if err := h.renew(w, r, s); err != nil {
			return err
		}
		return next(w, r, s)
	})
}

// renew keeps the session of a visitor with seats from ending, and its cookie. The store writes it once in half of its
// length.
func (h *Handlers) renew(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if r.Header["Cookie"] == nil {
		return nil
	}
	holder, known := h.holder(r)
	if !known || time.Until(h.sessions.Deadline(r.Context())) > sessionLength/2 {
		return nil
	}
	token := h.sessions.Token(r.Context())
	if err := h.store.Renew(r.Context(), token, s.Event.ID, holder); err != nil {
		return err
	}
	h.sessions.WriteSessionCookie(r.Context(), w, token, time.Now().Add(sessionLength))
	return nil
}

// act makes a handler of one that changes seats in somebody's name.
func (h *Handlers) act(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) handler {
	return h.with(func(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
		return h.acts(w, r, func(w http.ResponseWriter, r *http.Request) error {
			if err := h.renew(w, r, s); err != nil {
				return err
			}
			return next(w, r, s)
		})
	})
}

// acting makes a handler of one that changes seats of an event that its address does not name.
func (h *Handlers) acting(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error { return h.acts(w, r, next) }
}

// acts loads the session so that what next does to seats is bound to it, and clears the cookie of one that ended.
func (h *Handlers) acts(w http.ResponseWriter, r *http.Request, next handler) error {
	r, err := h.load(h.store.Act(r.Context()), r)
	if err != nil {
		return err
	}
	err = next(w, r)
	if errors.Is(err, seats.ErrSessionEnded) {
		h.sessions.WriteSessionCookie(r.Context(), w, "", time.Time{})
	}
	return err
}

// visited loads the session a request's cookie names. Who only looks has none.
func (h *Handlers) visited(r *http.Request) (*http.Request, error) { return h.load(r.Context(), r) }

func (h *Handlers) load(ctx context.Context, r *http.Request) (*http.Request, error) {
	if !h.sessions.Cookie.Secure && !loopback(r.Host) {
		h.warnOnce.Do(func() {
			h.log.Warn("people come over plain HTTP: their cookies can be read on the way. Put TLS in front and set USHER_URL=https://…", "host", r.Host)
		})
	}
	ctx, err := h.sessions.Load(ctx, h.sessionToken(r))
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	return r.WithContext(ctx), nil
}

// sessionToken is what the cookie of a session says; empty if there is none.
func (h *Handlers) sessionToken(r *http.Request) string {
	if cookie, err := r.Cookie(h.sessions.Cookie.Name); err == nil {
		return cookie.Value
	}
	return ""
}

func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const holderKey = "holder"

// holder is who asks, if the session knows.
func (h *Handlers) holder(r *http.Request) (seats.ID, bool) {
	name := h.sessions.GetString(r.Context(), holderKey)
	if name == "" {
		return seats.ID{}, false
	}
	id, err := seats.ParseID(name)
	return id, err == nil
}

// newHolder returns the holder of a visitor whose session has none.
func (h *Handlers) newHolder(w http.ResponseWriter, r *http.Request, s *seats.Sale) seats.ID {
	if holder, known := h.visitor(r); known { // they waited or did work as this holder
		return holder
	}
	if h.gate.Of(s.Event.ID) != nil { // their slot outlives a claim that is refused
		return h.greet(w)
	}
	return seats.NewID()
}

// newSession gives a visitor's session their holder. If they have none, one is written together with a claim that wins;
// welcome tells the browser then, and returns its token.
func (h *Handlers) newSession(r *http.Request, holder seats.ID) (welcome func(http.ResponseWriter) string, err error) {
	if len(h.sessions.Keys(r.Context())) > 0 {
		h.sessions.Put(r.Context(), holderKey, holder.String())
		_, _, err := h.sessions.Commit(r.Context())
		return func(http.ResponseWriter) string { return "" }, err
	}
	token, end := "", time.Now().Add(sessionLength).UTC()
	h.store.Newcomer(r.Context(), func() (string, []byte, time.Time) {
		token = newToken()
		return token, newRecord(end, holder), end
	})
	return func(w http.ResponseWriter) string { h.welcome(w, token, end); return token }, nil
}

// newToken is a token nobody can guess that begins with the time: see sessions.Sessions.
func newToken() string { return strconv.FormatInt(time.Now().UnixMilli(), 36) + "." + rand.Text() }

// welcome writes the cookie of a new session as the session manager does, only quicker: a crowd of newcomers gets one each.
func (h *Handlers) welcome(w http.ResponseWriter, token string, end time.Time) {
	cookie := append(make([]byte, 0, 192), h.sessions.Cookie.Name...)
	cookie = append(append(append(cookie, '='), token...), "; Path=/; Expires="...)
	cookie = time.Unix(end.Unix()+1, 0).UTC().AppendFormat(cookie, http.TimeFormat)
	cookie = strconv.AppendInt(append(cookie, "; Max-Age="...), int64(time.Until(end).Seconds()+1), 10)
	cookie = append(cookie, "; HttpOnly"...)
	if h.sessions.Cookie.Secure {
		cookie = append(cookie, "; Secure"...)
	}
	w.Header()["Set-Cookie"] = append(w.Header()["Set-Cookie"], string(append(cookie, "; SameSite=Lax"...)))
}

// codec writes sessions as JSON: their values are words, and a person can read the rows.
type codec struct{}

type record struct {
	End    time.Time      `json:"end"`
	Values map[string]any `json:"values"`
}

// Encode is part of scs.Codec.
func (codec) Encode(end time.Time, values map[string]any) ([]byte, error) {
	return json.Marshal(record{end, values})
}

// newRecord is the session of a newcomer as codec writes it, only quicker.
func newRecord(end time.Time, holder seats.ID) []byte {
	text := end.AppendFormat(append(make([]byte, 0, 128), `{"end":"`...), time.RFC3339Nano)
	return append(append(append(text, `","values":{"holder":"`...), holder.String()...), `"}}`...)
}

// Decode is part of scs.Codec. What cannot be read is nobody's session.
func (codec) Decode(data []byte) (time.Time, map[string]any, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return time.Time{}, map[string]any{}, nil // written by an earlier version: it starts anew
	}
	return r.End, r.Values, nil
}
