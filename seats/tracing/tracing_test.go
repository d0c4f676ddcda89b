package tracing_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/usherbox/usher/seats/tracing"
)

func TestStart_WithoutATraceAllocatesNothing(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "a request has values")
	if n := testing.AllocsPerRun(100, func() {
		within, span := tracing.Start(ctx, "claim")
		if span.IsRecording() || within != ctx {
			t.Error("there is a span")
		}
		tracing.End(span, nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEnd_NotesAFailureWithoutItsText(t *testing.T) {
	t.Parallel()
	seen := tracetest.NewSpanRecorder()
	ctx, request := sdk.NewTracerProvider(sdk.WithSpanProcessor(seen)).Tracer("test").Start(t.Context(), "request")
	_, span := tracing.Start(ctx, "mail")
	tracing.End(span, errors.New("ann@example.org is unknown"))
	request.End()
	list := seen.Ended()
	if len(list) != 2 || list[0].Parent().SpanID() != request.SpanContext().SpanID() || list[0].Status() != (sdk.Status{Code: codes.Error}) || len(list[0].Events()) > 0 || list[1].Status().Code == codes.Error {
		t.Errorf("there are %v", list)
	}
}
