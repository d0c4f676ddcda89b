package shop

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// AboutPage is what an event is, with the way to its seats.
type AboutPage struct {
	views.Page
	Sale
	Preview bool   // at the desk: nothing on it leads on
	Series  string // the slug of the series that it is a performance of; may be empty
	Code    string // that the visitor came with, as from a mail; may be empty
}

// codePath is the address of the page with the seats, with the code filled in that the visitor came with.
func (p AboutPage) codePath() string {
	return p.MapPath() + "?" + url.Values{"code": {p.Code}}.Encode() + "#codes"
}

// MapPath is the address of the page with the seats. It is the event's own page if the event says nothing else.
func (s Sale) MapPath() string {
	if s.About == nil {
		return s.Path()
	}
	return s.Path() + "/map"
}

// HeaderWide is how wide the picture at the head of the page is shown. Phones have dense screens and slow connections: they
// get a file for two pixels of theirs each.
const HeaderWide = "(max-width: 48rem) 65vw, 100vw"

// Header is the picture at the head of the page: the event's, else its team's; nil for a drawn one.
func (p AboutPage) Header() *pages.Picture {
	if own := p.About.Header(); own != nil {
		return own
	}
	return p.Branding.Picture(pages.Header)
}

// seed is that of the drawn picture: performances of a series have the same.
func (p AboutPage) seed() string { return cmp.Or(p.Series, p.Event.Slug) }

// text is what the page says, in the language of its reader.
func (p AboutPage) text(ctx context.Context) pages.EventText {
	return p.About.Text(text.Tag(ctx), p.Event.Language)
}

// textTongue marks what is in another language than the page, and maybe written in another direction.
func (p AboutPage) textTongue(ctx context.Context) templ.Attributes {
	marks := views.TongueIn(ctx, seats.Event{Language: p.text(ctx).Language})
	if direction := text.Direction(text.With(ctx, p.text(ctx).Language)); marks != nil && direction != text.Direction(ctx) {
		marks["dir"] = direction
	}
	return marks
}

// kicker is the category and the place of the event.
func (p AboutPage) kicker(ctx context.Context) string {
	parts := []string{}
	for _, part := range []string{text.T(ctx, views.CategoryWords(p.About.Facts.Category)), views.PlaceIn(ctx, p.Event)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// fact is one of the short facts of the page.
type fact struct{ Name, Words string }

// facts lists what there is to say of the time and of the people that the event is for.
func (p AboutPage) facts(ctx context.Context) (list []fact) {
	f, starts := p.About.Facts, p.Event.StartsAt
	clock := func(t time.Time) string { return p.Event.Local(t).Format("15:04") }
	if f.Doors > 0 {
		list = append(list, fact{text.T(ctx, "Doors"), clock(starts.Add(-f.Doors))})
	}
	list = append(list, fact{text.T(ctx, "Starts"), clock(starts)})
	if f.Running > 0 {
		ends, words := starts.Add(f.Running), ""
		if words = clock(ends); p.Event.Local(ends).YearDay() != p.Event.Local(starts).YearDay() && f.Running > 12*time.Hour {
			words = text.Time(ctx, p.Event.Local(ends), "2 January, 15:04")
		}
		list = append(list, fact{text.T(ctx, "Ends about"), words}, fact{text.T(ctx, "Running time"), runningWords(ctx, f.Running, f.Breaks)})
	}
	if f.Age > 0 {
		list = append(list, fact{text.T(ctx, "Age"), text.T(ctx, "from %d", f.Age)})
	}
	return list
}

// runningWords is a running time: "2 h 40 min, 1 interval".
func runningWords(ctx context.Context, d time.Duration, breaks int) string {
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	words := ""
	switch {
	case hours >= 36:
		words = text.N(ctx, "%d day", "%d days", (hours+23)/24)
	case hours == 0:
		words = text.T(ctx, "%d min", minutes)
	case minutes == 0:
		words = text.T(ctx, "%d h", hours)
	default:
		words = text.T(ctx, "%d h %d min", hours, minutes)
	}
	if breaks > 0 {
		words += text.T(ctx, ", ") + text.N(ctx, "%d interval", "%d intervals", breaks)
	}
	return words
}

// priceRange is what a ticket costs at least and at most.
func (s Sale) priceRange(ctx context.Context) string {
	low, high, any := int64(0), int64(0), false
	for c := range s.Plan.Categories {
		l, sold := s.lineIn(c)
		if !sold {
			continue
		}
		price := AllIn(s.Event, l)
		if !any {
			low = price
		}
		low, high, any = min(low, price), max(high, price), true
	}
	switch {
	case !any:
		return ""
	case high == 0:
		return text.T(ctx, "Free of charge")
	}
	return s.span(ctx, low, high)
}

// charges reports whether any ticket costs something.
func (s Sale) charges() bool {
	return slices.ContainsFunc(s.Plan.Categories, func(c seats.Category) bool { return c.Price > 0 })
}

// holding reports whether the visitor has seats that are theirs.
func (s Sale) holding() bool { return s.Hold != nil && !s.Hold.Expired && len(s.Hold.Seats) > 0 }

// address lists the lines of the place on a letter.
func (p AboutPage) address(ctx context.Context) (lines []string) {
	f := p.About.Facts
	for _, line := range []string{f.Street, strings.TrimSpace(f.PostalCode + " " + f.Town), views.CountryName(ctx, f.Country)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// mapLink leads to a map of the place: the organizer's, or one that looks for the address. Empty if there is none.
func (p AboutPage) mapLink(ctx context.Context) string {
	f := p.About.Facts
	if f.MapLink != "" || f.Street == "" || f.Town == "" {
		return f.MapLink
	}
	return "https://www.openstreetmap.org/search?query=" + url.QueryEscape(strings.Join(p.address(ctx), ", "))
}

// travels reports whether the page says how to get there.
func (p AboutPage) travels(ctx context.Context) bool {
	return !p.Event.Online.On && (p.text(ctx).Travel != "" || len(p.address(ctx)) > 0 || p.About.Facts.MapLink != "")
}

// wheelchairWords says how many places for wheelchairs are there; empty if the plan has none.
func (s Sale) wheelchairWords(ctx context.Context) string {
	if !accessible(s.Plan) {
		return ""
	}
	switch n := s.freeAccessible(); n {
	case 0:
		return text.T(ctx, "No wheelchair places are left.")
	default:
		return text.N(ctx, "%d wheelchair place is available.", "%d wheelchair places are available.", n)
	}
}

// contact reports whether the page says whom to ask.
func (p AboutPage) contact() bool {
	f := p.About.Facts
	return f.Organizer+f.Email+f.Phone+f.Website != ""
}

// dialled is a phone number as links have it.
func dialled(number string) templ.SafeURL {
	return templ.SafeURL("tel:" + strings.NewReplacer(" ", "", "(", "", ")", "", "/", "").Replace(number))
}
