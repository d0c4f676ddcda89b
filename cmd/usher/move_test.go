package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// logicalServer starts a PostgreSQL from which a house can be moved. Its houses belong to a role that is no superuser.
func logicalServer(t *testing.T, statements ...string) (admin, dsn string) {
	t.Helper()
	folder, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p, err := postgres.Start(t.Context(), folder, slog.New(slog.DiscardHandler), "wal_level=logical")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil { // the test's own context has ended
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range append([]string{`CREATE ROLE box LOGIN`}, statements...) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.DSN, strings.Replace(p.DSN, "user=postgres", "user=box", 1)
}

// movable starts two PostgreSQL servers. The first has house north, and may be moved to the second.
func movable(t *testing.T) (fromAdmin, from, toAdmin, to string) {
	t.Helper()
	if _, err := exec.LookPath("psql"); err != nil {
		t.Fatal("moving a house needs psql (\"make postgres\")")
	}
	fromAdmin, from = logicalServer(t, `GRANT CREATE ON DATABASE usher TO box`, `CREATE ROLE usher_desk NOLOGIN`, `GRANT usher_desk TO box`)
	toAdmin, to = logicalServer(t)
	for _, args := range [][]string{{"migrate"}, {"event", "create", "--plan", "theatre", "--name", "Night", "--slug", "night"}} {
		if out, err := inHouse(t, from, "north", args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return fromAdmin, from, toAdmin, to
}

func TestHouse_IsMovedToAnotherServerWhileItSellsAndLosesNothing(t *testing.T) {
	t.Parallel()
	fromAdmin, from, toAdmin, to := movable(t)
	first := saleOf(t, from)

	// The crowd claims seats and gives them back, at the first server, and with the same key at the second one once it is told to.
	const mine = 40 // seats of each
	var granted, after atomic.Int64
	var silence struct { // between two answers
		sync.Mutex
		last    time.Time
		longest time.Duration
	}
	var second atomic.Pointer[seats.Sale]
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	defer end()
	again := func(do func(*seats.Sale) error) error {
		for {
			sale := first
			if moved := second.Load(); moved != nil {
				sale = moved
			}
			err := do(sale)
			if refused := (&seats.Conflict{}); err == nil || errors.As(err, &refused) {
				if granted.Add(1); sale != first {
					after.Add(1)
				}
				silence.Lock()
				defer silence.Unlock()
				if now := time.Now(); !silence.last.IsZero() {
					silence.longest, silence.last = max(silence.longest, now.Sub(silence.last)), now
				} else {
					silence.last = now
				}
				return err
			}
			if err := seats.Sleep(ctx, 10*time.Millisecond); err != nil { // the house is on its way
				return err
			}
		}
	}
	var crowd sync.WaitGroup
	held := make([]map[int]seats.ID, 4) // by seat, as the answers say
	stop, tell := context.WithCancel(ctx)
	defer tell()
	for i := range held {
		held[i] = map[int]seats.ID{}
		crowd.Go(func() {
			for n := 0; stop.Err() == nil; n++ {
				seat := i*mine + n%mine
				if who, has := held[i][seat]; has {
					if err := again(func(sale *seats.Sale) error { _, err := sale.Release(ctx, who); return err }); err != nil {
						t.Errorf("seat %d is not given back: %v", seat, err)
						return
					}
					delete(held[i], seat)
				}
				who := seats.NewID()
				if err := again(func(sale *seats.Sale) error {
					_, err := sale.Claim(ctx, who, who.String(), seats.ClaimRequest{Seats: []string{sale.Plan.Label(seat)}})
					return err
				}); err != nil {
					t.Errorf("seat %d is refused: %v", seat, err)
					return
				}
				held[i][seat] = who
			}
		})
	}
	eventually(t, "claims before the move", func() bool { return granted.Load() > 20 })
	cmd := exec.CommandContext(ctx, "../../contrib/move-house.sh", "north", fromAdmin, toAdmin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		end()
		crowd.Wait()
		t.Fatalf("%v\n%s", err, out)
	}
	before := granted.Load()
	second.Store(saleOf(t, to))
	eventually(t, "claims after the move", func() bool { return after.Load() > 400 })
	tell()
	crowd.Wait()
	t.Logf("%d answers before, %d after, at most %s without one\n%s", before, after.Load(), silence.longest.Round(time.Millisecond), out)

	db, err := seatsdb.Connect(t.Context(), mustEnter(t, to))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var desk bool
	if err := db.QueryRow(t.Context(), `SELECT pg_has_role('box', 'usher_desk', 'MEMBER')`).Scan(&desk); err != nil || !desk {
		t.Errorf("its owner cannot open the desk: %v", err)
	}
	for _, seatsOf := range held {
		for seat, who := range seatsOf {
			var has bool
			if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM seat_state WHERE idx = $1 AND holder = $2)`, seat, who).Scan(&has); err != nil || !has {
				t.Errorf("the claim of seat %d was confirmed and is lost (%v)", seat, err)
			}
		}
	}
	if out, err := inHouse(t, to, "north", "verify"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	// A node that starts where the house was does not open an empty one.
	if _, err := inHouse(t, from, "north", "migrate"); !misused(err) || !strings.Contains(fmt.Sprint(err), "moved") {
		t.Errorf("the house is opened where it was: %v", err)
	}
}

func mustEnter(t *testing.T, dsn string) string {
	t.Helper()
	dsn, err := seatsdb.InHouse(dsn, "north")
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// saleOf opens the event of house north on a server.
func saleOf(t *testing.T, dsn string) *seats.Sale {
	t.Helper()
	db, err := seatsdb.Connect(t.Context(), mustEnter(t, dsn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	office := seats.NewInventory(db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = office.Run(ctx) }() // ends by ctx
	t.Cleanup(func() { cancel(); <-done })
	sale, err := office.Sale(t.Context(), "night")
	if err != nil {
		t.Fatal(err)
	}
	return sale
}
