package shop

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
)

// Body is what the scripts need to know of the event.
func (s Sale) Body(ctx context.Context) templ.Attributes {
	facts := templ.Attributes{
		"data-slug":        s.Event.Slug,
		"data-geometry":    s.geometry(),
		"data-money":       views.MoneyForm(ctx, s.Event.Currency),
		"data-hold-length": strconv.FormatInt(s.Event.HoldLength.Milliseconds(), 10),
	}
	if a := s.Codes.Access; a != nil && len(a.Seats) > 0 {
		facts["data-unlocked"] = spaced(a.Seats)
	}
	if kept := s.reserved(); len(kept) > 0 {
		facts["data-reserved"] = spaced(kept)
	}
	if s.Prices != nil {
		facts["data-type"], facts["data-list"], facts["data-phase"] = s.asked(), strconv.FormatInt(s.Prices.Version, 10), strconv.Itoa(s.Running.Phase)
		if s.hasPhases() || len(s.kinds()) > 1 {
			facts["data-types"] = true
		}
		if s.Running.Until != nil {
			facts["data-until"] = strconv.FormatInt(s.Running.Until.Sub(s.Now).Milliseconds()+1, 10)
		}
	}
	if decimals := pricing.Decimals(s.Event.Currency); decimals != 2 {
		facts["data-decimals"] = strconv.Itoa(decimals)
	}
	return facts
}

// mapBody is the same on pages with a map, which phones have as large as the page. The style sheet knows it from the first byte on.
func (s Sale) mapBody(ctx context.Context) templ.Attributes {
	facts := s.Body(ctx)
	if s.Drawn() {
		facts["data-over"] = true
	}
	return facts
}

// reserved lists the seats that are reserved for codes.
func (s Sale) reserved() (idxs []int) {
	if s.Codes.Reserved == nil || !s.Codes.Asks {
		return nil
	}
	for idx := range s.Plan.Seats {
		if s.Codes.Reserved(idx) {
			idxs = append(idxs, idx)
		}
	}
	return idxs
}

// spaced writes numbers with a space before and after each.
func spaced(idxs []int) string {
	return strings.NewReplacer("[", " ", "]", " ").Replace(fmt.Sprint(idxs))
}

// Ahead is what a browser should fetch before it has read the page that asks for it, as a Link header (RFC 8288).
func (s Sale) Ahead(nonce string) string {
	ahead := "<" + static.URL("event.js") + ">; rel=preload; as=script; crossorigin=anonymous; nonce=" + nonce
	if s.geometry() == "" {
		return ahead
	}
	return "<" + s.geometry() + ">; rel=preload; as=fetch; crossorigin=anonymous, " + ahead
}

// geometry is the address of the drawing for the canvas; empty if there is nothing to draw.
func (s Sale) geometry() string {
	if !s.Drawn() {
		return ""
	}
	return s.Path() + "/geometry/" + s.Event.PlanHash + ".json"
}

// extent tells the scripts which seats to count for a section.
func (s Sale) extent(section int) templ.Attributes {
	at := s.Plan.Sections[section]
	return templ.Attributes{"data-first": strconv.Itoa(at.First), "data-seats": strconv.Itoa(at.Count)}
}
