package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
)

func TestSecurityText_HasContactAndExpiry(t *testing.T) {
	t.Parallel()
	if a, _ := ask(t, newSiteFor(t, events.Settings{}).url+"/.well-known/security.txt"); a.StatusCode != http.StatusNotFound {
		t.Errorf("without a contact it answers %d", a.StatusCode)
	}
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Contact, c.PublicURL = "mailto:security@example.org", "https://tickets.example.org" })
	a, body := ask(t, s.url+"/.well-known/security.txt")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("it answers %d, %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	fields := map[string]string{}
	for line := range strings.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fields[name] = value
	}
	expires, err := time.Parse(time.RFC3339, fields["Expires"])
	if in := time.Until(expires); err != nil || in < 30*24*time.Hour || in > 365*24*time.Hour {
		t.Errorf("it is good until %q, %v", fields["Expires"], err)
	}
	if fields["Contact"] != "mailto:security@example.org" || fields["Canonical"] != "https://tickets.example.org/.well-known/security.txt" {
		t.Errorf("it says %q", body)
	}
}
