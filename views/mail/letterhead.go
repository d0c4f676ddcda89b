package mail

import (
	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views"
)

// Letterhead is what all mails of a team have in common.
type Letterhead struct {
	Legal    []views.Link    // legal texts, whole addresses
	Branding *pages.Branding // nil: the standard look
	Logo     []byte          // JPEG; nil without one
	Own      letters.Text    // words of the team around the facts, with their variables filled; empty: the standard
}

// LogoID is the Content-ID of the logo.
const LogoID = "logo"

// button is the style of the one button of a mail. Programs for mail choose its ground, light or dark, by themselves.
func (p Letterhead) button() templ.Attributes {
	ground, words := "#1b3a8c", "#ffffff"
	if own, _ := p.Branding.Shades(false); own != nil {
		ground, words = own.Shown.String(), own.On.String()
	}
	return templ.Attributes{"style": "display:inline-block;padding:12px 20px;border-radius:8px;background:" + ground + ";color:" + words + ";text-decoration:none;font-weight:600"}
}

// rule is the style of the line at the head.
func (p Letterhead) rule() templ.Attributes {
	colour := "#1b3a8c"
	if own, accent := p.Branding.Shades(false); accent != nil {
		colour = accent.Shown.String()
	} else if own != nil {
		colour = own.Shown.String()
	}
	return templ.Attributes{"style": "margin:0 0 24px;border:0;height:4px;border-radius:2px;background:" + colour}
}
