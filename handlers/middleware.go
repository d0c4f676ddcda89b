package handlers

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/static"
)

const bodyLimit = 64 << 10

// wrap puts around the routes what every answer needs, the outermost first.
func (h *Handlers) wrap(routes http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.fail(w, r, errForeign) }))
	whole := guard.Handler(limitBody(routes))
	pages := static.Pack(whole)
	return h.identified(h.recovering(h.sound(h.addressed(withHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/live") || isRoomStatus(r): // neither compressed here nor anybody's
			routes.ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, "/claims") && wantsJSON(r): // too short to be compressed
			whole.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	}))))))
}

func (h *Handlers) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // recover gives the value itself
				h.about(w, r).Error("a handler panicked", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				h.fail(w, r, errBroken)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// withHeaders keeps browsers from guessing what an answer is, and other sites from embedding it.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header["X-Content-Type-Options"] = nosniff
		header["Cross-Origin-Resource-Policy"] = sameOrigin
		if atDesk(r) { // what is there is for who signed in, now
			header["Cache-Control"] = noStore
		}
		next.ServeHTTP(w, r)
	})
}

// The same for every answer; a page says more, see nonce.
var (
	nosniff    = []string{"nosniff"}
	sameOrigin = []string{"same-origin"}
	noStore    = []string{"no-store"}
)

// nonce allows the page about to be written only what it needs: its own scripts and style, by the nonce returned, its
// own fonts, pictures and socket.
func nonce(w http.ResponseWriter) string {
	n := rand.Text()
	w.Header().Set("Referrer-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+n+"' 'strict-dynamic'; style-src 'nonce-"+n+"'; "+
		"worker-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	return n
}

func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := int64(bodyLimit)
		if takesPlan(r) {
			limit = plan.MaxBytes
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}
