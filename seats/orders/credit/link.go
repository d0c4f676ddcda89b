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
)

// MailLink is the kind of mail that has a link in it.
const MailLink = "link"

// An address gets three mails within an hour. The row counts, so no two at once get one more.
const askSQL = `
WITH asked AS (
    INSERT INTO link (email, expires_at) VALUES ($1, clock_timestamp() + interval '30 minutes')
        ON CONFLICT (email) DO UPDATE
       SET asked = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.asked + 1 ELSE 1 END,
           since = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.since ELSE clock_timestamp() END
     WHERE link.since <= clock_timestamp() - interval '1 hour' OR link.asked < 3
    RETURNING email
)
INSERT INTO mail (email, kind) SELECT email, 'link' FROM asked`

// Ask has a link mailed to an address, whether or not it has credit: nobody learns that here. ErrOften if enough went
// there within the hour; the newest of them is good. It returns the address as it is written.
func (l *Ledger) Ask(ctx context.Context, email string) (string, error) {
	email, err := Address(email)
	if err != nil {
		return "", err
	}
	done, err := l.db.Exec(ctx, askSQL, email)
	if err != nil {
		return email, fmt.Errorf("credit: ask for a link: %w", err)
	}
	if done.RowsAffected() == 0 {
		return email, ErrOften
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

const openLinkSQL = `UPDATE link SET token = NULL WHERE token = $1 AND expires_at > clock_timestamp() RETURNING email`

// Open uses a link up and returns the address whose mail somebody reads. ErrNoLink as for Whose.
func (l *Ledger) Open(ctx context.Context, token string) (email string, err error) {
	return l.byToken(ctx, openLinkSQL, token)
}

func (l *Ledger) byToken(ctx context.Context, sql, token string) (email string, err error) {
	err = l.db.QueryRow(ctx, sql, tokenHash(token)).Scan(&email)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoLink
	}
	if err != nil {
		return "", fmt.Errorf("credit: open a link: %w", err)
	}
	return email, nil
}

const forgetLinksSQL = `DELETE FROM link WHERE since < clock_timestamp() - interval '1 day'`

// forget takes away the addresses of people who asked long ago.
func (l *Ledger) forget(ctx context.Context) error {
	_, err := l.db.Exec(ctx, forgetLinksSQL)
	return err
}
