package seatstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/database"
)

// used is a database that one test after another uses. Its connections have read the catalogue and planned their statements,
// which takes longer than most tests do.
type used struct {
	name   string
	pool   *pgxpool.Pool
	beside *pgx.Conn // empties the tables, without their triggers
	schema string    // what the catalogue said before the first test
	rows   []seed
	counts []count
}

// table is one that has, or had, rows.
type table struct {
	Name   string
	Always []string // its triggers that fire for a replica as well: they let no row go
}

// seed are the rows that a table has from the migrations.
type seed struct{ Table, Rows string }

// count is where a sequence stands after the migrations.
type count struct {
	Sequence string
	Last     int64
}

// idleConns is how many connections of a pool wait for the next test, which rarely needs more.
const idleConns = 3

var free struct {
	sync.Mutex
	list []*used
}

// DB returns a pool on a database with the schema and nothing else in it. After a test that passed, the database is emptied for
// another one, unless the test changed the schema or left connections of its own.
func DB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	u := takeFree()
	if u == nil {
		u = newUsed(t)
	}
	t.Cleanup(func() {
		if !t.Failed() && u.empty(context.Background()) == nil {
			free.Lock()
			defer free.Unlock()
			free.list = append(free.list, u)
			return
		}
		u.close()
		end(t, u.name)
	})
	return u.pool
}

func takeFree() *used {
	free.Lock()
	defer free.Unlock()
	n := len(free.list)
	if n == 0 {
		return nil
	}
	u := free.list[n-1]
	free.list = free.list[:n-1]
	return u
}

func closeUsed() {
	for u := takeFree(); u != nil; u = takeFree() {
		u.close()
	}
}

func (u *used) close() {
	u.pool.Close()
	_ = u.beside.Close(context.Background()) // the database is dropped, or its server stopped
}

const (
	filledSQL = `
SELECT oid::regclass::text, ARRAY (SELECT quote_ident(tgname) FROM pg_trigger WHERE tgrelid = c.oid AND tgenabled = 'A')
  FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`

	countsSQL = `SELECT schemaname || '.' || quote_ident(sequencename), last_value FROM pg_sequences WHERE last_value IS NOT NULL`

	// Whatever is created, altered, dropped or set changes a row of these.
	schemaSQL = `
SELECT concat_ws(' ', (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_class), (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_attribute),
       (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_proc), (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_trigger),
       (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_constraint), (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_policy),
       (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_attrdef), (SELECT (count(*), sum(xmin::text::bigint)) FROM pg_namespace),
       (SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()))`

	othersSQL = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`
)

func newUsed(t testing.TB) *used {
	t.Helper()
	ctx := context.Background() // longer than the test
	name, dsn := fresh(t)
	u := &used{name: name}
	var err error
	if u.pool, err = database.Connect(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	if u.beside, err = database.Dial(ctx, dsn+" options='-c session_replication_role=replica'"); err != nil {
		t.Fatal(err)
	}
	if err := u.remember(ctx); err != nil {
		t.Fatal(err)
	}
	return u
}

// remember keeps what the migrations left.
func (u *used) remember(ctx context.Context) error {
	tables, err := u.filled(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		s := seed{Table: table.Name}
		if err := u.beside.QueryRow(ctx, "SELECT json_agg(r) FROM "+table.Name+" r").Scan(&s.Rows); err != nil {
			return err
		}
		u.rows = append(u.rows, s)
	}
	rows, _ := u.beside.Query(ctx, countsSQL)
	if u.counts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[count]); err != nil {
		return err
	}
	return u.beside.QueryRow(ctx, schemaSQL).Scan(&u.schema)
}

func (u *used) filled(ctx context.Context) ([]table, error) {
	rows, _ := u.beside.Query(ctx, filledSQL)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[table])
}

var errBusy = errors.New("the test left something at work in its database")

// empty puts the database and the sessions of its pool back to where they began.
func (u *used) empty(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := u.pool.Ping(ctx); err != nil {
		return err // the test closed it
	}
	if err := u.waitIdle(ctx); err != nil {
		return err
	}
	var schema string
	if err := u.beside.QueryRow(ctx, schemaSQL).Scan(&schema); err != nil {
		return err
	}
	if schema != u.schema {
		return errors.New("the test changed the schema")
	}
	for i, conn := range u.pool.AcquireAllIdle(ctx) {
		if i >= idleConns {
			_ = conn.Conn().Close(ctx) // and the pool forgets it
			conn.Release()
			continue
		}
		_, err := conn.Conn().PgConn().Exec(ctx, "CLOSE ALL; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()").ReadAll()
		if err == nil {
			err = u.pool.Config().AfterConnect(ctx, conn.Conn())
		}
		conn.Release()
		if err != nil {
			return err
		}
	}
	return u.wipe(ctx)
}

// waitIdle waits until no connection is there but the idle ones of the pool.
func (u *used) waitIdle(ctx context.Context) error {
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		stat, others := u.pool.Stat(), 0
		if err := u.beside.QueryRow(ctx, othersSQL).Scan(&others); err != nil {
			return err
		}
		if stat.IdleConns() == stat.TotalConns() && others == int(stat.IdleConns())+1 {
			return nil
		}
		if time.Since(began) > time.Second {
			return errBusy
		}
	}
}

// wipe brings back the rows and the sequences of the migrations.
func (u *used) wipe(ctx context.Context) error {
	tables, err := u.filled(ctx)
	if err != nil {
		return err
	}
	var b pgx.Batch
	for _, t := range tables {
		for _, trigger := range t.Always {
			b.Queue("ALTER TABLE " + t.Name + " DISABLE TRIGGER " + trigger)
		}
		b.Queue("DELETE FROM " + t.Name)
		for _, trigger := range t.Always {
			b.Queue("ALTER TABLE " + t.Name + " ENABLE ALWAYS TRIGGER " + trigger)
		}
	}
	for _, s := range u.rows {
		b.Queue(fmt.Sprintf("INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::%[1]s, $1)", s.Table), s.Rows)
	}
	b.Queue("SELECT setval((schemaname || '.' || quote_ident(sequencename))::regclass, start_value, false) FROM pg_sequences WHERE last_value IS NOT NULL")
	for _, c := range u.counts {
		b.Queue("SELECT setval($1::text::regclass, $2)", c.Sequence, c.Last)
	}
	if err := u.beside.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	return u.beside.QueryRow(ctx, schemaSQL).Scan(&u.schema) // the triggers have been switched
}
