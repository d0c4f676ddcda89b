package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Private is a PostgreSQL server of usher's own: a data folder, a Unix socket inside it, no port.
type Private struct {
	DSN string

	dir      string
	binaries string
	socket   string
	settings []string
	log      *slog.Logger
	owner    *os.File // the lock of the one process that runs the server; nil when another one does

	mu       sync.Mutex
	cmd      *exec.Cmd
	ended    chan struct{} // closed when cmd has ended
	stopping bool
	done     chan struct{} // closed when the server is stopped for good
}

// socketLimit is the longest path of a Unix socket, less the file's own name.
const socketLimit = 107 - len("/.s.PGSQL.5432")

// StartPrivate starts the server whose data is in dir, made at the first start; when another usher already runs it, it is
// used and left running. A server that dies is started again. Extra settings are given as "name=value".
func StartPrivate(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Private, error) {
	p, err := newPrivate(dir, log, settings)
	if err != nil {
		return nil, fmt.Errorf("migrations: private PostgreSQL: %w", err)
	}
	if p.owner == nil {
		if err := p.ready(ctx); err != nil {
			return nil, fmt.Errorf("migrations: the PostgreSQL of another usher in %s does not answer: %w", dir, err)
		}
		return p, nil
	}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrations: private PostgreSQL: %w", err), p.owner.Close())
	}
	go p.keepAlive()
	return p, nil
}

func newPrivate(dir string, log *slog.Logger, settings []string) (*Private, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &Private{dir: filepath.Join(dir, "postgres"), log: log, settings: settings, done: make(chan struct{})}
	if err := os.MkdirAll(dir, 0o755); err != nil { // the server's user must be able to walk in
		return nil, err
	}
	p.socket = p.dir
	if len(p.socket) > socketLimit {
		p.socket = filepath.Join(os.TempDir(), fmt.Sprintf("usher-%x", hashOf(p.dir)))
	}
	p.DSN = fmt.Sprintf("host=%s user=postgres dbname=usher", p.socket)
	if p.owner, err = own(filepath.Join(dir, "owner")); err != nil {
		return nil, err
	}
	if p.binaries, err = findBinaries(p.dir); err != nil {
		return nil, err
	}
	return p, nil
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
	return file, err
}

// start makes the data folder if there is none, starts the server and waits until it answers.
func (p *Private) start(ctx context.Context) error {
	who, err := serverUser(p.dir)
	if err != nil {
		return err
	}
	for _, folder := range []string{p.dir, p.socket} {
		if err := who.makeFolder(folder); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "PG_VERSION")); errors.Is(err, os.ErrNotExist) {
		if err := p.initdb(ctx, who); err != nil {
			return err
		}
	}
	return p.launchUntilReady(ctx, who)
}

// launchUntilReady tries again while the processes of a server that was killed still hold its memory.
func (p *Private) launchUntilReady(ctx context.Context, who *user) error {
	for deadline := time.Now().Add(10 * time.Second); ; {
		if err := p.launch(who); err != nil {
			return err
		}
		trying, cancel := context.WithCancel(ctx)
		ended := p.ended
		go func() {
			select {
			case <-ended:
				cancel()
			case <-trying.Done():
			}
		}()
		err := p.ready(trying)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("it does not answer (its words are in %s): %w", p.logFile(), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (p *Private) logFile() string { return filepath.Join(filepath.Dir(p.dir), "postgres.log") }

func (p *Private) initdb(ctx context.Context, who *user) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.binaries, "initdb"), "-D", p.dir, "-U", "postgres",
		"--auth=trust", "--locale=C", "--encoding=UTF8", "--data-checksums", "--no-sync", "--no-instructions")
	cmd.Dir = p.dir
	who.become(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

var errStopping = errors.New("the server is being stopped")

// launch starts the server process once. keepAlive waits for it.
func (p *Private) launch(who *user) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return errStopping
	}
	out, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	args := []string{"-D", p.dir, "-k", p.socket}
	for _, s := range append([]string{
		"listen_addresses=", "unix_socket_permissions=0700", "max_connections=100", "shared_buffers=256MB", "max_wal_size=2GB",
		"wal_compression=on", "idle_in_transaction_session_timeout=10s", "logging_collector=off",
	}, p.settings...) {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(filepath.Join(p.binaries, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	who.become(cmd)
	started := make(chan error, 1)
	ended := make(chan struct{})
	go waitFor(cmd, started, ended, out) // on a thread of its own: the server ends with it
	if err := <-started; err != nil {
		return err
	}
	p.cmd, p.ended = cmd, ended
	return nil
}

// readyTime is how long a start may take: after a crash the server first replays its log.
const readyTime = 60 * time.Second

// ready waits until the server answers and makes the database at its first start.
func (p *Private) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := p.makeDatabase(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *Private) makeDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, fmt.Sprintf("host=%s user=postgres dbname=postgres", p.socket))
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
