package postgres

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// archivedServer is a server with a full backup in its archive.
type archivedServer struct {
	*Server
	place string
}

func newArchived(t *testing.T, dir, place string) *archivedServer {
	t.Helper()
	p := mustArchive(t, dir, place)
	if _, err := p.archive.BackUp(t.Context(), nil, true); err != nil {
		t.Fatal(err)
	}
	return &archivedServer{p, place}
}

// run runs statements on the server.
func (a *archivedServer) run(t *testing.T, statements ...string) {
	t.Helper()
	conn := connect(t, a.Server)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// segments are the files of the archive with WAL, the oldest first.
func (a *archivedServer) segments(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(a.place, "archive", "usher", "*", "*", "????????????????????????-*.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const nextSegment = `SELECT pg_switch_wal()`

func TestComplaints_LeaveOutAnswersOfAServerThatStarts(t *testing.T) {
	t.Parallel()
	const failed = "ERROR: [042]: unexpected EOF"
	words := strings.Repeat("2026-11-29 UTC [1] FATAL:  the database system is not yet accepting connections\n", 100) + failed + "\n"
	if got := string(complaints([]byte(words))); got != failed {
		t.Errorf("the complaints are %q", got)
	}
}

func TestRestore_FailsWhereTheArchiveCannotBeRead(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	in := func(name string) string { return filepath.Join(all, name) }
	house := newArchived(t, in("100% house"), in("archive"))
	before := len(house.segments(t))
	house.run(t, `CREATE TABLE sold (n int)`, nextSegment, `INSERT INTO sold VALUES (1)`, nextSegment, `INSERT INTO sold VALUES (2)`, nextSegment)
	stopped(t, house.Server)
	list := house.segments(t)
	if len(list) < before+3 {
		t.Fatalf("%d segments, there were %d", len(list), before)
	}
	middle := list[before+1]
	good, err := os.ReadFile(middle)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(middle, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Repeat([]byte("rust"), len(good)/4))
	back := func(dir string) error {
		_, err := Restore(t.Context(), dir, house.place, Target{}, silent(), unprepared)
		return err
	}
	if err := back(in("50% back")); err == nil || !strings.Contains(err.Error(), "could not restore file") {
		t.Errorf("of an archive that cannot be read in its middle it says %v", err)
	}
	if _, err := os.Stat(in("50% back/postgres")); !os.IsNotExist(err) {
		t.Errorf("it left a database: %v", err)
	}
	write(good)
	if err := back(in("50% back")); err != nil {
		t.Error(err)
	}
	if got := count(t, in("50% back"), `SELECT count(*) FROM sold`); got != 2 {
		t.Errorf("%d rows came back", got)
	}
}

func unprepared(context.Context, string) error { return nil }

// A restore that is cut off before its check leaves nothing that serves, and goes on when it is repeated.
func TestRestore_ThatWasCutOffDoesNotServe(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	in := func(name string) string { return filepath.Join(all, name) }
	house := newArchived(t, in("house"), in("archive"))
	stopped(t, house.Server)
	cut := errors.New("cut off")
	if _, err := Restore(t.Context(), in("back"), house.place, Target{}, silent(), func(context.Context, string) error { return cut }); !errors.Is(err, cut) {
		t.Errorf("what fails before the data has its name: %v", err)
	}
	if _, err := os.Stat(in("back/postgres")); !os.IsNotExist(err) {
		t.Errorf("it left a database: %v", err)
	}
	var first Restored
	for range 2 {
		r, err := Restore(t.Context(), in("back"), house.place, Target{}, silent(), unprepared)
		if err != nil {
			t.Fatal(err)
		}
		if first.Backup != "" && (r.Backup != first.Backup || r.Timeline != first.Timeline) {
			t.Errorf("it says %v, and then %v", first, r)
		}
		first = r
		if _, err := archiving(t, in("back"), house.place); err == nil || !strings.Contains(err.Error(), `repeat "usher restore --to latest`) {
			t.Errorf("it serves what was not checked: %v", err)
		}
	}
	if _, err := Restore(t.Context(), in("back"), house.place, Target{Timeline: 1}, silent(), unprepared); err == nil || !strings.Contains(err.Error(), "for another one move") {
		t.Errorf("a restore to something else: %v", err)
	}
	p := start(t, in("back"))
	if err := p.Checked(); err != nil {
		t.Fatal(err)
	}
	stopped(t, p)
	if _, err := archiving(t, in("back"), ""); err != nil {
		t.Errorf("it does not serve what was checked: %v", err)
	}
}

// A backup that was made after the wanted timeline began is no way to it: an older one is.
func TestRestore_FollowsATimelineThatBeganBeforeTheLastBackup(t *testing.T) {
	t.Parallel()
	all := place(t, "")
	in := func(name string) string { return filepath.Join(all, name) }
	house := newArchived(t, in("house"), in("archive"))
	house.run(t, `CREATE TABLE sold (n int)`, nextSegment)
	stopped(t, house.Server)
	if _, err := Restore(t.Context(), in("second"), house.place, Target{}, silent(), unprepared); err != nil {
		t.Fatal(err)
	}
	house.Server = mustArchive(t, in("house"), "")
	if _, err := house.archive.BackUp(t.Context(), nil, true); err != nil { // of the first timeline, after the second began
		t.Fatal(err)
	}
	stopped(t, house.Server)
	p := start(t, in("second"))
	if err := p.Checked(); err != nil {
		t.Fatal(err)
	}
	stopped(t, p)
	second := archivedServer{mustArchive(t, in("second"), house.place), house.place}
	second.run(t, `INSERT INTO sold VALUES (1)`, nextSegment)
	stopped(t, second.Server)
	r, err := Restore(t.Context(), in("back"), house.place, Target{}, silent(), unprepared)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, in("back"), `SELECT count(*) FROM sold`); got != 1 || r.Timeline != 2 {
		t.Errorf("%d rows of timeline %d came back", got, r.Timeline)
	}
}

func mustArchive(t *testing.T, dir, place string) *Server {
	t.Helper()
	p, err := StartArchiving(t.Context(), dir, place, silent())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, p) })
	return p
}

// An archive that another user wrote, such as that of another machine, is read as that user.
func TestRestore_AsRootReadsTheArchiveAsItsOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	all := place(t, "")
	in := func(name string) string { return filepath.Join(all, name) }
	house := newArchived(t, in("house"), in("archive"))
	stopped(t, house.Server)
	err := filepath.WalkDir(house.place, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, noUser, noUser))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), in("back"), house.place, Target{}, silent(), unprepared); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(in("back/postgres"))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != noUser {
		t.Errorf("it belongs to another user: %v", err)
	}
}

func TestRestore_BeginsWithABackupThatEndedBefore(t *testing.T) {
	t.Parallel()
	b := Backup{Ended: time.Unix(1900000000, 0), Timeline: 2}
	for name, c := range map[string]struct {
		to  Target
		may bool
	}{
		"all":                     {Target{}, true},
		"within its last second":  {Target{At: b.Ended.Add(999 * time.Millisecond)}, false},
		"the second after":        {Target{At: b.Ended.Add(time.Second)}, true},
		"a timeline before":       {Target{Timeline: 1}, false},
		"its timeline":            {Target{Timeline: 2}, true},
		"its timeline, too early": {Target{At: b.Ended, Timeline: 2}, false},
	} {
		if got := c.to.mayBegin(b); got != c.may {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// answering is a server that answers each connection with an error of that code.
func answering(t *testing.T, code string, asked func()) *Server {
	t.Helper()
	p := &Server{socket: place(t, "")}
	listener, err := net.Listen("unix", filepath.Join(p.socket, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	answer, err := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "no"}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked()
			_, _ = conn.Read(make([]byte, 1024)) // its start
			_, _ = conn.Write(answer)
			_ = conn.Close()
		}
	}()
	return p
}

// Only a server that starts, or replays, is waited for.
func TestRestore_SaysWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	server := &process{ended: make(chan struct{})}
	once, often := atomic.Int64{}, atomic.Int64{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := answering(t, "53300", func() { once.Add(1) }).replayed(ctx, server, &Restored{})
	if err == nil || once.Load() != 1 {
		t.Errorf("it asks %d times: %v", once.Load(), err)
	}
	starting := answering(t, "57P03", func() {
		if often.Add(1) == 3 {
			cancel()
		}
	})
	if err := starting.replayed(ctx, server, &Restored{}); err == nil || often.Load() < 3 {
		t.Errorf("it asks %d times: %v", often.Load(), err)
	}
}

// count runs a query on the data of a folder.
func count(t *testing.T, dir, sql string) (n int) {
	t.Helper()
	p, err := Start(t.Context(), dir, silent())
	if err != nil {
		t.Fatal(err)
	}
	defer stopped(t, p)
	conn := connect(t, p)
	defer func() { _ = conn.Close(context.Background()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := conn.QueryRow(ctx, sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
