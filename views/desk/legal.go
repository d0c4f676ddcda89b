package desk

import (
	"context"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// LegalPage is the legal texts of a team.
type LegalPage struct {
	Frame
	Texts []LegalForm // one of each kind
	Open  pages.Kind  // the one that is worked on
}

// LegalForm is one text, as it is edited.
type LegalForm struct {
	Team      int64
	Kind      pages.Kind
	Text      string     // of the version that is shown, or as it was typed
	Shown     pages.Text // the version that is shown; zero if none was saved
	Base      int        // the newest version; 0 if none was saved
	Published int        // the version that attendees see; 0 for none
	Versions  []pages.Version

	Mistakes organizers.Mistakes
	Wrong    string // why it was not saved
}

// state says whether attendees see the text.
func (f LegalForm) state(ctx context.Context) string {
	switch {
	case f.Base == 0:
		return text.T(ctx, "Not written yet")
	case f.Published == 0:
		return text.T(ctx, "draft")
	case f.Published < f.Base:
		return text.T(ctx, "version %d published, draft saved", f.Published)
	}
	return text.T(ctx, "version %d published", f.Published)
}

// label says which version stands in the form.
func (f LegalForm) label(ctx context.Context) string {
	switch {
	case f.Base == 0:
		return text.T(ctx, "Template text")
	case f.Shown.Number == f.Base:
		return text.T(ctx, "Text of version %d", f.Base)
	}
	return text.T(ctx, "Text of version %d, which becomes the newest if you save it", f.Shown.Number)
}

func (f LegalForm) wrong(ctx context.Context) string { return f.Mistakes.About(ctx, pages.FieldText) }

// tongue is the language of a text that the team has not written yet: those to start with are English.
func (f LegalForm) tongue() templ.Attributes {
	if f.Base > 0 {
		return nil
	}
	return templ.Attributes{"lang": text.Source}
}

// versionPath is the address of the page with a version in the form.
func (f LegalForm) versionPath(v pages.Version) string {
	return LegalPath + "?" + url.Values{"kind": {string(f.Kind)}, "version": {strconv.Itoa(v.Number)}}.Encode() + "#" + string(f.Kind)
}
