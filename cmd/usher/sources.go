package main

import (
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// sources are what is asked for its figures when Prometheus asks for them. None of them asks the database.
type sources struct {
	hub     *realtime.Hub
	pool    *pgxpool.Pool
	office  *seats.Office
	gate    *waitingroom.Gate
	unready func() string
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
	poolMostDesc  = described("database_connections_most", "How many connections this node's pool may have.")
	poolWaits     = described("database_waits_total", "How often somebody waited for a connection.")
	poolWaited    = described("database_wait_seconds_total", "How long all of them waited for a connection.")
	seatsDesc     = described("seats", "Seats of the events that are open on this node, as it knows them.", "event", "state")
	roomDesc      = described("room_people", "Numbers of a waiting room: given, called, and slots.", "room", "of")
	roomPhaseDesc = described("room_phase", "1 for the phase a waiting room is in.", "room", "phase")
)

// Describe is part of prometheus.Collector.
func (s sources) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		buildDesc, readyDesc, socketsDesc, socketMost, divergedDesc, deadlocksDesc, pooledDesc, poolMostDesc, poolWaits, poolWaited, seatsDesc, roomDesc, roomPhaseDesc,
	} {
		to <- d
	}
}

// Collect is part of prometheus.Collector.
func (s sources) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	counter := func(d *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value)
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
	for _, room := range s.gate.Rooms() {
		state := room.State()
		gauge(roomDesc, float64(state.Lobby+state.Line), room.Slug, "given")
		gauge(roomDesc, float64(state.Serving), room.Slug, "called")
		gauge(roomDesc, float64(state.Slots), room.Slug, "slots")
		gauge(roomPhaseDesc, 1, room.Slug, string(state.Phase))
	}
}

// staysOpen tells whether a route's answers last as long as a page is open.
func staysOpen(route string) bool { return strings.HasSuffix(route, "/live") }
