//go:build citus

package citus_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
)

// A statement like a claim's, without what Citus refuses: one guarded UPDATE of one row. Its commit is on disk in all cases.
const (
	tableSQL = `CREATE TABLE one (event_id bigint, idx integer, holder bigint, PRIMARY KEY (event_id, idx))`
	fillSQL  = `INSERT INTO one SELECT e, i, NULL FROM generate_series(1, 4) e, generate_series(0, 999) i`
	readSQL  = `SELECT holder FROM one WHERE event_id = $1 AND idx = $2`
	takeSQL  = `UPDATE one SET holder = $3 WHERE event_id = $1 AND idx = $2 AND (holder IS NULL OR holder <= $3)`
)

func TestFigure_WhatCitusAddsToOneStatement(t *testing.T) {
	type way struct {
		name string
		conn *pgx.Conn
	}
	on := func(server *postgres.Server, statements ...string) *pgx.Conn {
		conn := enter(t, server, "")
		for _, sql := range statements {
			run(t, conn, sql)
		}
		return conn
	}
	ways := []way{
		{"plain, in the same database", on(servers[0], `CREATE SCHEMA figure_plain`, `SET search_path = figure_plain`, tableSQL, fillSQL)},
		{"distributed schema, by the coordinator", on(servers[0], `SET citus.enable_schema_based_sharding = on`, `CREATE SCHEMA figure_spread`, `SET search_path = figure_spread`, tableSQL, fillSQL)},
		{"rows by event_id, by the coordinator", on(servers[0], `CREATE SCHEMA figure_rows`, `SET search_path = figure_rows`, tableSQL, `SELECT create_distributed_table('one', 'event_id')`, fillSQL)},
	}
	var host string
	if err := ways[1].conn.QueryRow(t.Context(), `SELECT nodename FROM citus_shards WHERE table_name = 'one'::regclass`).Scan(&host); err != nil {
		t.Fatal(err)
	}
	own := slices.IndexFunc(servers, func(s *postgres.Server) bool { return hostOf(s) == host })
	ways = append(ways, way{"distributed schema, on its own node", on(servers[own], `SET search_path = figure_spread`)})
	for _, statement := range []struct{ name, sql string }{{"read one row", readSQL}, {"change one row", takeSQL}} {
		times := make([][]time.Duration, len(ways))
		for round := range 1000 {
			for i, w := range ways {
				args := []any{round%4 + 1, round % 1000, round + 1}
				if statement.sql == readSQL {
					args = args[:2]
				}
				began := time.Now()
				if tag, err := w.conn.Exec(t.Context(), statement.sql, args...); err != nil || tag.RowsAffected() != 1 {
					t.Fatal(w.name, tag, err)
				}
				times[i] = append(times[i], time.Since(began))
			}
		}
		for i, w := range ways {
			slices.Sort(times[i])
			t.Logf("%-14s | %-38s | half %7s | 95 %% %7s", statement.name, w.name, times[i][500].Round(time.Microsecond), times[i][950].Round(time.Microsecond))
		}
	}
}

// clients of all events wait for their answers and claim again.
const (
	houses, eventsEach, seatsEach = 10, 5, 8000
	clientsEach                   = 10 // of an event
	measured                      = 2 * time.Second
)

// Citus refuses a schema of a worker's own, so these databases have no Citus.
func TestFigure_FiftyHotEventsOfTenHousesOnOneAndOnThreeDatabases(t *testing.T) {
	for _, s := range servers {
		if err := onServer(t.Context(), s, `CREATE DATABASE figure`); err != nil {
			t.Fatal(err)
		}
	}
	sales := map[int][]*hot{}
	for _, many := range []int{1, 3} {
		for h := range houses {
			sales[many] = append(sales[many], open(t, strings.Replace(servers[h%many].DSN, "dbname=usher", "dbname=figure", 1), fmt.Sprintf("of_%d_%d", many, h))...)
		}
	}
	for range 2 {
		for _, many := range []int{1, 3} {
			t.Logf("%d database(s): %6.0f claims/s in 49 events of 10 houses; %6.0f in the other one, with %d clients, while they rest", many, claims(t, sales[many][1:]), claims(t, sales[many][:1]), clientsEach)
		}
	}
}

// hot is an event in which the next seat is claimed again and again.
type hot struct {
	*seats.Sale

	next atomic.Int64
}

// open makes a house in a database, with hot events.
func open(t *testing.T, dsn, name string) (list []*hot) {
	t.Helper()
	dsn, err := database.InHouse(dsn, name)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := database.Connect(t.Context(), dsn+" pool_max_conns=4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := migrations.MakeHouse(t.Context(), conn.Conn(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Up(t.Context(), conn.Conn()); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(pool, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = office.Run(ctx) }() // ends by ctx
	t.Cleanup(func() { cancel(); <-done })
	for i := range eventsEach {
		slug := fmt.Sprint("event-", i)
		if _, err := events.Create(t.Context(), pool, events.Settings{Slug: slug, Name: "Figure", StartsAt: time.Now()}, rows(seatsEach)); err != nil {
			t.Fatal(err)
		}
		sale, err := office.Sale(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &hot{Sale: sale})
	}
	return list
}

// claims are how many claims of one seat are granted in a second.
func claims(t *testing.T, sales []*hot) (rate float64) {
	t.Helper()
	var clients sync.WaitGroup
	var granted atomic.Int64
	var failed atomic.Pointer[error]
	began := time.Now()
	for _, sale := range sales {
		for range clientsEach {
			clients.Go(func() {
				for time.Since(began) < measured {
					seat := int(sale.next.Add(1) - 1)
					if seat >= seatsEach {
						return
					}
					who := seats.NewID()
					if _, err := sale.Claim(t.Context(), who, who.String(), seats.ClaimRequest{Seats: []string{sale.Plan.Label(seat)}}); err != nil {
						failed.Store(&err)
						return
					}
					granted.Add(1)
				}
			})
		}
	}
	clients.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	return float64(granted.Load()) / time.Since(began).Seconds()
}

// rows is a plan of n seats in rows of 100.
func rows(n int) *seats.Plan {
	box := []seats.Point{{X: 0, Y: 0}, {X: 1000, Y: 0}, {X: 1000, Y: 1000}}
	p := &seats.Plan{
		Name: "Figure", Width: 1000, Height: 1000, Categories: []seats.Category{{Key: "A", Name: "A"}},
		Sections: []seats.Section{{Name: "S", Count: n, Outline: box}}, Seats: make([]seats.Seat, n),
	}
	for i := range p.Seats {
		p.Seats[i] = seats.Seat{ID: fmt.Sprint(i), Row: fmt.Sprint(i / 100), Number: fmt.Sprint(i % 100), X: float64(i % 100), Y: float64(i / 100)}
	}
	return p
}
