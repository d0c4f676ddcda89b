package desk

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// KeysPath is the address of a team's keys for programs.
const KeysPath = "/desk/keys"

// KeysPage is the keys for programs of a team.
type KeysPage struct {
	Frame
	List []organizers.APIKey

	New, NewName string // the key that was just made, and its name; no other page has it
	Name         string // as it was typed into a form that could not be taken
	Scopes       []organizers.Scope
	Days         int // as they were chosen; 0: not yet
	Test         bool
	Allocation   organizers.Allocation
	Mistakes     organizers.Mistakes
}

// RequestsPath is the address of the log of requests with keys.
const RequestsPath = KeysPath + "/requests"

// RequestsPage is the latest requests with keys of a team.
type RequestsPage struct {
	Frame
	Keys   []organizers.APIKey
	List   []organizers.Request
	Filter organizers.RequestFilter
	Status string // as it was asked for
	Next   string // cursor of the next page; empty: there is none
}

// older is the address of the next page.
func (p RequestsPage) older() string {
	q := url.Values{"cursor": {p.Next}}
	if p.Filter.Key != 0 {
		q.Set("key", views.Decimal(p.Filter.Key))
	}
	if p.Status != "" {
		q.Set("status", p.Status)
	}
	return RequestsPath + "?" + q.Encode()
}

// requestsOf is the address of the log of one key.
func requestsOf(k organizers.APIKey) string { return RequestsPath + "?key=" + views.Decimal(k.ID) }

var verb = regexp.MustCompile(`%(\[\d+\])?[a-z]`)

// ErrorWords is the message of the error that a request was answered with, with … for what fills it; empty if there is none.
func ErrorWords(ctx context.Context, r organizers.Request) string {
	if r.Words == "" {
		return ""
	}
	return verb.ReplaceAllString(text.T(ctx, r.Words), "…")
}

// badgeOf is how the status of a request looks.
func badgeOf(r organizers.Request) string {
	switch {
	case r.Status >= 500:
		return "badge bad"
	case r.Status >= 400:
		return "badge warn"
	}
	return "badge"
}

// tookWords is how long an answer took.
func tookWords(ctx context.Context, r organizers.Request) string {
	return text.T(ctx, "%d ms", r.Took.Milliseconds())
}

// keyDays are how many days a key may work for, as people choose from them.
var keyDays = []int{30, 90, organizers.KeyDays}

// days is what the form begins with.
func (p KeysPage) days() int {
	if p.Days == 0 {
		return organizers.KeyDays
	}
	return p.Days
}

// chosen reports whether a scope is marked when the form is shown.
func (p KeysPage) chosen(s organizers.Scope) bool {
	return slices.Contains(p.Scopes, s) || p.Mistakes == nil && s == organizers.ScopeLook
}

// scopeWords says what a scope opens.
func scopeWords(ctx context.Context, s organizers.Scope) string {
	switch s {
	case organizers.ScopeLook:
		return text.T(ctx, "read events, figures, orders and plans")
	case organizers.ScopeSell:
		return text.T(ctx, "sell at the box office and through programs of your own, and check people in")
	}
	return text.T(ctx, "change events, plans, orders and the sale")
}

// opens lists what a key opens.
func opens(ctx context.Context, k organizers.APIKey) string {
	words := make([]string, len(k.Scopes))
	for i, s := range k.Scopes {
		words[i] = scopeWords(ctx, s)
	}
	return strings.Join(words, ", ")
}
