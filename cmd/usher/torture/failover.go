package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats"
)

const (
	waitForAllSQL = `ALTER SYSTEM SET synchronous_standby_names = '*'`
	reloadSQL     = `SELECT pg_reload_conf()`
	inStepSQL     = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`
	promoteSQL    = `SELECT pg_promote(true, 60)`
)

// failover gives the server a standby, has every commit wait for it, lets that last a while, kills the server for good and
// promotes the standby. dead is called after the kill.
func (s *Server) failover(ctx context.Context, last func() error, dead func()) error {
	s.copies++
	home := filepath.Join(s.dir, fmt.Sprint("data", s.copies))
	old, gone := s.private, s.home
	if err := old.Copy(ctx, home); err != nil {
		return err
	}
	next, err := s.start(ctx, home)
	if err != nil {
		return err
	}
	err = s.inStep(ctx)
	if err == nil {
		err = last()
	}
	if err != nil {
		return errors.Join(err, next.Stop(ctx))
	}
	pid, err := s.postmaster()
	if err != nil {
		return err
	}
	s.lead(nil, "")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	dead()
	if err := promote(ctx, next); err != nil {
		return err
	}
	s.lead(next, home)
	return errors.Join(old.Stop(ctx), os.RemoveAll(gone))
}

// lead has everybody come to another server; to none, if there is none yet.
func (s *Server) lead(next *migrations.Private, home string) {
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
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it did what it was for
	for _, sql := range []string{waitForAllSQL, reloadSQL} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("torture: have commits wait for the standby: %w", err)
		}
	}
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

func promote(ctx context.Context, p *migrations.Private) error {
	conn, err := pgx.Connect(ctx, p.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it did what it was for
	var done bool
	if err := conn.QueryRow(ctx, promoteSQL).Scan(&done); err != nil || !done {
		return fmt.Errorf("torture: promote the standby: %t, %w", done, err)
	}
	return nil
}
