package web

import (
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// A request is the first span of its trace, or belongs to the trace of a proxy in front that the operator trusts. Its span has the pattern
// of the route and the status: no address, for some are secrets. Routes that stay open have none.

// withinTrace takes the trace that a proxy names (W3C traceparent). What else it carries, such as a tracestate, is not passed on.
func withinTrace(r *http.Request) *http.Request {
	parent := r.Header.Get("Traceparent")
	if parent == "" {
		return r
	}
	return r.WithContext(propagation.TraceContext{}.Extract(r.Context(), propagation.MapCarrier{"traceparent": parent}))
}

// methods are those that a span names; others are what a client made up.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace,
}

// traced begins the span of a request of a route; nil if it has none.
func (h *Server) traced(r *http.Request, pattern string) (*http.Request, trace.Span) {
	if h.Tracer == nil || StaysOpen(pattern) {
		return r, nil
	}
	ctx, span := h.Tracer.Start(r.Context(), pattern, trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		method := r.Method
		if !slices.Contains(methods, method) {
			method = "_OTHER"
		}
		span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", pattern))
	}
	return r.WithContext(ctx), span
}

// endTraced ends the span of a request and returns the id of its trace.
func endTraced(span trace.Span, status int) string {
	if span == nil {
		return ""
	}
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
	return traceOf(span)
}

// traceOf is the id of a trace that is recorded; empty if there is none.
func traceOf(span trace.Span) string {
	if at := span.SpanContext(); at.IsSampled() {
		return at.TraceID().String()
	}
	return ""
}
