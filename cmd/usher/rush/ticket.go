package rush

import (
	"fmt"
	"strings"
)

// ticket is all that somebody who waits has: what their browser keeps, and which place it is. It holds no pointer, so
// that two million are one piece of memory of 112 bytes each.
type ticket struct {
	word, place    cookieValue // who they are, and their place
	index          uint32      // of the place, from 1
	number         uint32      // as the box office said it; 0 if it did not yet
	kind           uint8       // placeLobby, placeLine; 0 for no place yet
	state          uint8       // guarded by room.mu
	absent, called bool        // does not come when called; was called while busy
}

// Kinds of places.
const (
	placeLobby = 1
	placeLine  = 2
)

// What somebody with a ticket is doing.
const (
	waits  = iota // and asks now and then
	busy          // gives their place up, or tries to come in too early
	comes         // was called and is on the way in
	isDone        // inside, or gone
)

// cookieValue is a short text of a fixed place.
type cookieValue struct {
	length uint8
	text   [63]byte
}

func (v *cookieValue) set(text string) error {
	if len(text) > len(v.text) {
		return fmt.Errorf("rush: a cookie of %d letters; a place of somebody who waits has %d at most here", len(text), len(v.text))
	}
	v.length = uint8(copy(v.text[:], text))
	return nil
}

func (v *cookieValue) String() string { return string(v.text[:v.length]) }

// merge is what a browser sends that had some cookies and was given others.
func merge(had, given string) string {
	if had == "" || given == "" {
		return had + given
	}
	kept := strings.Split(given, "; ")
	for old := range strings.SplitSeq(had, "; ") {
		name, _, _ := strings.Cut(old, "=")
		if !strings.HasPrefix(given, name+"=") && !strings.Contains(given, "; "+name+"=") {
			kept = append(kept, old)
		}
	}
	return strings.Join(kept, "; ")
}
