package seats

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/usherbox/usher/seats/tracing"
)

// endSpan ends the span of a command for some seats. A refusal is an answer, not a failure.
func (s *Sale) endSpan(span trace.Span, seats int, err error) {
	outcome := "done"
	var refusal *Conflict
	var invalid *ValidationError
	switch {
	case err == nil:
	case errors.As(err, &refusal):
		outcome, err = refusal.Code, nil
	case errors.As(err, &invalid):
		outcome, err = "invalid", nil
	case errors.Is(err, ErrNoHold):
		outcome, err = "no hold", nil
	default:
		outcome = "failed"
	}
	span.SetAttributes(tracing.Event.String(s.Event.Slug), tracing.Seats.Int(seats), tracing.Outcome.String(outcome))
	tracing.End(span, err)
}

// batchSpan begins the span of a batch if one of its commands is traced; nil if none is. A batch belongs to many requests, so it is a
// trace of its own; the link to the first of them has it recorded as that one is.
func (s *Sale) batchSpan(commands []*command) trace.Span {
	for _, c := range commands {
		if c.span != nil {
			_, span := c.span.TracerProvider().Tracer(tracing.Name).Start(context.Background(), "batch", trace.WithLinks(trace.Link{SpanContext: c.span.SpanContext()}))
			span.SetAttributes(tracing.Event.String(s.Event.Slug), tracing.Commands.Int(len(commands)))
			return span
		}
	}
	return nil
}

// endSpan ends the span of a batch, and links each traced command to it.
func (t *inFlight) endSpan() {
	if t.span == nil {
		return
	}
	for _, c := range t.batch.commands {
		if c.span != nil {
			c.span.AddLink(trace.Link{SpanContext: t.span.SpanContext()})
			c.span.SetAttributes(tracing.Commands.Int(len(t.batch.commands)))
		}
	}
	err := t.err
	if errors.Is(err, errNotFast) { // it goes again, with locks
		t.span.SetAttributes(tracing.Outcome.String("locks"))
		err = nil
	}
	tracing.End(t.span, err)
}
