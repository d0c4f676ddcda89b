package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seal"
)

// database is the PostgreSQL in use, at this version of the schema.
type database struct {
	pool    *pgxpool.Pool
	dsn     string           // past a pooler, if there is one
	pooled  string           // through the pooler; empty: there is none
	private *postgres.Server // nil when the operator gave one
	box     *seal.Box        // opens and seals secrets; nil without a key
}

// openDatabase reaches the operator's PostgreSQL, or starts (or joins) the private one, and brings it up to date.
func openDatabase(ctx context.Context, cfg *DatabaseSettings, log *slog.Logger) (*database, error) {
	db, err := startDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err = prepare(ctx, db.dsn, cfg); err != nil {
		err = fmt.Errorf("%w (the database is %s)", err, cfg.database())
	} else if db.pool, err = seatsdb.Connect(ctx, cmp.Or(db.pooled, db.dsn)); err == nil && db.pooled != "" {
		err = db.isOne(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// startDatabase checks the settings, and starts (or joins) the private PostgreSQL if there is no other. It changes nothing in
// the database, and has no pool.
func startDatabase(ctx context.Context, cfg *DatabaseSettings, log *slog.Logger) (_ *database, err error) {
	if err := cfg.checkDatabase(); err != nil {
		return nil, err
	}
	db := &database{}
	if db.box, err = cfg.secretBox(); err != nil {
		return nil, err
	}
	if cfg.DirectURL != "" {
		if db.pooled, err = cfg.inHouse(cfg.DatabaseURL); err != nil {
			return nil, err
		}
	}
	if address := cmp.Or(cfg.DirectURL, cfg.DatabaseURL); address != "" {
		db.dsn, err = cfg.inHouse(address)
		return db, err
	}
	if cfg.shadow {
		db.private, err = postgres.Start(ctx, cfg.Data, log, postgres.Fleeting...)
	} else {
		db.private, err = postgres.StartArchiving(ctx, cfg.Data, cfg.archive, log)
	}
	if err != nil {
		return nil, err
	}
	if db.dsn, err = cfg.inHouse(db.private.DSN); err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// reachTime is how long a database may take to take a connection when usher starts. An address that can never work ends the start;
// a database that goes away later is waited for.
const reachTime = 15 * time.Second

// isOne refuses two addresses of which one leads nowhere, or not to the database of the other.
func (db *database) isOne(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	pooled, err := seatsdb.Which(ctx, db.pool)
	if err != nil {
		return fmt.Errorf("the database cannot be reached through DATABASE_URL: %w", err)
	}
	conn, err := seatsdb.Dial(ctx, db.dsn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached through DATABASE_DIRECT_URL: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	direct, err := seatsdb.Which(ctx, conn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached through DATABASE_DIRECT_URL: %w", err)
	}
	if pooled != direct {
		return errors.New("DATABASE_URL and DATABASE_DIRECT_URL lead to two databases, or to two schemas of one; the second is to lead to the first, past the pooler")
	}
	return nil
}

// prepare brings the database up to this version, and refuses one that may lose what it confirmed.
func prepare(ctx context.Context, dsn string, cfg *DatabaseSettings) error {
	reaching, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	conn, err := seatsdb.Dial(reaching, dsn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	if private := cfg.DatabaseURL == ""; !cfg.shadow || !private {
		if err := postgres.CheckDurable(ctx, conn); err != nil {
			return err
		}
	}
	if err := cfg.enter(ctx, conn); err != nil {
		return err
	}
	_, err = migrations.Up(ctx, conn)
	return err
}

// enter makes sure that the house is there. Commands that only look or change something make none: its name may be mistyped.
func (cfg *DatabaseSettings) enter(ctx context.Context, conn *pgx.Conn) error {
	if cfg.House == "" {
		return nil
	}
	there, err := migrations.HasHouse(ctx, conn, cfg.House)
	switch {
	case err != nil || there:
		return err
	case !cfg.makesHouse:
		return usageError{fmt.Sprintf("there is no house %[1]s; \"usher migrate --house %[1]s\" and \"usher serve --house %[1]s\" make one", cfg.House)}
	}
	moved, err := migrations.HasHouse(ctx, conn, cfg.House+"_moved") // as contrib/move-house.sh leaves it
	if err != nil {
		return err
	}
	if moved {
		return usageError{fmt.Sprintf("house %s was moved to another database: use the address of that one", cfg.House)}
	}
	return migrations.MakeHouse(ctx, conn, cfg.House)
}

// stopTime is how long a clean end of Postgres may take; after it, the next start recovers.
const stopTime = 4 * time.Second

// stopArchiveTime is the same where the server archives: it also waits until the last WAL is in the archive.
const stopArchiveTime = 25 * time.Second

func (db *database) close() error {
	if db.pool != nil {
		db.pool.Close()
	}
	if db.private == nil {
		return nil
	}
	limit := stopTime
	if db.private.Archive() != nil {
		limit = stopArchiveTime
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return db.private.Stop(ctx)
}

// withDatabase runs one command on the database, beside a running serve or alone.
func withDatabase(ctx context.Context, sh *shell, cfg *DatabaseSettings, do func(*database) error) error {
	db, err := openDatabase(ctx, cfg, newLog(sh.stderr, "text"))
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.close())
}

// migrate brings the database up to this version and says so. With --grant-to it also lets another role serve. With --plan it
// only says what it would do.
type migrate struct {
	Plan    bool   `xor:"plan" help:"Change nothing, and say which tables each migration to come locks, and how large they are."`
	GrantTo string `xor:"plan" placeholder:"ROLE" help:"Role of this PostgreSQL that may then run serve, with the rights that serve needs and no others."`
	DatabaseSettings
}

// Run is the command.
func (c *migrate) Run(ctx context.Context, sh *shell) error {
	if c.Plan {
		return c.plan(ctx, sh)
	}
	c.makesHouse = true
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		if _, err := fmt.Fprintf(sh.stdout, "The database is up to date: %s.\n", c.database()); err != nil || c.GrantTo == "" {
			return err
		}
		return grantTo(ctx, sh.stdout, db.pool, c.GrantTo)
	})
}

func (c *migrate) plan(ctx context.Context, sh *shell) (err error) {
	db, err := startDatabase(ctx, &c.DatabaseSettings, newLog(sh.stderr, "text"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	conn, err := seatsdb.Dial(ctx, db.dsn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	if err := c.enter(ctx, conn); err != nil {
		return err
	}
	planned, err := migrations.Plan(ctx, conn)
	if err != nil {
		return err
	}
	return writeLocks(sh.stdout, planned)
}

// planRate is how many bytes a server is taken to read or write in a second: few disks do less.
const planRate = 100e6

// writeLocks tells an operator what an update locks, and for how long.
func writeLocks(w io.Writer, planned []migrations.Planned) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "Migrations to come: %d. Nothing was changed. Each is a transaction, and waits at most half a second for its locks, then tries again.\nTimes are those of a server that reads or writes 100 MB in a second.\n", len(planned))
	for _, migration := range planned {
		fmt.Fprintf(text, "\n%s\n", migration.Name)
		for _, lock := range migration.Locks {
			work := "for a moment"
			switch size := sizeAndTime(lock.Bytes); {
			case lock.Rewrites:
				work = "while it rewrites the table, " + size
			case lock.Reads:
				work = "while it reads the table, " + size
			}
			fmt.Fprintf(text, "  %-24s %s wait %s\n", lock.Table, lock.Blocks(), work)
		}
		if len(migration.Locks) == 0 {
			text.WriteString("  locks no existing table\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// sizeAndTime is how large a table is, and how long a migration reads or writes it.
func sizeAndTime(size int64) string {
	return fmt.Sprintf("%.1f MB: about %.0f s", float64(size)/1e6, math.Ceil(float64(size)/planRate))
}

func grantTo(ctx context.Context, w io.Writer, db *pgxpool.Pool, role string) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	switch err := migrations.Grant(ctx, conn.Conn(), role); {
	case errors.Is(err, migrations.ErrNoRole):
		return fmt.Errorf("there is no role %[1]s; nothing was granted. Create it first: CREATE ROLE %[1]s LOGIN PASSWORD '…'", role)
	case errors.Is(err, migrations.ErrOwner):
		return fmt.Errorf("%s owns the tables, is a superuser, or is a member of their owner; nothing was granted. Choose another role", role)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(w, "%s may run \"usher serve\". It owns no table, and cannot change the log of what organizers did.\n", role)
	return err
}
