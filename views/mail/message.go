package mail

import (
	"cmp"
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

// change is what held before, and what holds now.
type change struct{ label, was, now string }

// changes lists what the message tells of a change of the event.
func (p Message) changes(ctx context.Context) (list []change) {
	was := p.Words.Was
	if was == nil {
		return nil
	}
	add := func(label, before, now string) {
		if before != now {
			list = append(list, change{label, cmp.Or(before, text.T(ctx, "not said")), cmp.Or(now, text.T(ctx, "not said"))})
		}
	}
	add(text.T(ctx, "Starts"), views.DayTimeIn(ctx, p.Event, was.StartsAt), views.WhenIn(ctx, p.Event))
	doors := func(start time.Time, minutes int) string {
		if minutes == 0 {
			return ""
		}
		return p.Event.Local(start.Add(-time.Duration(minutes) * time.Minute)).Format("15:04")
	}
	now := 0
	if p.About != nil {
		now = int(p.About.Facts.Doors / time.Minute)
	}
	add(text.T(ctx, "Doors"), doors(was.StartsAt, was.Doors), doors(p.Event.StartsAt, now))
	add(text.T(ctx, "Venue"), was.Venue, p.Event.Venue)
	return list
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
		b.WriteString(text.T(ctx, "%[1]s: %[2]s (before: %[3]s)", c.label, c.now, c.was) + "\n")
	}
	if p.Words.Text != "" {
		fmt.Fprintf(&b, "\n%s\n", p.Words.Text)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", text.T(ctx, "Your tickets"), p.Address)
	return b.String() + footText(ctx, p.Letterhead)
}
