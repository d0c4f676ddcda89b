//go:build citus

package citus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// servers are the coordinator and two workers. They reach each other by their sockets.
var servers []*postgres.Server

func TestMain(m *testing.M) {
	code, err := withServers(context.Background(), 3, m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withServers starts PostgreSQL with Citus so often, and runs something.
func withServers(ctx context.Context, many int, do func() int) (code int, err error) {
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.Stop(context.Background()))
		}
	}()
	for range many {
		dir, err := seatstest.Folder()
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		server, err := postgres.Start(ctx, dir, slog.New(slog.DiscardHandler), "shared_preload_libraries=citus", "shared_buffers=64MB", "max_connections=200", "wal_level=logical", "citus.shard_count=4")
		if err != nil {
			return 1, err
		}
		servers = append(servers, server)
		if err := onServer(ctx, server, `CREATE EXTENSION citus`); err != nil {
			return 1, err
		}
	}
	err = onServer(ctx, servers[0], `SELECT citus_set_coordinator_host('`+hostOf(servers[0])+`', 5432)`)
	for _, worker := range servers[1:] {
		err = errors.Join(err, onServer(ctx, servers[0], `SELECT citus_add_node('`+hostOf(worker)+`', 5432)`))
	}
	if err != nil {
		return 1, err
	}
	return do(), nil
}

// hostOf is the folder of a server's socket, which libpq takes for a host.
func hostOf(s *postgres.Server) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(s.DSN, "host='"), "'")
	return host
}

func onServer(ctx context.Context, s *postgres.Server, sql string) error {
	conn, err := pgx.Connect(ctx, s.DSN)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// enter connects to a house on a server, with settings of Citus.
func enter(t testing.TB, server *postgres.Server, house string, settings ...string) *pgx.Conn {
	t.Helper()
	dsn, err := database.InHouse(server.DSN, house)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := database.Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	for _, setting := range settings {
		run(t, conn, `SET `+setting)
	}
	return conn
}

func run(t testing.TB, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// house makes a house on the coordinator, in a schema that is not distributed.
func house(t testing.TB, name string) *pgx.Conn {
	t.Helper()
	conn := enter(t, servers[0], name, "citus.enable_schema_based_sharding = off")
	if err := migrations.MakeHouse(t.Context(), conn, name); err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.Up(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

// refused demands that Citus refuses a statement in these words. If it does not any more, docs/citus.md is out of date.
func refused(t testing.TB, conn *pgx.Conn, sql, words string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !strings.Contains(said.Message+"; "+said.Detail, words) {
		t.Errorf("%s: says %v, and not %q", sql, err, words)
	}
}

// each runs the statements that a query writes.
func each(t testing.TB, conn *pgx.Conn, query string) (n int) {
	t.Helper()
	rows, _ := conn.Query(t.Context(), query) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range list {
		run(t, conn, sql)
	}
	return len(list)
}
