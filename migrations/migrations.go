// Package migrations holds the schema, the runner that brings a database to it, and the rights of a role that serves.
package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"

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
// were. It refuses a database that is newer than this program, or one with other migrations, and changes nothing there.
func Up(ctx context.Context, conn *pgx.Conn) (applied int, err error) {
	err = whileOthersWait(ctx, conn, func() error {
		applied, err = up(ctx, conn)
		return err
	})
	return applied, err
}

const hasHouseSQL = `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`

// HasHouse reports whether a database has the schema of a house.
func HasHouse(ctx context.Context, conn *pgx.Conn, house string) (has bool, err error) {
	if err := conn.QueryRow(ctx, hasHouseSQL, house).Scan(&has); err != nil {
		return false, fmt.Errorf("migrations: look for house %s: %w", house, err)
	}
	return has, nil
}

// MakeHouse makes the schema of a house, if it is not there. Up fills it, on connections that see it and no other (database.InHouse).
func MakeHouse(ctx context.Context, conn *pgx.Conn, house string) error {
	return whileOthersWait(ctx, conn, func() error {
		if _, err := conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{house}.Sanitize()); err != nil {
			return fmt.Errorf("migrations: make house %s: %w", house, err)
		}
		return nil
	})
}

// whileOthersWait calls do while no other node migrates this database.
func whileOthersWait(ctx context.Context, conn *pgx.Conn, do func() error) (err error) {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, lockNumber); err != nil {
		return fmt.Errorf("migrations: wait for other nodes: %w", err)
	}
	defer func() {
		if _, unlockErr := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, lockNumber); err == nil && unlockErr != nil {
			err = fmt.Errorf("migrations: let other nodes go on: %w", unlockErr)
		}
	}()
	return do()
}

func up(ctx context.Context, conn *pgx.Conn) (applied int, err error) {
	owner, err := owns(ctx, conn)
	if err != nil {
		return 0, err
	}
	if owner {
		if _, err := conn.Exec(ctx, createTableSQL); err != nil {
			return 0, fmt.Errorf("migrations: create table migration: %w", err)
		}
	}
	names, has, err := compare(ctx, conn)
	if err != nil {
		return 0, err
	}
	for i := has; i < len(names); i++ {
		if !owner {
			return 0, fmt.Errorf("migrations: the database is at %d, this program needs %d, and this user does not own the tables: run \"usher migrate\" as their owner first", has, len(names))
		}
		if err := apply(ctx, conn, i+1, names[i]); err != nil {
			return applied, err
		}
		applied++
	}
	if applied > 0 {
		err = grantAgain(ctx, conn)
	}
	return applied, err
}

// compare returns the names of all migrations, and how many of them a database has. It refuses one that has others.
func compare(ctx context.Context, conn *pgx.Conn) (names []string, applied int, err error) {
	names, err = fs.Glob(files, "*.sql") // sorted by number
	if err != nil {
		return nil, 0, err
	}
	has, err := readKnown(ctx, conn)
	if err != nil {
		return nil, 0, err
	}
	for i, was := range has[:min(len(has), len(names))] {
		if i == 0 && was.Name != names[0] {
			return nil, 0, fmt.Errorf("migrations: this database begins with %s and was made before the first release, from which usher does not upgrade; nothing was changed: use an empty database", was.Name)
		}
		sql, err := files.ReadFile(names[i])
		if err != nil {
			return nil, 0, err
		}
		if was.Hash != hash(string(sql)) {
			return nil, 0, fmt.Errorf("migrations: %s is not what was applied to this database: start the usher it was made with, or put the file back and write a new one", names[i])
		}
	}
	if len(has) > len(names) {
		return nil, 0, fmt.Errorf("migrations: the database is at %d and this program knows %d: start a newer usher", len(has), len(names))
	}
	return names, len(has), nil
}

// known is a migration that a database has.
type known struct{ Name, Hash string }

func readKnown(ctx context.Context, conn *pgx.Conn) ([]known, error) {
	rows, err := conn.Query(ctx, `SELECT name, hash FROM migration ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("migrations: read what is applied: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[known])
}

var comment = regexp.MustCompile(`(?m)^[ \t]*--.*\n|[ \t]+--.*$`)

// hash locks the statements of a migration. Its comments may be improved.
func hash(sql string) string {
	sum := sha256.Sum256([]byte(comment.ReplaceAllString(sql, "")))
	return hex.EncodeToString(sum[:])
}
