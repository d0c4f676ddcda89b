package migrations

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
	p, err := StartPrivate(t.Context(), place(t, "data"), silent(), "fsync=off", "shared_buffers=16MB")
	if err != nil {
		t.Fatal(err)
	}
	defer stopped(t, p)
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var nodes sync.WaitGroup
	applied := make([]int, 8)
	for i := range applied {
		nodes.Go(func() {
			conn, err := pgx.Connect(t.Context(), p.DSN)
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
