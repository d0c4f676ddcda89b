// Package database opens connections to PostgreSQL, set up for the statements of package seats. A pool makes them one at a
// time, batches first, while the database comes back (door.go).
package database

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is how many a pool opens at most, if its address does not say it with pool_max_conns. Claims travel in
// batches, so that a few carry a crowd.
const connections = 16

// A statement is planned once, for any number of seats, and looks each row up by its key or its place. Left to its
// estimates, the planner reads the whole house for an event that was put on sale a minute ago, of which it knows
// nothing yet: seen 43 ms instead of 1 for 252 seats of 100,000. Seats are met in the order of their index, which
// is the order of locks; a bitmap would meet them as they lie. Where a whole table is read after all, that costs so
// much by its books that it would compile the statement: seen 300 ms for a table of no rows.
const planSQL = `
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off`

// Connect opens a pool of connections to a PostgreSQL, set up as package seats wants them.
func Connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("database: this is not an address of a PostgreSQL: %w", err)
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = connections
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.PgConn().Exec(ctx, planSQL).ReadAll()
		return err
	}
	(&door{}).guard(cfg)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Dial opens one connection beside the pool. What an address says of the pool (pool_max_conns) is nothing to the
// server.
func Dial(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("database: this is not an address of a PostgreSQL: %w", err)
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}
