package seatstest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A database on the clock of the bubble: every statement asks for the time by these functions, and so do the defaults
// of columns.
const bubbleClockSQL = `
CREATE SCHEMA bubble;
CREATE FUNCTION bubble.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT current_setting('bubble.now')::timestamptz $$;
CREATE FUNCTION bubble.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT current_setting('bubble.now')::timestamptz $$;
CREATE FUNCTION bubble.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT current_setting('bubble.now')::timestamptz $$;
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT d.adrelid::regclass AS tab, a.attname AS col
               FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
              WHERE pg_get_expr(d.adbin, d.adrelid) ~ '^(clock_timestamp|now)\(\)$'
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT bubble.clock_timestamp()', c.tab, c.col);
    END LOOP;
END $$`

// Bubble is a database for a bubble of testing/synctest: hours pass in seconds, for its clock as well. What runs in the bubble
// may not listen to it, or time stands still.
type Bubble struct {
	// Gone makes every new statement fail, as if the database could not be reached.
	Gone atomic.Bool

	dsn   string
	ahead atomic.Int64 // of the bubble's clock, in ns
}

// NewBubble makes a fresh database. Call it outside of the bubble.
func NewBubble(t testing.TB) *Bubble {
	t.Helper()
	b := &Bubble{dsn: strings.TrimSuffix(DSN(t), " pool_max_conns=16")}
	conn, err := pgx.Connect(t.Context(), b.dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), bubbleClockSQL); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Now is the time by the database's clock.
func (b *Bubble) Now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

// Ahead puts the database's clock ahead of all others by so much more.
func (b *Bubble) Ahead(more time.Duration) { b.ahead.Add(int64(more)) }

var errGone = errors.New("the database is gone")

// Pool is a pool of connections from within the bubble. Close it there.
func (b *Bubble) Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(b.dsn + " pool_max_conns=6 search_path=bubble,public,pg_catalog")
	if err != nil {
		t.Fatal(err)
	}
	cfg.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		if b.Gone.Load() {
			return true, errGone
		}
		_, err := conn.PgConn().Exec(ctx, "SET bubble.now = '"+b.Now().UTC().Format(time.RFC3339Nano)+"'").ReadAll()
		return err == nil, nil // a connection that was cut is replaced
	}
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

const cutSQL = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

// Cut cuts every connection to the database but the one that asks for it.
func Cut(ctx context.Context, db *pgxpool.Pool) error {
	_, err := db.Exec(ctx, cutSQL)
	return err
}
