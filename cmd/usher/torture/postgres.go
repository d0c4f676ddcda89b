package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/migrations"
)

// Server is the PostgreSQL of a torture. It is started again whenever it dies.
type Server struct {
	private   *migrations.Private
	dir       string
	socket    string
	databases atomic.Int64
	template  error // why there is no database to copy
	once      sync.Once
}

var hostOf = regexp.MustCompile(`host='([^']*)'`)

// StartServer starts a PostgreSQL in a folder of its own. What was committed without waiting for the disk would be written
// late: so it is lost for sure when the server is killed, and nobody may rely on it.
func StartServer(ctx context.Context) (*Server, error) {
	dir, err := os.MkdirTemp("", "usher-torture-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // G302: the server's user has to pass through
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.private, err = migrations.StartPrivate(ctx, filepath.Join(dir, "data"), slog.New(slog.NewTextHandler(io.Discard, nil)),
		"max_connections=400", "shared_buffers=64MB", "wal_writer_delay=10s", "wal_writer_flush_after=1GB", "deadlock_timeout=100ms")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	found := hostOf.FindStringSubmatch(s.private.DSN)
	if found == nil {
		return nil, errors.Join(fmt.Errorf("torture: no folder of a socket in %q", s.private.DSN), s.Stop())
	}
	s.socket = filepath.Join(found[1], ".s.PGSQL.5432")
	return s, nil
}

func (s *Server) dial() (net.Conn, error) { return net.DialTimeout("unix", s.socket, 2*time.Second) }

// dsn is how the torture itself reaches a database there, without a proxy.
func (s *Server) dsn(database string) string {
	return strings.Replace(s.private.DSN, "dbname=usher", "dbname="+database, 1)
}

// newDatabase makes an empty database and brings it up to date.
func (s *Server) newDatabase(ctx context.Context) (name string, err error) {
	s.once.Do(func() { s.template = s.migrate(ctx) })
	if s.template != nil {
		return "", s.template
	}
	name = fmt.Sprint("torture", s.databases.Add(1))
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE usher")
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return "", fmt.Errorf("torture: make a database: %w", err)
	}
	return name, nil
}

// migrate brings the database up to date that all others are copies of.
func (s *Server) migrate(ctx context.Context) error {
	conn, err := s.connect(ctx, "usher")
	if err != nil {
		return err
	}
	_, err = migrations.Up(ctx, conn)
	return errors.Join(err, conn.Close(ctx))
}

// connect waits until the server answers.
func (s *Server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.dsn(database))
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("torture: PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// die sends the server's first process a signal: SIGKILL is a crash, SIGQUIT an immediate stop. Then it waits until
// another one answers.
func (s *Server) die(ctx context.Context, how syscall.Signal) error {
	pid, err := s.postmaster()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, how); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	deadline := time.Now().Add(patience)
	for {
		if now, err := s.postmaster(); err == nil && now != pid {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("torture: PostgreSQL was not started again")
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func (s *Server) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.socket), "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(s.dir, "data", "postgres", "postmaster.pid"))
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// Stop ends the server and removes its folder, and the data where they were put elsewhere.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.private.Stop(ctx)
	if elsewhere, e := os.Readlink(filepath.Join(s.dir, "data", "postgres")); e == nil {
		err = errors.Join(err, os.RemoveAll(elsewhere))
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// patience is how long anything that must come may take on a slow machine.
const patience = 90 * time.Second

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
