// Package views draws the pages: what people read, and the one form that is the truth of each page.
//
// Every page works as plain HTML. The scripts of package static make the map move and claim at a tap; they find their
// way by the data- attributes written here.
package views

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/static"
)

// Page is what every page has.
type Page struct {
	Title  string // of the browser's tab
	Nonce  string // the one this answer's Content-Security-Policy allows
	Notice string // one line for the status region: what the last action did; may be empty
	Script string // the page's module; empty: event.js, if it is about an event
	Rules  string // style rules of this page alone; may be empty
	Style  string // style sheets besides the one of every page, with a space between; may be empty

	Legal    []Link          // legal texts of the team that sells, for the foot of the page; may be empty
	Branding *pages.Branding // what the team has its pages look like; nil: the standard look
	Share    *Share          // what programs read that list the page; nil: they are told nothing
	Refresh  string          // when a browser without scripts loads which page again: "20;url=/…"; may be empty
}

// Link is an address with its words.
type Link struct{ Words, Path string }

func (p Page) script() string {
	if p.Script == "" {
		return "event.js"
	}
	return p.Script
}

type framedKey struct{}

// InFrame returns the context of a page that another site shows in a frame.
func InFrame(ctx context.Context) context.Context { return context.WithValue(ctx, framedKey{}, true) }

// Framed reports whether a page is shown in a frame.
func Framed(ctx context.Context) bool { return ctx.Value(framedKey{}) != nil }

// styles are the style sheets that this page has besides the one of every page.
func (p Page) styles(ctx context.Context) (css string) {
	for name := range strings.FieldsSeq(p.Style) {
		css += static.Style(name)
	}
	if p.hasFoot(ctx) {
		css += static.Style("foot.css")
	}
	if p.Style != "" && p.Branding != nil && len(p.Branding.Pictures) > 0 {
		css += static.Style("branding.css")
	}
	return css + brandStyle(p.Branding) + p.Rules
}

// logo is that of the team, at the top of the page. Pages with the style sheet of all pages alone are those of the seats:
// their plan needs the height, and their budget the bytes.
func (p Page) logo() *pages.Picture {
	if p.Style == "" {
		return nil
	}
	return p.Branding.Picture(pages.Logo)
}

func (p Page) hasFoot(ctx context.Context) bool {
	return len(p.Legal) > 0 || hasLanguages(ctx) || p.Branding != nil && len(p.Branding.Links) > 0
}

// Wrongly marks a field that belongs to what is wrong with a form.
func Wrongly(wrong string) templ.Attributes {
	if wrong == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": "wrong"}
}

// ErrorPage says what went wrong.
type ErrorPage struct {
	Page
	Status int    // of HTTP
	What   string // what happened
	Holds  string // what still holds; may be empty
	Next   string // what to do next
	Back   string // the page to go on from; empty: the list of events
	Words  string // of the link to it
	Number string // of the request, to tell the operator; empty if there is nothing to ask
}

// Share is what a page says to programs that list it or show a link to it.
type Share struct {
	URL         string // the one address of the page
	Description string
	Picture     string // address of a picture of CardWidth × CardHeight; empty: none
	Data        string // JSON-LD, escaped as encoding/json does for HTML; empty: none
	Feeds       bool   // the page has a calendar and a feed beside it
	Calendar    string // address of a calendar of what is on the page; may be empty
}
