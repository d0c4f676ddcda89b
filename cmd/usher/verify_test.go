package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// privateServer is a folder with a running private PostgreSQL and one event, as serve has it.
func privateServer(t *testing.T) (folder string, db *pgxpool.Pool) {
	t.Helper()
	folder, err := seatstest.Folder()
	if err == nil {
		err = seatstest.Furnish(folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p, err := postgres.Start(t.Context(), folder, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil { // the test's own context has ended
			t.Error(err)
		}
	})
	if _, err := try(t, "event", "create", "--data", folder, "--plan", "theatre", "--name", "Evening", "--paid-ahead=false"); err != nil {
		t.Fatal(err)
	}
	if db, err = seatsdb.Connect(t.Context(), p.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return folder, db
}

// status runs a command and returns its exit status and what it printed.
func status(t *testing.T, args ...string) (int, string) {
	t.Helper()
	return statusWith(t, nil, args...)
}

func statusWith(t *testing.T, env map[string]string, args ...string) (int, string) {
	t.Helper()
	out, err := tryWith(t, env, args...)
	return exitCode(err, io.Discard), out
}

func TestVerifyTellsBooksThatAreRightFromWrongOnesAndFromNone(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	if code, out := status(t, "verify", "--data", folder); code != 0 || strings.Count(out, "  ok (") != 71 {
		t.Errorf("of books that are right it says %d:\n%s", code, out)
	}
	exec := func(sql string) {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE counter SET free[1] = free[1] - 1`)
	if code, out := status(t, "verify", "--data", folder, "--event", "evening"); code != 1 || !strings.Contains(out, "BROKEN: event evening: category") || strings.Count(out, "  ok (") != 36 {
		t.Errorf("of books that are wrong it says %d:\n%s", code, out)
	}
	code, out := status(t, "verify", "--data", folder, "--json")
	var report verify.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 || report.Promises[4].Broken != 1 {
		t.Errorf("in JSON it says %d, %v:\n%s", code, err, out)
	}
	wantLookedAfter(t, db)
	for _, args := range []string{"--event morning", "--nonsense", "--data " + filepath.Join(folder, "none")} {
		if code, out := status(t, append([]string{"verify"}, strings.Fields(args)...)...); code != 2 || strings.Contains(out, "ok (") {
			t.Errorf("where it cannot look (%s) it says %d:\n%s", args, code, out)
		}
	}
	exec(`ALTER TABLE hold RENAME TO held`)
	if code, out := status(t, "verify", "--data", folder); code != 2 || strings.Contains(out, "ok") {
		t.Errorf("of half the books it says %d:\n%s", code, out)
	}
}

// wantLookedAfter wants serve to log that P5 is broken and to give it out as a number, and no number when it cannot look.
func wantLookedAfter(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	var log bytes.Buffer
	logger, m := slog.New(slog.NewTextHandler(&log, nil)), newMetrics()
	glance(t.Context(), verify.NewWatch(db, seats.NewInventory(db, logger)), m, logger)
	if !strings.Contains(log.String(), "promise=P5") {
		t.Errorf("the log says %s", log.String())
	}
	text := scrape(m)
	for _, line := range []string{`usher_books_broken{promise="P5"} 1`, `usher_books_broken{promise="P1"} 0`, `usher_books_looks_total{result="broken"} 1`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in the numbers:\n%s", line, text)
		}
	}
	closed, err := seatsdb.Connect(t.Context(), "postgres://127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	log.Reset()
	glance(t.Context(), verify.NewWatch(closed, seats.NewInventory(closed, logger)), m, logger)
	if text := scrape(m); strings.Contains(text, "usher_books_broken{") || !strings.Contains(text, `usher_books_looks_total{result="failed"} 1`) {
		t.Errorf("after a look that failed the numbers are:\n%s", text)
	}
	if !strings.Contains(log.String(), "could not be checked") {
		t.Errorf("after a look that failed the log says %s", log.String())
	}
}

func TestLooks_AtLargeBooksTakeATwentiethOfTheTime(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{50 * time.Millisecond: time.Minute, 3 * time.Second: time.Minute, time.Minute: 19 * time.Minute} {
		if wait := nextLook(took); wait != want {
			t.Errorf("after a look of %s the next one is in %s, want %s", took, wait, want)
		}
	}
}

func scrape(m *metrics) string {
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
