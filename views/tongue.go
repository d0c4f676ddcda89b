package views

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
)

// Tongue marks what an organizer wrote for attendees of an event, where that is another language than the page's (WCAG
// 3.1.2): also names of the event, its place and its sections where they stand by themselves. Inside a sentence of ours,
// "Parkett, row 3, seat 19", a name is a name.
func Tongue(e seats.Event) templ.Attributes {
	if e.Language == "" || e.Language == seats.Language {
		return nil
	}
	return templ.Attributes{"lang": e.Language}
}
