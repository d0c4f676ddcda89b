package credit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Why there is no link.
var (
	ErrOften  = errors.New("this address was sent links often enough for now")
	ErrNoLink = errors.New("this link opens nothing")
	ErrKey    = errors.New("this form was sent before with another address")
)

// MailLink is the kind of mail that has a link in it.
const MailLink = "link"

// An address gets three mails within an hour. The row counts, so no two at once get one more.
const askSQL = `
WITH asked AS (
    INSERT INTO link (email, expires_at, asked_key) VALUES ($1, clock_timestamp() + interval '30 minutes', nullif($2, ''))
        ON CONFLICT (email) DO UPDATE
       SET asked_key = excluded.asked_key,
           asked = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.asked + 1 ELSE 1 END,
           since = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.since ELSE clock_timestamp() END
     WHERE (link.since <= clock_timestamp() - interval '1 hour' OR link.asked < 3)
       AND (excluded.asked_key IS NULL OR excluded.asked_key IS DISTINCT FROM link.asked_key)
    RETURNING email
)
INSERT INTO mail (email, kind) SELECT email, 'link' FROM asked`

const askedSQL = `SELECT email FROM link WHERE asked_key = $1`

// Ask has a link mailed to an address, whether or not it has credit: nobody learns that here. ErrOften if enough went
// there within the hour; the newest of them is good. It returns the address as it is written. A repeat with the key of its
// form, if that has one, sends no more; ErrKey if it came before with another address.
func (l *Ledger) Ask(ctx context.Context, email, key string) (string, error) {
	email, err := Address(email)
	if err != nil {
		return "", err
	}
	if first, err := l.asked(ctx, key); err != nil || first == email {
		return email, err
	} else if first != "" {
		return email, ErrKey
	}
	done, err := l.db.Exec(ctx, askSQL, email, key)
	if err != nil {
		return email, fmt.Errorf("credit: ask for a link: %w", err)
	}
	if done.RowsAffected() > 0 {
		return email, nil
	}
	if first, err := l.asked(ctx, key); err != nil || first == email { // the same form, in the same moment
		return email, err
	}
	return email, ErrOften
}

// asked is the address that a form with this key asked for; empty for none.
func (l *Ledger) asked(ctx context.Context, key string) (email string, err error) {
	if key == "" {
		return "", nil
	}
	err = l.db.QueryRow(ctx, askedSQL, key).Scan(&email)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("credit: look for a key: %w", err)
	}
	return email, nil
}

const linkSQL = `UPDATE link SET token = $2, expires_at = clock_timestamp() + interval '30 minutes' WHERE email = $1`

// Link makes the token of the newest link of an address, good for half an hour, and takes the one before it back. It is
// called for each try to send the mail.
func (l *Ledger) Link(ctx context.Context, email string) (token string, err error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	token = letters.EncodeToString(b[:])
	done, err := l.db.Exec(ctx, linkSQL, email, tokenHash(token))
	if err != nil {
		return "", fmt.Errorf("credit: make a link: %w", err)
	}
	if done.RowsAffected() == 0 {
		return "", ErrNoLink
	}
	return token, nil
}

func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

const findLinkSQL = `SELECT email FROM link WHERE token = $1 AND expires_at > clock_timestamp()`

// Whose tells the address that a link stands for, and leaves it good: programs that read mail open links, too. ErrNoLink
// if it is unknown, used, replaced or too old.
func (l *Ledger) Whose(ctx context.Context, token string) (email string, err error) {
	return l.byToken(ctx, findLinkSQL, token)
}

const openLinkSQL = `
UPDATE link SET token = NULL, opened = $2, opened_at = clock_timestamp()
 WHERE token = $1 AND expires_at > clock_timestamp()
RETURNING email`

const openedLinkSQL = `SELECT email FROM link WHERE opened = $1 AND opened_at > clock_timestamp() - interval '1 minute'`

// Open uses a link up and returns the address whose mail somebody reads. ErrNoLink as for Whose. For a minute a repeat with
// the key of its form, which is as secret as the token, gets the same answer: a button may be pressed twice.
func (l *Ledger) Open(ctx context.Context, token, key string) (email string, err error) {
	if key == "" {
		return l.byToken(ctx, openLinkSQL, token, nil)
	}
	opened := tokenHash(token + "/" + key)
	email, err = l.byToken(ctx, openLinkSQL, token, opened)
	if !errors.Is(err, ErrNoLink) {
		return email, err
	}
	return l.one(ctx, openedLinkSQL, opened)
}

func (l *Ledger) byToken(ctx context.Context, sql, token string, more ...any) (email string, err error) {
	return l.one(ctx, sql, append([]any{tokenHash(token)}, more...)...)
}

// one reads the address of a link.
func (l *Ledger) one(ctx context.Context, sql string, args ...any) (email string, err error) {
	err = l.db.QueryRow(ctx, sql, args...).Scan(&email)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoLink
	}
	if err != nil {
		return "", fmt.Errorf("credit: open a link: %w", err)
	}
	return email, nil
}
