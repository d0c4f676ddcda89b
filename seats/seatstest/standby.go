package seatstest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats/database"
)

// Standby is a standby of a server of its own: one that does not follow.
type Standby struct{ db *pgxpool.Pool }

// DBWithStandby starts a server for a test alone, with a migrated database. Its commits wait for no standby until Stall.
func DBWithStandby(t *testing.T) (*pgxpool.Pool, *Standby) {
	t.Helper()
	dir, err := Folder()
	if err == nil {
		err = Furnish(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	server, err := postgres.Start(t.Context(), dir, slog.New(slog.NewTextHandler(io.Discard, nil)), "shared_buffers=16MB", "fsync=off")
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Stop(context.Background()), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	if err := migrate(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	db, err := database.Connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db, &Standby{db}
}

// Stall has every commit from now on wait for the standby, which never has it.
func (s *Standby) Stall(t *testing.T) {
	t.Helper()
	s.set(t, `ALTER SYSTEM SET synchronous_standby_names = 'nowhere'`, `SELECT current_setting('synchronous_standby_names') = 'nowhere'`)
	s.await(t, func() (bool, error) { return s.waits(t) }, "commits wait") // the checkpointer makes them, later than sessions know
}

// waits reports whether a commit waits, and cancels it.
func (s *Standby) waits(t *testing.T) (bool, error) {
	answer := make(chan error, 1)
	go func() {
		_, err := s.db.Exec(t.Context(), `SELECT pg_logical_emit_message(true, 'usher', '')`)
		answer <- err
	}()
	for {
		select {
		case err := <-answer:
			return false, err
		case <-time.After(5 * time.Millisecond):
		}
		var waits bool
		if err := s.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`).Scan(&waits); err != nil || waits {
			s.Cancel(t)
			<-answer
			return waits, err
		}
	}
}

// set changes the server, and waits until processes know it.
func (s *Standby) set(t *testing.T, change, known string) {
	t.Helper()
	for _, sql := range []string{change, `SELECT pg_reload_conf()`} {
		if _, err := s.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s.Sees(t, known)
}

// Follow has the standby follow: what waits is committed.
func (s *Standby) Follow(t *testing.T) {
	t.Helper()
	s.set(t, `ALTER SYSTEM RESET synchronous_standby_names`, `SELECT current_setting('synchronous_standby_names') = ''`)
}

// AwaitCommit returns when a commit waits. It fails the test if an answer comes first.
func (s *Standby) AwaitCommit(t *testing.T, answer <-chan error) {
	t.Helper()
	s.await(t, func() (waits bool, err error) {
		select {
		case err := <-answer:
			t.Fatalf("the answer is %v before a standby has what it is about", err)
		default:
		}
		err = s.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`).Scan(&waits)
		return waits, err
	}, "a commit waits")
}

// Cancel cancels the wait of a commit, as an operator may: PostgreSQL says that it succeeded, with a warning. It returns once none of what
// it cancelled waits.
func (s *Standby) Cancel(t *testing.T) {
	t.Helper()
	const (
		cancelSQL = `SELECT coalesce(array_agg(pid) FILTER (WHERE pg_cancel_backend(pid)), '{}') FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
		overSQL   = `SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = ANY($1))`
	)
	var cancelled []int32
	s.await(t, func() (bool, error) {
		err := s.db.QueryRow(t.Context(), cancelSQL).Scan(&cancelled)
		return len(cancelled) > 0, err
	}, "a commit waits, and is cancelled")
	s.Sees(t, overSQL, cancelled)
}

// Sees waits until a query is true: a commit that was cut off warns before others see it.
func (s *Standby) Sees(t *testing.T, sql string, args ...any) {
	t.Helper()
	s.await(t, func() (so bool, err error) {
		err = s.db.QueryRow(t.Context(), sql, args...).Scan(&so)
		return so, err
	}, sql)
}

func (s *Standby) await(t *testing.T, is func() (bool, error), what string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		so, err := is()
		if err != nil {
			t.Fatal(err)
		}
		if so {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it did not come to be: %s", what)
		}
	}
}
