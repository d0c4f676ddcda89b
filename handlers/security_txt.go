package handlers

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
)

// securityTextLife is how long what security.txt says is good; it is made anew with every request.
const securityTextLife = 180 * 24 * time.Hour

// SecurityText is /.well-known/security.txt (RFC 9116): whom to tell of a hole. contact is a mailto: or https: address.
func SecurityText(contact, url string, now time.Time) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Contact: %s\nExpires: %s\nPreferred-Languages: en\n", contact, now.Add(securityTextLife).UTC().Truncate(24*time.Hour).Format(time.RFC3339))
	if strings.HasPrefix(url, "https://") {
		fmt.Fprintf(&text, "Canonical: %s/.well-known/security.txt\n", url)
	}
	return text.String()
}

// GET /.well-known/security.txt
func (h *Handlers) securityText(w http.ResponseWriter, _ *http.Request) error {
	if h.Contact == "" {
		return web.ErrNoPage
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(w, SecurityText(h.Contact, h.URL, time.Now()))
	return err
}
