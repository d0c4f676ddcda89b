package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/usherbox/usher/seats/outbound"
	"github.com/usherbox/usher/seats/tracing"
)

const (
	uploadTime    = 10 * time.Second // the longest call to a collector
	lastUploads   = 2 * time.Second  // for the spans that wait when the node ends
	mostOfAnswer  = 64 << 10         // bytes of a collector's answer that are read
	tracesAddress = "/v1/traces"     // of a collector, for OTLP over HTTP
)

// traces sends the spans of this node to a collector. Spans wait in memory, 2,048 at most; more are dropped, so no request waits for a
// collector. The SDK reads how large its batches are, and what else it is told, from the environment (OTEL_BSP_…).
type traces struct {
	provider *sdk.TracerProvider
	log      *slog.Logger
}

// newTraces returns nil if the settings name no collector.
func newTraces(cfg *Config, log *slog.Logger) *traces {
	if cfg.Traces == "" {
		return nil
	}
	who, err := resource.New(context.Background(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "usher"), attribute.String("service.version", buildVersion())), resource.WithFromEnv())
	if err != nil {
		log.Warn("traces lack what OTEL_RESOURCE_ATTRIBUTES says", "error", err)
	}
	return &traces{log: log, provider: sdk.NewTracerProvider(
		sdk.WithResource(who), sdk.WithoutPanicRecording(), // texts of panics may name people
		sdk.WithSampler(linked{sdk.ParentBased(sdk.TraceIDRatioBased(cfg.TraceRatio))}),
		sdk.WithBatcher(otlptrace.NewUnstarted(newCollector(cfg, log))),
	)}
}

// tracer begins traces; nil if there is no collector.
func (t *traces) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(tracing.Name)
}

// Run ends, once ctx is done, when the spans that wait were sent or two seconds went by.
func (t *traces) Run(ctx context.Context) error {
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastUploads)
	defer cancel()
	if err := t.provider.Shutdown(last); err != nil {
		t.log.Warn("the last spans were not sent", "error", err)
	}
	return ctx.Err()
}

// linked also records each span with a link to one that is recorded: a batch of claims has no parent.
type linked struct{ sdk.Sampler }

// ShouldSample is part of sdk.Sampler.
func (l linked) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	for _, to := range p.Links {
		if to.SpanContext.IsSampled() {
			return sdk.AlwaysSample().ShouldSample(p)
		}
	}
	return l.Sampler.ShouldSample(p)
}

// collector takes spans by OTLP over HTTP. The exporter of OpenTelemetry for that, otlptracehttp, links gRPC: this one does not.
type collector struct {
	address string
	header  http.Header
	client  http.Client
	log     *slog.Logger
	failing atomic.Bool
}

// newCollector returns the collector of the settings. It follows no redirect, which would take the headers to another machine.
func newCollector(cfg *Config, log *slog.Logger) *collector {
	return &collector{
		address: strings.TrimRight(cfg.Traces, "/") + tracesAddress, header: cfg.headers, log: log,
		client: http.Client{Timeout: uploadTime, CheckRedirect: outbound.Stay},
	}
}

// Start is part of otlptrace.Client.
func (*collector) Start(context.Context) error { return nil }

// Stop is part of otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces is part of otlptrace.Client. Spans that a collector does not take are dropped: the log says when that begins and when it ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*wire.ResourceSpans) error {
	switch err := c.send(ctx, spans); {
	case err != nil && !c.failing.Swap(true):
		c.log.Warn("the collector takes no traces; they are dropped until it does", "error", err)
	case err == nil && c.failing.Swap(false):
		c.log.Info("the collector takes traces again")
	}
	return nil
}

func (c *collector) send(ctx context.Context, spans []*wire.ResourceSpans) (err error) {
	message, err := proto.Marshal(&wire.TracesData{ResourceSpans: spans}) // as ExportTraceServiceRequest is written, whose package links gRPC
	if err != nil {
		return err
	}
	var body bytes.Buffer
	packed := gzip.NewWriter(&body)
	if _, err = packed.Write(message); err == nil {
		err = packed.Close()
	}
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, &body)
	if err != nil {
		return err
	}
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	a, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Body.Close()) }()
	if _, err = io.Copy(io.Discard, io.LimitReader(a.Body, mostOfAnswer)); err != nil {
		return err
	}
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", a.Status)
	}
	return nil
}

// checkTraces reads where traces go to, and with which headers. A header may be a secret, so it goes to another machine in TLS alone.
func (cfg *Config) checkTraces() error {
	cfg.headers = http.Header{}
	if cfg.Traces == "" {
		if cfg.TraceHeaders != "" {
			return usageError{"OTEL_EXPORTER_OTLP_HEADERS is of no use without --traces"}
		}
		return nil
	}
	u, err := url.Parse(cfg.Traces)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return usageError{fmt.Sprintf("--traces %q is not an address such as http://127.0.0.1:4318", cfg.Traces)}
	}
	if cfg.TraceRatio < 0 || cfg.TraceRatio > 1 {
		return usageError{fmt.Sprintf("--traces-ratio is %v; it may be 0 to 1", cfg.TraceRatio)}
	}
	for pair := range strings.SplitSeq(cfg.TraceHeaders, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); name == "" || value == "" || err != nil || strings.ContainsAny(name+value, "\r\n") {
			return usageError{"OTEL_EXPORTER_OTLP_HEADERS is not written as NAME=VALUE,NAME=VALUE"}
		}
		cfg.headers.Set(name, value)
	}
	if len(cfg.headers) > 0 && u.Scheme == "http" && !isLocal(u.Hostname()) {
		return usageError{fmt.Sprintf("--traces %q is another machine and not https: OTEL_EXPORTER_OTLP_HEADERS would be readable on the way", cfg.Traces)}
	}
	return nil
}
