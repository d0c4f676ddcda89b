package desk

import (
	"context"
	"html"

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
	address := p.Home + "/events/" + slug
	return `<script async src="` + p.Home + `/embed.js"></script>` + "\n" +
		`<usher-event slug="` + slug + `">` + "\n" +
		`  <a href="` + address + `">` + html.EscapeString(text.T(ctx, "Tickets: %s", name)) + `</a>` + "\n" +
		`</usher-event>`
}
