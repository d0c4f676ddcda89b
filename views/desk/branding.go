package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// BrandingPage is the form of what a team has its pages look like, with a preview.
type BrandingPage struct {
	Frame
	Form  *pages.Branding // as it is saved, or as it was typed; with the pictures that are saved
	Asked bool            // the form is a preview: nothing was saved
	Alt   string          // of a picture that could not be added
	Kind  pages.PictureKind

	Mistakes organizers.Mistakes
	Wrong    string // why it was not saved
}

// links are the rows of links in the form: those that there are, and empty ones.
func (p BrandingPage) links() []pages.BrandLink {
	return append(p.Form.Links, make([]pages.BrandLink, max(0, pages.MostLinks-len(p.Form.Links)))...)
}

// BrandingRules are the style rules of the two previews.
func BrandingRules(b *pages.Branding) (css string) {
	for _, name := range []string{"light", "dark"} {
		dark := name == "dark"
		css += ".look." + name + "{" + views.BrandGround(dark) + ";" + views.BrandTitles(b) + ";" + views.BrandColours(b, dark) + "}"
	}
	return css
}

// looks are the kinds of pages that attendees get.
func (p BrandingPage) looks() []string {
	if p.Form.Theme == "light" || p.Form.Theme == "dark" {
		return []string{p.Form.Theme}
	}
	return []string{"light", "dark"}
}

var (
	fontWords = map[string][2]string{
		"poster": {text.Mark("Bricolage Grotesque"), text.Mark("Bold titles, Instrument Sans for text. Shipped with Usher.")},
		"plain":  {text.Mark("Instrument Sans"), text.Mark("Titles and text alike. Shipped with Usher.")},
		"serif":  {text.Mark("Serif titles"), text.Mark("Georgia or a similar font of the reader’s device.")},
		"system": {text.Mark("System font"), text.Mark("The font of the reader’s device. Nothing is loaded.")},
	}
	layoutWords = map[string][2]string{
		"classic": {text.Mark("Classic"), text.Mark("The title on your colour, with the picture beside it.")},
		"poster":  {text.Mark("Poster"), text.Mark("A large picture, and black words on white.")},
		"plain":   {text.Mark("Plain"), text.Mark("No picture. It needs the least ink.")},
	}
	themeWords = map[string]string{"auto": text.Mark("As the reader’s device says"), "light": text.Mark("Always light"), "dark": text.Mark("Always dark")}
	shadeWords = map[string][2]string{
		"light": {text.Mark("Buttons on light pages"), text.Mark("Highlights on light pages")},
		"dark":  {text.Mark("Buttons on dark pages"), text.Mark("Highlights on dark pages")},
	}
)

// shadeLine says how a colour is shown, and why.
type shadeLine struct {
	Title, Words string
	Corrected    bool
}

// shades lists the colours of the form as pages show them, with the contrasts that were computed.
func (p BrandingPage) shades(ctx context.Context) (lines []shadeLine) {
	for _, look := range p.looks() {
		button, accent := p.Form.Shades(look == "dark")
		for i, s := range []*pages.Shade{button, accent} {
			if s != nil {
				lines = append(lines, shadeLine{text.T(ctx, shadeWords[look][i]), shadeSentence(ctx, *s), s.Corrected()})
			}
		}
	}
	return lines
}

// shadeSentence says what became of a colour.
func shadeSentence(ctx context.Context, s pages.Shade) string {
	if s.Corrected() {
		return text.T(ctx, "%[1]s has a contrast of %[2]s, and %[3]s is needed. Pages show %[4]s instead, with %[5]s.", s.Asked.String(), ratio(s.Was), ratio(s.Need), s.Shown.String(), ratio(s.Is))
	}
	return text.T(ctx, "%[1]s has a contrast of %[2]s, and %[3]s is needed. Pages show it as it is.", s.Asked.String(), ratio(s.Is), ratio(s.Need))
}

// ratio is a contrast, rounded down: 4.49 is not 4.5.
func ratio(r float64) string { return fmt.Sprintf("%.1f:1", float64(int(r*10+1e-9))/10) }

// SampleOrder is an order of two tickets that is made up, to see how tickets look.
func SampleOrder(ctx context.Context, hall *seats.Plan, venue string) shop.OrderPage {
	starts := time.Now().AddDate(0, 1, 0).Truncate(24 * time.Hour).Add(19*time.Hour + 30*time.Minute)
	p := shop.OrderPage{
		Sale:  shop.Sale{Event: seats.Event{Slug: "sample", Name: text.T(ctx, "Your next event"), Venue: venue, StartsAt: starts, TimeZone: "UTC", Currency: "EUR"}, Plan: hall},
		Order: orders.Order{Code: text.T(ctx, "SAMPLE"), Name: text.T(ctx, "Name of the buyer"), Currency: "EUR", CreatedAt: starts},
	}
	for i, number := range []string{"12", "13"} {
		idx := slices.IndexFunc(hall.Seats, func(s seats.Seat) bool { return s.Section == 0 && s.Row == "C" && s.Number == number })
		p.Order.Tickets = append(p.Order.Tickets, orders.Ticket{ID: seats.ID{byte(i + 1)}, Idx: max(0, idx), Priced: pricing.Priced{Price: 2800}, Code: "SAMPLE"})
	}
	return p
}

// sampleCode is the picture of a code in the preview of a ticket.
var sampleCode = views.QRCode("SAMPLE")

// pictureOf names what a kind of picture is.
func pictureOf(ctx context.Context, kind pages.PictureKind) string {
	if kind == pages.Logo {
		return text.T(ctx, "Logo")
	}
	return text.T(ctx, "Header picture")
}
