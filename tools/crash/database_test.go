package crash_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/seatstest"
)

// cluster is one durable server for all tests: the program refuses to run on another kind.
var cluster = sync.OnceValues(func() (*postgres.Server, error) {
	if err := seatstest.Furnish(folder); err != nil {
		return nil, err
	}
	p, err := postgres.Start(context.Background(), folder, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(context.Background(), p.DSN)
	if err != nil {
		return nil, err
	}
	if _, err := migrations.Up(context.Background(), conn); err != nil {
		return nil, err
	}
	return p, conn.Close(context.Background())
})

var (
	folder    string
	databases atomic.Int64
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "usher-crash-"); err == nil {
		err = os.Chmod(folder, 0o755) // the server's user has to pass through
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if p, err := cluster(); err == nil {
		_ = p.Stop(context.Background()) // the folder goes anyway
	}
	_ = os.RemoveAll(folder) // what stays is only untidy
	os.Exit(code)
}

// newDatabase returns the address of a fresh database with the schema.
func newDatabase(t *testing.T) string {
	t.Helper()
	p, err := cluster()
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	name := fmt.Sprint("crash_", databases.Add(1))
	conn, err := pgx.Connect(t.Context(), strings.Replace(p.DSN, "dbname=usher", "dbname=postgres", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // it did what it was opened for
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE usher"); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(p.DSN, "dbname=usher", "dbname="+name, 1)
}
