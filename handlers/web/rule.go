package web

import (
	"net/http"
	"strings"
)

// Rule is what the middleware does for a route. The zero rule is the strictest: 64 KiB, nothing is stored.
type Rule struct {
	Body  int64  // the most bytes that a member whom the route admits may send; 0: bodyLimit, as everybody else
	Cache string // Cache-Control unless the handler sets another; errors are never public
	Plain plain  // which answers are not compressed
}

// public reports whether answers are the same for everybody and may be kept on the way.
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
