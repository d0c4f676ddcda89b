package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/webhooks"
)

// secretTables are all columns of the database with sealed secrets, always in this order.
func secretTables() []seal.Table {
	return []seal.Table{orders.Secrets, waitingroom.Secrets, webhooks.Secrets, organizers.Secrets, giftcards.Secrets, privacy.Secrets, turns.Secrets, publiclog.Secrets}
}

// keyFile is the file with the key of a private Postgres: beside the data, and not in it.
func (cfg *DatabaseSettings) keyFile() string { return filepath.Join(cfg.Data, "secret.key") }

// secretBox returns the keys that the settings name, or those beside a private Postgres; nil if there are none.
func (cfg *DatabaseSettings) secretBox() (*seal.Box, error) {
	file := cfg.SecretFile
	if cfg.SecretKey == "" && cfg.DatabaseURL == "" {
		if _, err := os.Stat(cfg.keyFile()); err == nil {
			file = cfg.keyFile()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if file != "" {
		box, err := seal.Open(file)
		if err != nil {
			return nil, usageError{err.Error()}
		}
		return box, nil
	}
	box, err := seal.New(cfg.SecretKey)
	if err != nil {
		return nil, usageError{"USHER_SECRET_KEY: " + err.Error()}
	}
	return box, nil
}

// sealSecrets makes sure, when serve starts, that this node can open every secret of the database, and seals those that are
// not sealed yet. A private Postgres gets its key here; another one without a key works, with a warning.
func (db *database) sealSecrets(ctx context.Context, cfg *DatabaseSettings, log *slog.Logger) error {
	_, changed, err := db.reseal(ctx)
	if err != nil {
		return cfg.keyAdvice(err)
	}
	if db.box == nil && db.private != nil {
		if db.box, err = makeKey(cfg.keyFile()); err != nil {
			return err
		}
		log.Info("a key for the secrets of the database was made: keep a copy of it apart from backups", "file", cfg.keyFile())
		if _, changed, err = db.reseal(ctx); err != nil {
			return cfg.keyAdvice(err)
		}
	}
	if db.box == nil {
		log.Warn("secrets are in the database as they are, also in its backups: set USHER_SECRET_KEY_FILE to a file with what \"usher secrets key\" prints, on all nodes")
	}
	if changed > 0 {
		log.Info("secrets of the database were sealed", "secrets", changed, "key", db.box.ID())
	}
	return nil
}

// reseal opens every secret of the database and seals with the first key what is not: all of them, or none.
func (db *database) reseal(ctx context.Context) (all, changed int, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		for _, t := range secretTables() {
			n, c, err := db.box.Reseal(ctx, tx, t)
			if err != nil {
				return err
			}
			all, changed = all+n, changed+c
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return all, changed, nil
}

// keyAdvice adds where the key of a private Postgres is looked for.
func (cfg *DatabaseSettings) keyAdvice(err error) error {
	if cfg.DatabaseURL == "" && (errors.Is(err, seal.ErrNoKey) || errors.Is(err, seal.ErrWrongKey)) {
		return fmt.Errorf("%w; or put the secret.key of the folder that the data came from into %s", err, cfg.Data)
	}
	return err
}

// makeKey writes a new key into a file that only this user may read. Of several that do, one wins, and all use its key.
func makeKey(file string) (*seal.Box, error) {
	if err := writeKeys(file, seal.NewKey(), os.Link); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a secret key: %w", err)
	}
	return seal.Open(file)
}

// writeKeys writes keys beside a file and puts them in place, so that the file never holds half of one.
func writeKeys(file, keys string, put func(from, to string) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // the server's user walks through it
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".") // for its owner only
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then, or failed
	_, err = f.WriteString(strings.TrimSpace(keys) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return put(f.Name(), file)
}

// secretsKey prints a new key, or seals every secret of the database with another one.
type secretsKey struct {
	Rotate bool `help:"Instead: seal the secrets of the database with another key: a new one of a private Postgres, else the first one of USHER_SECRET_KEY."`
	DatabaseSettings
}

// Run is the command.
func (c *secretsKey) Run(ctx context.Context, sh *shell) error {
	if !c.Rotate {
		_, err := fmt.Fprintln(sh.stdout, seal.NewKey())
		return err
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error { return c.rotate(ctx, sh, db) })
}

func (c *secretsKey) rotate(ctx context.Context, sh *shell, db *database) error {
	cfg := &c.DatabaseSettings
	after := "Take the old key out of the settings of all nodes when no backup needs it any more."
	if cfg.SecretKey == "" && db.private != nil {
		before, err := os.ReadFile(cfg.keyFile())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := writeKeys(cfg.keyFile(), seal.NewKey()+"\n"+string(before), os.Rename); err != nil {
			return err
		}
		if db.box, err = seal.Open(cfg.keyFile()); err != nil {
			return err
		}
		after = fmt.Sprintf("The key before is on the next line of %s: take that line away when no backup needs it any more.", cfg.keyFile())
	}
	if db.box == nil {
		return usageError{"there is no key: set USHER_SECRET_KEY_FILE to a file with what \"usher secrets key\" prints, on all nodes"}
	}
	all, changed, err := db.reseal(ctx)
	if err != nil {
		return cfg.keyAdvice(err)
	}
	_, err = fmt.Fprintf(sh.stdout, "%d secrets are sealed with key %s; %d of them were not before. %s\n", all, db.box.ID(), changed, after)
	return err
}
