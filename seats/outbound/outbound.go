// Package outbound is how the box office asks services outside: the beacon of a draw, the register of VAT numbers, witnesses, push services,
// the provider of OpenID Connect, a collector of traces, webhooks. It asks the address that was set and no other, so a redirect is an answer.
package outbound

import "net/http"

// Stay is the CheckRedirect of a client that follows no redirect.
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client follows no redirect. Its callers say by their contexts how long an answer may take.
var Client = &http.Client{CheckRedirect: Stay}
