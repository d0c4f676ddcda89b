package mail

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Message is an organizer's words in a mail.
type Message struct {
	Letterhead
	shop.Sale
	Words   orders.Message
	Address string // of the order's page, whole
}

// Subject is the mail's.
func (p Message) Subject(ctx context.Context) string {
	if p.Words.Was != nil {
		return text.T(ctx, "Changed: %s", p.Event.Name)
	}
	return p.Words.Subject
}

func (p Message) changes(ctx context.Context) []views.Change {
	now := time.Duration(0)
	if p.About != nil {
		now = p.About.Facts.Doors
	}
	return views.Changes(ctx, p.Event, now, p.Words.Was)
}

// html are the words as Markdown. A line that ends ends in the mail, too.
func (p Message) html() string { return Lines(pages.EventHTML(p.Words.Text)) }

// Lines keeps the ends of lines in paragraphs that were made of Markdown.
func Lines(html string) string {
	return strings.ReplaceAll(html, "<p>", `<p style="margin:0 0 12px;white-space:pre-line">`)
}

// Text is the same for programs that show plain text.
func (p Message) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", p.Event.Name, views.WhenIn(ctx, p.Event))
	for i, c := range p.changes(ctx) {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(text.T(ctx, "%[1]s: %[2]s (before: %[3]s)", c.Label, c.Now, c.Was) + "\n")
	}
	if p.Words.Text != "" {
		fmt.Fprintf(&b, "\n%s\n", p.Words.Text)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", text.T(ctx, "Your tickets"), p.Address)
	return b.String() + footText(ctx, p.Letterhead)
}
