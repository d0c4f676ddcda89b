package desk

import (
	"context"
	"html"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/text"
)

// SitePage is where else the events of a team are shown: on its sites, and under its domain.
type SitePage struct {
	Frame
	Typed       string // sites, one a line
	Listed      bool   // the team lists a site
	Keys        []sites.Key
	Domain      sites.Domain
	TypedDomain string
	Home        string // how browsers reach the team's events
	Slug, Name  string // of an event, for what is to be copied; empty: the team has none

	Mistakes organizers.Mistakes
}

// snippet is what a team copies into its site.
func (p SitePage) snippet(ctx context.Context) string {
	slug, name := p.Slug, p.Name
	if slug == "" {
		slug, name = "my-event", text.T(ctx, "Your next event")
	}
	return snippet(ctx, p.Home, "slug", "/events/"+slug, name)
}

// snippet is what a team copies into its site for what is at a path, with its slug in an attribute of the element.
func snippet(ctx context.Context, home, attribute, path, name string) string {
	slug := path[strings.LastIndexByte(path, '/')+1:]
	return `<script async src="` + home + `/embed.js"></script>` + "\n" +
		`<usher-event ` + attribute + `="` + slug + `">` + "\n" +
		`  <a href="` + home + path + `">` + html.EscapeString(text.T(ctx, "Tickets: %s", name)) + `</a>` + "\n" +
		`</usher-event>`
}
