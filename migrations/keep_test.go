package migrations

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// place is a folder inside one the server's user can reach.
func place(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "usher-keep-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func stopped(t *testing.T, p *Private) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func kill(t *testing.T, p *Private) {
	t.Helper()
	pid, err := p.postmaster()
	if err != nil {
		t.Fatal(err)
	}
	if pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be dead already
	}
}

// insert adds rows until ctx is done, over new connections when the server dies, and counts those that were acknowledged.
func insert(ctx context.Context, p *Private, acknowledged *atomic.Int64) {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, p.DSN)
		if err != nil {
			continue
		}
		for err == nil {
			if _, err = conn.Exec(ctx, `INSERT INTO kept VALUES (1)`); err == nil {
				acknowledged.Add(1)
			}
		}
		_ = conn.Close(ctx) // it is broken, or the test is over
	}
}

func TestNoAcknowledgedInsertIsLostWhenPostgresIsKilledUnderWriters(t *testing.T) {
	t.Parallel()
	p, err := StartPrivate(t.Context(), place(t, "data"), silent(), "shared_buffers=32MB")
	if err != nil {
		t.Fatal(err)
	}
	defer stopped(t, p)
	conn, err := pgx.Connect(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n integer)`); err != nil {
		t.Fatal(err)
	}
	var acknowledged atomic.Int64
	var writers sync.WaitGroup
	writing, end := context.WithCancel(t.Context())
	for range 8 {
		writers.Go(func() { insert(writing, p, &acknowledged) })
	}
	for range 3 {
		for goal := acknowledged.Load() + 200; acknowledged.Load() < goal; {
			if t.Context().Err() != nil {
				t.Fatal("the server did not come back")
			}
		}
		kill(t, p)
	}
	end()
	writers.Wait()
	if err := p.ready(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if conn, err = pgx.Connect(t.Context(), p.DSN); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var found int64
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM kept`).Scan(&found); err != nil {
		t.Fatal(err)
	}
	if found < acknowledged.Load() {
		t.Errorf("%d of %d acknowledged inserts are left", found, acknowledged.Load())
	}
	t.Logf("%d acknowledged inserts, %d found", acknowledged.Load(), found)
}

func TestStopWhileTheServerIsBeingStartedAgainLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	p, err := StartPrivate(t.Context(), place(t, "data"), silent(), "shared_buffers=32MB")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		kill(t, p)
		for deadline := time.Now().Add(time.Duration(round) * 20 * time.Millisecond); p.answers(t.Context()) && time.Now().Before(deadline); {
		}
		stopped(t, p)
		if p.answers(t.Context()) {
			t.Fatal("a server still answers")
		}
		if p, err = StartPrivate(t.Context(), filepath.Dir(p.dir), silent(), "shared_buffers=32MB"); err != nil {
			t.Fatal(err)
		}
	}
	stopped(t, p)
}

func TestAServerThatOutlivedItsUsherIsReplaced(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	orphan, err := newPrivate(dir, silent(), nil)
	if err != nil {
		t.Fatal(err)
	}
	server, err := orphan.firstStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := orphan.owner.Close(); err != nil { // as if its usher had been killed
		t.Fatal(err)
	}
	p, err := StartPrivate(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	defer stopped(t, p)
	select {
	case <-server.ended:
	case <-time.After(time.Minute):
		t.Error("the old server still runs")
	}
}

func TestAFirstStartThatWasCutOffIsMadeUpFor(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	p, err := newPrivate(dir, silent(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.binaries, err = findBinaries(p.dir); err != nil {
		t.Fatal(err)
	}
	who, err := serverUser(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	cutOff, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel() // kills initdb
		for t.Context().Err() == nil {
			if _, err := os.Stat(p.dir + ".unfinished/PG_VERSION"); err == nil {
				return
			}
		}
	}()
	if err := p.initdb(cutOff, who); err == nil {
		t.Fatal("initdb was not cut off")
	}
	if err := p.owner.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := StartPrivate(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, again)
}
