package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// MessagesPath is the address of the messages of an event.
func MessagesPath(slug string) string { return EventPath(slug) + "/messages" }

// MessagesPage is where organizers write to people who ordered.
type MessagesPage struct {
	Frame
	Message   orders.Message // as it was typed
	SendAt    string         // as it was typed
	Mistakes  orders.Mistakes
	Audiences []orders.Audience
	Others    int // performances that the message may also go to
	Look      *pages.Branding
	Doors     time.Duration // before the start, as the event's page says; of a preview
	Asked     bool          // the message is to be looked at before it goes out
	Tried     bool          // a test is on its way
	BulkJobs  []orders.BulkJobStatus
}

// wrongs says what is wrong with the fields.
func (p MessagesPage) wrongs(ctx context.Context) Wrong {
	w := Wrong{}
	for _, field := range []string{orders.FieldSubject, orders.FieldText, orders.FieldSegment, orders.FieldSendAt} {
		w[field] = text.T(ctx, p.Mistakes.About(field))
	}
	return w
}

// SegmentValue is a segment as a field says it: all, or type.2.
func SegmentValue(a orders.Audience) string {
	if a.Segment == orders.SegmentType {
		return fmt.Sprintf("type.%d", a.Type)
	}
	return string(a.Segment)
}

// chosen is the audience of the message.
func (p MessagesPage) chosen() (a orders.Audience) {
	for _, a = range p.Audiences {
		if a.Segment == p.Message.Segment && (a.Segment != orders.SegmentType || a.Type == p.Message.Type) {
			return a
		}
	}
	if len(p.Audiences) > 0 {
		a = p.Audiences[0]
	}
	return a
}

// segmentWords names a part of the orders.
func segmentWords(ctx context.Context, segment orders.Segment, kind string) string {
	switch segment {
	case orders.SegmentType:
		return text.T(ctx, "Ticket type: %s", kind)
	case orders.SegmentScanned:
		return text.T(ctx, "Checked in")
	case orders.SegmentUnscanned:
		return text.T(ctx, "Not checked in")
	}
	return text.T(ctx, "Everyone who ordered")
}

// messageWords says how far a message is.
func (p MessagesPage) messageWords(ctx context.Context, e orders.BulkJobStatus) string {
	switch {
	case e.StoppedAt != nil:
		return text.T(ctx, "taken back")
	case stoppable(e):
		return text.T(ctx, "planned for %s", text.Time(ctx, p.Event.Local(*e.SendAt), "Mon 2 January 2006, 15:04"))
	case e.Kind != orders.BulkMessage:
		return bulkJobWords(ctx, e)
	}
	words := text.N(ctx, "%[2]d of %[1]d email sent", "%[2]d of %[1]d emails sent", e.Done, e.Sent)
	if e.Bounced > 0 {
		words += text.T(ctx, ", ") + text.N(ctx, "%d refused by its server", "%d refused by their servers", e.Bounced)
	}
	return words
}

// stoppable reports whether a message waits for its time.
func stoppable(e orders.BulkJobStatus) bool {
	return e.Kind == orders.BulkMessage && e.EndedAt == nil && e.SendAt != nil && e.Done == 0
}
