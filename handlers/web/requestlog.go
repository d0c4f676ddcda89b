package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Requests with an API key are in a log for who writes the program: when, what route, how it was answered. It has neither bodies nor
// addresses as they were typed, and of an error the message without what fills it: nothing of a person.

type loggedKey struct{}

// loggedOf is what is to be noted of a request; nil if it came without a key.
func loggedOf(r *http.Request) *organizers.Request {
	if r.Header["Authorization"] == nil { // nearly all requests: contexts are slow to ask
		return nil
	}
	entry, _ := r.Context().Value(loggedKey{}).(*organizers.Request)
	return entry
}

// NoteKey says with which key of a team a request came.
func NoteKey(r *http.Request, key int64) {
	if entry := loggedOf(r); entry != nil {
		entry.Key = key
	}
}

// Logged notes requests of a route that came with an API key.
func (h *Server) Logged(pattern string, next http.Handler) http.Handler {
	_, route, _ := strings.Cut(pattern, " ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, sent := APIKey(r); !sent {
			next.ServeHTTP(w, r)
			return
		}
		h.serveLogged(w, r, next, route)
	})
}

// serveLogged has next answer a request that came with an API key, and notes it.
func (h *Server) serveLogged(w http.ResponseWriter, r *http.Request, next http.Handler, route string) {
	entry, seen := &organizers.Request{At: time.Now(), Method: r.Method, Route: route}, &statusSeen{ResponseWriter: w}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		sum := sha256.Sum256([]byte(key))
		entry.Once = sum[:16]
	}
	defer func() {
		cause := recover()
		if entry.Key != 0 {
			entry.Status, entry.Took, entry.Name = cmp.Or(seen.status, http.StatusOK), time.Since(entry.At), w.Header().Get(RequestID)
			if cause != nil {
				entry.Status, entry.Code = errBroken.Status, errBroken.Code // as recovering answers it
			}
			h.Organizers.NoteRequest(*entry)
		}
		if cause != nil {
			panic(cause)
		}
	}()
	next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), loggedKey{}, entry)))
}

// noteError says what was wrong with a request.
func noteError(r *http.Request, code, words string, fields map[string]string) {
	entry := loggedOf(r)
	if entry == nil {
		return
	}
	entry.Code = code
	if text.T(inCatalogue, words) != words { // else it is no message as it stands in the source
		entry.Words = words
	}
	for field := range fields {
		entry.Fields = append(entry.Fields, field)
	}
	slices.Sort(entry.Fields)
}

// inCatalogue is a language that has a translation of each message.
var inCatalogue = text.With(context.Background(), "de")

// messageOf is the message of an error, without what fills it.
func messageOf(err error, p *Problem) string {
	var refusal *seats.Conflict
	var invalid *seats.ValidationError
	var mistakes orders.Mistakes
	var deskMistakes organizers.Mistakes
	switch {
	case errors.As(err, &refusal):
		return refusal.Message
	case errors.As(err, &invalid):
		return invalid.Message
	case errors.As(err, &mistakes) && len(mistakes) > 0:
		return mistakes[0].Message
	case errors.As(err, &deskMistakes) && len(deskMistakes) > 0:
		return deskMistakes[0].Message
	}
	return p.What
}
