package mail

import (
	"context"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/orders"
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

// Text is the same for programs that show plain text.
func (p Message) Text(ctx context.Context) string {
	return fmt.Sprintf("%s\n%s\n\n%s\n\n%s:\n%s\n", p.Event.Name, views.WhenIn(ctx, p.Event), p.Words.Text, text.T(ctx, "Your tickets"), p.Address) + footText(ctx, p.Letterhead)
}

// paragraphs are the words as they were written, paragraph by paragraph.
func (p Message) paragraphs() []string { return strings.Split(p.Words.Text, "\n") }
