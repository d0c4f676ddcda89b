package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
