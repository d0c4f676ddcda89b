package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Archive is where pgBackRest stores backups of a private PostgreSQL and its WAL, so that it can be brought back as
// of any second. Its settings are in a folder beside the data. While they are there, every start of the server archives:
// a start that did not would leave a gap.
type Archive struct {
	Place string // a folder, or s3://bucket/prefix

	program string // pgbackrest
	config  string // its file
	who     *user
}

// NoArchive is the place that ends archiving.
const NoArchive = "none"

// archiveTimeout is how long a change waits at most before its segment of the WAL goes into the archive, in seconds.
const archiveTimeout = 1

// segmentSize is that of the WAL of data that begins with an archive, in MB. A segment is written to its end when its time is over, so 4 MB a
// second are cheaper than PostgreSQL's 16. A busy server archives 30 segments a second, which are 120 MB.
const segmentSize = 4

const noPgBackRest = `an archive needs pgBackRest, which is not on this machine:
  Debian, Ubuntu:  apt-get install -y pgbackrest
  macOS:           brew install pgbackrest`

// archiveFolder has the settings of pgBackRest and its locks.
func archiveFolder(data string) string { return data + ".archive" }

func archiveConfig(data string) string {
	return filepath.Join(archiveFolder(data), "pgbackrest.conf")
}

// newArchive finds pgBackRest, and writes its settings for a data folder into a file of that name.
func newArchive(who *user, place, data, socket, config string) (*Archive, error) {
	a := &Archive{Place: place, config: config, who: who}
	text, err := settingsOf(place, data, socket)
	if err != nil {
		return nil, err
	}
	if err := a.find(); err != nil {
		return nil, err
	}
	if err := who.makeFolder(archiveFolder(data)); err != nil {
		return nil, err
	}
	return a, who.write(config, text)
}

func (a *Archive) find() (err error) {
	if a.program, err = exec.LookPath("pgbackrest"); err != nil {
		return errors.New(noPgBackRest)
	}
	a.program, err = filepath.Abs(a.program)
	return err
}

// settingsOf returns the settings of pgBackRest for a data folder.
func settingsOf(place, data, socket string) (string, error) {
	repository, err := repositoryOf(place)
	folder := archiveFolder(data)
	push := ""
	if strings.HasPrefix(place, "s3://") { // a call takes a while, and a busy sale writes many segments in a second
		push = "[global:archive-push]\narchive-async=y\nprocess-max=4\n"
	}
	return "# Usher writes this file. Variables such as PGBACKREST_REPO1_RETENTION_FULL go before it.\n[global]\n" + repository + `repo1-bundle=y
repo1-retention-full-type=time
repo1-retention-full=14
compress-type=zst
start-fast=y
log-level-file=off
log-level-console=off
log-level-stderr=error
lock-path=` + folder + "\nspool-path=" + folder + "\n" + push + "[usher]\npg1-path=" + data + "\npg1-socket-path=" + socket + "\npg1-port=5432\npg1-user=postgres\n", err
}

// placeIn returns the place in settings; empty if there are none.
func placeIn(settings []byte) string {
	value := func(name string) string {
		_, after, _ := strings.Cut(string(settings), "\n"+name+"=")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	path := value("repo1-path")
	if bucket := value("repo1-s3-bucket"); bucket != "" {
		return strings.TrimRight("s3://"+bucket+path, "/")
	}
	return path
}

// repositoryOf returns the settings of a place.
func repositoryOf(place string) (string, error) {
	if strings.ContainsAny(place, "\r\n") {
		return "", fmt.Errorf("the archive %q has a line break in its name", place)
	}
	rest, s3 := strings.CutPrefix(place, "s3://")
	if !s3 {
		folder, err := filepath.Abs(place)
		return "repo1-path=" + folder + "\n", err
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return "", fmt.Errorf("the archive %q names no bucket, such as s3://bucket/prefix", place)
	}
	return "repo1-type=s3\nrepo1-s3-bucket=" + bucket + "\nrepo1-path=/" + strings.Trim(prefix, "/") + "\n", nil
}

// write replaces a file that only the server's user may read.
func (u *user) write(name, text string) error {
	next := name + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if u.other {
		err = errors.Join(err, f.Chown(int(u.uid), int(u.gid)))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// Archive returns the archive of the server; nil if it has none, or if another process runs the server and looks after it.
func (p *Server) Archive() *Archive {
	if p.owner == nil {
		return nil
	}
	return p.archive
}

// makeArchiveFolder refuses an archive that would be lost with the data, and makes its folder for the server's user.
func (p *Server) makeArchiveFolder(who *user, place string) error {
	if strings.HasPrefix(place, "s3://") {
		return nil
	}
	folder, err := resolved(place)
	if err != nil {
		return err
	}
	for _, data := range []string{filepath.Dir(p.logFile), p.dir} {
		if data, err = resolved(data); err != nil {
			return err
		}
		if inside, err := filepath.Rel(data, folder); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
			return fmt.Errorf("the archive %s is inside the data folder %s, and would be lost with it: name another folder, best on another disk", place, data)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) == 0 { // a folder with something in it has its owner
		if err := makeOpen(filepath.Dir(folder)); err != nil {
			return err
		}
		if err := who.makeFolder(folder); err != nil {
			return err
		}
	}
	if sameDisk(folder, filepath.Dir(p.dir)) {
		p.log.Warn("the archive is on the same disk as the data, and is lost with it: a folder on another machine or s3:// is safer", "archive", place)
	}
	return who.reach(folder)
}

// resolved is a path without links, as far as it exists.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil || path == "/" {
		return path, err
	}
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return real, err
	}
	parent, err := resolved(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

func sameDisk(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && one.Sys().(*syscall.Stat_t).Dev == two.Sys().(*syscall.Stat_t).Dev
}

// archivesIn refuses a place that is not the one in which the server of another process archives.
func (p *Server) archivesIn(place string) error {
	text, err := p.archiveSettings()
	if err != nil {
		return err
	}
	same := place == NoArchive && text == nil
	if place != NoArchive {
		if same, err = isPlaceIn(text, place); err != nil {
			return err
		}
	}
	if !same {
		return fmt.Errorf("another usher runs the PostgreSQL in %s, and it archives elsewhere or not at all: stop that one first", p.dir)
	}
	return nil
}

// archiveSettings are those by which the server archived so far; nil if it did not.
func (p *Server) archiveSettings() ([]byte, error) {
	text, err := os.ReadFile(archiveConfig(p.dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func isPlaceIn(settings []byte, place string) (bool, error) {
	repository, err := repositoryOf(place)
	return err == nil && bytes.Contains(settings, []byte("\n"+repository)), err
}

// prepareArchive reads where the server archives. It refuses to make a new database for the archive of one that was lost.
// It does not touch a place that is in use already: a disk that is not mounted would get an empty archive, and one that is away
// would stop the start.
func (p *Server) prepareArchive(ctx context.Context, who *user, fresh bool) (err error) {
	config := archiveConfig(p.dir)
	if p.place == NoArchive {
		return os.RemoveAll(archiveFolder(p.dir))
	}
	before, err := p.archiveSettings()
	if err != nil {
		return err
	}
	if p.place == "" {
		if p.place = placeIn(before); p.place == "" {
			return nil
		}
	}
	unchanged, err := isPlaceIn(before, p.place)
	if err != nil {
		return err
	}
	if unchanged {
		if fresh {
			return fmt.Errorf("%s is the archive of a database, and there is none in %s: \"usher restore --to latest --archive %s\" brings it back; for a new database remove %s first",
				p.place, p.dir, p.place, archiveFolder(p.dir))
		}
		p.archive = &Archive{Place: p.place, config: config, who: who}
		return errors.Join(p.archive.find(), p.archive.follow(p, before))
	}
	if err := p.makeArchiveFolder(who, p.place); err != nil {
		return err
	}
	if p.archive, err = newArchive(who, p.place, p.dir, p.socket, config+".new"); err != nil || !fresh {
		return err
	}
	list, err := p.archive.Backups(ctx)
	if errors.Is(err, errAbsent) {
		return nil
	}
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("%s has the backups of a database, and there is none in %s: \"usher restore --to latest --archive %s\" brings it back; for a new database name another archive", p.place, p.dir, p.place)
	}
	return err
}

// follow writes the settings again if the data folder was moved. Their time stays: it tells since when all was archived.
func (a *Archive) follow(p *Server, before []byte) error {
	text, err := settingsOf(p.place, p.dir, p.socket)
	if err != nil || text == string(before) {
		return err
	}
	began, err := os.Stat(a.config)
	if err != nil {
		return err
	}
	if err := a.who.makeFolder(archiveFolder(p.dir)); err != nil {
		return err
	}
	next := a.config + ".moved"
	if err := a.who.write(next, text); err != nil {
		return err
	}
	if err := os.Chtimes(next, time.Time{}, began.ModTime()); err != nil {
		return err
	}
	return os.Rename(next, a.config)
}

// beginArchive makes sure that an archive which is new to the server is of this database. Its settings get their name once it is.
func (p *Server) beginArchive(ctx context.Context) error {
	if p.archive == nil || p.archive.config == archiveConfig(p.dir) {
		return nil
	}
	a := p.archive
	out, err := a.run(ctx, "stanza-create", "--no-online")
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) && exit.ExitCode() == otherDatabase {
		return fmt.Errorf("the archive %s belongs to another database, or to another version of PostgreSQL: name another one", p.place)
	}
	if err != nil {
		return fmt.Errorf("the archive %s cannot be used: %w\n%s", p.place, err, out)
	}
	next := a.config
	a.config = archiveConfig(p.dir)
	if err := p.archiveHistory(a.who); err != nil {
		return err
	}
	return os.Rename(next, a.config)
}

// otherDatabase is the exit status of pgBackRest for a database that does not match.
const otherDatabase = 28

// archiveHistory has the server archive where its timelines parted. A restored server that did not archive has not done so.
func (p *Server) archiveHistory(who *user) error {
	list, err := filepath.Glob(filepath.Join(p.dir, "pg_wal", "*.history"))
	if err != nil {
		return err
	}
	for _, file := range list {
		status := filepath.Join(p.dir, "pg_wal", "archive_status", filepath.Base(file))
		if _, err := os.Stat(status + ".done"); err == nil {
			continue
		}
		if err := who.write(status+".ready", ""); err != nil {
			return err
		}
	}
	return nil
}

// unarchived counts the segments that wait for the archive of a server which stops, and says so.
func (p *Server) unarchived() int {
	if p.archive == nil {
		return 0
	}
	list, err := filepath.Glob(filepath.Join(p.dir, "pg_wal", "archive_status", "*.ready"))
	if err != nil || len(list) == 0 {
		return 0
	}
	p.log.Warn("WAL waits for the archive, and goes there after the next start", "archive", p.archive.Place, "segments", len(list))
	return len(list)
}

// settings are those of a server that archives.
func (a *Archive) settings() []string {
	return []string{
		// A server that restarts by itself would not begin its timeout: it ends, and keepAlive starts it.
		"restart_after_crash=off",
		"archive_mode=on", fmt.Sprintf("archive_timeout=%d", archiveTimeout),
		"archive_command=" + a.command(`archive-push "%p"`),
	}
}

// command is one of pgBackRest for a setting of the server, in which a percent sign begins a name.
func (a *Archive) command(words string) string {
	return strings.ReplaceAll(quoted(a.program)+" --config="+quoted(a.config), "%", "%%") + " --stanza=usher " + words
}

// armArchiveTimeout has the server count archiveTimeout from now on. Its checkpointer may have begun to wait before the server
// was ready, when no timeout counts, and waits until the first checkpoint is due: five minutes.
func (p *Server) armArchiveTimeout(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	_, err = conn.Exec(ctx, `SELECT pg_reload_conf()`)
	return err
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// run runs pgBackRest and returns what it printed. It does not wait for one that hangs in a disk that is away and cannot be ended.
func (a *Archive) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, a.program, append([]string{"--config=" + a.config, "--stanza=usher"}, args...)...)
	cmd.Dir = "/"
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends a backup in order
	cmd.WaitDelay = 2 * time.Second
	a.who.become(cmd)
	type result struct {
		out []byte
		err error
	}
	ended := make(chan result, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		ended <- result{out, err}
	}()
	select {
	case r := <-ended:
		return r.out, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-ended:
		return r.out, r.err
	case <-time.After(2 * cmd.WaitDelay):
		return nil, fmt.Errorf("pgBackRest hangs: %w", ctx.Err())
	}
}

// Backup is one backup in an archive.
type Backup struct {
	Label    string
	Full     bool
	Broken   bool      // pages of the database did not fit their checksums: a restore takes another one
	Ended    time.Time // the database can be brought back as of any second after it
	Timeline int
}

// errAbsent is a place with no archive in it, such as the folder in which its disk is not mounted.
var errAbsent = errors.New("there is no archive: is its disk mounted? On a new disk \"usher serve --archive none\" and then --archive begin again")

// listTime is how long an archive may take to list its backups.
const listTime = time.Minute

// Backups lists the backups of the archive, the oldest first.
func (a *Archive) Backups(ctx context.Context) (list []Backup, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	out, err := a.run(ctx, "info", "--output=json")
	if err != nil {
		return nil, fmt.Errorf("the archive cannot be read: %w\n%s", err, out)
	}
	var stanzas []struct {
		Repo []struct {
			Status struct {
				Code    int
				Message string
			}
		}
		Backup []struct {
			Label, Type string
			Error       bool
			Timestamp   struct{ Stop int64 }
			Archive     struct{ Start string } // the first segment of its WAL, which begins with the timeline
		}
	}
	if err := json.Unmarshal(out, &stanzas); err != nil {
		return nil, fmt.Errorf("the archive cannot be read: %w\n%s", err, out)
	}
	for _, stanza := range stanzas {
		for _, repo := range stanza.Repo {
			if repo.Status.Code == absentPath || repo.Status.Code == absentData {
				return nil, fmt.Errorf("%s: %w", a.Place, errAbsent)
			}
			if repo.Status.Code >= unreadable {
				return nil, fmt.Errorf("the archive cannot be read: %s", repo.Status.Message)
			}
		}
		for _, b := range stanza.Backup {
			if len(b.Archive.Start) < 8 {
				continue
			}
			timeline, err := strconv.ParseInt(b.Archive.Start[:8], 16, 32)
			if err != nil {
				return nil, fmt.Errorf("the archive cannot be read: backup %s: %w", b.Label, err)
			}
			list = append(list, Backup{b.Label, b.Type == "full", b.Error, time.Unix(b.Timestamp.Stop, 0), int(timeline)})
		}
	}
	return list, nil
}

// What pgBackRest says of an archive.
const (
	absentPath = 1
	absentData = 3
	unreadable = 4 // and more
)

// BackUp writes a backup into the archive that has those of the list: a full one, or of what changed since the last full one. It also
// removes backups that are too old. It returns the new list.
func (a *Archive) BackUp(ctx context.Context, list []Backup, full bool) ([]Backup, error) {
	kind := "diff"
	if full {
		kind = "full"
	}
	if out, err := a.run(ctx, "backup", "--type="+kind); err != nil {
		return nil, fmt.Errorf("back up into the archive: %w\n%s", err, out)
	}
	after, err := a.Backups(ctx)
	if err != nil {
		return nil, err
	}
	return after, shown(list, after)
}

// shown refuses a backup that the archive does not show: another would follow at once.
func shown(before, after []Backup) error {
	if len(after) == 0 || len(before) > 0 && before[len(before)-1].Label == after[len(after)-1].Label {
		return errors.New("pgBackRest wrote a backup, and the archive does not show it")
	}
	return nil
}

// backupHour is the hour of the day at which a backup is due, in the time zone of the machine.
const backupHour = 4

// Due returns when the next backup is due, and whether it is to be a full one: at once since archiving began,
// later each night, and a full one once a week.
func (a *Archive) Due(list []Backup, zone *time.Location) (at time.Time, full bool, err error) {
	began, err := os.Stat(a.config)
	if err != nil {
		return at, false, err
	}
	at, full = due(list, began.ModTime(), zone)
	return at, full, nil
}

func due(list []Backup, began time.Time, zone *time.Location) (at time.Time, full bool) {
	var last, tried, lastFull time.Time
	for _, b := range list {
		last = b.Ended
		if b.Full {
			tried = b.Ended
		}
		if b.Full && !b.Broken {
			lastFull = b.Ended
		}
	}
	if tried.Before(began.Truncate(time.Second)) {
		return began, true
	}
	year, month, day := last.In(zone).Date()
	if at = time.Date(year, month, day, backupHour, 0, 0, 0, zone); !at.After(last) {
		at = time.Date(year, month, day+1, backupHour, 0, 0, 0, zone)
	}
	return at, at.Sub(lastFull) > 6*24*time.Hour
}
