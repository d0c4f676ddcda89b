// Package seatstest gives tests a real, migrated PostgreSQL of their own.
package seatstest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/seatstest/race"
)

// cluster is the one server of a test process. It ends with the process.
var cluster = sync.OnceValues(func() (*postgres.Server, error) {
	ctx := context.Background()
	dir, err := Folder()
	if err == nil {
		err = Furnish(dir)
	}
	if err != nil {
		return nil, err
	}
	// What a test writes need not survive the machine, and no query of a test is worth the start of parallel workers.
	p, err := postgres.Start(ctx, dir, slog.New(slog.NewTextHandler(io.Discard, nil)),
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB", "max_parallel_workers_per_gather=0", "autovacuum=off", "max_connections=300")
	if err != nil {
		return nil, err
	}
	return p, migrate(ctx, p)
})

// Furnish puts the data of a PostgreSQL with the schema into a folder, for a server that is started there. They are made once, and
// removed a day after the last use: to copy them takes a twentieth of the time. Where that cannot be, the folder stays empty, and the
// server makes its data itself.
func Furnish(dir string) error {
	schema, err := schemaSum()
	if err != nil || schema == "" {
		return err
	}
	made := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-%s", madePrefix, os.Getuid(), schema))
	lock, err := os.OpenFile(made+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which ends the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err := makeOnce(made); err != nil {
		return err
	}
	data := filepath.Join(made, "postgres")
	if info, err := os.Lstat(data); err != nil || !info.IsDir() { // it lies elsewhere, as the server's user may not enter this folder
		return err
	}
	if out, err := exec.Command("cp", "-a", data, filepath.Join(dir, "postgres")).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the data of PostgreSQL: %w\n%s", err, out)
	}
	return nil
}

// makeOnce makes the data that Furnish copies, unless they are there.
func makeOnce(made string) error {
	now := time.Now()
	if err := os.Chtimes(made, now, now); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished := made + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	ctx := context.Background()
	p, err := postgres.Start(ctx, unfinished, slog.New(slog.DiscardHandler), "fsync=off", "autovacuum=off")
	if err != nil {
		return err
	}
	err = migrate(ctx, p)
	if err := errors.Join(err, p.Stop(ctx)); err != nil {
		return err
	}
	return os.Rename(unfinished, made)
}

func migrate(ctx context.Context, p *postgres.Server) error {
	conn, err := pgx.Connect(ctx, p.DSN)
	if err != nil {
		return err
	}
	_, err = migrations.Up(ctx, conn)
	return errors.Join(err, conn.Close(ctx))
}

// schemaSum is a sum over the migrations of the tree in which a test runs, what starts a server, and the versions of PostgreSQL; empty outside
// of a tree.
func schemaSum() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	var names []string
	for ; len(names) == 0; dir = filepath.Dir(dir) {
		if names, err = filepath.Glob(filepath.Join(dir, "migrations", "*.*")); err != nil || dir == filepath.Dir(dir) {
			return "", err
		}
		servers, _ := filepath.Glob(filepath.Join(dir, "cmd", "usher", "postgres", "*.go")) // the pattern is well formed
		names = append(names, servers...)
	}
	sum := sha256.New()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	servers, err := filepath.Glob("/usr/lib/postgresql/*")
	fmt.Fprint(sum, servers, os.Getenv("PATH"))
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), err
}

// Main runs the tests and stops the server they used. Call it from TestMain.
func Main(m *testing.M) {
	race.FewerChecks()
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
