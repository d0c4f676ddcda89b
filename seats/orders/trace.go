package orders

import (
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/tracing"
)

// endOrder ends the span of an order. A refusal is an answer, not a failure. What was typed into the form is not in the span.
func endOrder(span trace.Span, s *seats.Sale, f *Form, outcome string, err error) {
	if !span.IsRecording() {
		return
	}
	var refusal *seats.Conflict
	var mistakes Mistakes
	switch {
	case err == nil:
		span.SetAttributes(tracing.Method.String(f.Method))
	case errors.As(err, &refusal):
		outcome, err = refusal.Code, nil
	case errors.As(err, &mistakes):
		outcome, err = "mistakes", nil
	case errors.Is(err, ErrUnconfirmed) || errors.Is(err, seats.ErrNoHold) || errors.Is(err, ErrUnpaid) || errors.Is(err, ErrUnpaidNet):
		outcome, err = "refused", nil
	default:
		outcome = "failed"
	}
	span.SetAttributes(tracing.Event.String(s.Event.Slug), tracing.Seats.Int(len(f.Seats)), tracing.Outcome.String(outcome))
	tracing.End(span, err)
}
