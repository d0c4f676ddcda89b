package desk

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
)

// EventPagePath is the address of the form of an event's page.
func EventPagePath(slug string) string { return EventPath(slug) + "/page" }

// EventPagePage is the form of an event's page, with its pictures.
type EventPagePage struct {
	Frame
	About    *pages.EventPage
	Language string           // of the text in the form
	Form     pages.EventDraft // as it is saved, or as it was typed
	Base     int              // the version that the form began with
	Sections []string

	Upload   pages.Upload // as it was typed; of one that could not be added
	Changed  int64        // the picture that the mistakes are about; 0: another form
	Mistakes organizers.Mistakes
	Wrong    string // why it was not saved
}

// languages lists those that the page has texts in, and the one in the form.
func (p EventPagePage) languages() (list []string) {
	for _, t := range p.About.Texts {
		list = append(list, t.Language)
	}
	if !slices.Contains(list, p.Language) {
		list = append(list, p.Language)
	}
	return list
}

func (p EventPagePage) languagePath(language string) string {
	return EventPagePath(p.Event.Slug) + "?" + url.Values{"language": {language}}.Encode()
}

// wrong is what is wrong with a field of the large form, or of the picture that was to be added.
func (p EventPagePage) wrongs(ctx context.Context) Wrong {
	if p.Changed != 0 {
		return nil
	}
	return wrongsOf(ctx, p.Mistakes)
}

// about is what is wrong with the text of a picture.
func (p EventPagePage) wrongWithPicture(ctx context.Context, id int64) string {
	if p.Changed != id {
		return ""
	}
	return p.Mistakes.About(ctx, pages.FieldAlt)
}

// minutes is a time in a field; empty for none.
func minutes(d time.Duration) string { return filled(int(d / time.Minute)) }

// filled is a number in a field; empty for none.
func filled(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
