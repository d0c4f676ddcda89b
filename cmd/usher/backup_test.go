package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

func TestABackupTakenWhilePeopleClaimIsRestoredWithEveryPromiseKept(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	exec := func(sql string) {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	people, end := context.WithCancel(t.Context())
	office := seats.NewInventory(db, newLog(&strings.Builder{}, "text"))
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	var crowd sync.WaitGroup
	first := make(chan struct{})
	var once sync.Once
	for range 4 {
		crowd.Go(func() {
			for people.Err() == nil {
				who := seats.NewID()
				if _, err := sale.Claim(people, who, "", seats.ClaimRequest{Best: 2, Category: "A"}); err == nil {
					once.Do(func() { close(first) })
				}
				_, _ = sale.Release(people, who) // so that there is always something to claim
			}
		})
	}
	placed := placesOrders(people, db, office, sale, &crowd)
	<-first
	eventually(t, "some orders are acknowledged", func() bool { return len(placed()) >= 3 })
	before := placed()
	file := filepath.Join(t.TempDir(), "house.dump")
	out, err := try(t, "backup", file, "--data", folder)
	end()
	crowd.Wait()
	if err != nil || !strings.Contains(out, "everything as of") {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup can be read by others: %v %v", info.Mode(), err)
	}
	if _, err := try(t, "backup", file, "--data", folder); !misused(err) {
		t.Errorf("a backup replaced another: %v", err)
	}
	if _, err := try(t, "restore", file, "--data", folder); !misused(err) || !strings.Contains(err.Error(), "something in it") {
		t.Errorf("a backup was restored over a database: %v", err)
	}
	empty := func(name string) string { // of the same server, which costs less than another one
		exec(`CREATE DATABASE ` + name)
		return strings.Replace(db.Config().ConnString(), "dbname=usher", "dbname="+name, 1)
	}
	if out, err = tryWith(t, map[string]string{"DATABASE_URL": empty("copied")}, "restore", file); err != nil || strings.Count(out, "  ok (") < 35 || !strings.Contains(out, "every promise holds there") {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := ordersOf(t, strings.Replace(db.Config().ConnString(), "dbname=usher", "dbname=copied", 1), before); n != len(before) {
		t.Errorf("of %d orders that were acknowledged before the backup the copy has %d", len(before), n)
	}
	// What was not in order does not come back unnoticed.
	exec(`UPDATE counter SET free[1] = free[1] - 1`)
	wrong := filepath.Join(t.TempDir(), "wrong.dump")
	if out, err := try(t, "backup", wrong, "--data", folder); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code, out := statusWith(t, map[string]string{"DATABASE_URL": empty("wrong")}, "restore", wrong); code != 1 || !strings.Contains(out, "BROKEN: event evening") {
		t.Errorf("of a copy with wrong books it says %d:\n%s", code, out)
	}
}

// placesOrders has the crowd place orders, one after another. placed returns the codes of those that were acknowledged.
func placesOrders(ctx context.Context, db *pgxpool.Pool, office *seats.Inventory, sale *seats.Sale, crowd *sync.WaitGroup) (placed func() []string) {
	sold := orders.New(db)
	sold.Open(office, "")
	var mu sync.Mutex
	var codes []string
	crowd.Go(func() {
		for ctx.Err() == nil {
			who := seats.NewID()
			email := who.String() + "@example.org" // there is a limit of unpaid orders for each
			hold, err := sale.Claim(ctx, who, "", seats.ClaimRequest{Best: 1, Category: "B"})
			if err != nil {
				return // all are sold
			}
			code, err := sold.Place(ctx, sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: payments.Door, Verified: email})
			if err == nil {
				mu.Lock()
				codes = append(codes, code)
				mu.Unlock()
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(codes)
	}
}

// ordersOf counts those of the orders that a database has.
func ordersOf(t *testing.T, dsn string, codes []string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // it was only read
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM orders WHERE code = ANY($1)`, codes).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func misused(err error) bool {
	_, ok := errors.AsType[usageError](err)
	return ok
}

func TestBackup_PasswordIsNoArgumentOfAProcess(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "pg_dump")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s ' \"$PGPASSWORD\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dsn, want := range map[string]string{
		"postgres://box:s3cr%20et@db.example.org:6432/usher?sslmode=verify-full&pool_max_conns=4":   "s3cr et --x --dbname postgres://box@db.example.org:6432/usher?sslmode=verify-full",
		"postgresql://box@db/usher?password=s3cret&options=-c%20geqo%3Doff":                         "s3cret --x --dbname postgresql://box@db/usher?options=-c%20geqo%3Doff",
		"postgres:///usher?host=/run/postgresql":                                                    "--x --dbname postgres:///usher?host=%2Frun%2Fpostgresql",
		`host=db password='s3 cret\'' user = box  application_name='a password=b' pool_min_conns=1`: `s3 cret' --x --dbname host=db user = box application_name='a password=b'`,
		`password=s3\ cret dbname=usher`:                                                            "s3 cret --x --dbname dbname=usher",
	} {
		var out strings.Builder
		if err := runOn(t.Context(), dsn, nil, &out, program, "--x"); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("of %s the program gets\n%s, want\n%s", dsn, got, want)
		}
	}
}
