package desk

import (
	"context"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
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
	Mistakes     organizers.Mistakes
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
