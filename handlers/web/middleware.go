package web

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/static"
)

// Wrap puts around the routes what every answer needs, the outermost first. What differs between routes is in ruled.
func (h *Server) Wrap(routes http.Handler) http.Handler {
	return h.identified(h.versioned(h.recovering(h.withHeaders(h.sound(h.Addressed(h.hosted(h.framing(routes))))))))
}

// Ruled puts around one route what its rule says: who may send to it, how much of a body is read, what may be kept, and
// what is compressed. The rule is the route's own, so no address can choose another one.
func (h *Server) Ruled(rule Rule, next http.Handler) http.Handler {
	if !rule.public() && rule.Plain != PlainAll {
		next = h.speaking(next)
	}
	whole := h.Guard.Handler(next)
	if rule.Keyed && !rule.public() { // what is public, every site reads without a key
		whole = h.keyed(next, whole)
	}
	pages := static.Pack(whole)
	cache := []string{cmp.Or(rule.Cache, "no-store")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header["Cache-Control"] = cache
		switch {
		case rule.public(): // the same for every visitor: caches may keep it, without a request id
			header["Content-Security-Policy"] = shared
			delete(header, RequestID)
		case r.Method != http.MethodPost: // answers to forms answer no other request
			header["Vary"] = varyAccept
		}
		if rule.Shared {
			header["Access-Control-Allow-Origin"] = everySite
			if rule.public() {
				header["Cross-Origin-Resource-Policy"] = crossOrigin
			}
		}
		if forFrame(r) {
			if f := frameOf(r); f != nil {
				if f.allowed = rule.Frame; !rule.Frame && h.unframed(w, r) {
					return
				}
			}
		}
		if rule.Cache == GoBack {
			header["Cache-Control"] = freshness(r)
		}
		if whole := r.Body; whole != nil && whole != http.NoBody {
			defer func() { r.Body = whole }() // the server ends a connection with an unread body by it
			b := &body{ReadCloser: whole, header: header, limit: rule.first(r.Method), most: rule.Body}
			if r.Body = b; rule.Body > 0 {
				b.size, b.ctx, b.large = r.ContentLength, r.Context(), h.Large
				defer b.release()
			}
		}
		if rule.Plain == PlainAll || rule.Plain == PlainJSON && WantsJSON(r) {
			whole.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// NewGuard refuses requests of other sites that are to change something, and reports them.
func (h *Server) NewGuard() *http.CrossOriginProtection {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.Foreign, Network: NetworkOf(r).String(), Detail: r.Pattern})
		h.Fail(w, r, errForeign)
	}))
	return guard
}

func (h *Server) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
				h.About(w, r).Error("a handler panicked", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				h.Fail(w, r, errBroken)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// withHeaders gives every answer, also errors and downloads, what keeps browsers from guessing what it is, and other sites
// from embedding it. A page says more, see Nonce. Once they saw an https address, browsers use no other.
func (h *Server) withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header["X-Content-Type-Options"] = nosniff
		header["Cross-Origin-Resource-Policy"] = sameOrigin
		header["Content-Security-Policy"] = nothing
		header["Cache-Control"] = noStore // unless a rule says otherwise
		if h.Sessions.Cookie.Secure {
			header["Strict-Transport-Security"] = onlyTLS
		}
		next.ServeHTTP(w, r)
	})
}

// The same for every answer.
var (
	nosniff     = []string{"nosniff"}
	sameOrigin  = []string{"same-origin"}
	noStore     = []string{"no-store"}
	TypeJSON    = []string{"application/json; charset=utf-8"}
	varyAccept  = []string{"Accept, Accept-Language, Cookie"}
	noCache     = []string{GoBack}
	nothing     = []string{noSources + "'none'"}
	everySite   = []string{"*"}
	crossOrigin = []string{"cross-origin"}
	shared      = []string{"object-src 'none'; base-uri 'none'; frame-ancestors 'none'"} // scripts of workers obey their own
	onlyTLS     = []string{"max-age=31536000; includeSubDomains"}
)

// noSources is the policy of an answer that loads nothing, but for the sites that may frame it.
const noSources = "default-src 'none'; frame-ancestors "

// GoBack is the Cache-Control of a page that answers a form, such as a refusal: a browser keeps it for the way back, where
// the form is not sent again and there would be an error without a page. Answers of other kinds are not stored at all.
const GoBack = "private, no-cache"

func freshness(r *http.Request) []string {
	if r.Method == http.MethodPost && !WantsJSON(r) {
		return noCache
	}
	return noStore
}

// Nonce allows the page about to be written only what it needs: its own scripts and style, by the nonce returned, its
// own fonts, pictures and socket. Other sites learn nothing of the page's address, and get no handle on its window. They
// frame it only as the policy of the answer says already, see InFrame.
func Nonce(w http.ResponseWriter) string {
	n, header := rand.Text(), w.Header()
	_, ancestors, known := strings.Cut(header.Get("Content-Security-Policy"), "frame-ancestors ")
	if !known {
		ancestors = "'none'"
	}
	header["Cross-Origin-Opener-Policy"], header["Referrer-Policy"] = sameOrigin, sameOrigin
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+n+"' 'strict-dynamic'; style-src 'nonce-"+n+"'; "+
		"worker-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "+ancestors)
	return n
}

// Rule is what the middleware does for a route. The zero rule is the strictest: 64 KiB, nothing is stored.
type Rule struct {
	Body  int64  // the most bytes that a member whom the route admits may send; 0: BodyLimit, as for other callers
	Cache string // Cache-Control unless the handler sets another; errors are never public
	Plain plain  // which answers are not compressed

	Frame  bool // sites of the team may show the page in a frame, see InFrame
	Shared bool // scripts of every site may read the answer, without cookies
	Keyed  bool // scripts of a team's sites may call it by a site key, see keyed
	Crowd  bool // a crowd sends it at one moment, see inTime
}

// public reports whether answers are the same for all visitors and may be kept on the way.
func (r Rule) public() bool { return strings.HasPrefix(r.Cache, "public") }

// plain says which answers of a route are not compressed.
type plain int

const (
	packed    plain = iota
	PlainJSON       // JSON too short to gain
	PlainAll        // streams, and answers that are compressed already
)

// first is the limit until the caller is known.
func (r Rule) first(method string) int64 {
	if method == http.MethodGet || method == http.MethodHead {
		return 0 // no route reads one
	}
	return BodyLimit
}
