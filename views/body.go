package views

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/static"
)

// body is what the scripts need to know of the event.
func (s Sale) body() templ.Attributes {
	facts := templ.Attributes{
		"data-slug":        s.Event.Slug,
		"data-geometry":    s.geometry(),
		"data-epoch":       strconv.FormatUint(uint64(s.Map.Epoch), 10),
		"data-version":     strconv.FormatInt(s.Map.Version, 10),
		"data-currency":    s.Event.Currency,
		"data-hold-length": strconv.FormatInt(s.Event.HoldLength.Milliseconds(), 10),
		"data-limit":       strconv.Itoa(s.Event.SeatsPerHolder),
		"data-from":        s.From,
	}
	if decimals := seats.Decimals(s.Event.Currency); decimals != 2 {
		facts["data-decimals"] = strconv.Itoa(decimals)
	}
	return facts
}

// scripts are those of the page of an event, as a Link header asks for them. Not as modules: browsers that know one
// import map would take none after the first module.
var scripts = "<" + strings.Join(static.Modules("event.js"), ">; %[1]s, <") + ">; %[1]s"

// Ahead is what a browser should fetch before it has read the scripts that ask for it, as a Link header (RFC 8288).
func (s Sale) Ahead(nonce string) string {
	ahead := fmt.Sprintf(scripts, "rel=preload; as=script; crossorigin=anonymous; nonce="+nonce)
	if s.geometry() == "" {
		return ahead
	}
	return "<" + s.geometry() + ">; rel=preload; as=fetch; crossorigin=anonymous, " + ahead
}

// geometry is the address of the drawing for the canvas; empty if there is nothing to draw.
func (s Sale) geometry() string {
	if !s.drawn() {
		return ""
	}
	return s.Path() + "/geometry/" + s.Event.PlanHash + ".json"
}

// extent tells the scripts which seats to count for a section.
func (s Sale) extent(section int) templ.Attributes {
	at := s.Plan.Sections[section]
	return templ.Attributes{"data-first": strconv.Itoa(at.First), "data-seats": strconv.Itoa(at.Count)}
}
