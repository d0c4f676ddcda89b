package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Planned is a migration that a database does not have yet, with the tables of it that it locks.
type Planned struct {
	Name  string
	Locks []Lock
}

// Lock is what a migration does to a table that there is. The lock lasts until the migration commits.
type Lock struct {
	Table    string
	Mode     string // of PostgreSQL, such as "AccessExclusiveLock"
	Rewrites bool   // all rows are written anew
	Reads    bool   // all rows are read, as for an index or a check
	Bytes    int64  // size of the table with its indexes
}

// Blocks are the statements that wait while a table is locked in a mode; see the table of conflicts in the manual of
// PostgreSQL, 13.3.
func (l Lock) Blocks() string {
	if l.Mode == "AccessExclusiveLock" {
		return "reads and writes"
	}
	return "writes"
}

// planSchema is where Plan tries the migrations. Only one connection at a time does, under the lock of Up.
const planSchema = "usher_plan"

// Plan says what Up would do to a database, and changes nothing in it. It applies all migrations to empty tables in a schema of
// its own, which it drops, and looks at the locks that those to come take there. It is for the owner of the tables.
func Plan(ctx context.Context, conn *pgx.Conn) (planned []Planned, err error) {
	err = whileOthersWait(ctx, conn, func() error {
		planned, err = plan(ctx, conn)
		return err
	})
	return planned, err
}

func plan(ctx context.Context, conn *pgx.Conn) (planned []Planned, err error) {
	if _, err := conn.Exec(ctx, createTableSQL); err != nil { // an empty database
		return nil, fmt.Errorf("migrations: create table migration: %w", err)
	}
	names, applied, err := compare(ctx, conn)
	if err != nil || applied == len(names) {
		return nil, err
	}
	sizes, err := readSizes(ctx, conn)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+planSchema+` CASCADE; CREATE SCHEMA `+planSchema+`; SET search_path = `+planSchema); err != nil {
		return nil, fmt.Errorf("migrations: make a schema to try them in: %w", err)
	}
	defer func() {
		if _, dropErr := conn.Exec(context.WithoutCancel(ctx), `RESET search_path; DROP SCHEMA `+planSchema+` CASCADE`); err == nil && dropErr != nil {
			err = fmt.Errorf("migrations: drop schema %s: %w", planSchema, dropErr)
		}
	}()
	for i, name := range names {
		sql, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if i < applied {
			if _, err := conn.Exec(ctx, string(sql)); err != nil {
				return nil, fmt.Errorf("migrations: try %s: %w", name, err)
			}
			continue
		}
		locks, err := tryOne(ctx, conn, string(sql))
		if err != nil {
			return nil, fmt.Errorf("migrations: try %s: %w", name, err)
		}
		here := Planned{Name: name}
		for _, lock := range locks {
			if size, is := sizes[lock.Table]; is { // and not of a migration before this one
				lock.Bytes = size
				here.Locks = append(here.Locks, lock)
			}
		}
		planned = append(planned, here)
	}
	return planned, nil
}

const sizesSQL = `
SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`

func readSizes(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	rows, err := conn.Query(ctx, sizesSQL)
	if err != nil {
		return nil, fmt.Errorf("migrations: read the sizes of tables: %w", err)
	}
	sizes, name, size := map[string]int64{}, "", int64(0)
	if _, err := pgx.ForEachRow(rows, []any{&name, &size}, func() error { sizes[name] = size; return nil }); err != nil {
		return nil, fmt.Errorf("migrations: read the sizes of tables: %w", err)
	}
	return sizes, nil
}

const (
	storedSQL = `
SELECT coalesce(array_agg(c.oid), '{}'), coalesce(array_agg(c.relfilenode), '{}'), coalesce(array_agg(coalesce(s.seq_scan, 0)), '{}')
  FROM pg_class c LEFT JOIN pg_stat_xact_all_tables s ON s.relid = c.oid
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`

	// A scan counts when it begins, also that of an empty table.
	locksSQL = `
SELECT c.relname::text, l.mode, c.relfilenode <> was.file,
       coalesce((SELECT s.seq_scan FROM pg_stat_xact_all_tables s WHERE s.relid = c.oid), 0) > was.scans
  FROM unnest($1::oid[], $2::oid[], $3::bigint[]) AS was(id, file, scans)
  JOIN pg_class c ON c.oid = was.id
  JOIN (SELECT DISTINCT ON (relation) relation, mode FROM pg_locks
         WHERE pid = pg_backend_pid() AND locktype = 'relation' AND granted
           AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
         ORDER BY relation, array_position(ARRAY['AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'], mode)) l ON l.relation = c.oid
 ORDER BY c.relname`
)

// tryOne applies a migration to the tables of the schema in use, and returns how it locked those that there were.
func tryOne(ctx context.Context, conn *pgx.Conn, sql string) (locks []Lock, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var ids, stored []uint32
		var scans []int64
		if err := tx.QueryRow(ctx, storedSQL).Scan(&ids, &stored, &scans); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, locksSQL, ids, stored, scans)
		if err != nil {
			return err
		}
		locks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Lock, err error) {
			return l, row.Scan(&l.Table, &l.Mode, &l.Rewrites, &l.Reads)
		})
		return err
	})
	return locks, err
}
