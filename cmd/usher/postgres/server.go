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
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
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
	log      *slog.Logger

	owner *os.File           // the lock of the one process that runs the server; nil when another one does
	end   context.CancelFunc // tells keepAlive to stop the server
	done  chan struct{}      // closed when the server is stopped for good
}

// Start starts the server whose data is in dir, made at the first start; when another usher already runs it, it is
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

// begin runs the server, or finds the one that another process runs.
func (p *Server) begin(ctx context.Context) (*Server, error) {
	if p.owner == nil {
		if err := p.ready(ctx, nil); err != nil {
			return nil, fmt.Errorf("postgres: the PostgreSQL of another usher in %s does not answer: %w", p.dir, err)
		}
		return p, nil
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
	p.owner, err = own(filepath.Join(dir, "owner"))
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

// Stop ends the server cleanly: running statements are rolled back, everything that was committed is on disk. A server
// that another process runs is left alone. When ctx is over first, the server goes on stopping.
func (p *Server) Stop(ctx context.Context) error {
	if p.owner == nil {
		return nil
	}
	p.end()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
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

// CheckDurable refuses a database that would lose what it acknowledged.
func CheckDurable(ctx context.Context, conn *pgx.Conn) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
			return fmt.Errorf("postgres: read %s: %w", setting, err)
		}
		if value == "off" {
			return fmt.Errorf("postgres: this PostgreSQL runs with %s=off and may lose what it confirmed: set %s=on", setting, setting)
		}
	}
	return nil
}
