// Package postgres runs a PostgreSQL server of usher's own, for an operator who names none. It makes the data, supervises the
// server, starts it again when it dies, and ends it cleanly. The server has a Unix socket and no port.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a PostgreSQL server of usher's own: a data folder, a Unix socket, no port.
type Server struct {
	DSN string

	dir      string // the server's data
	socket   string // the folder of its socket: dir, or a short one
	logFile  string
	binaries string
	settings []string
	env      []string // of the server, besides ours
	place    string   // where it is to archive; empty: where it did
	archive  *Archive // nil: it does not archive
	log      *slog.Logger

	owner *os.File           // the lock of the one process that runs the server; nil when another one does
	end   context.CancelFunc // tells keepAlive to stop the server
	done  chan struct{}      // closed when the server is stopped for good
}

// Fleeting are settings of a server on which nothing depends. It writes what it commits, and does not wait until that is on the disk: it
// loses its data if the machine fails, and takes no flush of the disk from others.
var Fleeting = []string{"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "checkpoint_timeout=1h"}

// Start starts the server of the data in dir, made at the first start; when another usher already runs it, it is
// used and left running. A server that dies is started again. Extra settings are given as "name=value".
func Start(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Server, error) {
	return StartIn(ctx, nil, dir, log, settings...)
}

// StartIn is Start with more in the environment of the server, as "NAME=value".
func StartIn(ctx context.Context, env []string, dir string, log *slog.Logger, settings ...string) (*Server, error) {
	p, err := newServer(dir, log, settings)
	if err != nil {
		return nil, fmt.Errorf("start the private PostgreSQL: %w", err)
	}
	p.env = env
	return p.begin(ctx)
}

// StartArchiving is Start of a server that archives in a place: a folder, s3://bucket/prefix, or NoArchive. An empty place goes
// on with the one before, if there was one. Only the process that runs the server can change the place.
func StartArchiving(ctx context.Context, dir, place string, log *slog.Logger) (*Server, error) {
	p, err := newServer(dir, log, nil)
	if err != nil {
		return nil, fmt.Errorf("start the private PostgreSQL: %w", err)
	}
	if restored, err := p.unchecked(); err != nil || restored != nil {
		if err == nil {
			err = restored.refusal(p.dir)
		}
		if p.owner != nil {
			err = errors.Join(err, p.owner.Close())
		}
		return nil, err
	}
	if p.place = place; p.owner == nil && place != "" {
		if err := p.archivesIn(place); err != nil {
			return nil, err
		}
	}
	return p.begin(ctx)
}

// begin runs the server, or finds the one that another process runs.
func (p *Server) begin(ctx context.Context) (*Server, error) {
	if p.owner == nil {
		err := p.join(ctx)
		if err == nil && p.owner == nil {
			return p, nil
		}
		if p.owner == nil {
			return nil, fmt.Errorf("postgres: the PostgreSQL of another usher in %s does not answer: %w", p.dir, err)
		}
	}
	first, err := p.firstStart(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the private PostgreSQL: %w", err), p.owner.Close())
	}
	running, end := context.WithCancel(context.Background()) // until Stop, whatever ctx was for
	p.end, p.done = end, make(chan struct{})
	go p.keepAlive(running, first)
	return p, nil
}

// join waits until the server that another process runs answers. It takes the lock if that process ends meanwhile: it may have been one that was
// just forked from the owner, and has the owner's files until it runs its own program.
func (p *Server) join(ctx context.Context) (err error) {
	waiting, end := context.WithCancel(ctx)
	free, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-waiting.Done():
				done <- nil
				return
			case <-time.After(100 * time.Millisecond):
			}
			var err error
			if p.owner, err = own(p.ownerFile()); err != nil || p.owner != nil {
				close(free)
				done <- err
				return
			}
		}
	}()
	err = p.ready(ctx, free)
	end()
	return errors.Join(err, <-done)
}

func (p *Server) ownerFile() string { return filepath.Join(filepath.Dir(p.logFile), "owner") }

func newServer(dir string, log *slog.Logger, settings []string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := makeOpen(dir); err != nil {
		return nil, err
	}
	p := &Server{logFile: filepath.Join(dir, "postgres.log"), log: log, settings: settings}
	if p.dir, err = dataFolder(dir, log); err != nil {
		return nil, err
	}
	p.socket = socketFolder(p.dir)
	p.DSN = p.address("usher")
	p.owner, err = own(p.ownerFile())
	return p, err
}

// address is how a database of the server is reached. Everything is said, so that the environment changes nothing.
func (p *Server) address(database string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p.socket)
	return fmt.Sprintf("host='%s' port=5432 user=postgres dbname=%s", quoted, database)
}

// own takes the lock that makes this process the one that runs the server; nil if another process has it.
func own(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, file.Close()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Owned reports whether this process runs the server, and not another one.
func (p *Server) Owned() bool { return p.owner != nil }

// Stop ends the server cleanly: running statements are rolled back, everything that was committed is on disk. A server
// that another process runs is left alone. When ctx is over first, the server goes on stopping; that is no error where it
// waits for its archive.
func (p *Server) Stop(ctx context.Context) error {
	if p.owner == nil {
		return nil
	}
	p.end()
	select {
	case <-p.done:
		p.unarchived()
		return nil
	case <-ctx.Done():
		if p.unarchived() > 0 { // it waits for its archive only, and has written everything
			return nil
		}
		return fmt.Errorf("postgres: PostgreSQL is still stopping: %w", ctx.Err())
	}
}

// Copy makes the data of a standby of this server in a folder, which Start then starts. It follows this server until
// it is promoted.
func (p *Server) Copy(ctx context.Context, dir string) error {
	if err := makeOpen(dir); err != nil {
		return err
	}
	data := filepath.Join(dir, "postgres")
	who, err := serverUser(p.dir)
	if err != nil {
		return err
	}
	if err := who.makeFolder(data); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.binaries, "pg_basebackup"), "-D", data, "-h", p.socket, "-p", "5432", "-U", "postgres",
		"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	cmd.Dir = data
	who.become(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("postgres: copy the server: %w\n%s", err, out)
	}
	// The lock of the socket beside the data is that of the server, not of its copy.
	if err := os.Remove(filepath.Join(data, ".s.PGSQL.5432.lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("postgres: copy the server: %w", err)
	}
	return nil
}

// CheckDurable refuses a database that would lose what it acknowledged: with local, commits wait for no standby, and a failover loses them.
// It also refuses one that does not warn of a commit that stopped to wait.
func CheckDurable(ctx context.Context, conn *pgx.Conn) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
			return fmt.Errorf("postgres: read %s: %w", setting, err)
		}
		if value == "off" || value == "local" {
			return fmt.Errorf("postgres: this PostgreSQL runs with %s=%s and may lose what it confirmed: set %s=on", setting, value, setting)
		}
	}
	var least string
	if err := conn.QueryRow(ctx, `SELECT current_setting('client_min_messages')`).Scan(&least); err != nil {
		return fmt.Errorf("postgres: read client_min_messages: %w", err)
	}
	if slices.Contains([]string{"error", "fatal", "panic"}, least) {
		return fmt.Errorf("postgres: this PostgreSQL runs with client_min_messages=%s and hides that a commit did not wait for its standby: set client_min_messages=warning", least)
	}
	return nil
}

// firstStart makes the data folder if there is none and starts the server.
func (p *Server) firstStart(ctx context.Context) (*process, error) {
	var err error
	if p.binaries, err = findBinaries(p.dir); err != nil {
		return nil, err
	}
	if err := p.endOrphan(ctx); err != nil {
		return nil, err
	}
	who, err := serverUser(p.dir)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(filepath.Join(p.dir, "PG_VERSION"))
	fresh := errors.Is(err, os.ErrNotExist)
	if err := p.prepareArchive(ctx, who, fresh); err != nil {
		return nil, err
	}
	if fresh {
		if err := p.initdb(ctx, who); err != nil {
			return nil, err
		}
	}
	if err := p.beginArchive(ctx); err != nil {
		return nil, err
	}
	if err := who.makeFolder(p.socket); err != nil {
		return nil, err
	}
	if err := who.reach(p.dir, p.socket, p.binaries); err != nil {
		return nil, err
	}
	return p.start(ctx, who)
}

// initdb makes the data under another name first: a start that was cut off leaves nothing that looks finished.
func (p *Server) initdb(ctx context.Context, who *user) error {
	if err := os.Remove(p.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is something in %s, and it is no PostgreSQL data: %w", p.dir, err)
	}
	unfinished := p.dir + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	if err := who.makeFolder(unfinished); err != nil {
		return err
	}
	if err := who.reach(unfinished, p.binaries); err != nil {
		return err
	}
	args := []string{
		"-D", unfinished, "-U", "postgres", "--auth=trust", "--locale=C", "--encoding=UTF8", "--data-checksums", "--no-instructions",
	}
	if p.archive != nil {
		args = append(args, fmt.Sprintf("--wal-segsize=%d", segmentSize))
	}
	if slices.Contains(p.settings, "fsync=off") {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.binaries, "initdb"), args...)
	cmd.Dir = unfinished
	who.become(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return os.Rename(unfinished, p.dir)
}

// start tries again while the processes of a server that was killed still hold its memory.
func (p *Server) start(ctx context.Context, who *user) (*process, error) {
	for deadline := time.Now().Add(10 * time.Second); ; {
		server, err := p.launch(who)
		if err != nil {
			return nil, err
		}
		if err = p.ready(ctx, server.ended); err == nil {
			err = p.owned(server)
		}
		if err == nil && p.archive != nil {
			err = p.armArchiveTimeout(ctx)
		}
		if err == nil {
			return server, nil
		}
		server.stop()
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("it does not answer (its words are in %s): %w", p.logFile, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// owned refuses the answer of another server, which has the data while ours finds it locked and ends.
func (p *Server) owned(server *process) error {
	pid, err := p.postmaster()
	if err == nil && pid != server.cmd.Process.Pid {
		err = fmt.Errorf("the server that answers is process %d, of an earlier start", pid)
	}
	return err
}

// launch starts the server process once.
func (p *Server) launch(who *user) (*process, error) {
	args := []string{"-D", p.dir, "-k", p.socket, "-p", "5432"}
	settings := []string{
		"listen_addresses=", "unix_socket_permissions=0700", "max_connections=100", "shared_buffers=256MB", "max_wal_size=2GB",
		"wal_compression=on", "idle_in_transaction_session_timeout=10s", "logging_collector=off",
	}
	if p.archive != nil {
		settings = append(settings, p.archive.settings()...)
	}
	for _, s := range append(settings, p.settings...) {
		args = append(args, "-c", s)
	}
	out, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(p.binaries, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	if len(p.env) > 0 {
		cmd.Env = append(os.Environ(), p.env...)
	}
	who.become(cmd)
	return run(cmd, out)
}

// readyTime is how long a server may take until it answers at all, were it only that it is starting.
const readyTime = 60 * time.Second

// ready waits until the server answers, and makes the database at its first start. It gives up when the process ended. After a
// crash the server first replays its WAL, however long that takes.
func (p *Server) ready(ctx context.Context, ended <-chan struct{}) error {
	began := time.Now()
	last, said := began, began
	for {
		err := p.makeDatabase(ctx)
		if err == nil {
			return nil
		}
		now := time.Now()
		if isStarting(err) {
			last = now
		}
		if now.Sub(last) > readyTime {
			return err
		}
		if now.Sub(said) > time.Minute {
			p.log.Warn("PostgreSQL is still starting", "for", now.Sub(began).Round(time.Second).String(), "words", p.logFile)
			said = now
		}
		select {
		case <-ended:
			return fmt.Errorf("it ended at once: %w", err)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isStarting reports whether an error is the answer of a server that takes no connections yet, or no more.
func isStarting(err error) bool {
	answer := (*pgconn.PgError)(nil)
	return errors.As(err, &answer) && answer.Code == "57P03"
}

// isRefused reports whether an error says that nothing listens on the socket.
func isRefused(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

func (p *Server) makeDatabase(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	var there bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'usher')`).Scan(&there); err != nil || there {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE usher`)
	return err
}

// endOrphan stops a server that outlived its usher. Linux ends it by itself, a moment later; other systems do not.
// Such a server has no supervisor, so it is not taken over: a server of our own recovers the data.
func (p *Server) endOrphan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for p.answers(ctx) {
		pid, err := p.postmaster()
		if err != nil {
			return err
		}
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGINT) // fast shutdown; it may have ended by itself
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a PostgreSQL of an earlier start still runs on %s: %w", p.dir, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// answers reports whether a server listens on the socket, were it only to say that it is starting or stopping, or to hang up.
func (p *Server) answers(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err == nil {
		_ = conn.Close(ctx) // only asked whether it is there
	}
	return !isRefused(err)
}

// postmaster is the process id that the server on the socket wrote down; 0 if it is about to be gone.
func (p *Server) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// process is one run of the server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// run starts a process and waits for its end on a thread of its own: where the system knows how, the server ends with the
// thread that started it, so that it cannot outlive a program that was killed.
func run(cmd *exec.Cmd, out *os.File) (*process, error) {
	started := make(chan error, 1)
	r := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(r.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its exit status is in its log
		}
		_ = out.Close() // every word in it was written by the server itself
	}()
	return r, <-started
}

// stop ends the server cleanly and waits until it is gone. There is no hurry that would be worth a recovery. A server that
// just begins may not hear it: it is told again.
func (r *process) stop() {
	again := time.NewTicker(pause)
	defer again.Stop()
	for {
		_ = r.cmd.Process.Signal(syscall.SIGINT) // fast shutdown; it may have ended by itself
		select {
		case <-r.ended:
			return
		case <-again.C:
		}
	}
}

// pause is the time between two tries to start a server that does not start.
const pause = time.Second

// keepAlive starts the server again whenever it dies, and stops it when ctx is done.
func (p *Server) keepAlive(ctx context.Context, server *process) {
	defer close(p.done)
	defer p.leave()
	for {
		select {
		case <-ctx.Done():
			server.stop()
			return
		case <-server.ended:
			p.log.Warn("PostgreSQL died and is started again")
			if server = p.restart(ctx); server == nil {
				return
			}
		}
	}
}

// restart tries until the server runs; nil if ctx is done first.
func (p *Server) restart(ctx context.Context) *process {
	for ctx.Err() == nil {
		who, err := serverUser(p.dir)
		if err == nil {
			var server *process
			if server, err = p.start(ctx, who); err == nil {
				return server
			}
		}
		if ctx.Err() == nil {
			p.log.Error("PostgreSQL could not be started again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// leave gives the data to the next usher.
func (p *Server) leave() {
	if p.socket != p.dir {
		_ = os.Remove(p.socket) // only untidy if it stays
	}
	_ = p.owner.Close() // nothing was written to it
}
