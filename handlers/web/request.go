package web

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/usherbox/usher/views/desk"
)

// RequestID is the header with the id of a request. Whatever is logged about a request carries it, and so does its answer,
// so that who got the answer can tell the operator which it was.
const RequestID = "X-Request-Id"

const MostID = 64 // characters of an id that a proxy in front made

// identified gives every request an id: that of the proxy in front, where the operator trusts one, or one of ours. What is
// the same for everybody, and may be kept on the way, loses it again, see ruled.
func (h *Server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[RequestID] = []string{h.idOf(r)}
		if h.Tracer != nil && h.trusts(r) {
			r = withinTrace(r)
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Server) idOf(r *http.Request) string {
	if given := r.Header[RequestID]; len(given) > 0 && h.trusts(r) {
		if id := given[0]; id != "" && len(id) <= MostID && strings.IndexFunc(id, noWord) < 0 {
			return id
		}
	}
	return strconv.FormatUint(rand.Uint64(), 36) // it tells requests apart and is no secret
}

// trusts reports whether a request came by a proxy that the operator trusts. Addressed changes where it says it came from.
func (h *Server) trusts(r *http.Request) bool {
	return h.AddressHeader != "" && h.isProxy(r.RemoteAddr)
}

func noWord(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_' && r != '.'
}

// About is the log of one request: it names the id and the route. Not the address, for some addresses are secrets.
func (h *Server) About(w http.ResponseWriter, r *http.Request) *slog.Logger {
	log := h.Log.With("request", w.Header().Get(RequestID), "method", r.Method, "route", routeOf(r))
	if id := traceOf(trace.SpanFromContext(r.Context())); id != "" {
		return log.With("trace_id", id)
	}
	return log
}

func routeOf(r *http.Request) string { return cmp.Or(r.Pattern, "none") }

// StaysOpen reports whether a route's answers last as long as a page is open.
func StaysOpen(route string) bool { return strings.HasSuffix(route, "/live") }

// Observe returns for a route what is told of each of its answers: the status, how long it took, the request's id, and that of its trace;
// empty if there is none.
type Observe func(route string) func(status int, took time.Duration, request, trace string)

// slowAnswer is the time of an answer that is in the log also if only some are.
const slowAnswer = time.Second

// Observed counts the answers of a route, and logs them where the operator asked for that.
func (h *Server) Observed(pattern string, next http.HandlerFunc) http.HandlerFunc {
	if h.Observe == nil && h.LogEvery == 0 && h.Tracer == nil {
		return next
	}
	note := func(int, time.Duration, string, string) {}
	if h.Observe != nil {
		note = h.Observe(pattern)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		began, seen := time.Now(), &statusSeen{ResponseWriter: w}
		r, span := h.traced(r, pattern)
		defer func() {
			took := time.Since(began)
			status := cmp.Or(seen.status, http.StatusOK)
			if cause := recover(); cause != nil {
				status = http.StatusServiceUnavailable // as recovering answers it
				note(status, took, w.Header().Get(RequestID), endTraced(span, status))
				panic(cause)
			}
			note(status, took, w.Header().Get(RequestID), endTraced(span, status))
			if h.LogEvery > 0 && (status >= http.StatusInternalServerError || took > slowAnswer && !StaysOpen(pattern) || rand.IntN(h.LogEvery) == 0) {
				h.About(w, r).Info("answered", "status", status, "ms", float64(took.Microseconds())/1000)
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

// Origin is how the browser of a request reaches this site: what links in mails begin with and passkeys are bound to. It is the
// domain of a team only if that is proven.
func (h *Server) Origin(r *http.Request) string {
	if own := ownOf(r); own.home != "" {
		return own.home
	}
	if h.URL != "" {
		return h.URL
	}
	host := r.Host
	if at, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr); known && !loopback(host) {
		host = at.String() // what a browser calls us may be anything
	}
	return "http://" + host
}

// atDesk reports whether a request is about the desk.
func atDesk(r *http.Request) bool {
	return r.URL.Path == desk.Path || strings.HasPrefix(r.URL.Path, desk.Path+"/")
}
