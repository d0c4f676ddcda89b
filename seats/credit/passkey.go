package credit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/passkeys"
	"github.com/usherbox/usher/seats/text"
)

// Why there is no passkey.
var (
	ErrPasskeyName  = errors.New("a passkey has a name of 1 to 100 characters")
	ErrManyPasskeys = errors.New("this address has as many passkeys as it may have")
)

// MostPasskeys is how many passkeys an address may have.
const MostPasskeys = 10

const mostPasskeyName = 100 // characters

// Passkey signs its owner in without a mail, as a list shows it.
type Passkey struct {
	ID        []byte
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time // nil: not yet
}

const passkeysSQL = `SELECT id, name, created_at, used_at FROM account_passkey WHERE email = $1 ORDER BY created_at, id`

// Passkeys lists those of an address in its one spelling.
func (l *Ledger) Passkeys(ctx context.Context, email string) ([]Passkey, error) {
	rows, err := l.db.Query(ctx, passkeysSQL, email)
	if err != nil {
		return nil, fmt.Errorf("credit: list passkeys: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Passkey])
	if err != nil {
		return nil, fmt.Errorf("credit: list passkeys: %w", err)
	}
	return list, nil
}

const ownerSQL = `SELECT (array_agg(handle ORDER BY created_at, id))[1], coalesce(json_agg(credential), '[]') FROM account_passkey WHERE email = $1`

// owner returns an address with its passkeys. Its handle is nil if it has none.
func (l *Ledger) owner(ctx context.Context, email string) (passkeys.Owner, error) {
	o := passkeys.Owner{Name: email, Display: email}
	if err := l.db.QueryRow(ctx, ownerSQL, email).Scan(&o.Handle, &o.Credentials); err != nil {
		return o, fmt.Errorf("credit: read passkeys: %w", err)
	}
	return o, nil
}

// BeginPasskey asks the browser of a signed-in address for another passkey.
//
// Errors: passkeys.ErrNone if the site's origin can have none; ErrManyPasskeys; the database's.
func (l *Ledger) BeginPasskey(ctx context.Context, email, origin string) (c passkeys.Ceremony, err error) {
	o, err := l.owner(ctx, email)
	if err != nil {
		return c, err
	}
	if len(o.Credentials) >= MostPasskeys {
		return c, ErrManyPasskeys
	}
	if o.Handle == nil {
		o.Handle = make([]byte, 32)
		_, _ = rand.Read(o.Handle) // never fails: crypto/rand ends the program instead
	}
	return passkeys.Add(origin, o)
}

// Kinds of mail that tell an address of a change of its passkeys.
const (
	MailPasskeyAdded   = "passkey-added"
	MailPasskeyRemoved = "passkey-removed"
)

const addPasskeySQL = `
WITH added AS (
    INSERT INTO account_passkey (id, email, handle, name, credential) SELECT $1, $2, $3, $4, $5
     WHERE (SELECT count(*) FROM account_passkey WHERE email = $2) < $6 AND NOT EXISTS (SELECT FROM account_passkey WHERE handle = $3 AND email <> $2) ON CONFLICT DO NOTHING
    RETURNING email, name
)
INSERT INTO mail (email, kind, about, language) SELECT email, 'passkey-added', name, $7 FROM added`

// AddPasskey stores the passkey that the browser of a signed-in address answered with, and tells the address by mail in the language of
// ctx. state is what BeginPasskey had remembered.
//
// Errors: ErrPasskeyName; passkeys.ErrUnknown if it is none, or there are too many by now; the database's.
func (l *Ledger) AddPasskey(ctx context.Context, email, origin, state, name string, answer []byte) error {
	name = strings.Join(strings.Fields(name), " ")
	if n := utf8.RuneCountInString(name); n == 0 || n > mostPasskeyName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return ErrPasskeyName
	}
	o, err := l.owner(ctx, email)
	if err != nil {
		return err
	}
	if o.Handle == nil { // the first one: it has the handle that the browser was asked with
		o.Handle = passkeys.HandleOf(state)
	}
	made, err := passkeys.Added(origin, state, o, answer)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if err := passkeys.Answer(ctx, tx, state); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, addPasskeySQL, made.ID, email, o.Handle, name, made, MostPasskeys, text.Tag(ctx))
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("%w: it is known already, or there are too many", passkeys.ErrUnknown)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("credit: add a passkey: %w", err)
	}
	return nil
}

// BeginSignIn asks a browser for any passkey that it has for this site. It says nothing of addresses. Errors: as for BeginPasskey.
func (l *Ledger) BeginSignIn(origin string) (passkeys.Ceremony, error) { return passkeys.Use(origin) }

const ofHandleSQL = `SELECT email, json_agg(credential) FROM account_passkey WHERE handle = $1 GROUP BY email`

const usePasskeySQL = `UPDATE account_passkey SET credential = $3, used_at = clock_timestamp() WHERE id = $1 AND email = $2`

// SignInWith returns the address of the passkey that a browser answered with. state is what BeginSignIn had remembered; it signs in once.
//
// Errors: passkeys.ErrUnknown if it is unknown, was removed, looks like a copy, or was answered already; the database's.
func (l *Ledger) SignInWith(ctx context.Context, origin, state string, answer []byte) (email string, err error) {
	used, err := passkeys.Used(origin, state, answer, func(handle []byte) (o passkeys.Owner, err error) {
		err = l.db.QueryRow(ctx, ofHandleSQL, handle).Scan(&email, &o.Credentials)
		if errors.Is(err, pgx.ErrNoRows) {
			return o, passkeys.ErrUnknown
		}
		if err != nil {
			return o, fmt.Errorf("credit: read passkeys: %w", err)
		}
		o.Handle, o.Name, o.Display = handle, email, email
		return o, nil
	})
	if err != nil {
		return "", err
	}
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if err := passkeys.Answer(ctx, tx, state); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, usePasskeySQL, used.ID, email, used)
		if err == nil && tag.RowsAffected() == 0 { // removed at this moment
			err = passkeys.ErrUnknown
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("credit: sign in with a passkey: %w", err)
	}
	return email, nil
}

const removePasskeySQL = `
WITH removed AS (
    DELETE FROM account_passkey WHERE email = $1 AND id = $2 RETURNING email, name
)
INSERT INTO mail (email, kind, about, language) SELECT email, 'passkey-removed', name, $3 FROM removed`

// RemovePasskey ends a passkey of an address, and tells the address by mail in the language of ctx. Errors: passkeys.ErrUnknown if it has none with this id; the database's.
func (l *Ledger) RemovePasskey(ctx context.Context, email string, id []byte) error {
	tag, err := l.db.Exec(ctx, removePasskeySQL, email, id, text.Tag(ctx))
	if err != nil {
		return fmt.Errorf("credit: remove a passkey: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return passkeys.ErrUnknown
	}
	return nil
}

const exportPasskeysSQL = `
SELECT coalesce(json_agg(json_build_object('name', name, 'created_at', created_at, 'used_at', used_at) ORDER BY created_at, id), '[]')
  FROM account_passkey WHERE email = $1`

// ExportPasskeys returns a person's passkeys, without their keys.
func ExportPasskeys(ctx context.Context, tx pgx.Tx, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportPasskeysSQL, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("credit: export passkeys: %w", err)
	}
	return list, nil
}

// As for credit, the retention time is the longest of all teams, if each of them has one.
const removeOldPasskeysSQL = `
DELETE FROM account_passkey p
 USING (SELECT max(r.months) AS months FROM team t LEFT JOIN retention r ON r.team_id = t.id HAVING bool_and(r.months IS NOT NULL)) keep
 WHERE coalesce(p.used_at, p.created_at) < clock_timestamp() - make_interval(months => keep.months)`

// removeOldPasskeys removes passkeys that were not used for the retention time.
func removeOldPasskeys(ctx context.Context, db seats.DB) error {
	if _, err := db.Exec(ctx, removeOldPasskeysSQL); err != nil {
		return fmt.Errorf("credit: remove old passkeys: %w", err)
	}
	return nil
}
