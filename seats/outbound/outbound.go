// Package outbound holds what HTTP clients for outside services share: they follow no redirect, so only the address that was set is asked.
package outbound

import "net/http"

// Stay is the CheckRedirect of a client that follows no redirect.
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client follows no redirect. Its callers say by their contexts how long an answer may take.
var Client = &http.Client{CheckRedirect: Stay}
