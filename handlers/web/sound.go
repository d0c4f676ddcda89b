package web

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

var (
	errNoText = NewProblem(404, "unknown", text.Mark("There is no such page: the address has characters that are no text."), NothingChanged, text.Mark("Go to the list of events."))
	errCut    = NewProblem(400, "cut", text.Mark("The request did not arrive whole."), NothingChanged, text.Mark("Send it again; with the same Idempotency-Key it counts once."))
	errUnfit  = NewProblem(422, "invalid", text.Mark("Something in the request is no text, or a number or a time that is far too large."), NothingChanged, text.Mark("Change it and send it again."))
)

// sound refuses addresses that no page of ours has, before anything looks at them: those that are not UTF-8, or contain a zero.
func (h *Server) sound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isText(r.URL.Path) || !isQuery(r.URL.RawQuery) {
			h.Fail(w, r, errNoText)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// isQuery reports whether a query is text. One that is not encoded well is left to those who look for words in it.
func isQuery(raw string) bool {
	if strings.IndexByte(raw, '%') < 0 {
		return isText(raw)
	}
	for part := range strings.SplitSeq(raw, "&") {
		if text, err := url.QueryUnescape(part); err == nil && !isText(text) {
			return false
		}
	}
	return true
}

// unfit is what is said of what the database would not take because of what it is.
func unfit(err error) *Problem {
	if seats.Unfit(err) {
		return errUnfit
	}
	return nil
}
