package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Private is a PostgreSQL server of usher's own: a data folder, a Unix socket, no port.
type Private struct {
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

// StartPrivate starts the server whose data is in dir, made at the first start; when another usher already runs it, it is
// used and left running. A server that dies is started again. Extra settings are given as "name=value".
func StartPrivate(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Private, error) {
	return StartPrivateIn(ctx, nil, dir, log, settings...)
}

// begin runs the server, or finds the one that another process runs.
func (p *Private) begin(ctx context.Context) (*Private, error) {
	if p.owner == nil {
		if err := p.ready(ctx, nil); err != nil {
			return nil, fmt.Errorf("migrations: the PostgreSQL of another usher in %s does not answer: %w", p.dir, err)
		}
		return p, nil
	}
	first, err := p.firstStart(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("migrations: private PostgreSQL: %w", err), p.owner.Close())
	}
	running, end := context.WithCancel(context.Background()) // until Stop, whatever ctx was for
	p.end, p.done = end, make(chan struct{})
	go p.keepAlive(running, first)
	return p, nil
}

func newPrivate(dir string, log *slog.Logger, settings []string) (*Private, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := makeOpen(dir); err != nil {
		return nil, err
	}
	p := &Private{logFile: filepath.Join(dir, "postgres.log"), log: log, settings: settings}
	if p.dir, err = dataFolder(dir, log); err != nil {
		return nil, err
	}
	p.socket = socketFolder(p.dir)
	p.DSN = p.address("usher")
	p.owner, err = own(filepath.Join(dir, "owner"))
	return p, err
}

// address is how a database of the server is reached. Everything is said, so that the environment changes nothing.
func (p *Private) address(database string) string {
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
func (p *Private) Stop(ctx context.Context) error {
	if p.owner == nil {
		return nil
	}
	p.end()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("migrations: PostgreSQL is still stopping: %w", ctx.Err())
	}
}
