package desk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Why nobody was signed in.
var (
	ErrSignIn = errors.New("this address and this password do not belong together")
	ErrOften  = errors.New("that was tried often enough for now")
)

// TriesWithin is how long tries to sign in are counted for.
const TriesWithin = 15 * time.Minute

const (
	triesOfEmail   = 10 // within a quarter of an hour, for one address of mail
	triesOfNetwork = 60 // within a quarter of an hour, from one network
)

// The row counts, so that many at once get no more. In the order of their keys, as every try takes its locks.
const tryInSQL = `
INSERT INTO attempt (who) SELECT who FROM unnest($1::bytea[]) AS who ORDER BY who
    ON CONFLICT (who) DO UPDATE
   SET tries = CASE WHEN attempt.since > clock_timestamp() - interval '15 minutes' THEN attempt.tries + 1 ELSE 1 END,
       since = CASE WHEN attempt.since > clock_timestamp() - interval '15 minutes' THEN attempt.since ELSE clock_timestamp() END
RETURNING who, tries`

// tryIn counts a try to sign in before anything is looked at. ErrOften if there were too many.
func (d *Desk) tryIn(ctx context.Context, email, network string) error {
	var who [][]byte
	most := map[string]int{}
	for name, limit := range map[string]int{"email " + email: triesOfEmail, "network " + network: triesOfNetwork} {
		if name == "email " || name == "network " {
			continue // a passkey says no address; this house's own network has no limit
		}
		key := attemptKey(name)
		who, most[string(key)] = append(who, key), limit
	}
	if len(who) == 0 {
		return nil
	}
	rows, err := d.db.Query(ctx, tryInSQL, who)
	if err != nil {
		return fmt.Errorf("desk: count a try: %w", err)
	}
	var key []byte
	var tries int
	often := false
	_, err = pgx.ForEachRow(rows, []any{&key, &tries}, func() error {
		often = often || tries > most[string(key)]
		return nil
	})
	if err != nil {
		return fmt.Errorf("desk: count a try: %w", err)
	}
	if often {
		return ErrOften
	}
	return nil
}

func attemptKey(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

const forgetTriesSQL = `DELETE FROM attempt WHERE who = $1 OR since < clock_timestamp() - interval '1 day'`

// A form that is sent again after a month is another one.
const forgetKeysSQL = `DELETE FROM desk_key WHERE created_at < clock_timestamp() - interval '30 days'`

const passwordSQL = `SELECT id, epoch, password FROM organizer WHERE email = $1`

// SignIn returns the session of whoever has this address and this password. network is where the try comes from, empty
// for nowhere in particular.
//
// Errors: ErrSignIn if they do not belong together, whether or not there is such an organizer, and as slowly; ErrOften
// after too many tries; the database's.
func (d *Desk) SignIn(ctx context.Context, email, password, network string) (s Session, err error) {
	email, ok := Address(email)
	if !ok || len(password) > mostPassword {
		return s, ErrSignIn
	}
	if err := d.tryIn(ctx, email, network); err != nil {
		return s, err
	}
	var hash string
	err = d.db.QueryRow(ctx, passwordSQL, email).Scan(&s.Organizer, &s.Epoch, &hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("desk: sign in: %w", err)
	}
	ok, err = d.opens(ctx, password, hash)
	switch {
	case err != nil:
		return Session{}, err
	case !ok:
		return Session{}, ErrSignIn
	}
	if _, err := d.db.Exec(ctx, forgetTriesSQL, attemptKey("email "+email)); err != nil {
		return Session{}, fmt.Errorf("desk: sign in: %w", err)
	}
	if _, err := d.db.Exec(ctx, forgetKeysSQL); err != nil {
		return Session{}, fmt.Errorf("desk: sign in: %w", err)
	}
	return s, nil
}

const signOutAllSQL = `UPDATE organizer SET epoch = epoch + 1 WHERE id = $1`

// SignOutEverywhere ends every session of a member, on all nodes at once.
func (d *Desk) SignOutEverywhere(ctx context.Context, m Member) error {
	return pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, signOutAllSQL, m.Organizer); err != nil {
			return fmt.Errorf("desk: sign out everywhere: %w", err)
		}
		_, err := tx.Exec(ctx, noteEverywhereSQL, m.Organizer, "signed out everywhere")
		return err
	})
}
