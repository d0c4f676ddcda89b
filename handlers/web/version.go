package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// APIPath is what addresses of the API begin with: the version that programs were written for. Behind it stand the addresses of the
// pages, which may change with the pages. docs/api.md says what stays within a version.
const APIPath = "/api/v1"

// typeProblem is the type of an error of the API, by RFC 9457.
var typeProblem = []string{"application/problem+json"}

type versionKey struct{}

// versioned answers addresses of the API as those of pages, in JSON whatever the caller says, and errors as problems.
func (h *Server) versioned(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, is := strings.CutPrefix(r.URL.Path, APIPath)
		if !is || !strings.HasPrefix(path, "/") {
			next.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), versionKey{}, true))
		r.URL = &url.URL{Path: path, RawPath: strings.TrimPrefix(r.URL.RawPath, APIPath), RawQuery: r.URL.RawQuery}
		if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			r.Header.Set("Accept", "application/json")
		}
		next.ServeHTTP(w, r)
	})
}

// problemAnswer is an error of the API. Type is about:blank, which RFC 9457 lets out: the code says which error it is.
type problemAnswer struct {
	Title  string `json:"title"` // of the status
	Status int    `json:"status"`
	Detail string `json:"detail"`
	ErrorBody
	Message string `json:"message,omitempty"` // stands in detail
}

// WriteError answers a program with an error.
func WriteError(w http.ResponseWriter, r *http.Request, status int, body ErrorBody) error {
	if r.Context().Value(versionKey{}) == nil {
		return WriteJSON(w, status, &ErrorAnswer{body})
	}
	w.Header()["Content-Type"] = typeProblem
	return writeJSON(w, status, &problemAnswer{Title: http.StatusText(status), Status: status, Detail: body.Message, ErrorBody: body})
}
