package main

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

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats"
)

// Server is the PostgreSQL of a torture. It is started again whenever it dies.
type Server struct {
	dir       string // of everything
	env       []string
	disk      bool   // dir is a disk of its own
	clock     string // the file that sets the clock; empty: it cannot be set
	missing   map[string]string
	databases atomic.Int64
	template  error // why there is no database to copy
	once      sync.Once
	cluster   *cluster // instead of a server of its own; nil: none

	mu      sync.Mutex
	private *postgres.Server
	home    string // of this one's data: another one after each failover
	socket  string
	gone    string // the logs of those before it
	away    bool   // unreachable at this moment
	copies  int
}

var hostOf = regexp.MustCompile(`host='([^']*)'`)

// StartServer starts a PostgreSQL in a folder of its own.
func StartServer(ctx context.Context) (*Server, error) { return startServer(ctx, false) }

// StartFragileServer starts one with a disk that can be filled and a clock that can be set, as far as this machine lets us.
func StartFragileServer(ctx context.Context) (*Server, error) { return startServer(ctx, true) }

func startServer(ctx context.Context, fragile bool) (_ *Server, err error) {
	dir, err := os.MkdirTemp("", "usher-torture-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, missing: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove())
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil { // the server's user has to pass through
		return nil, err
	}
	if err := s.weaken(fragile); err != nil {
		return nil, err
	}
	s.home = filepath.Join(dir, "data")
	if s.private, err = s.start(ctx, s.home); err != nil {
		return nil, err
	}
	s.socket, err = socketOf(s.private)
	return s, err
}

// weaken makes what can be broken besides, and notes why what cannot.
func (s *Server) weaken(fragile bool) error {
	if !fragile {
		s.missing["disk full"], s.missing["clock jumps"] = "it was not asked for", "it was not asked for"
		return nil
	}
	if err := mountDisk(s.dir); err != nil {
		s.missing["disk full"] = "a disk that can be filled could not be made: " + err.Error()
	} else {
		s.disk = true
	}
	library := fakeClock()
	if library == "" {
		s.missing["clock jumps"] = "libfaketime is not there (Debian: apt-get install libfaketime)"
		return nil
	}
	s.clock = filepath.Join(s.dir, "clock")
	s.env = clockEnv(library, s.clock)
	return setClock(s.clock, 0)
}

// rightTime sets the clock right for the next run, in another database.
func (s *Server) rightTime() error {
	if s.clock == "" {
		return nil
	}
	return setClock(s.clock, 0)
}

// The server's log, and how its lines begin: with the time, the database and the process.
const (
	logName = "postgres.log"
	prefix  = "%m %d %p "
)

// start starts a server on the data in a folder. What was committed without waiting for the disk would be written late: so it
// is lost for sure when the server is killed, and no promise may rely on it.
func (s *Server) start(ctx context.Context, home string) (*postgres.Server, error) {
	settings := []string{
		"log_line_prefix=" + prefix, "max_connections=400", "shared_buffers=64MB", "max_wal_size=512MB", "wal_writer_delay=10s", "wal_writer_flush_after=1GB",
		"wal_retrieve_retry_interval=100ms", // as docs/operating.md says: a standby may sleep for so long before it sees that it is promoted
	}
	if s.clock == "" {
		settings = append(settings, "deadlock_timeout=100ms") // each look is an alarm, in which processes with a set clock break easily
	}
	return postgres.StartIn(ctx, s.env, home, slog.New(slog.NewTextHandler(io.Discard, nil)), settings...)
}

func socketOf(p *postgres.Server) (string, error) {
	found := hostOf.FindStringSubmatch(p.DSN)
	if found == nil {
		return "", fmt.Errorf("torture: no folder of a socket in %q", p.DSN)
	}
	return filepath.Join(found[1], ".s.PGSQL.5432"), nil
}

var errAway = errors.New("unreachable now")

func (s *Server) dial() (net.Conn, error) {
	if s.cluster != nil {
		return net.DialTimeout("tcp", doorAddress+":6432", 2*time.Second)
	}
	s.mu.Lock()
	socket, away := s.socket, s.away
	s.mu.Unlock()
	if away {
		return nil, errAway
	}
	return net.DialTimeout("unix", socket, 2*time.Second)
}

// dsn is how the torture itself reaches a database there, without a proxy.
func (s *Server) dsn(database string) string {
	if s.cluster != nil {
		return addressOf("usher", doorAddress, 5000, database)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Replace(s.private.DSN, "dbname=usher", "dbname="+database, 1)
}

// newDatabase makes an empty database and brings it up to date.
func (s *Server) newDatabase(ctx context.Context) (name string, err error) {
	if s.cluster != nil {
		return s.cluster.newDatabase(ctx)
	}
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

// die sends the server's first process a signal: SIGKILL is a crash, SIGQUIT an immediate stop. It returns in the moment in
// which another one accepts connections.
func (s *Server) die(ctx context.Context, how syscall.Signal) error {
	old, _, err := s.postmaster()
	if err != nil {
		return err
	}
	if err := syscall.Kill(old, how); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if pid, accepts, err := s.postmaster(); err == nil && pid != old && accepts {
			return nil
		}
		if err := seats.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("torture: PostgreSQL was not started again")
}

// Lines of postmaster.pid, by number: the first process, and how it stands.
const (
	lineProcess = 0
	lineStands  = 7
)

// postmaster is the server's first process, and whether it accepts connections, by the file in which it says so. A
// connection would cost it a process each time, and tell it later.
func (s *Server) postmaster() (pid int, accepts bool, err error) {
	s.mu.Lock()
	beside, home := filepath.Dir(s.socket), s.home
	s.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(beside, "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(home, "postgres", "postmaster.pid"))
	}
	if err != nil {
		return 0, false, err
	}
	lines := strings.Split(string(text), "\n")
	if pid, err = strconv.Atoi(lines[lineProcess]); err != nil {
		return 0, false, err
	}
	return pid, len(lines) > lineStands && strings.TrimSpace(lines[lineStands]) == "ready", nil
}

var isHead = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \S+ \S+ (\S*) \d+ (?:LOG|ERROR|FATAL|PANIC|WARNING|NOTICE|INFO|DEBUG\d?|(DETAIL|HINT|CONTEXT|STATEMENT|QUERY)):`)

// deadlocksIn lists what a log (prefix) says of each deadlock in a database: who waited for whom, with both statements.
func deadlocksIn(text, database string) (list []string) {
	within := false
	heads := isHead.FindAllStringSubmatchIndex(text, -1)
	for i, at := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		said, more := text[at[0]:end], at[4] >= 0
		switch {
		case text[at[2]:at[3]] != database:
		case !more && strings.Contains(said, "deadlock detected"):
			list, within = append(list, said), true
		case !more:
			within = false
		case within:
			list[len(list)-1] += said
		}
	}
	return list
}

// deadlocks lists what the server, and those before it, said of deadlocks in a database.
func (s *Server) deadlocks(database string) ([]string, error) {
	if s.cluster != nil {
		return s.cluster.deadlocks(database)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(s.home, logName))
	return deadlocksIn(s.gone+string(text), database), err
}

// Stop ends the server and removes its folder, and the data where they were put elsewhere.
func (s *Server) Stop() error {
	if s.cluster != nil {
		return s.cluster.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.private.Stop(ctx)
	if elsewhere, e := os.Readlink(filepath.Join(s.dir, "data", "postgres")); e == nil {
		err = errors.Join(err, os.RemoveAll(elsewhere))
	}
	return errors.Join(err, s.remove())
}

func (s *Server) remove() (err error) {
	if s.disk {
		err = unmountDisk(s.dir)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// moments are between two looks at something that is about to come.
const moments = 20 * time.Millisecond

// patience is how long anything that must come may take on a slow machine.
const patience = 90 * time.Second
