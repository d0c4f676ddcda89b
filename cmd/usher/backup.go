package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/verify"
)

// backup writes everything of the database into one file, as of one moment, also while serve runs.
type backup struct {
	File      string `arg:"" help:"The file to write. It must not exist."`
	Erased    bool   `help:"Instead: write the list of erased persons, as hashes. Restore erases them again by it."`
	Recipient string `setting:"USHER_BACKUP_RECIPIENT" placeholder:"KEY" help:"Encrypt it for this key of age, such as age1…, several with commas between; empty: not encrypted."`
	DatabaseSettings
}

// Run is the command.
func (c *backup) Run(ctx context.Context, sh *shell) (err error) {
	file := c.File
	var to []age.Recipient
	if c.Recipient != "" {
		if to, err = age.ParseRecipients(strings.NewReader(strings.ReplaceAll(c.Recipient, ",", "\n"))); err != nil {
			return misuse(fmt.Errorf("--recipient: %w", err))
		}
	}
	if _, err := os.Stat(file); err == nil {
		return usageError{file + " is there already; a backup does not replace another"}
	}
	db, err := openDatabase(ctx, &c.DatabaseSettings, newLog(sh.stderr, "text"))
	if err != nil {
		return err
	}
	if c.Erased {
		return errors.Join(db.listErased(ctx, sh.stdout, file), db.close())
	}
	began := time.Now()
	unfinished := file + ".unfinished"
	err = db.dump(ctx, unfinished, to, c.House)
	if err = errors.Join(err, db.close()); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	if err := os.Rename(unfinished, file); err != nil {
		return err
	}
	found, err := os.Stat(file)
	if err != nil {
		return err
	}
	words := "It holds names and addresses of people, and is not encrypted: --recipient does that. Try it now and then: usher restore %s --data SOME_EMPTY_FOLDER\n"
	if to != nil {
		words = "It is encrypted. Try it now and then: usher restore %s --identity FILE --data SOME_EMPTY_FOLDER\n"
	}
	if id := db.box.ID(); id != "" {
		words += "The secrets in it are sealed with key " + id + ": keep that key, too, and apart from it.\n"
	}
	_, err = fmt.Fprintf(sh.stdout, "%s has everything as of %s: %s bytes, written in %s.\n"+words,
		file, began.UTC().Format(time.RFC3339), thousands(int(found.Size())), time.Since(began).Round(time.Millisecond), file)
	return err
}

// dump has pg_dump write into a file that only its owner may read from its first byte, encrypted if there is a recipient. With a house,
// it has that one alone.
func (db *database) dump(ctx context.Context, name string, to []age.Recipient, house string) (err error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a backup that was cut off
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	args := []string{"--format=custom", "--no-owner"}
	if house != "" {
		args = append(args, "--schema="+house)
	}
	if to == nil {
		return db.program(ctx, nil, f, "pg_dump", args...)
	}
	sealed, err := age.Encrypt(f, to...)
	if err != nil {
		return err
	}
	if err := db.program(ctx, nil, sealed, "pg_dump", args...); err != nil {
		return err
	}
	return sealed.Close()
}

// restore reads a backup into an empty database, or brings a private one back from its archive, and then holds every promise
// against it: exit status 0 if they hold.
type restore struct {
	File     string `arg:"" optional:"" help:"The backup."`
	To       string `placeholder:"TIME" help:"Instead of a backup: bring the private PostgreSQL back from its archive, as of a time such as 2026-11-28T20:15:03+01:00, or latest."`
	Archive  string `setting:"USHER_ARCHIVE" placeholder:"PLACE" help:"Archive of the private PostgreSQL, as serve has it."`
	Timeline int    `placeholder:"N" help:"Follow this timeline of the archive, and not the latest one: to reach what an earlier restore left out."`
	Erased   string `placeholder:"FILE" help:"List of persons who were erased since then, as backup --erased writes it: they are erased again."`
	Identity string `setting:"USHER_BACKUP_IDENTITY_FILE" placeholder:"FILE" help:"File with the key of age that opens an encrypted backup, as age-keygen writes it."`
	DatabaseSettings
}

// Run is the command.
func (c *restore) Run(ctx context.Context, sh *shell) error {
	log := newLog(sh.stderr, "text")
	if c.To != "" {
		return c.fromArchive(ctx, sh, log)
	}
	if c.File == "" {
		return usageError{"name the file of a backup, or a time with --to"}
	}
	dump, err := openBackup(c.File, c.Identity)
	if err != nil {
		return err
	}
	if c.Erased != "" {
		if dump.erased, err = readErased(c.Erased); err != nil {
			return err
		}
	}
	defer func() { _ = dump.file.Close() }() // it was only read
	db, err := reachEmpty(ctx, &c.DatabaseSettings, log)
	if err != nil {
		return err
	}
	return errors.Join(db.restore(ctx, sh.stdout, &c.DatabaseSettings, dump), db.close())
}

// openedBackup is a backup that can be read.
type openedBackup struct {
	name  string
	file  *os.File
	plain io.Reader // what pg_dump wrote

	erased *privacy.Past // persons who are to be erased again; nil: none
}

// openBackup opens a backup, with the keys of age in a file if it is encrypted.
func openBackup(name, identity string) (b openedBackup, err error) {
	if b.file, err = os.Open(name); err != nil {
		return b, fmt.Errorf("the backup cannot be read: %w", err)
	}
	defer func() {
		if err != nil {
			_ = b.file.Close() // it was only read
		}
	}()
	b.name, b.plain = name, b.file
	start := make([]byte, len(ageStart))
	if _, err := b.file.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return b, err
	}
	if string(start) != ageStart {
		return b, nil
	}
	if identity == "" {
		return b, usageError{name + " is encrypted: name the file with its key with --identity"}
	}
	keys, err := os.Open(identity)
	if err != nil {
		return b, err
	}
	defer func() { _ = keys.Close() }() // it was only read
	known, err := age.ParseIdentities(keys)
	if err != nil {
		return b, usageError{"--identity: " + identity + " has no key of age in it"}
	}
	if b.plain, err = age.Decrypt(b.file, known...); err != nil {
		return b, fmt.Errorf("%s cannot be opened with %s: %w", name, identity, err)
	}
	return b, nil
}

const ageStart = "age-encryption.org/"

func (db *database) restore(ctx context.Context, w io.Writer, cfg *DatabaseSettings, dump openedBackup) error {
	if err := db.program(ctx, dump.plain, io.Discard, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction"); err != nil {
		return err
	}
	if err := hasBoxOffice(ctx, db.dsn, cfg, dump.name); err != nil {
		return err
	}
	if err := skipIDs(ctx, db.dsn, cfg.House == ""); err != nil {
		return err
	}
	return db.check(ctx, w, cfg, dump)
}

// check holds every promise against a restored database.
func (db *database) check(ctx context.Context, w io.Writer, cfg *DatabaseSettings, dump openedBackup) error {
	if err := prepare(ctx, db.dsn, cfg); err != nil { // an older backup is brought up to date
		return err
	}
	pool, err := pgxpool.New(ctx, db.dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	if db.box, err = cfg.secretBox(); err != nil {
		return err
	}
	if dump.erased != nil {
		if err := eraseAgain(ctx, w, pool, db.box, *dump.erased); err != nil {
			return cfg.keyAdvice(err)
		}
	}
	began := time.Now()
	report, err := verify.LookSealed(ctx, pool, "", db.box)
	if err != nil {
		return blind{cfg.keyAdvice(err)}
	}
	if err := printBooks(w, report, time.Since(began), false); err != nil {
		return err
	}
	if n := report.Broken(); n > 0 {
		return brokenBooks{n, len(report.Promises)}
	}
	if _, err := fmt.Fprintf(w, "%s is in %s, and every promise holds there.\n", dump.name, cfg.database()); err != nil {
		return err
	}
	db.pool = pool
	defer func() { db.pool = nil }() // it is closed here
	if _, _, err := db.reseal(ctx); err != nil {
		return fmt.Errorf("serve will not start there yet: %w", cfg.keyAdvice(err))
	}
	return nil
}

const emptySQL = `SELECT count(*) = 0 FROM pg_class WHERE relnamespace = current_schema()::regnamespace`

const deskRoleSQL = `
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_desk') THEN CREATE ROLE usher_desk NOLOGIN; END IF;
    IF NOT pg_has_role(current_user, 'usher_desk', 'MEMBER') THEN EXECUTE format('GRANT usher_desk TO %I', current_user); END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_serve') THEN
        BEGIN CREATE ROLE usher_serve NOLOGIN; EXCEPTION WHEN insufficient_privilege THEN NULL; END; -- not every backup speaks of it
    END IF;
END $$`

// reachEmpty reaches a database that has nothing in it, and makes the roles that a backup speaks of: roles are of a server
// and not of a database.
func reachEmpty(ctx context.Context, cfg *DatabaseSettings, log *slog.Logger) (_ *database, err error) {
	if err := cfg.checkDatabase(); err != nil {
		return nil, err
	}
	db := &database{dsn: cmp.Or(cfg.DirectURL, cfg.DatabaseURL)}
	if db.dsn == "" {
		if db.private, err = postgres.Start(ctx, cfg.Data, log); err != nil {
			return nil, err
		}
		db.dsn = db.private.DSN
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.close())
		}
	}()
	if db.dsn, err = cfg.inHouse(db.dsn); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, db.dsn)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing was left undone on it
	var empty bool
	if err := conn.QueryRow(ctx, emptySQL).Scan(&empty); err != nil {
		return nil, err
	}
	if cfg.House != "" {
		there, err := migrations.HasHouse(ctx, conn, cfg.House)
		if err != nil {
			return nil, err
		}
		empty = !there // the backup of a house makes its schema
	}
	if !empty {
		return nil, usageError{fmt.Sprintf("%s has something in it; a backup is restored into an empty database, that of a house where there is none of its name: name another folder with --data", cfg.database())}
	}
	_, err = conn.Exec(ctx, deskRoleSQL)
	return db, err
}

const hasTablesSQL = `SELECT to_regclass('migration') IS NOT NULL`

// hasBoxOffice refuses what was restored if it is not that of the house: an empty box office would hold every promise.
func hasBoxOffice(ctx context.Context, dsn string, cfg *DatabaseSettings, name string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("the database cannot be reached: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // it was only read
	var has bool
	if err := conn.QueryRow(ctx, hasTablesSQL).Scan(&has); err != nil {
		return fmt.Errorf("look for what was restored: %w", err)
	}
	if has {
		return nil
	}
	if cfg.House == "" {
		return usageError{name + " is the backup of a house: name it with --house. It is restored in its schema already; use another empty database"}
	}
	return usageError{fmt.Sprintf("%s is not the backup of house %s. It is restored already under its own name; use another empty database", name, cfg.House)}
}

// program runs a program of PostgreSQL on the database, that of the server's own version where the server is ours.
func (db *database) program(ctx context.Context, in io.Reader, out io.Writer, program string, args ...string) error {
	path, err := postgres.Program(program, db.private)
	if err != nil {
		return err
	}
	return runOn(ctx, db.dsn, in, out, path, args...)
}

// runOn runs a program of PostgreSQL on a database. The password goes by the environment: all users of the machine can read
// the arguments of a process.
func runOn(ctx context.Context, dsn string, in io.Reader, out io.Writer, path string, args ...string) error {
	address, password, err := withoutPassword(dsn)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, append(args, "--dbname", address)...)
	if password != "" {
		cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	}
	var words strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &words
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, strings.TrimSpace(words.String()))
	}
	return nil
}

var isEscaped = regexp.MustCompile(`\\(.)`)

// isPair is a keyword and its value in the address of a database.
var isPair = regexp.MustCompile(`(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s\\]|\\.)*)`)

// withoutPassword returns the address of a database without its password and without pool_ settings, which only pgx knows.
func withoutPassword(dsn string) (address, password string, err error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		var pairs []string
		for _, pair := range isPair.FindAllStringSubmatch(dsn, -1) {
			switch {
			case pair[1] == "password":
				if password = pair[2]; strings.HasPrefix(password, "'") {
					password = password[1 : len(password)-1]
				}
				password = isEscaped.ReplaceAllString(password, "$1")
			case !strings.HasPrefix(pair[1], "pool_"):
				pairs = append(pairs, pair[0])
			}
		}
		return strings.Join(pairs, " "), password, nil
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", "", errors.New("the address of the database cannot be read") // the error has the address in it
	}
	password, _ = u.User.Password()
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	password = cmp.Or(query.Get("password"), password)
	maps.DeleteFunc(query, func(key string, _ []string) bool { return key == "password" || strings.HasPrefix(key, "pool_") })
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a plus is no space there
	return u.String(), password, nil
}
