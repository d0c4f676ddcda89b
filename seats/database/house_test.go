package database_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// house makes a house in a database, and returns a connection to it.
func house(t *testing.T, dsn, name string) *pgx.Conn {
	t.Helper()
	conn := enter(t, dsn, name)
	if err := migrations.MakeHouse(t.Context(), conn, name); err != nil {
		t.Fatal(err)
	}
	if n, err := migrations.Up(t.Context(), conn); err != nil || n == 0 {
		t.Fatalf("%d migrations in house %s: %v", n, name, err)
	}
	return conn
}

func enter(t *testing.T, dsn, name string) *pgx.Conn {
	t.Helper()
	address, err := database.InHouse(dsn, name)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := database.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// ask reads one value.
func ask[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func TestHouses_ShareADatabaseAndNothingInIt(t *testing.T) {
	t.Parallel()
	dsn := seatstest.DSN(t)
	first, north, south := enter(t, dsn, ""), house(t, dsn, "north"), house(t, dsn, "south")
	houses := []*pgx.Conn{first, north, south}

	// Tables.
	if _, err := north.Exec(t.Context(), `INSERT INTO team (name) VALUES ('North')`); err != nil {
		t.Fatal(err)
	}
	has := func(conn *pgx.Conn) bool {
		return ask[bool](t, conn, `SELECT EXISTS (SELECT FROM team WHERE name = 'North')`)
	}
	if has(first) || !has(north) || has(south) {
		t.Error("a team of a house is not in its house, or in another")
	}

	// Locks with the same name.
	for i, conn := range houses {
		if !ask[bool](t, conn, `SELECT pg_try_advisory_lock(hashtextextended('changes of team 1', house_seed()))`) {
			t.Errorf("house %d waits for a lock of another", i)
		}
	}
	if again := enter(t, dsn, "north"); ask[bool](t, again, `SELECT pg_try_advisory_lock(hashtextextended('changes of team 1', house_seed()))`) {
		t.Error("two nodes of one house have the same lock")
	}
	if !ask[bool](t, first, `SELECT house_seed() = 0 AND house_channel('usher') = 'usher'`) {
		t.Error("the house that was alone has other locks or channels than before")
	}

	// Notifications. Each house sends one of its own after those of the others: what comes first is its own.
	for _, conn := range houses {
		if err := database.Listen(t.Context(), conn, "usher"); err != nil {
			t.Fatal(err)
		}
	}
	for i, from := range []*pgx.Conn{first, north, south} {
		if _, err := from.Exec(t.Context(), `SELECT pg_notify(house_channel('usher'), $1)`, string(rune('0'+i))); err != nil {
			t.Fatal(err)
		}
	}
	for i, conn := range houses {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		heard, err := conn.WaitForNotification(ctx)
		cancel()
		if err != nil || database.Channel(heard.Channel) != "usher" || heard.Payload != string(rune('0'+i)) {
			t.Errorf("house %d hears %+v (%v)", i, heard, err)
		}
	}
}

func TestInHouse_KeepsTheAddressAndRefusesWhatIsNoName(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"host=db dbname=usher pool_max_conns=3":         " -csearch_path=north",
		"host=db options='-c jit=off'":                  "-c jit=off -csearch_path=north",
		"postgres://usher:a+b@db/usher?sslmode=require": " -csearch_path=north",
		"postgresql://db/usher?options=-c%20jit%3Doff":  "-c jit=off -csearch_path=north",
		`host=db options='-c application_name=it\'s'`:   "-c application_name=it's -csearch_path=north",
	} {
		got, err := database.InHouse(dsn, "north")
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		cfg, err := pgx.ParseConfig(got)
		if err != nil || cfg.RuntimeParams["options"] != strings.TrimSpace(want) || cfg.Host != "db" {
			t.Errorf("%s becomes %s: %q (%v)", dsn, got, cfg.RuntimeParams["options"], err)
		}
		if same, err := database.InHouse(dsn, ""); err != nil || same != dsn {
			t.Errorf("without a house, %s becomes %s (%v)", dsn, same, err)
		}
	}
	for _, name := range []string{"North", "no rth", "1st", "pg_north", "usher_plan", "information_schema", "a,b", "ä", strings.Repeat("a", 41), `a"`} {
		if _, err := database.InHouse("host=db", name); !errors.Is(err, database.ErrHouse) {
			t.Errorf("%q is a name of a house: %v", name, err)
		}
	}
	if _, err := database.InHouse("host=db search_path=other", "north"); err == nil || errors.Is(err, database.ErrHouse) {
		t.Errorf("an address has a search_path and a house: %v", err)
	}
}
