package handlers

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// requestID is the header with the id of a request. Whatever is logged about a request carries it, and so does its answer,
// so that who got the answer can tell the operator which it was.
const requestID = "X-Request-Id"

const mostID = 64 // characters of an id that a proxy in front made

// identified gives every request an id: that of the proxy in front, where the operator trusts one, or one of ours. What is
// the same for everybody, and may be kept on the way, loses it again, see ruled.
func (h *Handlers) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[requestID] = []string{h.idOf(r)}
		next.ServeHTTP(w, r)
	})
}

func (h *Handlers) idOf(r *http.Request) string {
	if given := r.Header[requestID]; len(given) > 0 && h.addressHeader != "" && h.isProxy(r.RemoteAddr) {
		if id := given[0]; id != "" && len(id) <= mostID && strings.IndexFunc(id, noWord) < 0 {
			return id
		}
	}
	return strconv.FormatUint(rand.Uint64(), 36) // it tells requests apart and is no secret
}

func noWord(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_' && r != '.'
}

// about is the log of one request: it names the id and the route. Not the address, for some addresses are secrets.
func (h *Handlers) about(w http.ResponseWriter, r *http.Request) *slog.Logger {
	return h.log.With("request", w.Header().Get(requestID), "method", r.Method, "route", routeOf(r))
}

func routeOf(r *http.Request) string { return cmp.Or(r.Pattern, "none") }

// observed counts the answers of a route, and logs them where the operator asked for that.
func (h *Handlers) observed(pattern string, next http.HandlerFunc) http.HandlerFunc {
	if h.observe == nil && !h.logRequests {
		return next
	}
	note := func(int, time.Duration) {}
	if h.observe != nil {
		note = h.observe(pattern)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		began, seen := time.Now(), &statusSeen{ResponseWriter: w}
		defer func() {
			took := time.Since(began)
			status := cmp.Or(seen.status, http.StatusOK)
			if cause := recover(); cause != nil {
				note(http.StatusServiceUnavailable, took) // as recovering answers it
				panic(cause)
			}
			note(status, took)
			if h.logRequests {
				h.about(w, r).Info("answered", "status", status, "ms", float64(took.Microseconds())/1000)
			}
		}()
		next(seen, r)
	}
}

// statusSeen remembers the status of an answer.
type statusSeen struct {
	http.ResponseWriter
	status int
}

// WriteHeader is part of http.ResponseWriter.
func (s *statusSeen) WriteHeader(status int) {
	if s.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer beneath.
func (s *statusSeen) Unwrap() http.ResponseWriter { return s.ResponseWriter }
