package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
	seatsdb "github.com/usherbox/usher/seats/database"
)

// latest is the time of a restore that brings back all that the archive has.
const latest = "latest"

// target reads what a restore from the archive is to bring back.
func (c *restore) target(now time.Time) (to postgres.Target, err error) {
	switch {
	case c.File != "":
		return to, usageError{"--to brings a database back from its archive, and a FILE from a backup: name one of them"}
	case c.DatabaseURL != "":
		return to, usageError{"--to is for the private PostgreSQL; docs/operating.md says how to bring your own back with pgBackRest"}
	case c.Archive == "" || c.Archive == postgres.NoArchive:
		return to, usageError{"--to needs --archive, the place that \"usher serve --archive\" was given"}
	case c.Timeline < 0:
		return to, usageError{fmt.Sprintf("--timeline is %d; it is 1 or more", c.Timeline)}
	}
	to.Timeline = c.Timeline
	if c.To == latest {
		return to, nil
	}
	to.At, err = time.Parse(time.RFC3339Nano, strings.Replace(c.To, " ", "T", 1))
	if err != nil {
		return to, usageError{fmt.Sprintf("--to %q is not \"latest\" or a time with its zone, such as 2026-11-28T20:15:03+01:00 or 2026-11-28T19:15:03Z", c.To)}
	}
	if to.At.After(now) {
		return to, usageError{fmt.Sprintf("--to %s has not come yet: it is %s. For all that there is, say --to latest", c.To, now.UTC().Format(time.RFC3339))}
	}
	return to, nil
}

// fromArchive brings the private PostgreSQL back from its archive, and then holds every promise against it.
func (c *restore) fromArchive(ctx context.Context, sh *shell, log *slog.Logger) error {
	to, err := c.target(time.Now())
	if err != nil {
		return err
	}
	if err := c.checkDatabase(); err != nil {
		return err
	}
	dump := openedBackup{name: "What " + c.Archive + " has"}
	if c.Erased != "" {
		if dump.erased, err = readErased(c.Erased); err != nil {
			return err
		}
	}
	began := time.Now()
	r, err := postgres.Restore(ctx, c.Data, c.Archive, to, log, skipAllIDs)
	if errors.Is(err, postgres.ErrTarget) {
		return misuse(err)
	}
	if err != nil {
		return err
	}
	if err := tellRestored(sh.stdout, c, to, r, time.Since(began)); err != nil {
		return err
	}
	private, err := postgres.Start(ctx, c.Data, log)
	if err != nil {
		return err
	}
	db := &database{dsn: private.DSN, private: private}
	if db.dsn, err = c.inHouse(private.DSN); err != nil {
		return errors.Join(err, db.close())
	}
	err = db.check(ctx, sh.stdout, &c.DatabaseSettings, dump)
	if broken := (brokenBooks{}); err == nil || errors.As(err, &broken) {
		err = errors.Join(err, private.Checked())
	}
	return errors.Join(err, tellLost(ctx, sh.stdout, db.dsn, c, r), db.close())
}

const clock = "2006-01-02 15:04:05.000000 MST"

// tellRestored says what came back before it is checked.
func tellRestored(w io.Writer, c *restore, to postgres.Target, r postgres.Restored, took time.Duration) error {
	var text strings.Builder
	what := "all that the archive has"
	if !to.At.IsZero() {
		what = "what was committed until " + to.At.UTC().Format(clock) + ", inclusive"
	}
	fmt.Fprintf(&text, "Brought back %s, from backup %s, in %s.\n", what, r.Backup, took.Round(time.Millisecond))
	if r.Early {
		text.WriteString("The archive ends before that time: all that it has came back.\n")
	}
	if !r.Last.IsZero() {
		fmt.Fprintf(&text, "The last transaction in it was at %s.\n", r.Last.UTC().Format(clock))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

const openCallsSQL = `SELECT count(*) FROM intention WHERE done_at IS NULL`

// tellLost says what a restored database does not know, and what to do about it.
func tellLost(ctx context.Context, w io.Writer, dsn string, c *restore, r postgres.Restored) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // it was only read
	var open int
	if err := conn.QueryRow(ctx, openCallsSQL).Scan(&open); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `
What came later is not in it:
- Orders, tickets, scans, refunds and changes at the desk. Tickets that were mailed later are unknown at the door, and their seats are on sale again.
- Payments: %s to the provider were under way then, and serve asks for each. Payments that began later are unknown here.
  Compare the list of your provider from then on, and pay back what has no order.
- Mails and webhooks: what waited then is sent by serve, also what had been sent later. What was sent later is not taken back.
- Numbers of invoices given later are given again: cancel those invoices in your books.
- Numbers of Z reports given later are given again: mark those reports in your books.
- Erasures: "usher restore --erased FILE" repeats those of a list.
It does not archive yet: "usher serve --archive %s" begins with a full backup.
Two databases must not share an archive, so do not do that with a drill.
What was left out stays in the archive: "usher restore --to TIME --timeline %d".
`, counted(open, "call"), c.Archive, r.Timeline)
	return err
}

// skipAllIDs passes the ids of a whole server.
func skipAllIDs(ctx context.Context, dsn string) error { return skipIDs(ctx, dsn, true) }

// skipIDs makes sure that no id is given a second time. Providers and receivers of webhooks remember those that a restored
// database does not know: they take a call with a known id for a repetition. Scanners at the door know keys by theirs, which are
// integers and few. $1: those of all houses of the database, and not only of the connection's own.
const skipIDsSQL = `
SELECT setval(seqrelid::regclass, nextval(seqrelid::regclass) + CASE seqtypid WHEN 'bigint'::regtype THEN 1000000 ELSE 1000 END) FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid
 WHERE seqtypid IN ('bigint'::regtype, 'integer'::regtype) AND c.relnamespace IN (SELECT relnamespace FROM pg_class WHERE relkind = 'r' AND relname = 'migration' AND ($1 OR relnamespace = current_schema()::regnamespace))`

func skipIDs(ctx context.Context, dsn string, allHouses bool) error {
	conn, err := seatsdb.Dial(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	if _, err := conn.Exec(ctx, skipIDsSQL, allHouses); err != nil {
		return fmt.Errorf("pass the ids that were given later: %w", err)
	}
	return nil
}
