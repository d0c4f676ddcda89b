package migrations_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/migrations"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// folder is one the server's user can reach.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "usher-private-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, dir string) *migrations.Private {
	t.Helper()
	p, err := migrations.StartPrivate(t.Context(), dir, quiet(), "shared_buffers=32MB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

func connect(t *testing.T, p *migrations.Private) *pgx.Conn {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := pgx.Connect(t.Context(), p.DSN)
		if err == nil {
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestAKilledPostgresIsStartedAgainAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	p := start(t, dir)
	conn := connect(t, p)
	if err := migrations.CheckDurable(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n integer)`); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for ; kept < 100; kept++ {
		if _, err := conn.Exec(t.Context(), `INSERT INTO kept VALUES ($1)`, kept); err != nil {
			t.Fatal(err)
		}
	}
	pid, err := os.ReadFile(dir + "/postgres/postmaster.pid")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(postmaster, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var found int
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := connect(t, p).QueryRow(t.Context(), `SELECT count(*) FROM kept`).Scan(&found)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if found != kept {
		t.Errorf("%d of %d acknowledged rows are there after kill -9", found, kept)
	}
}

func TestASecondStartFindsTheDataAndIsQuick(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first, err := migrations.StartPrivate(t.Context(), dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, first)
	if n, err := migrations.Up(t.Context(), conn); err != nil || n == 0 {
		t.Fatalf("%d migrations applied: %v", n, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	second := start(t, dir)
	if n, err := migrations.Up(t.Context(), connect(t, second)); err != nil || n != 0 {
		t.Errorf("the second start applied %d migrations: %v", n, err)
	}
	t.Logf("the second start took %v", time.Since(began))
}

func TestAnotherUsherJoinsTheRunningServer(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first := start(t, dir)
	second, err := migrations.StartPrivate(t.Context(), dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, first).Ping(t.Context()); err != nil {
		t.Errorf("after the second one left, the server is gone: %v", err)
	}
}

func TestADatabaseThatIsNewerOrDifferentIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t, folder(t))
	conn := connect(t, p)
	if _, err := migrations.Up(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	for planted, want := range map[string]string{
		`UPDATE migration SET hash = 'other' WHERE number = 1`:           "is not what was applied",
		`INSERT INTO migration SELECT 99, 'newer', 'x'`:                  "start a newer usher",
		`UPDATE migration SET name = '0001_events.sql' WHERE number = 1`: "made before the first release",
		`UPDATE migration SET name = '0001_events.sql', hash = 'other';
		 INSERT INTO migration SELECT n, n || '_old.sql', 'x' FROM generate_series(2, 65) n`: "made before the first release",
	} {
		if _, err := conn.Exec(t.Context(), `BEGIN; `+planted); err != nil {
			t.Fatal(err)
		}
		if n, err := migrations.Up(t.Context(), conn); err == nil || n != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("after %q: %d, %v", planted, n, err)
		}
		if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
}
