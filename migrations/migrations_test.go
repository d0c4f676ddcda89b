package migrations

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
)

// database is the address of an empty database, on a server of its own.
func database(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "usher-migrations-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the server's user must be able to walk in
		t.Fatal(err)
	}
	server, err := postgres.Start(t.Context(), dir, slog.New(slog.DiscardHandler), "fsync=off", "shared_buffers=32MB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return server.DSN
}

func TestEachMigrationHasItsOwnNumber(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("file %d is %s, want it to begin with %s", i+1, name, want)
		}
	}
}

func TestHash_LocksStatementsAndNotComments(t *testing.T) {
	t.Parallel()
	const sql = "-- A row is a seat.\nCREATE TABLE seat (\n    -- dense\n    idx integer, -- from 0\n    row text CHECK (row <> '-')\n);\n"
	for edited, same := range map[string]bool{
		"-- A seat.\n-- Written by seats.\nCREATE TABLE seat (\n    idx integer,\n    row text CHECK (row <> '-') -- a label\n);\n": true,
		strings.Replace(sql, "integer", "bigint", 1): false,
		strings.Replace(sql, "'-'", "''", 1):         false,
		sql + "DROP TABLE seat;\n":                   false,
	} {
		if (hash(edited) == hash(sql)) != same {
			t.Errorf("the hash of this is the same: %t, want %t\n%s", !same, same, edited)
		}
	}
}

func TestNodesThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var nodes sync.WaitGroup
	applied := make([]int, 8)
	for i := range applied {
		nodes.Go(func() {
			conn, err := pgx.Connect(t.Context(), dsn)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close(context.Background()) }()
			if applied[i], err = Up(t.Context(), conn); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	total := 0
	for _, n := range applied {
		total += n
	}
	if total != len(names) {
		t.Errorf("%d migrations were applied %d times", len(names), total)
	}
}

func TestADatabaseThatIsNewerOrDifferentIsRefused(t *testing.T) {
	t.Parallel()
	conn := reach(t, database(t))
	if _, err := Up(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	for planted, want := range map[string]string{
		`UPDATE migration SET hash = 'other' WHERE number = 1`:           "is not what was applied",
		`INSERT INTO migration SELECT 99, 'newer', 'x'`:                  "start a newer usher",
		`UPDATE migration SET name = '0001_events.sql' WHERE number = 1`: "made before the first release",
		`DELETE FROM migration WHERE number > 1; UPDATE migration SET name = '0001_events.sql', hash = 'other';
		 INSERT INTO migration SELECT n, n || '_old.sql', 'x' FROM generate_series(2, 65) n`: "made before the first release",
	} {
		if _, err := conn.Exec(t.Context(), `BEGIN; `+planted); err != nil {
			t.Fatal(err)
		}
		if n, err := Up(t.Context(), conn); err == nil || n != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("after %q: %d, %v", planted, n, err)
		}
		if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
}

// migrated brings an empty database up to a migration, and calls before just before that one.
func migrated(t *testing.T, upTo string, before func(conn *pgx.Conn)) *pgx.Conn {
	t.Helper()
	conn := reach(t, database(t))
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), createTableSQL); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		is := strings.HasSuffix(name, upTo)
		if is {
			before(conn)
		}
		if err := apply(t.Context(), conn, i+1, name); err != nil {
			t.Fatal(err)
		}
		if is {
			return conn
		}
	}
	t.Fatalf("there is no migration %s", upTo)
	return nil
}

func TestErasureKey_HashesAsBeforeWhenItBecomesOneColumn(t *testing.T) {
	t.Parallel()
	secret := make([]byte, 64)
	for i := range secret {
		secret[i] = byte(i * 7)
	}
	conn := migrated(t, "_sealed_erasure_key.sql", func(conn *pgx.Conn) {
		inner, outer := bytes.Clone(secret), bytes.Clone(secret)
		for i := range secret {
			inner[i] ^= 0x36
			outer[i] ^= 0x5c
		}
		if _, err := conn.Exec(t.Context(), `INSERT INTO erasure_key (inner_pad, outer_pad) VALUES ($1, $2)`, inner, outer); err != nil {
			t.Fatal(err)
		}
	})
	var now []byte
	if err := conn.QueryRow(t.Context(), `SELECT secret FROM erasure_key`).Scan(&now); err != nil || !bytes.Equal(now, secret) {
		t.Errorf("the key is %x, %v", now, err)
	}
}

func TestRoles_PeopleOfTheDoorMayStillSell(t *testing.T) {
	t.Parallel()
	conn := migrated(t, "_roles.sql", func(conn *pgx.Conn) {
		if _, err := conn.Exec(t.Context(), `
			WITH t AS (INSERT INTO team (name) VALUES ('House') RETURNING id),
			     o AS (INSERT INTO organizer (name, email) VALUES ('Ann', 'ann@example.org'), ('Dora', 'dora@example.org') RETURNING id, name),
			     i AS (INSERT INTO invitation (team_id, email, role) SELECT id, 'bob@example.org', 'door' FROM t)
			INSERT INTO member (team_id, organizer_id, role) SELECT t.id, o.id, CASE o.name WHEN 'Ann' THEN 'owner' ELSE 'door' END FROM t, o`); err != nil {
			t.Fatal(err)
		}
	})
	var members, invited string
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT string_agg(role, ' ' ORDER BY role) FROM member), (SELECT role FROM invitation)`).Scan(&members, &invited); err != nil || members != "owner till" || invited != "till" {
		t.Errorf("members are %s, who is invited %s, %v", members, invited, err)
	}
}

func TestMigrations_AreNumberedWithoutGap(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s is number %d", name, i+1)
		}
	}
}

const columnsSQL = `
SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'p') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ')', prorettype::regtype::text, false
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace`

// columns are the columns of all tables and the functions, each with its type and whether each INSERT has to name it.
func columns(t *testing.T, conn *pgx.Conn) map[string]column {
	t.Helper()
	rows, err := conn.Query(t.Context(), columnsSQL)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]column{}
	var name string
	var c column
	if _, err := pgx.ForEachRow(rows, []any{&name, &c.kind, &c.needed}, func() error { all[name] = c; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

type column struct {
	kind   string
	needed bool
}

// Nodes of the release before go on while the first node of this one migrates. They were released with the migration that is named here: what they
// read stays, and what they write is complete.
func TestMigrations_EarlierReleaseFindsItsColumnsAndNeedsNoOther(t *testing.T) {
	t.Parallel()
	conn := migrated(t, "0086_fairness.sql", func(*pgx.Conn) {})
	before := columns(t, conn)
	if _, err := Up(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	after := columns(t, conn)
	for name, was := range before {
		if now, is := after[name]; !is || now.kind != was.kind {
			t.Errorf("%s was %s, and is %q", name, was.kind, now.kind)
		}
	}
	tables := map[string]bool{}
	for name := range before {
		table, _, _ := strings.Cut(name, ".")
		tables[table] = true
	}
	for name, now := range after {
		table, _, _ := strings.Cut(name, ".")
		if tables[table] && now.needed && !before[name].needed {
			t.Errorf("an earlier release writes rows of %s without %s, which has no default", table, name)
		}
	}
}
