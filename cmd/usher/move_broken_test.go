package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A move is contrib/move-house.sh, which runs until its first statement with a certain text.
type move struct {
	t       *testing.T
	command *exec.Cmd
	out     bytes.Buffer
	ended   chan error // has how the script ended
	folder  string
}

// pausingPsql stands in for psql: it waits at a text, once, and finds no server at one address while there is a file "away".
const pausingPsql = `#!/bin/bash
sql=$(cat)
if [[ $sql == *"$PAUSE_AT"* ]] && mkdir "$PAUSE_IN/paused" 2>/dev/null; then
	until [ -e "$PAUSE_IN/go" ]; do sleep 0.05; done
fi
if [ -e "$PAUSE_IN/away" ] && [[ $* == *"$AWAY"* ]]; then exit 2; fi
exec %s "$@" <<<"$sql"
`

// startMove starts to move house north and waits until it is at a text.
func startMove(t *testing.T, from, to, at string, meanwhile func()) *move {
	t.Helper()
	m := &move{t: t, folder: t.TempDir(), ended: make(chan error, 1)}
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.folder, "psql"), fmt.Appendf(nil, pausingPsql, psql), 0o700); err != nil {
		t.Fatal(err)
	}
	m.command = exec.CommandContext(t.Context(), "../../contrib/move-house.sh", "north", from, to)
	m.command.Env = append(os.Environ(), "PATH="+m.folder+":"+os.Getenv("PATH"), "PAUSE_AT="+at, "PAUSE_IN="+m.folder, "AWAY="+to)
	m.command.Stdout, m.command.Stderr = &m.out, &m.out
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	m.command.WaitDelay = time.Second
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // without a terminal it may be ignored here, and what a program ignores its programs do, too
	defer signal.Stop(heard)
	if err := m.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { m.ended <- m.command.Wait() }()
	meanwhile()
	eventually(t, "the move to reach "+at, func() bool {
		select {
		case err := <-m.ended:
			t.Fatalf("the script ends before %s, with %v:\n%s", at, err, m.out.String())
		default:
		}
		_, err := os.Stat(filepath.Join(m.folder, "paused"))
		return err == nil
	})
	return m
}

func (m *move) file(name string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.folder, name), nil, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// signal sends a signal to the script, or to all of its processes, as a terminal does.
func (m *move) signal(all bool, what syscall.Signal) {
	m.t.Helper()
	pid := m.command.Process.Pid
	if all {
		pid = -pid
	}
	if err := syscall.Kill(pid, what); err != nil {
		m.t.Fatal(err)
	}
}

// brokenOff waits until the script has ended and returns what it said.
func (m *move) brokenOff() string {
	m.t.Helper()
	var err error
	select {
	case err = <-m.ended:
	case <-time.After(2 * time.Minute):
		m.signal(true, syscall.SIGKILL)
		m.t.Fatalf("the script does not end:\n%s", m.out.String())
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(m.out.String(), "north is not moved; it goes on where it was") {
		m.t.Errorf("the script ends with %v:\n%s", err, m.out.String())
	}
	return m.out.String()
}

func TestHouse_SellsOnWhereItWasAfterAMoveThatDidNotEnd(t *testing.T) {
	t.Parallel()
	fromAdmin, from, toAdmin, _ := movable(t)
	first, second := mustDial(t, fromAdmin), mustDial(t, toAdmin)
	run := func(conn *pgx.Conn, sql string) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	}
	must := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if err := run(conn, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	sale := saleOf(t, from)
	seat := 0
	claim := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		who := seats.NewID()
		_, err := sale.Claim(ctx, who, who.String(), seats.ClaimRequest{Seats: []string{sale.Plan.Label(seat)}})
		if err == nil {
			seat++
		}
		return err
	}
	sellsOn := func(t *testing.T) {
		t.Helper()
		eventually(t, "a claim where the house was", func() bool { return claim() == nil })
		var left int
		if err := first.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_publication) + (SELECT count(*) FROM pg_replication_slots)
			+ (SELECT count(*) FROM pg_namespace WHERE nspname = 'north_moved') + (SELECT count(*) FROM pg_class WHERE relreplident = 'f')`).Scan(&left); err != nil || left > 0 {
			t.Errorf("%d things of the move are left at the first server (%v)", left, err)
		}
		if err := second.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_subscription) + (SELECT count(*) FROM pg_namespace WHERE nspname = 'north')`).Scan(&left); err != nil || left > 0 {
			t.Errorf("%d things of the move are left at the second server (%v)", left, err)
		}
	}
	isClosed := func(t *testing.T) {
		t.Helper()
		if err := claim(); err == nil {
			t.Error("a claim is confirmed after the rename")
		}
	}

	whole := func(name string, end func(*testing.T)) { // a move after one that left something behind would not begin
		t.Helper()
		if !t.Run(name, end) {
			t.FailNow()
		}
	}
	whole("ended while it copies", func(t *testing.T) {
		m := startMove(t, fromAdmin, toAdmin, "srsubstate", func() {
			// An order is being written for long. The next one does not wait for the script, which waits for the first.
			order, next := mustDial(t, fromAdmin), mustDial(t, fromAdmin)
			must(order, `SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE north.order_touch IN ROW EXCLUSIVE MODE`)
			eventually(t, "the script to wait", func() bool {
				var waits bool
				err := first.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'north.order_touch'::regclass)`).Scan(&waits)
				return err == nil && waits
			})
			if err := run(next, `SET lock_timeout = '10s'; BEGIN; LOCK TABLE north.order_touch IN ROW EXCLUSIVE MODE; COMMIT`); err != nil {
				t.Errorf("an order waits for the move: %v", err)
			}
			must(order, `COMMIT`)
		})
		m.signal(false, syscall.SIGTERM)
		m.file("go")
		m.brokenOff()
		sellsOn(t)
	})
	whole("its rename refused", func(t *testing.T) {
		m := startMove(t, fromAdmin, toAdmin, "srsubstate", func() {})
		must(first, `CREATE SCHEMA north_moved`)
		m.file("go")
		if out := m.brokenOff(); !strings.Contains(out, `"north_moved" already exists`) || strings.Contains(out, "These commands failed") {
			t.Errorf("the script says:\n%s", out)
		}
		must(first, `DROP SCHEMA north_moved`)
		sellsOn(t)
	})
	whole("its terminal lost after the rename", func(t *testing.T) {
		m := startMove(t, fromAdmin, toAdmin, "pg_current_wal_lsn", func() {})
		isClosed(t)
		m.signal(true, syscall.SIGHUP)
		m.brokenOff()
		sellsOn(t)
	})
	whole("its slot dropped after the rename", func(t *testing.T) {
		m := startMove(t, fromAdmin, toAdmin, "pg_current_wal_lsn", func() {})
		must(second, `ALTER SUBSCRIPTION move_north DISABLE`)
		eventually(t, "the slot to be free", func() bool { return run(first, `SELECT pg_drop_replication_slot('move_north')`) == nil })
		m.file("go")
		if out := m.brokenOff(); !strings.Contains(out, "the slot of the copy is no longer there") {
			t.Errorf("the script does not say why:\n%s", out)
		}
		sellsOn(t)
	})
	whole("the second server away after the rename", func(t *testing.T) {
		m := startMove(t, fromAdmin, toAdmin, "pg_current_wal_lsn", func() {})
		m.file("away")
		m.signal(true, syscall.SIGTERM) // where tests run in the background, SIGINT is ignored
		out := m.brokenOff()
		eventually(t, "a claim where the house was", func() bool { return claim() == nil })
		for line := range strings.Lines(out) { // what it could not do is printed, and can be run
			if sql, is := strings.CutPrefix(line, "at the second address: "); is {
				must(second, sql)
			}
		}
		sellsOn(t)
	})

	for _, c := range []struct{ before, from, says, after string }{
		{`CREATE SCHEMA north_moved`, fromAdmin, "from an earlier move", `DROP SCHEMA north_moved`},
		{`CREATE PUBLICATION move_north`, fromAdmin, "is being moved by another script", `DROP PUBLICATION move_north`},
		{``, fromAdmin + " password=secret", "has a password in it", ``},
	} {
		must(first, c.before)
		out, err := exec.CommandContext(t.Context(), "../../contrib/move-house.sh", "north", c.from, toAdmin).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.says) {
			t.Errorf("after %q the script ends with %v:\n%s", c.before, err, out)
		}
		must(first, c.after)
		sellsOn(t)
	}
	if out, err := inHouse(t, from, "north", "verify"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

func mustDial(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the test's own context has ended
	return conn
}
