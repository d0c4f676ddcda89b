package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/usherbox/usher/seats/verify"
)

// metrics are the numbers an operator's Prometheus asks for. contrib/grafana.json draws them.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	times    *prometheus.HistogramVec
	broken   *prometheus.GaugeVec
	looks    *prometheus.CounterVec
	lastLook prometheus.Gauge
	lookTime prometheus.Gauge
}

// answerTimes are the bounds of the histogram of answers, in seconds.
var answerTimes = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

func newMetrics(from ...prometheus.Collector) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "usher_http_requests_total", Help: "Answers, by route and status.",
		}, []string{"route", "code"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "usher_http_request_seconds", Help: "How long answers took, by route. Sockets and feeds, which stay open, are not in it.", Buckets: answerTimes,
		}, []string{"route"}),
		broken: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "usher_books_broken", Help: "What the last look at the books found against a promise; absent while nobody knows.",
		}, []string{"promise"}),
		looks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "usher_books_looks_total", Help: "Looks at the books, by what came of them: fine, broken, or failed.",
		}, []string{"result"}),
		lastLook: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "usher_books_last_look_timestamp_seconds", Help: "When the books were last looked at to the end.",
		}),
		lookTime: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "usher_books_look_seconds", Help: "How long the last look at the books took.",
		}),
	}
	for _, result := range []string{"fine", "broken", "failed"} {
		m.looks.WithLabelValues(result) // so that each is there from the beginning
	}
	m.registry.MustRegister(m.requests, m.times, m.broken, m.looks, m.lastLook, m.lookTime,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(from...)
	return m
}

// observe returns what is to be told of each answer of a route.
func (m *metrics) observe(route string) func(status int, took time.Duration) {
	times := sync.OnceValue(func() prometheus.Observer { return m.times.WithLabelValues(route) }) // a route that nobody asks has no lines
	open := staysOpen(route)
	return func(status int, took time.Duration) {
		m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
		if !open {
			times().Observe(took.Seconds())
		}
	}
}

// looked notes one look; the report is nil if it failed.
func (m *metrics) looked(r *verify.Report, took time.Duration) {
	m.lookTime.Set(took.Seconds())
	if r == nil {
		m.broken.Reset()
		m.looks.WithLabelValues("failed").Inc()
		return
	}
	result := "fine"
	for _, p := range r.Promises {
		m.broken.WithLabelValues(p.Name).Set(float64(p.Broken))
		if p.Broken > 0 {
			result = "broken"
		}
	}
	m.looks.WithLabelValues(result).Inc()
	m.lastLook.SetToCurrentTime()
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return mux
}

// listenMetrics takes the address of the metrics; nil if nobody is to have them.
func listenMetrics(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	return listen(ctx, addr)
}
