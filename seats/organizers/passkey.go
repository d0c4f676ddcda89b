package organizers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/passkeys"
	"github.com/usherbox/usher/seats/text"
)

// ErrPasskey is an unknown passkey, or one that could not be added.
var ErrPasskey = passkeys.ErrUnknown

// ErrNoPasskeys is the answer on a site without https: browsers keep passkeys only for https and localhost.
var ErrNoPasskeys = passkeys.ErrNone

// Passkey is one of an organizer, as a list shows it.
type Passkey struct {
	ID        []byte
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time
}

// PasskeysAt reports whether browsers keep passkeys for a site at this origin.
func PasskeysAt(origin string) bool { return passkeys.At(origin) }

// account is an organizer with their passkeys.
type account struct {
	Session
	passkeys.Owner
}

const accountSQL = `
SELECT o.id, o.epoch, o.handle, o.email, o.name, (SELECT coalesce(json_agg(credential), '[]') FROM passkey WHERE organizer_id = o.id)
  FROM organizer o WHERE o.id = $1 OR o.handle = $2`

// account finds an organizer by id, or by the handle that their passkeys know them by. ErrPasskey if there is none.
func (d *Desk) account(ctx context.Context, id int64, handle []byte) (*account, error) {
	var a account
	err := d.db.QueryRow(ctx, accountSQL, id, handle).Scan(&a.Organizer, &a.Epoch, &a.Handle, &a.Name, &a.Display, &a.Credentials)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrPasskey
	}
	if err != nil {
		return nil, fmt.Errorf("organizers: read passkeys: %w", err)
	}
	return &a, nil
}

// Ceremony is what a browser is asked, and what has to be remembered until it answers.
type Ceremony = passkeys.Ceremony

// BeginPasskey asks a member's browser for another passkey. ErrNoPasskeys if the site's origin can have none.
func (d *Desk) BeginPasskey(ctx context.Context, m Member, origin string) (c Ceremony, err error) {
	a, err := d.account(ctx, m.Organizer, nil)
	if err != nil {
		return c, err
	}
	return passkeys.Add(origin, a.Owner)
}

const mostPasskeys = 20 // of one organizer

const addPasskeySQL = `
INSERT INTO passkey (id, organizer_id, name, credential) SELECT $1, $2, $3, $4
 WHERE (SELECT count(*) FROM passkey WHERE organizer_id = $2) < $5 ON CONFLICT DO NOTHING`

// AddPasskey keeps the passkey that a member's browser answered with. state is what BeginPasskey had remembered.
//
// Errors: ErrPasskey if it is none, or there are too many; Mistakes about its name; the database's.
func (d *Desk) AddPasskey(ctx context.Context, m Member, origin, state, name string, answer []byte) error {
	name, wrong := tidyName(name, mostTeam)
	if wrong != nil {
		return wrong
	}
	a, err := d.account(ctx, m.Organizer, nil)
	if err != nil {
		return err
	}
	made, err := passkeys.Added(origin, state, a.Owner, answer)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := passkeys.Answer(ctx, tx, state); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, addPasskeySQL, made.ID, m.Organizer, name, made, mostPasskeys)
		if err != nil {
			return fmt.Errorf("organizers: add a passkey: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrPasskey
		}
		return d.accountChanged(ctx, tx, m, text.Mark("added a passkey"), "The passkey “"+name+"” was added to your account.")
	})
	if err != nil {
		return err
	}
	d.changed(m, "passkey added")
	if made.Flags.UserVerified {
		return d.proved(ctx, m, ByPasskey)
	}
	return nil
}

// BeginSignIn asks a browser for any passkey it has for this site.
func (d *Desk) BeginSignIn(ctx context.Context, origin string, from Client) (c Ceremony, err error) {
	if err := d.asking(ctx, from); err != nil {
		return c, err
	}
	return passkeys.Use(origin)
}

const usePasskeySQL = `UPDATE passkey SET credential = $3, used_at = clock_timestamp() WHERE id = $1 AND organizer_id = $2`

// SignInWith returns the session of the owner of the passkey that a browser answered with. What was asked makes one session.
//
// Errors: ErrPasskey if it is unknown, looks like a copy, or was answered already; the database's.
func (d *Desk) SignInWith(ctx context.Context, origin, state string, answer []byte) (s Session, err error) {
	var a *account
	used, err := passkeys.Used(origin, state, answer, func(handle []byte) (o passkeys.Owner, err error) {
		if a, err = d.account(ctx, 0, handle); err != nil {
			return o, err
		}
		return a.Owner, nil
	})
	if err != nil {
		return s, err
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := passkeys.Answer(ctx, tx, state); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, usePasskeySQL, used.ID, a.Organizer, used)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrPasskey
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("organizers: sign in with a passkey: %w", err)
	}
	return a.Session, nil
}

const passkeysSQL = `SELECT id, name, created_at, used_at FROM passkey WHERE organizer_id = $1 ORDER BY created_at`

// Passkeys lists those of a member.
func (d *Desk) Passkeys(ctx context.Context, m Member) ([]Passkey, error) {
	rows, err := d.db.Query(ctx, passkeysSQL, m.Organizer)
	if err != nil {
		return nil, fmt.Errorf("organizers: list passkeys: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Passkey])
	if err != nil {
		return nil, fmt.Errorf("organizers: list passkeys: %w", err)
	}
	return list, nil
}

const renamePasskeySQL = `UPDATE passkey SET name = $3 WHERE organizer_id = $1 AND id = $2`

// RenamePasskey names one of a member's passkeys. Errors: Mistakes; ErrNotYours; the database's.
func (d *Desk) RenamePasskey(ctx context.Context, m Member, id []byte, text string) error {
	name, wrong := tidyName(text, mostTeam)
	if wrong != nil {
		return wrong
	}
	tag, err := d.db.Exec(ctx, renamePasskeySQL, m.Organizer, id, name)
	if err != nil {
		return fmt.Errorf("organizers: rename a passkey: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotYours
	}
	return nil
}

const removePasskeySQL = `DELETE FROM passkey WHERE organizer_id = $1 AND id = $2`

// RemovePasskey ends one of a member's passkeys. Errors: ErrNotYours; the database's.
func (d *Desk) RemovePasskey(ctx context.Context, m Member, id []byte) error {
	err := pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, removePasskeySQL, m.Organizer, id)
		if err != nil {
			return fmt.Errorf("organizers: remove a passkey: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNotYours
		}
		if _, err := tx.Exec(ctx, noSecondSQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: remove a passkey: %w", err)
		}
		return d.accountChanged(ctx, tx, m, text.Mark("removed a passkey"), text.Mark("A passkey of your account was removed."))
	})
	if err == nil {
		d.changed(m, "passkey removed")
	}
	return err
}
