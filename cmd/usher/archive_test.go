package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats/seatstest"
)

// numberOf is a number that Prometheus is told.
func numberOf(t *testing.T, m *metrics, name string) (value float64) {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	_, after, found := strings.Cut(w.Body.String(), "\n"+name+" ")
	text, _, _ := strings.Cut(after, "\n")
	value, err := strconv.ParseFloat(text, 64)
	if !found || err != nil {
		t.Fatal(name, err)
	}
	return value
}

func TestArchive_ThatFallsBehindIsSeen(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	var folder string
	if err := db.QueryRow(t.Context(), `SHOW data_directory`).Scan(&folder); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	x := &archiving{pool: db, counts: newMetrics(), log: newLog(&log, "text")}
	look := func(lag bool, late float64, says string) {
		t.Helper()
		before := len(log.String())
		x.look(t.Context())
		got := numberOf(t, x.counts, "usher_archive_lag_seconds")
		if said := log.String()[before:]; (got > 60) != lag || (says == "") != (said == "") || !strings.Contains(said, says) {
			t.Errorf("it lags by %g s and says %q", got, said)
		}
		if got := numberOf(t, x.counts, "usher_archive_backup_late_seconds"); got < late || got > late+600 {
			t.Errorf("the backup is late by %g s, want %g", got, late)
		}
	}
	look(false, 0, "")
	due := time.Now().Add(-2 * time.Hour)
	x.due.Store(&due)
	// PostgreSQL leaves such a file until the segment is in the archive.
	ready := filepath.Join(folder, "pg_wal", "archive_status", "000000010000000000000000.ready")
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(ready) })
	look(false, 7200, "")
	if err := os.Chtimes(ready, time.Time{}, time.Now().Add(-2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	look(true, 7200, "does not get into the archive")
	look(true, 7200, "")
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	look(false, 7200, "the archive has all")
}

func TestArchive_ThatIsAwayIsSaid(t *testing.T) {
	t.Parallel()
	all := openFolder(t)
	in := func(name string) string { return filepath.Join(all, name) }
	var log lockedBuffer
	p, err := postgres.StartArchiving(t.Context(), in("house"), in("archive"), newLog(&log, "text"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Stop(context.Background()) }() // the test's own context may have ended
	if err := os.Rename(in("archive"), in("unmounted")); err != nil {
		t.Fatal(err)
	}
	x := &archiving{archive: p.Archive(), pool: seatstest.DB(t), counts: newMetrics(), log: newLog(&log, "text")}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.backUp(ctx) }()
	eventually(t, "it says that the archive is away", func() bool { return strings.Contains(log.String(), "is its disk mounted?") })
	cancel()
	<-ended
	x.look(t.Context())
	if got := numberOf(t, x.counts, "usher_archive_backup_late_seconds"); got <= 0 {
		t.Error("the metrics do not have it")
	}
	if err := os.Rename(in("unmounted"), in("archive")); err != nil {
		t.Fatalf("something was made in its place: %v", err)
	}
}

func TestArchive_BrokenBackupIsSaid(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	x := &archiving{pool: seatstest.DB(t), counts: newMetrics(), log: newLog(&log, "text")}
	night := time.Now().Add(time.Hour)
	late := func(broken bool) float64 {
		t.Helper()
		x.tellDue(night, []postgres.Backup{{Label: "last", Broken: broken, Ended: time.Now().Add(-2 * time.Hour)}})
		x.look(t.Context())
		if said := strings.Contains(log.String(), "is broken"); said != broken {
			t.Errorf("broken: %v, and it says %q", broken, log.String())
		}
		return numberOf(t, x.counts, "usher_archive_backup_late_seconds")
	}
	if got := late(false); got != 0 {
		t.Errorf("a good backup is late by %g s", got)
	}
	if got := late(true); got < 7000 {
		t.Errorf("a broken backup is late by %g s", got)
	}
}
