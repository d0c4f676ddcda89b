// Package database opens connections to PostgreSQL, set up for the statements of package seats. While the database comes
// back from an outage, a pool opens them one at a time, batches first (limiter.go). A commit that its synchronous standby may not have is an
// error on them (unsynced.go).
package database

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is the most that a pool opens, unless its address has pool_max_conns. Claims travel in batches, so a few
// connections serve a crowd.
const connections = 16

// A statement is planned once, for any number of seats, and finds each row by an index. With its own estimates, the planner
// reads a whole table for an event that went on sale a minute ago, because it has no statistics yet: seen 43 ms instead of 1
// for 252 seats of 100,000. Rows must be locked in the order of their index, but a bitmap scan meets them in that of the
// table. A full scan has such a high estimate here that it would be compiled: seen 300 ms for an empty table.
const planSQL = `
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off;
SET client_min_messages = warning` // with less, the warning of a commit that did not wait would not come (unsynced.go)

// PlanManySQL is for a transaction that reads many rows, such as a report: the planner may read whole tables and join them as it likes.
const PlanManySQL = `
SET LOCAL plan_cache_mode TO DEFAULT;
SET LOCAL enable_hashjoin TO DEFAULT;
SET LOCAL enable_mergejoin TO DEFAULT;
SET LOCAL enable_seqscan TO DEFAULT;
SET LOCAL enable_bitmapscan TO DEFAULT`

// Connect opens a pool of connections for package seats.
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
	syncOnly(&cfg.ConnConfig.Config)
	(&limiter{}).guard(cfg)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Dial opens one connection beside the pool. It drops the pool's settings from the address.
func Dial(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("database: this is not an address of a PostgreSQL: %w", err)
	}
	syncOnly(&cfg.ConnConfig.Config)
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}
