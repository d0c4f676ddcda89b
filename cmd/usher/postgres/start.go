package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

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
	if _, err := os.Stat(filepath.Join(p.dir, "PG_VERSION")); errors.Is(err, os.ErrNotExist) {
		if err := p.initdb(ctx, who); err != nil {
			return nil, err
		}
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
	args := []string{"-D", unfinished, "-U", "postgres", "--auth=trust", "--locale=C", "--encoding=UTF8", "--data-checksums", "--no-instructions"}
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
			return server, nil
		}
		server.stop()
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("it does not answer (its words are in %s): %w", p.logFile, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// launch starts the server process once.
func (p *Server) launch(who *user) (*process, error) {
	args := []string{"-D", p.dir, "-k", p.socket, "-p", "5432"}
	for _, s := range append([]string{
		"listen_addresses=", "unix_socket_permissions=0700", "max_connections=100", "shared_buffers=256MB", "max_wal_size=2GB",
		"wal_compression=on", "idle_in_transaction_session_timeout=10s", "logging_collector=off",
	}, p.settings...) {
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

// readyTime is how long a start may take: after a crash the server first replays its log.
const readyTime = 60 * time.Second

// ready waits until the server answers, and makes the database at its first start. It gives up when the process ended.
func (p *Server) ready(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := p.makeDatabase(ctx)
		if err == nil {
			return nil
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

func (p *Server) makeDatabase(ctx context.Context) error {
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
// Nobody watches such a server, so it is not taken over: the data is recovered by a server of our own.
func (p *Server) endOrphan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for told := false; p.answers(ctx); {
		if !told {
			pid, err := p.postmaster()
			if err != nil {
				return err
			}
			told = pid > 0 && syscall.Kill(pid, syscall.SIGINT) == nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a PostgreSQL of an earlier start still runs on %s: %w", p.dir, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// answers tells whether a server listens on the socket, were it only to say that it is starting or stopping.
func (p *Server) answers(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err == nil {
		_ = conn.Close(ctx) // only asked whether it is there
		return true
	}
	var word *pgconn.PgError
	return errors.As(err, &word)
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
