package postgres

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
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

func stopped(t *testing.T, p *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func start(t *testing.T, dir string, settings ...string) *Server {
	t.Helper()
	p, err := Start(t.Context(), dir, silent(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, p) })
	return p
}

func connect(t *testing.T, p *Server) *pgx.Conn {
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

func kill(t *testing.T, p *Server) {
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
func insert(ctx context.Context, p *Server, acknowledged *atomic.Int64) {
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
	p, err := Start(t.Context(), place(t, "data"), silent(), "shared_buffers=32MB")
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
	p, err := Start(t.Context(), place(t, "data"), silent(), "shared_buffers=32MB")
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
		if p, err = Start(t.Context(), filepath.Dir(p.dir), silent(), "shared_buffers=32MB"); err != nil {
			t.Fatal(err)
		}
	}
	stopped(t, p)
}

func TestAServerThatOutlivedItsUsherIsReplaced(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	orphan, err := newServer(dir, silent(), nil)
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
	p, err := Start(t.Context(), dir, silent())
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

func TestAServerThatHangsUpIsStillThere(t *testing.T) {
	t.Parallel()
	p, err := newServer(place(t, "data"), silent(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.leave()
	if err := os.MkdirAll(p.socket, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, unlink := range []bool{false, true} {
		busy, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(p.socket, ".s.PGSQL.5432")})
		if err != nil {
			t.Fatal(err)
		}
		var hangsUp sync.WaitGroup
		hangsUp.Go(func() {
			for conn, err := busy.Accept(); err == nil; conn, err = busy.Accept() {
				_ = conn.Close()
			}
		})
		if !p.answers(t.Context()) {
			t.Error("a server that hangs up is taken for none")
		}
		busy.SetUnlinkOnClose(unlink)
		_ = busy.Close()
		hangsUp.Wait()
		// A child that a test beside this one starts has the socket, too, until it runs its program.
		for conn, err := net.Dial("unix", busy.Addr().String()); err == nil; conn, err = net.Dial("unix", busy.Addr().String()) {
			_ = conn.Close()
		}
		if p.answers(t.Context()) {
			t.Errorf("no server is taken for one; its socket was removed: %t", unlink)
		}
		_ = os.Remove(filepath.Join(p.socket, ".s.PGSQL.5432")) // left by the first round
	}
}

func TestAFirstStartThatWasCutOffIsMadeUpFor(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	p, err := newServer(dir, silent(), nil)
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
	again, err := Start(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, again)
}

func TestStart_TakesOverFromAnOwnerThatEnds(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	other, err := newServer(dir, silent(), nil)
	if err != nil {
		t.Fatal(err)
	}
	joins, err := newServer(dir, silent(), nil)
	if err != nil || joins.owner != nil {
		t.Fatalf("two processes have the lock: %v", err)
	}
	ends := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond) // the other one waits by then, or does not have to
		ends <- other.owner.Close()
	}()
	if _, err := joins.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ends; err != nil {
		t.Error(err)
	}
	if joins.owner == nil {
		t.Error("it runs no server")
	}
	stopped(t, joins)
}

func TestAServerThatDoesNotHearYetIsToldToEndAgain(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := run(exec.Command("sh", "-c", `trap "" INT; sleep 1; trap "exit 0" INT; while :; do sleep 0.1; done`), out)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		server.stop()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = server.cmd.Process.Kill()
		t.Error("it was told once, before it could hear, and never again")
	}
}

func TestAKilledPostgresIsStartedAgainAndLosesNothing(t *testing.T) {
	t.Parallel()
	p := start(t, place(t, "data"), "shared_buffers=32MB")
	conn := connect(t, p)
	if err := CheckDurable(t.Context(), conn); err != nil {
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
	kill(t, p)
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

func TestCheckDurable_RefusesCommitsThatWaitForNothing(t *testing.T) {
	t.Parallel()
	p := start(t, place(t, "data"))
	for setting, good := range map[string]bool{
		"synchronous_commit = off": false, "synchronous_commit = local": false,
		"synchronous_commit = remote_write": true, "synchronous_commit = on": true, "synchronous_commit = remote_apply": true,
		"client_min_messages = error": false, "client_min_messages = warning": true, "client_min_messages = debug1": true,
	} {
		conn := connect(t, p)
		if _, err := conn.Exec(t.Context(), "SET "+setting); err != nil {
			t.Fatal(err)
		}
		if err := CheckDurable(t.Context(), conn); (err == nil) != good {
			t.Errorf("%s is answered with %v", setting, err)
		}
	}
}

func TestASecondStartFindsTheData(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	first, err := Start(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, first)
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n integer)`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped(t, first)
	began := time.Now()
	again := start(t, dir)
	if _, err := connect(t, again).Exec(t.Context(), `INSERT INTO kept VALUES (1)`); err != nil {
		t.Error(err)
	}
	t.Logf("the second start took %v", time.Since(began))
}

func TestAnotherUsherJoinsTheRunningServer(t *testing.T) {
	t.Parallel()
	dir := place(t, "data")
	first := start(t, dir)
	second, err := Start(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, second)
	if err := connect(t, first).Ping(t.Context()); err != nil {
		t.Errorf("after the second one left, the server is gone: %v", err)
	}
}
