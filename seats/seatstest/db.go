// Package seatstest gives tests a real, migrated PostgreSQL of their own.
package seatstest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
)

// cluster is the one server of a test process. It ends with the process.
var cluster = sync.OnceValues(func() (*postgres.Server, error) {
	ctx := context.Background()
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	// What a test writes need not survive the machine, and no query of a test is worth the start of parallel workers.
	p, err := postgres.Start(ctx, dir, slog.New(slog.NewTextHandler(io.Discard, nil)),
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB", "max_parallel_workers_per_gather=0", "autovacuum=off", "max_connections=300")
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, p.DSN)
	if err != nil {
		return nil, err
	}
	if _, err := migrations.Up(ctx, conn); err != nil {
		return nil, err
	}
	return p, conn.Close(ctx)
})

// Main runs the tests and stops the server they used. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	closeUsed()
	if p, err := cluster(); err == nil {
		dir := strings.TrimSuffix(strings.Fields(p.DSN)[0][len("host="):], "/postgres")
		if err := p.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		_ = os.RemoveAll(dir) // a folder that stays is only untidy
	}
	os.Exit(code)
}

var databases atomic.Int64

// admin runs a statement in the database of the server's own.
func admin(sql string) error {
	p, err := cluster()
	if err != nil {
		return err
	}
	ctx := context.Background() // the test's own context has ended when its database is dropped
	conn, err := pgx.Connect(ctx, strings.Replace(p.DSN, "dbname=usher", "dbname=postgres", 1))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// fresh makes a database with the schema, and returns its address.
func fresh(t testing.TB) (name, dsn string) {
	t.Helper()
	p, err := cluster()
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	name = fmt.Sprintf("test_%d", databases.Add(1))
	if err := admin("CREATE DATABASE " + name + " TEMPLATE usher STRATEGY file_copy"); err != nil {
		t.Fatalf("make database %s: %v", name, err)
	}
	return name, strings.Replace(p.DSN, "dbname=usher", "dbname="+name, 1) + " pool_max_conns=16" // as an operator's may
}

// end drops the database of a test that passed.
func end(t testing.TB, name string) {
	if t.Failed() {
		t.Logf("the database of this test was %s", name)
	} else if err := admin("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
		t.Errorf("drop database %s: %v", name, err)
	}
}

// DSN returns the address of a fresh database with the schema, dropped after a test that passed.
func DSN(t testing.TB) string {
	t.Helper()
	name, dsn := fresh(t)
	t.Cleanup(func() { end(t, name) })
	return dsn
}
