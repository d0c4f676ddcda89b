package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Target is what a database is brought back to.
type Target struct {
	At       time.Time // all that was committed until then, inclusive; zero: all that the archive has
	Timeline int       // 0: the latest
}

// Restored is what came back.
type Restored struct {
	Last     time.Time // of the last transaction that was replayed; zero: none was
	Timeline int       // the one that was followed; another one begins there
	Early    bool      // the archive ends before the target
	Backup   string    // label of the backup that it began with
}

// mayBegin reports whether a restore to the target may begin with a backup. That ended at some time within its second.
func (to Target) mayBegin(b Backup) bool {
	return (to.At.IsZero() || !b.Ended.Add(time.Second).After(to.At)) && (to.Timeline == 0 || b.Timeline <= to.Timeline)
}

// ErrTarget is a target that the archive cannot reach.
var ErrTarget = errors.New("the archive does not have that")

// Restore brings the data of an archive back into the folder dir, which must have none, and calls prepare with the address of
// the database before the folder gets its name. StartArchiving refuses it until Checked was called: the same restore goes
// on where an earlier one was cut off after that. It does not archive: a drill would add to the archive of the database that it
// is a copy of.
func Restore(ctx context.Context, dir, place string, to Target, log *slog.Logger, prepare func(ctx context.Context, dsn string) error) (r Restored, err error) {
	p, err := newServer(dir, log, nil)
	if err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	if p.owner == nil {
		return r, fmt.Errorf("another usher runs the PostgreSQL in %s: stop it first, or name another folder with --data", p.dir)
	}
	defer func() { err = errors.Join(err, p.owner.Close()) }()
	if before, err := p.unchecked(); err != nil || before != nil {
		return before.again(place, to, p.dir, err)
	}
	if err := os.Remove(p.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("there is something in %s, and a restore replaces nothing: name another folder with --data, or move that one away", p.dir)
	}
	who, err := restoringUser(p.dir, place)
	if err != nil {
		return r, err
	}
	if err := os.RemoveAll(archiveFolder(p.dir)); err != nil { // of data that was lost
		return r, err
	}
	final := p.dir
	p.dir += ".unfinished" // a restore that was cut off leaves nothing that looks finished
	p.socket = socketFolder(p.dir)
	defer func() { err = errors.Join(err, os.RemoveAll(archiveFolder(p.dir))) }()
	if r, err = p.restore(ctx, who, place, to, prepare); err != nil {
		return r, errors.Join(err, os.RemoveAll(p.dir))
	}
	text, err := json.Marshal(unchecked{place, to, r})
	if err != nil {
		return r, err
	}
	if err := who.write(filepath.Join(p.dir, uncheckedName), string(text)); err != nil {
		return r, err
	}
	return r, os.Rename(p.dir, final)
}

// uncheckedName is a file in restored data that was not checked yet. It is renamed with the data.
const uncheckedName = "usher-restore-unchecked"

// unchecked is a restore that was not checked yet.
type unchecked struct {
	Place    string
	To       Target
	Restored Restored
}

// unchecked returns the restore that the data is of, until it is checked; nil if there is none.
func (p *Server) unchecked() (*unchecked, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, uncheckedName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u := &unchecked{}
	return u, json.Unmarshal(text, u)
}

// again goes on with a restore to the same target.
func (u *unchecked) again(place string, to Target, dir string, err error) (Restored, error) {
	if err != nil {
		return Restored{}, err
	}
	if u.Place != place || u.To.Timeline != to.Timeline || !u.To.At.Equal(to.At) {
		return Restored{}, fmt.Errorf("%w; for another one move %s away", u.refusal(dir), dir)
	}
	return u.Restored, nil
}

func (u *unchecked) refusal(dir string) error {
	to := "latest"
	if !u.To.At.IsZero() {
		to = u.To.At.UTC().Format(time.RFC3339Nano)
	}
	if u.To.Timeline != 0 {
		to += fmt.Sprintf(" --timeline %d", u.To.Timeline)
	}
	return fmt.Errorf("the restore into %s is not finished, its promises are not checked: repeat \"usher restore --to %s --archive %s\", with --erased if it had that", dir, to, u.Place)
}

// Checked says that a restored database was checked, and may serve.
func (p *Server) Checked() error {
	err := os.Remove(filepath.Join(p.dir, uncheckedName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// restoringUser is the server's user, or when this process is root's: the owner of an archive in a folder: others may not read it.
func restoringUser(dir, place string) (*user, error) {
	if strings.HasPrefix(place, "s3://") {
		return serverUser(dir)
	}
	return serverUser(place)
}

// restore fetches the data, replays the WAL up to the target, prepares the database, and stops the server.
func (p *Server) restore(ctx context.Context, who *user, place string, to Target, prepare func(context.Context, string) error) (r Restored, err error) {
	if err := os.RemoveAll(p.dir); err != nil {
		return r, err
	}
	a, err := newArchive(who, place, p.dir, p.socket, archiveConfig(p.dir))
	if err != nil {
		return r, err
	}
	list, err := a.reaching(ctx, to)
	if err != nil {
		return r, err
	}
	for _, b := range list {
		r, err = p.restoreFrom(ctx, who, a, b, to, prepare)
		if !errors.Is(err, errOtherTimeline) {
			return r, err
		}
		p.log.Info("the backup is of another timeline; an older one is taken", "backup", b.Label)
		if err := os.RemoveAll(p.dir); err != nil {
			return r, err
		}
	}
	return r, fmt.Errorf("%w: no backup leads to that timeline: %w", ErrTarget, err)
}

func (p *Server) restoreFrom(ctx context.Context, who *user, a *Archive, b Backup, to Target, prepare func(context.Context, string) error) (r Restored, err error) {
	if err := who.makeFolder(p.dir); err != nil {
		return r, err
	}
	args := []string{"restore", "--set=" + b.Label}
	if !to.At.IsZero() {
		args = append(args, "--type=time", "--target="+to.At.UTC().Format("2006-01-02 15:04:05.999999+00"), "--target-action=promote")
	}
	if to.Timeline != 0 {
		args = append(args, "--target-timeline="+strconv.Itoa(to.Timeline))
	}
	if out, err := a.run(ctx, args...); err != nil {
		return r, fmt.Errorf("restore from the archive: %w\n%s", err, out)
	}
	if p.binaries, err = findBinaries(p.dir); err != nil { // of the version that made the data
		return r, err
	}
	if err := who.reach(p.dir, p.binaries); err != nil {
		return r, err
	}
	r, err = p.replay(ctx, who, a, prepare)
	r.Backup = b.Label
	return r, err
}

// reaching returns the backups that a restore may begin with, the best first.
func (a *Archive) reaching(ctx context.Context, to Target) (fit []Backup, err error) {
	list, err := a.Backups(ctx)
	if err != nil && !errors.Is(err, errAbsent) {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(b Backup) bool { return b.Broken })
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: there is no backup in %s", ErrTarget, a.Place)
	}
	for _, b := range slices.Backward(list) {
		if to.mayBegin(b) {
			fit = append(fit, b)
		}
	}
	if len(fit) == 0 && to.At.IsZero() {
		return nil, fmt.Errorf("%w: its first backup is of timeline %d", ErrTarget, list[0].Timeline)
	}
	if len(fit) == 0 {
		return nil, fmt.Errorf("%w: its first backup ended at %s, which is not before %s", ErrTarget, list[0].Ended.UTC().Format(time.RFC3339), to.At.UTC().Format(time.RFC3339))
	}
	return fit, nil
}

// errOtherTimeline is a backup that is no ancestor of the timeline to be followed: it was made after that one began.
var errOtherTimeline = errors.New("the backup is of another timeline")

// otherTimeline is what PostgreSQL says of it.
const otherTimeline = "is not a child of this server's history"

// endsEarly is what PostgreSQL says where the WAL ends before the target.
const endsEarly = "recovery ended before configured recovery target was reached"

// getCommand has the server read WAL from the archive. PostgreSQL takes every status up to 125 as the end of the WAL, also that
// of an archive that cannot be read. pgBackRest ends with 1 where there is no more, and with more than 1 where it fails.
func (a *Archive) getCommand() string {
	return a.command(`archive-get %f "%p" || { s=$?; [ $s = 1 ] && exit 1; exit 200; }`)
}

// replay runs the server until it has replayed the WAL. Where the WAL ends before the target, all of it is replayed.
func (p *Server) replay(ctx context.Context, who *user, a *Archive, prepare func(context.Context, string) error) (r Restored, err error) {
	if err := who.makeFolder(p.socket); err != nil {
		return r, err
	}
	p.settings = []string{"archive_mode=off", "restore_command=" + a.getCommand()}
	for {
		said, err := size(p.logFile)
		if err != nil {
			return r, err
		}
		server, err := p.launch(who)
		if err != nil {
			return r, err
		}
		err = p.replayed(ctx, server, &r)
		if err == nil {
			err := prepare(ctx, p.address("usher"))
			server.stop()
			return r, err
		}
		server.stop()
		if ctx.Err() != nil || r.Early {
			return r, err
		}
		words, e := from(p.logFile, said)
		if bytes.Contains(words, []byte(otherTimeline)) {
			return r, errOtherTimeline
		}
		if e != nil || !bytes.Contains(words, []byte(endsEarly)) {
			return r, errors.Join(fmt.Errorf("replay the WAL of the archive (its words are in %s): %w\n%s", p.logFile, err, complaints(words)), e)
		}
		r.Early = true
		p.settings = append(p.settings, "recovery_target_time=")
	}
}

// complaints are the words of pgBackRest and PostgreSQL about what failed. They leave out what PostgreSQL answers us while it starts.
func complaints(words []byte) []byte {
	list := slices.DeleteFunc(complaint.FindAll(words, -1), func(line []byte) bool { return bytes.Contains(line, []byte("FATAL:  the database system is ")) })
	return bytes.Join(list[:min(len(list), 20)], []byte("\n"))
}

var complaint = regexp.MustCompile(`(?m)^.*(ERROR|FATAL|PANIC):.*`)

func size(file string) (int64, error) {
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func from(file string, start int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// replayed waits until the server has replayed the WAL, however long that takes, and writes.
func (p *Server) replayed(ctx context.Context, server *process, r *Restored) error {
	for {
		err := p.askReplayed(ctx, r)
		if err == nil || !errors.Is(err, errReplaying) && !isRefused(err) && !isStarting(err) {
			return err
		}
		select {
		case <-server.ended:
			return fmt.Errorf("PostgreSQL ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const replayedSQL = `SELECT pg_is_in_recovery(), pg_last_xact_replay_timestamp()`

// The history of a timeline has a line for each before it, which begins with its number.
const parentSQL = `
SELECT split_part(line, chr(9), 1)::int
  FROM regexp_split_to_table(pg_read_file('pg_wal/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.history'), chr(10)) line
 WHERE line ~ '^\d' ORDER BY 1 DESC LIMIT 1`

var errReplaying = errors.New("it still replays its WAL")

func (p *Server) askReplayed(ctx context.Context, r *Restored) error {
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	var replaying bool
	var last *time.Time
	if err := conn.QueryRow(ctx, replayedSQL).Scan(&replaying, &last); err != nil {
		return err
	}
	if replaying {
		return errReplaying
	}
	if last != nil {
		r.Last = *last
	}
	return conn.QueryRow(ctx, parentSQL).Scan(&r.Timeline)
}
