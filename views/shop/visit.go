package shop

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// VisitFacts are what attendees need on their way to the event: doors, start, place and age.
func (s Sale) VisitFacts(ctx context.Context) (list []Fact) {
	page := AboutPage{Sale: s.withPage()}
	for _, f := range page.facts(ctx) {
		if f.Name == text.T(ctx, "Starts") {
			list = append(list, Fact{f.Name, views.WhenIn(ctx, s.Event)})
			continue
		}
		list = append(list, Fact{f.Name, f.Words})
	}
	if s.Event.Online.On {
		return list
	}
	place := []string{}
	for _, line := range append([]string{s.Event.Venue}, page.address(ctx)...) {
		if line != "" {
			place = append(place, line)
		}
	}
	if len(place) > 0 {
		list = append(list, Fact{text.T(ctx, "Venue"), strings.Join(place, ", ")})
	}
	return list
}

// VisitMap is the address of a map of the place; empty if there is none.
func (s Sale) VisitMap(ctx context.Context) string {
	if s.Event.Online.On {
		return ""
	}
	return AboutPage{Sale: s.withPage()}.mapLink(ctx)
}

// VisitTexts say how to get there and what to expect, in the language of the reader.
func (s Sale) VisitTexts(ctx context.Context) pages.EventText {
	if s.About == nil || s.Event.Online.On {
		return pages.EventText{}
	}
	return AboutPage{Sale: s}.text(ctx)
}

// withPage is a sale with a page, an empty one if the event has none.
func (s Sale) withPage() Sale {
	if s.About == nil {
		s.About = &pages.EventPage{}
	}
	return s
}
