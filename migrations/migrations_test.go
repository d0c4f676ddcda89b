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
