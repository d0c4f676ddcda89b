package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats"
)

const (
	waitForAllSQL  = `ALTER SYSTEM SET synchronous_standby_names = '*'`
	waitForNoneSQL = `ALTER SYSTEM RESET synchronous_standby_names`
	reloadSQL      = `SELECT pg_reload_conf()`
	inStepSQL      = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`
	promoteSQL     = `SELECT pg_promote(false)`
	promotedSQL    = `SELECT NOT pg_is_in_recovery()`
)

// standby is a server that follows another one, which lets every commit wait for it.
type standby struct {
	of   *Server
	home string
	next *postgres.Server
}

// standby makes one and waits until it is in step.
func (s *Server) standby(ctx context.Context) (_ *standby, err error) {
	s.copies++
	b := &standby{of: s, home: filepath.Join(s.dir, fmt.Sprint("data", s.copies))}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.forget(ctx))
		}
	}()
	if err := s.private.Copy(ctx, b.home); err != nil {
		return nil, fmt.Errorf("%w\nthe server said:\n%s", err, lastOf(filepath.Join(s.home, "postgres.log")))
	}
	if b.next, err = s.start(ctx, b.home); err != nil {
		return nil, err
	}
	return b, s.inStep(ctx)
}

// forget ends a standby that is not needed; commits no longer wait for one.
func (b *standby) forget(ctx context.Context) error {
	err := b.of.tell(ctx, waitForNoneSQL, reloadSQL)
	if b.next != nil {
		err = errors.Join(err, b.next.Stop(ctx))
	}
	return errors.Join(err, os.RemoveAll(b.home))
}

// takesOver kills the server for good and promotes the standby. dead is called after the kill.
func (b *standby) takesOver(ctx context.Context, dead func()) error {
	s := b.of
	old, gone := s.private, s.home
	pid, _, err := s.postmaster()
	if err != nil {
		return err
	}
	s.lead(nil, "")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	dead()
	if err := promote(ctx, b.next); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(gone, logName))
	s.lead(b.next, b.home)
	s.mu.Lock()
	s.gone += string(text)
	s.mu.Unlock()
	return errors.Join(err, old.Stop(ctx), os.RemoveAll(gone))
}

// checkpoint makes the server write what it has in memory. Minutes after a promotion it does so by itself.
func (s *Server) checkpoint(ctx context.Context, database string) error {
	conn, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CHECKPOINT")
	return errors.Join(err, conn.Close(ctx))
}

// lastOf is the end of a log.
func lastOf(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// lead has everybody come to another server; to none, if there is none yet.
func (s *Server) lead(next *postgres.Server, home string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away = next == nil; s.away {
		return
	}
	s.private, s.home = next, home
	s.socket, _ = socketOf(next) // it has the form of the one before
}

// inStep has every commit wait for the standby, once it follows.
func (s *Server) inStep(ctx context.Context) error {
	if err := s.tell(ctx, waitForAllSQL, reloadSQL); err != nil {
		return err
	}
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it only read
	for range int(patience / moments) {
		var n int
		if err := conn.QueryRow(ctx, inStepSQL).Scan(&n); err != nil || n > 0 {
			return err
		}
		if err := seats.Sleep(ctx, moments); err != nil {
			return err
		}
	}
	return errors.New("torture: the standby does not follow")
}

// tell sets something of the server.
func (s *Server) tell(ctx context.Context, statements ...string) error {
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it did what it was for
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("torture: %s: %w", sql, err)
		}
	}
	return nil
}

// promote makes a standby the server, and returns when it is.
func promote(ctx context.Context, p *postgres.Server) error {
	conn, err := pgx.Connect(ctx, p.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it did what it was for
	if _, err := conn.Exec(ctx, promoteSQL); err != nil {
		return fmt.Errorf("torture: promote the standby: %w", err)
	}
	for range int(patience / moments) {
		var done bool
		if err := conn.QueryRow(ctx, promotedSQL).Scan(&done); err != nil || done {
			return err
		}
		if err := seats.Sleep(ctx, moments); err != nil {
			return err
		}
	}
	return errors.New("torture: the standby does not take over")
}
