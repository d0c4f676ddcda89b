package postgres

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestArchive_BackupsAreDueAtNightAndWholeOnceAWeek(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		got, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	began := at("2030-03-20 12:00:00").Add(time.Millisecond)
	whole := func(text string) Backup { return Backup{Full: true, Ended: at(text)} }
	broken := func(text string) Backup { return Backup{Full: true, Broken: true, Ended: at(text)} }
	part := func(text string) Backup { return Backup{Ended: at(text)} }
	for name, c := range map[string]struct {
		list []Backup
		at   time.Time
		full bool
	}{
		"the first":                    {nil, began, true},
		"archiving began once more":    {[]Backup{whole("2030-03-19 12:00:00"), part("2030-03-20 12:30:00")}, began, true},
		"a broken one":                 {[]Backup{broken("2030-03-20 12:00:05")}, at("2030-03-21 04:00:00"), true},
		"the night after":              {[]Backup{whole("2030-03-20 12:00:05")}, at("2030-03-21 04:00:00"), false},
		"the same night":               {[]Backup{whole("2030-03-20 12:00:05"), part("2030-03-22 00:10:00")}, at("2030-03-22 04:00:00"), false},
		"the night of another hour":    {[]Backup{whole("2030-03-26 04:00:20"), part("2030-03-30 04:00:09")}, at("2030-03-31 04:00:00"), false},
		"a week later":                 {[]Backup{whole("2030-03-20 12:00:05"), part("2030-03-26 04:00:09")}, at("2030-03-27 04:00:00"), true},
		"it was down for a long while": {[]Backup{whole("2030-03-20 12:00:05")}, at("2030-03-21 04:00:00"), false},
	} {
		if got, full := due(c.list, began, zone); !got.Equal(c.at) || full != c.full {
			t.Errorf("%s: due at %s (all: %v), want %s (%v)", name, got, full, c.at, c.full)
		}
	}
}

func TestArchive_BackupThatIsNotShownIsAnError(t *testing.T) {
	t.Parallel()
	one, two := Backup{Label: "one"}, Backup{Label: "two"}
	if shown(nil, []Backup{one}) != nil || shown([]Backup{one}, []Backup{one, two}) != nil || shown([]Backup{one}, []Backup{two}) != nil {
		t.Error("a backup is not shown")
	}
	if shown(nil, nil) == nil || shown([]Backup{one}, []Backup{one}) == nil {
		t.Error("a backup is shown, and there is none")
	}
}

// archiving starts a server that archives, and stops it.
func archiving(t *testing.T, dir, place string) (*Server, error) {
	t.Helper()
	p, err := StartArchiving(t.Context(), dir, place, silent())
	if err == nil {
		stopped(t, p)
	}
	return p, err
}

func TestArchive_PlaceThatCannotServeIsRefused(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	in := func(name string) string { return filepath.Join(all, name) }
	refuses := func(dir, archive, says string) {
		t.Helper()
		if _, err := archiving(t, dir, archive); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s in %s: %v, want %q", dir, archive, err, says)
		}
	}
	if err := os.Symlink(in("one"), in("link")); err != nil {
		t.Fatal(err)
	}
	refuses(in("one"), in("one/archive"), "inside the data folder")
	refuses(in("one"), in("link/archive"), "inside the data folder")
	refuses(in("one"), "s3://", "names no bucket")
	if _, err := os.Stat(in("one/postgres")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a start that was refused made a database: %v", err)
	}
	one, err := archiving(t, in("one"), in("archive"))
	if err != nil {
		t.Fatal(err)
	}
	config := archiveConfig(one.dir)
	if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the settings of pgBackRest can be read by others: %v %v", info, err)
	}
	began, err := os.Stat(config)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := archiving(t, in("other"), ""); err != nil || other.archive != nil {
		t.Fatalf("a server without an archive: %v %v", other, err)
	}
	refuses(in("other"), in("archive"), "belongs to another database")
	if _, err := os.Stat(archiveConfig(filepath.Join(in("other"), "postgres"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was refused is tried again at the next start: %v", err)
	}
	// Every start goes on archiving, until one ends it.
	for _, place := range []string{"", in("archive")} {
		if p, err := archiving(t, in("one"), place); err != nil || p.archive == nil {
			t.Errorf("the next start, with %q: %v", place, err)
		}
		if again, err := os.Stat(config); err != nil || !again.ModTime().Equal(began.ModTime()) {
			t.Errorf("a start with %q begins anew: %v", place, err)
		}
	}
	// An archive that is in use already is left as it is, also where it is broken or away, and does not close the box office.
	if err := os.Rename(in("archive"), in("unmounted")); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", in("archive")} {
		p, err := archiving(t, in("one"), place)
		if err != nil || p.archive == nil {
			t.Fatalf("a start with %q while the archive is away: %v", place, err)
		}
		if _, err := p.archive.Backups(t.Context()); !errors.Is(err, errAbsent) {
			t.Errorf("of an archive that is away it says %v", err)
		}
		if _, err := os.Stat(in("archive")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a start with %q made a new archive: %v", place, err)
		}
	}
	if err := os.Rename(in("unmounted"), in("archive")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"archive.info", "archive.info.copy"} {
		if err := os.WriteFile(filepath.Join(in("archive"), "archive", "usher", name), []byte("rust"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := archiving(t, in("one"), in("archive")); err != nil || p.archive == nil {
		t.Errorf("a start while the archive cannot be read: %v", err)
	}
	refuses(in("other"), in("archive"), "cannot be used")
	// Data that was moved archives from where it is, since the same time.
	if err := os.Rename(in("one"), in("moved")); err != nil {
		t.Fatal(err)
	}
	p, err := archiving(t, in("moved"), "")
	if err != nil {
		t.Fatal(err)
	}
	config = archiveConfig(p.dir)
	if text, err := os.ReadFile(config); err != nil || !strings.Contains(string(text), "pg1-path="+p.dir+"\n") || placeIn(text) != in("archive") {
		t.Errorf("%v: the settings of moved data:\n%s", err, text)
	}
	if again, err := os.Stat(config); err != nil || !again.ModTime().Equal(began.ModTime()) {
		t.Errorf("moved data begins anew: %v", err)
	}
	// Data that was lost beside its settings is not begun anew.
	if err := os.Rename(p.dir, in("lost")); err != nil {
		t.Fatal(err)
	}
	refuses(in("moved"), "", "usher restore --to latest --archive "+in("archive"))
	refuses(in("moved"), in("archive"), "usher restore --to latest --archive "+in("archive"))
	if err := os.Rename(in("lost"), p.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(in("moved"), in("one")); err != nil {
		t.Fatal(err)
	}
	if p, err := archiving(t, in("one"), NoArchive); err != nil || p.archive != nil {
		t.Errorf("it goes on: %v", err)
	}
	if p, err := archiving(t, in("one"), ""); err != nil || p.archive != nil {
		t.Errorf("it goes on at the start after it was ended: %v", err)
	}
}

// A server that was just started archives within its timeout, and not only from its first checkpoint on, after five minutes.
func TestArchive_HasWhatIsCommittedRightAfterAStart(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	for _, place := range []string{filepath.Join(all, "archive"), ""} {
		p, err := StartArchiving(t.Context(), filepath.Join(all, "data"), place, silent())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stopped(t, p) })
		conn := connect(t, p)
		if place == "" {
			kill(t, p) // the next one comes after a crash
			conn = connect(t, p)
		}
		var segment string
		if err := conn.QueryRow(t.Context(), `SELECT pg_walfile_name(pg_logical_emit_message(true, 'usher', 'sold'))`).Scan(&segment); err != nil {
			t.Fatal(err)
		}
		for deadline, is := time.Now().Add(30*time.Second), false; !is; time.Sleep(20 * time.Millisecond) {
			if err := conn.QueryRow(t.Context(), `SELECT coalesce(last_archived_wal >= $1, false) FROM pg_stat_archiver`, segment).Scan(&is); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(deadline) {
				t.Fatal("it is not in the archive after 30 seconds")
			}
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
		stopped(t, p)
	}
}

// hang makes what reads a file wait until release is called, as a disk that is away does.
func hang(t *testing.T, file string) (release func()) {
	t.Helper()
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o666), os.Chmod(file, 0o666)); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err == nil {
			err = errors.Join(os.Remove(file), f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func TestArchive_ThatHangsIsNoErrorOfAStop(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	archive := filepath.Join(all, "archive")
	var log bytes.Buffer
	p, err := StartArchiving(t.Context(), filepath.Join(all, "data"), archive, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, p) })
	release := hang(t, filepath.Join(archive, "archive", "usher", "archive.info"))
	t.Cleanup(release)
	conn := connect(t, p)
	if _, err := conn.Exec(t.Context(), `SELECT pg_logical_emit_message(true, 'usher', 'sold')`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT pg_switch_wal()`); err != nil { // now there is something to archive
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	if ctx.Err() == nil {
		t.Error("it did not wait for the archive")
	}
	if !strings.Contains(log.String(), "WAL waits for the archive") {
		t.Errorf("it says %s", &log)
	}
	release()
}

func TestArchive_WithoutPgBackRestSaysHowToInstallIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	all := place(t, "")
	if _, err := archiving(t, filepath.Join(all, "data"), filepath.Join(all, "archive")); err == nil || !strings.Contains(err.Error(), "apt-get install -y pgbackrest") {
		t.Errorf("got %v", err)
	}
}
