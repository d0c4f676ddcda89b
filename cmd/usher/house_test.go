package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// inHouse runs a command in a house of a database.
func inHouse(t *testing.T, dsn, house string, args ...string) (string, error) {
	t.Helper()
	return tryWith(t, map[string]string{"DATABASE_URL": dsn, "USHER_HOUSE": house, "USHER_DATA": t.TempDir()}, args...)
}

func TestHouses_OfOneDatabaseSellAndAreBackedUpEachByItself(t *testing.T) {
	t.Parallel()
	_, db := privateServer(t)
	dsn := db.Config().ConnString()
	run := func(dsn, house string, args ...string) string {
		t.Helper()
		out, err := inHouse(t, dsn, house, args...)
		if err != nil {
			t.Fatalf("%s in %q: %v\n%s", strings.Join(args, " "), house, err, out)
		}
		return out
	}
	for _, house := range []string{"north", "south"} {
		run(dsn, house, "migrate")
		run(dsn, house, "event", "create", "--plan", "theatre", "--name", "Night of "+house, "--slug", "night")
	}
	for _, house := range []string{"north", "south"} {
		if out := run(dsn, house, "event", "list"); strings.Count(out, "Night of") != 1 || !strings.Contains(out, "Night of "+house) {
			t.Errorf("house %s has these events:\n%s", house, out)
		}
		run(dsn, house, "verify")
	}
	if out := run(dsn, "", "event", "list"); strings.Contains(out, "Night of") {
		t.Errorf("the database itself has events of a house:\n%s", out)
	}

	// A backup of one goes into another database, and into no house that is there.
	file := filepath.Join(t.TempDir(), "north.dump")
	run(dsn, "north", "backup", file)
	if _, err := inHouse(t, dsn, "north", "restore", file); !misused(err) {
		t.Errorf("a house was restored over itself: %v", err)
	}
	empty := func(name string) string { // of the same server, which costs less than another one
		if _, err := db.Exec(t.Context(), `CREATE DATABASE `+name); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(dsn, "dbname=usher", "dbname="+name, 1)
	}
	other := empty("other")
	run(other, "south", "migrate")
	beside := newestID(t, other, "south")
	if out := run(other, "north", "restore", file); !strings.Contains(out, "every promise holds there") {
		t.Errorf("restore says:\n%s", out)
	}
	if out := run(other, "north", "event", "list"); !strings.Contains(out, "Night of north") {
		t.Errorf("the restored house has these events:\n%s", out)
	}
	if out := run(other, "south", "event", "list"); strings.Contains(out, "Night of") {
		t.Errorf("the house beside it has these events:\n%s", out)
	}
	if after := newestID(t, other, "south"); after != beside {
		t.Errorf("the ids of the house beside it went from %d to %d", beside, after)
	}
	if own := newestID(t, other, "north"); own < 1000 {
		t.Errorf("the restored house may give ids from %d on again", own)
	}
	for _, house := range []string{"", "south"} { // an empty box office would hold every promise
		if out, err := inHouse(t, empty("wrong"+house), house, "restore", file); !misused(err) || strings.Contains(out, "promise") {
			t.Errorf("the backup of north was restored as %q: %v\n%s", house, err, out)
		}
	}
}

// newestID returns the highest number that a sequence of a house has given, 0 if none has.
func newestID(t *testing.T, dsn, house string) (id int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // it was only read
	if err := conn.QueryRow(t.Context(), `SELECT coalesce(max(last_value), 0) FROM pg_sequences WHERE schemaname = $1`, house).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestHouse_WithAMistypedNameIsRefusedAndNotMade(t *testing.T) {
	t.Parallel()
	_, db := privateServer(t)
	dsn := db.Config().ConnString()
	for _, args := range [][]string{{"verify"}, {"event", "list"}, {"backup", filepath.Join(t.TempDir(), "file")}, {"migrate", "--plan"}} {
		if out, err := inHouse(t, dsn, "norht", args...); err == nil || !strings.Contains(err.Error(), "there is no house norht") {
			t.Errorf("%v says %v\n%s", args, err, out)
		}
	}
	if out, err := inHouse(t, dsn, "North House", "migrate"); !misused(err) {
		t.Errorf("a name with a space was taken: %v\n%s", err, out)
	}
	var schemas int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname ILIKE 'no%'`).Scan(&schemas); err != nil || schemas > 0 {
		t.Errorf("there are %d schemas (%v)", schemas, err)
	}
}
