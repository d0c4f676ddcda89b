package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// lockedBuffer is what a command writes while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// archived is a box office that runs with an archive.
type archived struct {
	folder string
	db     *pgxpool.Pool
	office *seats.Inventory
	end    func()
}

// serveArchived runs serve on a folder until its first backup is in the archive.
func serveArchived(t *testing.T, folder, archive string) *archived {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var log lockedBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--demo=false", "--data", folder, "--archive", archive}, func(string) string { return "" }, &log, &log)
	}()
	eventually(t, "a backup", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("serve ended: %v\n%s", err, log.String())
		default:
		}
		return strings.Contains(log.String(), "a backup was written into the archive")
	})
	backedUp := time.Now() // a restore can begin with it from the next second on
	eventually(t, "the second after it", func() bool { return time.Since(backedUp) > time.Second })
	p, err := postgres.Start(t.Context(), folder, newLog(&log, "text")) // it is there already
	if err != nil {
		t.Fatal(err)
	}
	a := &archived{folder: folder}
	if a.db, err = seatsdb.Connect(t.Context(), p.DSN); err != nil {
		t.Fatal(err)
	}
	a.office = seats.NewInventory(a.db, newLog(&log, "text"))
	a.end = sync.OnceFunc(func() {
		a.db.Close()
		cancel()
		<-ended // what it says of a server that lost its data is of no interest
	})
	t.Cleanup(a.end)
	return a
}

// sell sells two seats of the event.
func (a *archived) sell(t *testing.T) {
	t.Helper()
	sale, err := a.office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2, Category: "A"}); err != nil {
		t.Fatal(err)
	}
	if _, err := seatstest.Order(t.Context(), a.db, sale, who); err != nil {
		t.Fatal(err)
	}
}

// now is the time by the clock of the database.
func (a *archived) now(t *testing.T) (at time.Time) {
	t.Helper()
	if err := a.db.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// reaches waits until the archive has everything that was committed so far, and returns how long that took. Nothing but time makes
// it do so.
func (a *archived) reaches(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	var segment string
	if err := a.db.QueryRow(t.Context(), `SELECT pg_walfile_name(pg_logical_emit_message(false, 'usher', 'all before this'))`).Scan(&segment); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the archive has what was sold", func() (is bool) {
		if err := a.db.QueryRow(t.Context(), `SELECT coalesce(last_archived_wal >= $1, false) FROM pg_stat_archiver`, segment).Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	})
	return time.Since(began)
}

// lose takes the data away while the server runs, and then its life.
func (a *archived) lose(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.folder, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "postgres.archive"} {
		if err := os.Rename(filepath.Join(a.folder, name), filepath.Join(a.folder, "lost-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.end()
}

// orderedIn is what a folder has after a restore.
func orderedIn(t *testing.T, folder string) (events, orders int, lastID, lastKey int64) {
	t.Helper()
	p, err := postgres.Start(t.Context(), folder, newLog(&lockedBuffer{}, "text"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Stop(context.Background()) }() // the test's own context may have ended
	db, err := seatsdb.Connect(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const sql = `SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM orders), (SELECT last_value FROM intention_id_seq), (SELECT last_value FROM ticket_key_id_seq)`
	if err := db.QueryRow(t.Context(), sql).Scan(&events, &orders, &lastID, &lastKey); err != nil {
		t.Fatal(err)
	}
	return events, orders, lastID, lastKey
}

func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// The drill: sell, note the time, sell on, do damage, lose the data; come back to before the damage. Then go on there, lose that, too,
// and come back to the end of either timeline.
func TestRestore_BringsBackAnySecondOfALostDatabase(t *testing.T) {
	t.Parallel()
	all := openFolder(t)
	in := func(name string) string { return filepath.Join(all, name) }
	archive := in("archive")
	house := serveArchived(t, in("house"), archive)
	if out, err := try(t, "event", "create", "--data", house.folder, "--plan", "theatre", "--name", "Evening", "--paid-ahead=false"); err != nil {
		t.Fatal(out, err)
	}
	house.sell(t)
	first := house.now(t)
	house.sell(t)
	second := house.now(t)
	if _, err := house.db.Exec(t.Context(), `SET session_replication_role = replica; DELETE FROM event`); err != nil {
		t.Fatal(err)
	}
	refuses := func(says string, args ...string) {
		t.Helper()
		if _, err := try(t, append([]string{"restore", "--archive", archive}, args...)...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
	refuses("another usher runs", "--to", "latest", "--data", house.folder)
	t.Logf("the archive had it after %s", house.reaches(t))
	house.lose(t)

	if _, err := try(t, "serve", "--addr", "127.0.0.1:0", "--data", in("empty"), "--archive", archive); err == nil || !strings.Contains(err.Error(), "usher restore --to latest") {
		t.Errorf("serve made a new database beside the archive of a lost one: %v", err)
	}
	back := func(name string, args ...string) string {
		t.Helper()
		out, err := try(t, append([]string{"restore", "--archive", archive, "--data", in(name)}, args...)...)
		if err != nil || strings.Count(out, "  ok (") < 60 || !strings.Contains(out, "every promise holds there") || !strings.Contains(out, "What came later is not in it") {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	has := func(name string, wantEvents, wantOrders int) {
		t.Helper()
		events, orders, lastID, lastKey := orderedIn(t, in(name))
		if events != wantEvents || orders != wantOrders {
			t.Errorf("%s has %d events and %d orders, want %d and %d", name, events, orders, wantEvents, wantOrders)
		}
		if lastID < 1_000_000 {
			t.Errorf("%s asks a provider once more with key %d", name, lastID+1)
		}
		if lastKey < 1000 {
			t.Errorf("%s gives id %d once more to a key of tickets", name, lastKey+1)
		}
	}
	back("first", "--to", first.Format(time.RFC3339Nano))
	has("first", 1, 1)
	refuses("a restore replaces nothing", "--to", "latest", "--data", in("first"))
	refuses("its first backup ended at", "--to", "2026-02-28 20:15:03+01:00", "--data", in("none"))
	refuses("there is no backup", "--to", "latest", "--archive", in("no-archive"), "--data", in("none"))
	if _, err := os.Stat(in("none/postgres")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a restore that was refused left something: %v", err)
	}
	back("second", "--to", second.In(time.FixedZone("", 2*60*60)).Format("2006-01-02 15:04:05.999999Z07:00"))
	if _, err := os.Stat(in("second/postgres.archive")); err == nil {
		t.Error("a database that was brought back archives by itself: a drill would add to the archive of the house")
	}

	// The one before the damage goes on, on a timeline of its own.
	again := serveArchived(t, in("second"), archive)
	again.sell(t)
	again.reaches(t)
	again.lose(t)
	if list, err := filepath.Glob(filepath.Join(archive, "archive", "usher", "*", "00000002.history*")); err != nil || len(list) == 0 {
		t.Errorf("the archive does not know where the timelines parted (%v): another restore would choose the same", err)
	}
	key, err := os.ReadFile(in("second/secret.key")) // of which an operator has a copy elsewhere
	if err == nil {
		err = errors.Join(os.Mkdir(in("third"), 0o755), os.WriteFile(in("third/secret.key"), key, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := back("third", "--to", time.Now().UTC().Format(time.RFC3339Nano)); !strings.Contains(out, "The archive ends before that time") {
		t.Errorf("it does not say that the archive ends early:\n%s", out)
	}
	has("third", 1, 3)
	// What was left out is there all the same, with the damage, which does not come back unnoticed.
	code, out := status(t, "restore", "--archive", archive, "--data", in("damaged"), "--to", "latest", "--timeline", "1")
	if code != 1 || !strings.Contains(out, "BROKEN: event number 1: it is not there") || !strings.Contains(out, "What came later is not in it") {
		t.Errorf("of the end of the first timeline it says %d\n%s", code, out)
	}
	has("damaged", 0, 2)
}
