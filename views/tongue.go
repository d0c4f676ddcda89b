package views

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
)

// tongue marks what an organizer wrote for attendees of an event, where that is another language than the page's (WCAG
// 3.1.2). Names of events, places and sections are names, and stay as they are.
func tongue(e seats.Event) templ.Attributes {
	if e.Language == "" || e.Language == seats.Language {
		return nil
	}
	return templ.Attributes{"lang": e.Language}
}
