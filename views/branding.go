package views

import (
	"strings"

	"github.com/usherbox/usher/seats/pages"
)

// plainTitles is the font of the text, for titles.
const plainTitles = `"Instrument","Instrument fallback","Instrument DejaVu",system-ui,sans-serif`

// brandFonts are the rules for each font of pages.Fonts but the standard one.
var brandFonts = map[string]string{
	"plain":  `:root{--title:` + plainTitles + `}`,
	"serif":  `:root{--title:ui-serif,Georgia,"Liberation Serif","Noto Serif",serif}`,
	"system": `:root{--title:system-ui,sans-serif}body{font-family:system-ui,sans-serif}`,
}

// brandStyle is the style sheet of a team: its colours and fonts. It stands behind those of all pages, in no layer, so that
// it wins.
func brandStyle(f *pages.Branding) string {
	if f == nil {
		return ""
	}
	css := brandFonts[f.Font]
	if light := BrandColours(f, false); light != "" {
		css += ":root{" + light + "}@media (prefers-color-scheme:dark){:root{" + BrandColours(f, true) + "}}"
	}
	return css
}

// short writes black and white in fewer bytes.
var short = strings.NewReplacer("ffffff", "fff", "000000", "000")

// BrandColours are the tokens that have the colours of a team, on light or dark pages.
func BrandColours(f *pages.Branding, dark bool) (css string) {
	button, accent := f.Shades(dark)
	if button != nil {
		css = "--press:" + button.Shown.String() + ";--on-press:" + short.Replace(button.On.String())
	}
	if accent != nil {
		if css != "" {
			css += ";"
		}
		css += "--accent:" + accent.Shown.String() + ";--on-accent:" + short.Replace(accent.On.String())
	}
	return css
}

// BrandGround are the tokens of light or dark pages that a preview on a page of the other kind needs.
func BrandGround(dark bool) string {
	ground := pages.Grounds[dark]
	css := "--bg:" + ground[0].String() + ";--panel:" + ground[1].String() + ";--raised:" + ground[2].String() + ";--wash:" + ground[3].String()
	if dark {
		return css + ";--text:#eef0f6;--muted:#9aa3b5;--line:#2a3040;--accent:#ffd166;--on-accent:#14151a;--press:#eef0f6;--on-press:#0c0e14;color-scheme:dark"
	}
	return css + ";--text:#14151a;--muted:#5b5f6b;--line:#dedbd2;--accent:#8a5300;--on-accent:#ffffff;--press:#14151a;--on-press:#ffffff;color-scheme:light"
}

// BrandTitles is the font of titles and of text of a branding, as declarations.
func BrandTitles(f *pages.Branding) string {
	css := strings.NewReplacer(":root{", "", "}body{", ";", "}", "").Replace(brandFonts[f.Font])
	if css == "" {
		return `--title:"Bricolage","Bricolage fallback",sans-serif`
	}
	return css
}

// oneTheme makes the style sheets of a page those of light or of dark pages alone.
var oneTheme = map[string]*strings.Replacer{
	"light": strings.NewReplacer("@media(prefers-color-scheme:dark)", "@media not all", "@media (prefers-color-scheme:dark)", "@media not all", "color-scheme:light dark", "color-scheme:light"),
	"dark":  strings.NewReplacer("@media(prefers-color-scheme:dark)", "@media all", "@media (prefers-color-scheme:dark)", "@media all", "color-scheme:light dark", "color-scheme:dark"),
}

// themed makes style sheets light or dark, if the team has chosen.
func themed(f *pages.Branding, css string) string {
	if f == nil || oneTheme[f.Theme] == nil {
		return css
	}
	return oneTheme[f.Theme].Replace(css)
}

// theme is light or dark if the team has chosen; empty if the reader's device chooses.
func (p Page) theme() string {
	if p.Branding == nil || oneTheme[p.Branding.Theme] == nil {
		return ""
	}
	return p.Branding.Theme
}
