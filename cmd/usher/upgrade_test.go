package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/seatstest"
)

const upgradedSQL = `
SELECT (SELECT count(*) FROM migration WHERE applied_at > now() - interval '1 hour'), (SELECT count(*) FROM orders),
       (SELECT count(*) FROM event), (SELECT count(*) FROM credit_voucher)`

// Each backup of testdata/releases is a house that a release left, as tools/release/fixture.sh makes it.
func TestUpgrade_HousesOfEarlierReleasesGoOn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/releases/*.dump")
	if err != nil || len(files) == 0 {
		t.Fatal("there is no house of an earlier release:", err)
	}
	_, db := privateServer(t)
	upgraded := 0
	for i, file := range files {
		name := "upgraded_" + string(rune('a'+i))
		if _, err := db.Exec(t.Context(), `CREATE DATABASE `+name); err != nil {
			t.Fatal(err)
		}
		dsn := strings.Replace(db.Config().ConnString(), "dbname=usher", "dbname="+name, 1)
		env := map[string]string{"DATABASE_URL": dsn, "USHER_SECRET_KEY_FILE": "testdata/releases/secret.key"}
		if out, err := tryWith(t, env, "restore", file); err != nil || !strings.Contains(out, "every promise holds there") {
			t.Errorf("%s: %v\n%s", file, err, out)
			continue
		}
		pool, err := pgxpool.New(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		var applied, orders, events, vouchers int
		err = pool.QueryRow(t.Context(), upgradedSQL).Scan(&applied, &orders, &events, &vouchers)
		upgraded += applied // none of the last release, until there is a migration after it
		if err != nil || orders != 25 || events != 3 || vouchers != 3 {
			t.Errorf("%s: %d migrations were applied; %d orders, %d events, %d vouchers; %v", file, applied, orders, events, vouchers, err)
		}
		pool.Close()
		if out, err := tryWith(t, env, "migrate", "--plan"); err != nil || !strings.HasPrefix(out, "Migrations to come: 0. Nothing was changed.") {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if upgraded == 0 {
		t.Error("no migration was applied to any of them")
	}
}

func TestMigrate_PlanSaysWhatIsLockedForHowMuch(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := writeLocks(&out, []migrations.Planned{
		{Name: "0001_one.sql", Locks: []migrations.Lock{
			{Table: "event", Mode: "AccessExclusiveLock", Bytes: 8192},
			{Table: "orders", Mode: "ShareLock", Reads: true, Bytes: 1_234_567_890},
			{Table: "mail", Mode: "AccessExclusiveLock", Reads: true, Rewrites: true, Bytes: 50_000_000},
		}},
		{Name: "0002_two.sql"},
	})
	want := `Migrations to come: 2. Nothing was changed. Each is a transaction, and waits at most half a second for its locks, then tries again.
Times are those of a server that reads or writes 100 MB in a second.

0001_one.sql
  event                    reads and writes wait for a moment
  orders                   writes wait while it reads the table, 1234.6 MB: about 13 s
  mail                     reads and writes wait while it rewrites the table, 50.0 MB: about 1 s

0002_two.sql
  locks no existing table
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
	before := seatstest.DB(t).Config().ConnString()
	if out, err := tryWith(t, map[string]string{"DATABASE_URL": before}, "migrate", "--plan"); err != nil || !strings.HasPrefix(out, "Migrations to come: 0.") {
		t.Error(out, err)
	}
	if _, err := tryWith(t, map[string]string{"DATABASE_URL": before}, "migrate", "--plan", "--grant-to", "box"); !misused(err) {
		t.Error("it would change something:", err)
	}
}
