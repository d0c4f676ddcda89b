package main

import (
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/verify"
	"github.com/usherbox/usher/seats/waitingroom"
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

	archiveLag prometheus.Gauge // of a private PostgreSQL that archives; else 0
	backupLate prometheus.Gauge
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
			Name: "usher_books_broken", Help: "What the last look at the books found against a promise; absent while unknown.",
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
		archiveLag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "usher_archive_lag_seconds", Help: "How long the oldest segment of the WAL of the private PostgreSQL has waited for the archive; 0 without an archive.",
		}),
		backupLate: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "usher_archive_backup_late_seconds", Help: "How long a backup into the archive has been due; 0 without an archive.",
		}),
	}
	for _, result := range []string{"fine", "broken", "failed"} {
		m.looks.WithLabelValues(result) // so that each is there from the beginning
	}
	m.registry.MustRegister(m.requests, m.times, m.broken, m.looks, m.lastLook, m.lookTime, m.archiveLag, m.backupLate,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(from...)
	return m
}

// slow is the time of an answer, in seconds, from which on its request's id stands beside the histogram, as an exemplar: the log
// has a line with it where USHER_LOG_REQUESTS says so. If the request is traced, so does the id of its trace.
const slow = .25

// observe returns what is to be told of each answer of a route.
func (m *metrics) observe(route string) func(status int, took time.Duration, request, trace string) {
	times := sync.OnceValue(func() prometheus.Observer { return m.times.WithLabelValues(route) }) // a route without requests has no lines
	open := web.StaysOpen(route)
	return func(status int, took time.Duration, request, trace string) {
		m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
		switch seconds := took.Seconds(); {
		case open:
		case seconds < slow:
			times().Observe(seconds)
		default:
			example := prometheus.Labels{"request": request}
			if trace != "" {
				example["trace_id"] = trace
			}
			times().(prometheus.ExemplarObserver).ObserveWithExemplar(seconds, example)
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
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

// listenMetrics takes the address of the metrics; nil for an empty address.
func listenMetrics(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	return listen(ctx, addr)
}

// sources are what is asked for its figures when Prometheus asks for them. None of them asks the database.
type sources struct {
	hub     *realtime.Hub
	pool    *pgxpool.Pool
	office  *seats.Inventory
	rooms   *waitingroom.Rooms
	unready func() string
	jobs    []*jobs.Job
	nats    *realtime.NATS // nil: nodes notify each other by PostgreSQL
}

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("usher_"+name, help, labels, nil)
}

var (
	buildDesc     = described("build_info", "Which usher this is.", "version")
	readyDesc     = described("ready", "1 while this node wants requests: it is not closing, and hears what other nodes sell.")
	socketsDesc   = described("sockets", "Open sockets of this node: of maps, or of waiting rooms.", "of")
	socketMost    = described("sockets_most", "How many sockets this node takes.", "of")
	divergedDesc  = described("maps_diverged_total", "Pages that found that their map was not the node's. There should be none.")
	deadlocksDesc = described("deadlocks_total", "Batches that the database undid because two waited for each other. There should be none.")
	pooledDesc    = described("database_connections", "Connections of this node's pool.", "state")
	natsAwayDesc  = described("nats_away", "1 while this node is to use NATS and has no connection to it; 0 without NATS.")
	poolMostDesc  = described("database_connections_most", "How many connections this node's pool may have.")
	poolWaits     = described("database_waits_total", "How often a request waited for a connection.")
	poolWaited    = described("database_wait_seconds_total", "How long all of them waited for a connection.")
	seatsDesc     = described("seats", "Seats of the events that are open on this node, as it knows them.", "event", "state")
	roomDesc      = described("room_people", "Numbers of a waiting room: given, called, and slots.", "room", "of")
	jobsDoneDesc  = described("jobs_done_total", "Background work that this node did.", "work")
	jobsFailDesc  = described("jobs_failed_total", "Background work that failed on this node and is tried again.", "work")
	jobsBusyDesc  = described("jobs_running", "Tasks of background work under way on this node.", "work")
	jobsLateDesc  = described("jobs_late_seconds", "How long the oldest background work has been due, on all nodes.", "work")
	roomPhaseDesc = described("room_phase", "1 for the phase a waiting room is in.", "room", "phase")
)

// Describe is part of prometheus.Collector.
func (s sources) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		buildDesc, readyDesc, socketsDesc, socketMost, divergedDesc, deadlocksDesc, pooledDesc, poolMostDesc, poolWaits, poolWaited, natsAwayDesc, seatsDesc, roomDesc, roomPhaseDesc,
		jobsDoneDesc, jobsFailDesc, jobsBusyDesc, jobsLateDesc,
	} {
		to <- d
	}
}

// Collect is part of prometheus.Collector.
func (s sources) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	counter := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
	}
	ready := 1.0
	if s.unready() != "" {
		ready = 0
	}
	gauge(buildDesc, 1, buildVersion())
	gauge(readyDesc, ready)
	maps, rooms := s.hub.Open()
	gauge(socketsDesc, float64(maps), "map")
	gauge(socketsDesc, float64(rooms), "room")
	gauge(socketMost, float64(s.hub.Sockets), "all")
	gauge(socketMost, float64(s.hub.RoomSockets), "room")
	counter(divergedDesc, float64(s.hub.Diverged()))
	counter(deadlocksDesc, float64(s.office.Deadlocks()))
	pool := s.pool.Stat()
	gauge(pooledDesc, float64(pool.AcquiredConns()), "in use")
	gauge(pooledDesc, float64(pool.IdleConns()), "idle")
	gauge(poolMostDesc, float64(pool.MaxConns()))
	counter(poolWaits, float64(pool.EmptyAcquireCount()))
	counter(poolWaited, pool.EmptyAcquireWaitTime().Seconds())
	away := 0.0
	if s.nats != nil && !s.nats.Connected() {
		away = 1
	}
	gauge(natsAwayDesc, away)
	for _, j := range s.jobs {
		stats := j.Stats()
		counter(jobsDoneDesc, float64(stats.Done), j.Name)
		counter(jobsFailDesc, float64(stats.Failed), j.Name)
		gauge(jobsBusyDesc, float64(stats.Running), j.Name)
		gauge(jobsLateDesc, stats.Late.Seconds(), j.Name)
	}
	for _, sale := range s.office.Open() {
		c := sale.Bitmap().Counts
		for state, counts := range map[string][]int{"free": c.Free, "held": c.Held, "sold": c.Sold, "blocked": c.Blocked} {
			total := 0
			for _, n := range counts {
				total += n
			}
			gauge(seatsDesc, float64(total), sale.Event.Slug, state)
		}
	}
	for _, room := range s.rooms.All() {
		state := room.State()
		gauge(roomDesc, float64(state.Lobby+state.Line), room.Slug, "given")
		gauge(roomDesc, float64(state.Serving), room.Slug, "called")
		gauge(roomDesc, float64(state.Slots), room.Slug, "slots")
		gauge(roomPhaseDesc, 1, room.Slug, string(state.Phase))
	}
}
