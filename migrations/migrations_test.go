package migrations

import (
	"context"
	"io/fs"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
