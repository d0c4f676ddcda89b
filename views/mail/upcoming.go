package mail

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// UpcomingPage is a mail that reminds of an event.
type UpcomingPage struct {
	Letterhead
	shop.Sale
	Order   orders.Order
	Note    string // what attendees should bring or know
	Address string // of the order's page, whole
}

// Subject is the mail's, and its first line.
func (p UpcomingPage) Subject(ctx context.Context) string {
	return cmp.Or(p.Own.Subject, text.T(ctx, "See you soon: %s", p.Event.Name))
}

func (p UpcomingPage) order() shop.OrderPage { return shop.OrderPage{Sale: p.Sale, Order: p.Order} }

// seats are the seats of the tickets that hold.
func (p UpcomingPage) seats(ctx context.Context) (lines []string) {
	for _, t := range p.order().Live() {
		line := shop.SeatWords(ctx, p.Plan, t.Idx)
		if words := shop.TypeWords(ctx, t); words != "" {
			line += " (" + words + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func (p UpcomingPage) invitation(ctx context.Context) string { return text.T(ctx, "View tickets") }

// part is a text of the event page under a title.
type part struct{ title, words, html string }

// parts say what to bring, how to get there and what to expect.
func (p UpcomingPage) parts(ctx context.Context) (list []part) {
	if p.Note != "" {
		list = append(list, part{title: text.T(ctx, "Good to know"), words: p.Note, html: Lines(pages.EventHTML(p.Note))})
	}
	t := p.VisitTexts(ctx)
	if t.Travel != "" {
		list = append(list, part{text.T(ctx, "Getting here"), t.Travel, t.HTML.Travel})
	}
	if t.Access != "" {
		list = append(list, part{text.T(ctx, "Access"), t.Access, t.HTML.Access})
	}
	return list
}

// Text is the same for programs that show plain text.
func (p UpcomingPage) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", p.Subject(ctx), around(p.Own.Opening))
	for _, f := range p.VisitFacts(ctx) {
		fmt.Fprintf(&b, "%s: %s\n", f.Label, f.Text)
	}
	if link := p.VisitMap(ctx); link != "" {
		fmt.Fprintf(&b, "%s: %s\n", text.T(ctx, "Open in maps"), link)
	}
	b.WriteString("\n")
	for _, line := range p.seats(ctx) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n%s\n", p.invitation(ctx), p.Address, text.T(ctx, keepPrivate))
	for _, part := range p.parts(ctx) {
		fmt.Fprintf(&b, "\n%s\n%s\n", part.title, part.words)
	}
	return b.String() + around(p.Own.Closing) + footText(ctx, p.Letterhead)
}

var keepPrivate = text.Mark("Keep this link private: anyone with it can use your tickets.")

// ThanksPage is a mail that thanks for coming, in words of the organizer.
type ThanksPage struct {
	Letterhead
	shop.Sale
	Words string // Markdown

	Unsubscribe string // address of the page, whole
}

// Subject is the mail's, and its first line.
func (p ThanksPage) Subject(ctx context.Context) string {
	return cmp.Or(p.Own.Subject, text.T(ctx, "Thank you: %s", p.Event.Name))
}

// Text is the same for programs that show plain text.
func (p ThanksPage) Text(ctx context.Context) string {
	return fmt.Sprintf("%s\n\n%s\n%s\n%s\n%s", p.Subject(ctx), views.WhenIn(ctx, p.Event), around(p.Own.Opening), p.Words, around(p.Own.Closing)) + footText(ctx, p.Letterhead) +
		"\n" + text.T(ctx, "No more emails like this: %s", p.Unsubscribe) + "\n"
}
