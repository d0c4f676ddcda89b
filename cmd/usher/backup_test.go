package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
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
	<-first
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
