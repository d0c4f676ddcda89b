package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/verify"
)

// backup writes everything of the database into one file, as of one moment, also while serve runs.
func backup(ctx context.Context, c *call) error {
	cfg, file, err := c.fileSettings()
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil {
		return usageError{file + " is there already; a backup does not replace another"}
	}
	db, err := openDatabase(ctx, cfg, newLog(c.stderr, "text"))
	if err != nil {
		return err
	}
	began := time.Now()
	unfinished := file + ".unfinished"
	err = c.postgres(ctx, db, "pg_dump", "--format=custom", "--no-owner", "--file="+unfinished)
	if err = errors.Join(err, db.close()); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	if err := keepSafe(unfinished); err != nil {
		return err
	}
	if err := os.Rename(unfinished, file); err != nil {
		return err
	}
	found, err := os.Stat(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s has everything as of %s: %s bytes, written in %s.\nIt holds names and addresses of people. Try it now and then: usher restore %s --data SOME_EMPTY_FOLDER\n",
		file, began.UTC().Format(time.RFC3339), thousands(int(found.Size())), time.Since(began).Round(time.Millisecond), file)
	return err
}

// keepSafe has a file on the disk, for nobody but its owner.
func keepSafe(name string) error {
	if err := os.Chmod(name, 0o600); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// restore reads a backup into an empty database and then holds every promise against it: exit status 0 if they hold.
func restore(ctx context.Context, c *call) error {
	cfg, file, err := c.fileSettings()
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("the backup cannot be read: %w", err)
	}
	db, err := reachEmpty(ctx, cfg, c)
	if err != nil {
		return err
	}
	return errors.Join(c.restoreInto(ctx, cfg, db, file), db.close())
}

func (c *call) restoreInto(ctx context.Context, cfg *Config, db *database, file string) error {
	if err := c.postgres(ctx, db, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname", db.dsn, file); err != nil {
		return err
	}
	if err := prepare(ctx, db.dsn); err != nil { // an older backup is brought up to date
		return err
	}
	pool, err := pgxpool.New(ctx, db.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	began := time.Now()
	report, err := verify.Look(ctx, pool, "")
	if err != nil {
		return blind{err}
	}
	if err := printBooks(c.stdout, report, time.Since(began), false); err != nil {
		return err
	}
	if n := report.Broken(); n > 0 {
		return brokenBooks{n, len(report.Promises)}
	}
	_, err = fmt.Fprintf(c.stdout, "%s is in %s, and every promise holds there.\n", file, cfg.database())
	return err
}

// fileSettings reads the settings of a command that is called with a file.
func (c *call) fileSettings() (*Config, string, error) {
	var cfg Config
	flags := c.flags()
	if err := bind(flags, cfg.databaseSettings(), c.getenv); err != nil {
		return nil, "", err
	}
	if err := c.parse(flags, 1); err != nil {
		return nil, "", err
	}
	return &cfg, c.args[0], nil
}

const emptySQL = `SELECT count(*) = 0 FROM pg_class WHERE relnamespace = current_schema()::regnamespace`

const deskRoleSQL = `
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_desk') THEN CREATE ROLE usher_desk NOLOGIN; END IF;
    IF NOT pg_has_role(current_user, 'usher_desk', 'MEMBER') THEN EXECUTE format('GRANT usher_desk TO %I', current_user); END IF;
END $$`

// reachEmpty reaches a database that has nothing in it, and makes the role that a backup speaks of: roles are of a server
// and not of a database.
func reachEmpty(ctx context.Context, cfg *Config, c *call) (_ *database, err error) {
	db := &database{dsn: cfg.DatabaseURL}
	if cfg.DirectURL != "" {
		db.dsn = cfg.DirectURL
	}
	if db.dsn == "" {
		if db.private, err = migrations.StartPrivate(ctx, cfg.Data, newLog(c.stderr, "text")); err != nil {
			return nil, err
		}
		db.dsn = db.private.DSN
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.close())
		}
	}()
	conn, err := pgx.Connect(ctx, db.dsn)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	var empty bool
	if err := conn.QueryRow(ctx, emptySQL).Scan(&empty); err != nil {
		return nil, err
	}
	if !empty {
		return nil, usageError{fmt.Sprintf("%s has something in it; a backup is restored into an empty database: name another folder with --data", cfg.database())}
	}
	_, err = conn.Exec(ctx, deskRoleSQL)
	return db, err
}

// postgres runs a program of PostgreSQL on a database, that of the server's own version where the server is ours.
func (c *call) postgres(ctx context.Context, db *database, program string, args ...string) error {
	path, err := migrations.Program(program, db.private)
	if err != nil {
		return err
	}
	if program == "pg_dump" {
		args = append(args, "--dbname", db.dsn)
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // G204: a program of PostgreSQL
	var words strings.Builder
	cmd.Stdout, cmd.Stderr = &words, &words
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, strings.TrimSpace(words.String()))
	}
	return nil
}
