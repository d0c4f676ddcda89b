// Package migrations holds the schema, the runner that brings a database to it, and the private PostgreSQL that usher
// starts when it is given no other.
package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

//go:embed *.sql
var files embed.FS

// lockNumber is the advisory lock under which a database is migrated: any number of nodes may start at once.
const lockNumber = 0x75736865

const createTableSQL = `
CREATE TABLE IF NOT EXISTS migration (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    hash       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)`

// Up applies the migrations that a database does not have yet, each in its own transaction, and returns how many that
// were. It refuses a database that is newer than this program, or one whose applied migrations are not these.
func Up(ctx context.Context, conn *pgx.Conn) (applied int, err error) {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, lockNumber); err != nil {
		return 0, fmt.Errorf("migrations: wait for other nodes: %w", err)
	}
	defer func() {
		if _, unlockErr := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, lockNumber); err == nil && unlockErr != nil {
			err = fmt.Errorf("migrations: let other nodes go on: %w", unlockErr)
		}
	}()
	owner, err := owns(ctx, conn)
	if err != nil {
		return 0, err
	}
	if owner {
		if _, err := conn.Exec(ctx, createTableSQL); err != nil {
			return 0, fmt.Errorf("migrations: create table migration: %w", err)
		}
	}
	names, err := fs.Glob(files, "*.sql") // sorted by number
	if err != nil {
		return 0, err
	}
	has, err := known(ctx, conn)
	if err != nil {
		return 0, err
	}
	if len(has) > len(names) {
		return 0, fmt.Errorf("migrations: the database is at %d and this program knows %d: start a newer usher", len(has), len(names))
	}
	for i, name := range names {
		if i < len(has) {
			if has[i] != hash(name) {
				return applied, fmt.Errorf("migrations: %s is not what was applied to this database: start the usher it was made with, or put the file back and write a new one", name)
			}
			continue
		}
		if !owner {
			return 0, fmt.Errorf("migrations: the database is at %d, this program needs %d, and this user does not own the tables: run \"usher migrate\" as their owner first", len(has), len(names))
		}
		if err := apply(ctx, conn, i+1, name); err != nil {
			return applied, err
		}
		applied++
	}
	if applied > 0 {
		err = grantAgain(ctx, conn)
	}
	return applied, err
}

func known(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `SELECT hash FROM migration ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("migrations: read what is applied: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func hash(name string) string {
	sql, _ := files.ReadFile(name) // embedded: cannot fail
	sum := sha256.Sum256(sql)
	return hex.EncodeToString(sum[:])
}
