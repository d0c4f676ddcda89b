package handlers

import (
	"net"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/usherbox/usher/seats"
)

const sessionLength = 24 * time.Hour

// newSessions sets sessions up. Over plain HTTP a browser keeps no secure cookie, so it gets another name and no promise.
func newSessions(store *seats.Sessions, secure bool, failed func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	m := scs.New()
	m.Store, m.HashTokenInStore, m.Lifetime, m.ErrorFunc = store, true, sessionLength, failed
	m.Cookie.Name, m.Cookie.Secure = "usher", false
	if secure {
		m.Cookie.Name, m.Cookie.Secure = "__Host-usher", true
	}
	m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = true, http.SameSiteLaxMode, "/"
	return m
}

func (h *Handlers) sessionFailed(w http.ResponseWriter, r *http.Request, err error) {
	h.fail(w, r, err)
}

func (h *Handlers) withSession(next http.Handler) http.Handler {
	loaded := h.sessions.LoadAndSave(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.sessions.Cookie.Secure && !loopback(r.Host) {
			h.warnOnce.Do(func() {
				h.log.Warn("people come over plain HTTP: their cookies can be read on the way. Put TLS in front and set USHER_URL=https://…", "host", r.Host)
			})
		}
		loaded.ServeHTTP(w, r.WithContext(h.store.Watch(r.Context())))
	})
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
	id, err := seats.ParseID(h.sessions.GetString(r.Context(), holderKey))
	return id, err == nil
}

// remember writes the holder into the session, after a claim that won: who only looks leaves no row.
func (h *Handlers) remember(r *http.Request, id seats.ID) {
	h.sessions.Put(r.Context(), holderKey, id.String())
}
