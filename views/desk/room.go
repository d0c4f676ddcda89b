package desk

import (
	"net/url"
	"slices"

	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/waitingroom"
)

// RoomPage is the waiting room of an event, or a form that creates one.
type RoomPage struct {
	Frame
	Room   *waitingroom.State // nil: there is none
	Others []overview.Event   // other events of the team that are to come
	Form   url.Values         // as it was sent, if it was refused
	Wrong  string
}

// RoomPath is the address of the waiting room of an event at the desk.
func RoomPath(slug string) string { return EventPath(slug) + "/room" }

func (p RoomPage) value(name string) string { return p.Form.Get(name) }

func (p RoomPage) marked(name, key string) bool { return slices.Contains(p.Form[name], key) }
