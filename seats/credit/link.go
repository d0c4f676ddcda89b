package credit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Why there is no link.
var (
	ErrOften  = errors.New("this address was sent links often enough for now")
	ErrNoLink = errors.New("this link opens nothing")
	ErrKey    = errors.New("this form was sent before with another address")
)

// MailLink is the kind of mail that has a link in it.
const MailLink = "link"

// AboutData is what a mail with a link is about that shows a person's data, and opens no credit.
const AboutData = "data"

// An address gets three mails within an hour. The row counts, so no two at once get one more.
const askSQL = `
WITH asked AS (
    INSERT INTO link (email, expires_at) VALUES ($1, clock_timestamp() + interval '10 minutes')
        ON CONFLICT (email) DO UPDATE
       SET asked = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.asked + 1 ELSE 1 END,
           since = CASE WHEN link.since > clock_timestamp() - interval '1 hour' THEN link.since ELSE clock_timestamp() END
     WHERE link.since <= clock_timestamp() - interval '1 hour' OR link.asked < 3
    RETURNING email
)
INSERT INTO mail (email, kind, about, language) SELECT email, 'link', $2, $3 FROM asked`

// Ask mails a link to an address, whether or not it has credit, so that the answer does not reveal that. The newest link
// is valid. The mail is in the language of ctx. It returns the address in its one spelling. A repeat with the key of the form, if it has one, sends no mail.
//
// Errors: ErrOften if three links went there within the hour; ErrKey if the key came with another address before; the
// database's.
func (l *Ledger) Ask(ctx context.Context, email, key string) (string, error) {
	return l.ask(ctx, email, key, "")
}

// AskForData is Ask for a link that shows what is known of the address.
func (l *Ledger) AskForData(ctx context.Context, email, key string) (string, error) {
	return l.ask(ctx, email, key, AboutData)
}

func (l *Ledger) ask(ctx context.Context, email, key, about string) (string, error) {
	email, err := Address(email)
	if err != nil {
		return "", err
	}
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if first, err := takeKey(ctx, tx, key, about, email); err != nil || !first {
			return err
		}
		done, err := tx.Exec(ctx, askSQL, email, about, text.Tag(ctx))
		if err == nil && done.RowsAffected() == 0 {
			err = ErrOften
		}
		return err
	})
	if err != nil {
		return email, fmt.Errorf("credit: ask for a link: %w", err)
	}
	return email, nil
}

// takeKey takes the key of a form that asks for a link. It reports whether the form is the first with the key, or has none.
func takeKey(ctx context.Context, tx pgx.Tx, key, about, email string) (first bool, err error) {
	if key == "" {
		return true, nil
	}
	k, err := idempotency.New("link"+about, key, email)
	if err != nil {
		return false, err
	}
	first, _, err = k.Take(ctx, tx, nil)
	if errors.Is(err, idempotency.ErrOtherKey) {
		return false, ErrKey
	}
	return first, err
}

const linkSQL = `UPDATE link SET token = $2, expires_at = clock_timestamp() + interval '10 minutes' WHERE email = $1`

// Link makes the token of the newest link of an address, good for ten minutes, and takes the one before it back. It is
// called for each try to send the mail.
func (l *Ledger) Link(ctx context.Context, email string) (token string, err error) {
	return l.link(ctx, email, "")
}

// DataLink is Link for a link that shows what is known of the address.
func (l *Ledger) DataLink(ctx context.Context, email string) (token string, err error) {
	return l.link(ctx, email, AboutData)
}

func (l *Ledger) link(ctx context.Context, email, about string) (token string, err error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	token = seal.Letters.EncodeToString(b[:])
	done, err := l.db.Exec(ctx, linkSQL, email, seal.Hash(about+token))
	if err != nil {
		return "", fmt.Errorf("credit: make a link: %w", err)
	}
	if done.RowsAffected() == 0 {
		return "", ErrNoLink
	}
	return token, nil
}

const findLinkSQL = `SELECT email FROM link WHERE token = $1 AND expires_at > clock_timestamp()`

// Address returns the address that a link stands for, and leaves the link valid: programs that read mail open links, too. ErrNoLink
// if it is unknown, used, replaced or too old.
func (l *Ledger) Address(ctx context.Context, token string) (email string, err error) {
	return l.byToken(ctx, findLinkSQL, token)
}

// DataAddress is Address for a link that shows what is known of the address.
func (l *Ledger) DataAddress(ctx context.Context, token string) (email string, err error) {
	return l.byToken(ctx, findLinkSQL, AboutData+token)
}

const openLinkSQL = `
UPDATE link SET token = NULL, opened = $2, opened_at = clock_timestamp()
 WHERE token = $1 AND expires_at > clock_timestamp()
RETURNING email`

const openedLinkSQL = `SELECT email FROM link WHERE opened = $1 AND opened_at > clock_timestamp() - make_interval(secs => $2)`

// Open uses a link up and returns its confirmed address. ErrNoLink as for Address. For a minute a repeat with
// the key of its form, which is as secret as the token, gets the same answer: a button may be pressed twice.
func (l *Ledger) Open(ctx context.Context, token, key string) (email string, err error) {
	return l.open(ctx, token, key, time.Minute)
}

// OpenData is Open for a link that shows what is known of the address. The page that opened it shows and downloads that for ten minutes.
func (l *Ledger) OpenData(ctx context.Context, token, key string) (email string, err error) {
	return l.open(ctx, AboutData+token, key, 10*time.Minute)
}

func (l *Ledger) open(ctx context.Context, token, key string, again time.Duration) (email string, err error) {
	if key == "" {
		return l.byToken(ctx, openLinkSQL, token, nil)
	}
	opened := seal.Hash(token + "/" + key)
	email, err = l.byToken(ctx, openLinkSQL, token, opened)
	if !errors.Is(err, ErrNoLink) {
		return email, err
	}
	return l.one(ctx, openedLinkSQL, opened, again.Seconds())
}

func (l *Ledger) byToken(ctx context.Context, sql, token string, more ...any) (email string, err error) {
	return l.one(ctx, sql, append([]any{seal.Hash(token)}, more...)...)
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
