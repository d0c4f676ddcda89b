// Package tracing begins spans: how long each part of a request or of background work took, and which of them belong together.
//
// # Where spans come from
//
// A request (handlers/web) and a task of background work (seats/jobs) begin a trace, if the node has a tracer. All other spans are begun
// by Start within the span of their context. So a node without a tracer has no spans, and Start costs it a look into the context.
//
// # Promises
//
//   - Without a span in its context, Start does nothing and allocates nothing.
//   - A span has no personal data: no email, name, address, code of an order, session or link. Its attributes are those of this package. An
//     error is noted as such, without its text, because texts of errors may name people.
//
// Work that goes on later in a job, such as a payment or a mail, is a trace of its own. Its row has no column for the trace of the request
// that wrote it.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Name is what the spans of this program are said to be made by.
const Name = "github.com/usherbox/usher"

// Attributes of spans.
const (
	Event    = attribute.Key("usher.event")    // slug
	Seats    = attribute.Key("usher.seats")    // how many
	Outcome  = attribute.Key("usher.outcome")  // code of a refusal, or what became of a mail
	Commands = attribute.Key("usher.commands") // of a batch: how many
	Method   = attribute.Key("usher.method")   // of a payment
	Kind     = attribute.Key("usher.kind")     // of a mail, or of a webhook event
	Tries    = attribute.Key("usher.tries")    // including this one
	Done     = attribute.Key("usher.done")     // how many rows a task did
)

// Start begins a span within that of ctx. If there is none, or it is not recorded, it returns ctx and a span that does nothing.
func Start(ctx context.Context, name string) (context.Context, trace.Span) {
	within := trace.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, within
	}
	return within.TracerProvider().Tracer(Name).Start(ctx, name)
}

// End ends a span, as one that failed if there is an error.
func End(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
