package organizers

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // RFC 6238: what apps know; HMAC-SHA-1 is not broken
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// ErrCode is a code of an app, or a recovery code, that opens nothing: it is wrong, too old, or was used.
var ErrCode = errors.New("this code opens nothing")

// totpDigits is RFC 6238 with the values that every app knows: HMAC-SHA-1, six digits, a step of thirty seconds.
func totpDigits(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash takes everything
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&0x7fffffff%1_000_000)
}

// totpStep returns the step of which digits are the code, at most one from now; 0 if there is none after used.
func totpStep(secret []byte, digits string, now, used int64) (step int64) {
	for _, at := range []int64{now, now - 1, now + 1} {
		if at > used && subtle.ConstantTimeCompare([]byte(totpDigits(secret, at)), []byte(digits)) == 1 {
			step = at
		}
	}
	return step
}

var totpLetters = base32.StdEncoding.WithPadding(base32.NoPadding)

// Secrets is the table of the secrets of apps that make codes.
var Secrets = seal.Table{Name: "totp", Select: allTOTPSQL, Update: resealTOTPSQL}

const allTOTPSQL = `SELECT organizer_id::text, secret FROM totp ORDER BY organizer_id FOR UPDATE`

const resealTOTPSQL = `UPDATE totp SET secret = $2 WHERE organizer_id = $1::text::bigint AND secret = $3`

// App is what an app that makes codes has to know.
type App struct {
	Secret string // to type, in groups of four
	URI    string // to scan
}

// Loading the page again within an hour shows the same secret.
const beginTOTPSQL = `
INSERT INTO totp (organizer_id, secret) VALUES ($1, $2)
    ON CONFLICT (organizer_id) DO UPDATE
   SET secret = CASE WHEN totp.created_at > clock_timestamp() - interval '1 hour' THEN totp.secret ELSE excluded.secret END,
       created_at = CASE WHEN totp.created_at > clock_timestamp() - interval '1 hour' THEN totp.created_at ELSE clock_timestamp() END
 WHERE totp.confirmed_at IS NULL
RETURNING secret`

// BeginApp returns what an app has to know to make codes for a member; ConfirmApp makes them count. site is the host that
// the app shows. ErrCode if they have an app already.
func (d *Desk) BeginApp(ctx context.Context, m Member, site string) (a App, err error) {
	fresh := make([]byte, 20)
	_, _ = rand.Read(fresh) // never fails: crypto/rand ends the program instead
	var kept []byte
	err = d.db.QueryRow(ctx, beginTOTPSQL, m.Organizer, d.Seal.Seal(fresh, Secrets.Context(m.Organizer))).Scan(&kept)
	if isNoRows(err) {
		return a, ErrCode
	}
	if err != nil {
		return a, fmt.Errorf("organizers: begin an app: %w", err)
	}
	secret, err := d.Seal.Open(kept, Secrets.Context(m.Organizer))
	if err != nil {
		return a, fmt.Errorf("organizers: begin an app: %w", err)
	}
	text := totpLetters.EncodeToString(secret)
	var groups []string
	for i := 0; i < len(text); i += 4 {
		groups = append(groups, text[i:min(i+4, len(text))])
	}
	a.Secret = strings.Join(groups, " ")
	issuer := "Usher " + site
	a.URI = "otpauth://totp/" + url.PathEscape(issuer+":"+m.Email) + "?" + strings.ReplaceAll(url.Values{"secret": {text}, "issuer": {issuer}}.Encode(), "+", "%20")
	return a, nil
}

const readTOTPSQL = `SELECT secret, step, confirmed_at IS NOT NULL, floor(extract(epoch FROM clock_timestamp()) / 30)::bigint FROM totp WHERE organizer_id = $1 FOR UPDATE`

const takeTOTPSQL = `UPDATE totp SET step = $2, confirmed_at = coalesce(confirmed_at, clock_timestamp()) WHERE organizer_id = $1`

// takeCode uses a code of an organizer's app up. ErrCode if it is none.
func (d *Desk) takeCode(ctx context.Context, tx pgx.Tx, organizer int64, digits string, confirmed bool) error {
	var kept []byte
	var used, now int64
	var has bool
	err := tx.QueryRow(ctx, readTOTPSQL, organizer).Scan(&kept, &used, &has, &now)
	if isNoRows(err) || err == nil && has != confirmed {
		return ErrCode
	}
	if err != nil {
		return fmt.Errorf("organizers: read an app's secret: %w", err)
	}
	secret, err := d.Seal.Open(kept, Secrets.Context(organizer))
	if err != nil {
		return fmt.Errorf("organizers: read an app's secret: %w", err)
	}
	step := totpStep(secret, digits, now, used)
	if step == 0 {
		return ErrCode
	}
	if _, err := tx.Exec(ctx, takeTOTPSQL, organizer, step); err != nil {
		return fmt.Errorf("organizers: use a code up: %w", err)
	}
	return nil
}

// tidyCode is a code as people type it, without what stands between its letters.
func tidyCode(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			return r
		}
		return -1
	}, text)
}

// ConfirmApp makes the codes of a member's app count, if it shows the right one now. It returns recovery codes, which can be
// had only now. Errors: ErrCode; ErrOften; the database's.
func (d *Desk) ConfirmApp(ctx context.Context, m Member, code string) (recovery []string, err error) {
	if err := d.countProof(ctx, counter{fmt.Sprintf("second %d", m.Organizer), provePace}, m.Organizer, m.From); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := d.takeCode(ctx, tx, m.Organizer, tidyCode(code), false); err != nil {
			return err
		}
		if recovery, err = newRecoveryCodes(ctx, tx, m.Organizer); err != nil {
			return err
		}
		return d.accountChanged(ctx, tx, m, text.Mark("turned on app codes"), text.Mark("Signing in to your account now also asks for a code of an app."))
	})
	if err != nil {
		return nil, err
	}
	d.changed(m, "app added")
	return recovery, d.proved(ctx, m, ByCode)
}

const removeTOTPSQL = `DELETE FROM totp WHERE organizer_id = $1 AND confirmed_at IS NOT NULL`

const dropRecoverySQL = `DELETE FROM recovery_code WHERE organizer_id = $1 AND NOT EXISTS (SELECT FROM passkey WHERE organizer_id = $1)`

// Sessions show no second factor once none is left: a team that demands one asks for it at the next request.
const noSecondSQL = `
UPDATE desk_session SET second = false
 WHERE organizer_id = $1 AND second
   AND NOT EXISTS (SELECT FROM totp WHERE organizer_id = $1 AND confirmed_at IS NOT NULL)
   AND NOT EXISTS (SELECT FROM passkey WHERE organizer_id = $1)`

// RemoveApp has a member sign in without codes of an app. ErrNotYours if they have none.
func (d *Desk) RemoveApp(ctx context.Context, m Member) error {
	err := pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, removeTOTPSQL, m.Organizer)
		if err != nil {
			return fmt.Errorf("organizers: remove an app: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNotYours
		}
		if _, err := tx.Exec(ctx, dropRecoverySQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: remove an app: %w", err)
		}
		if _, err := tx.Exec(ctx, noSecondSQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: remove an app: %w", err)
		}
		return d.accountChanged(ctx, tx, m, text.Mark("turned off app codes"), text.Mark("Signing in to your account no longer asks for a code of an app."))
	})
	if err == nil {
		d.changed(m, "app removed")
	}
	return err
}

const recoveryCodes = 10

const forgetRecoverySQL = `DELETE FROM recovery_code WHERE organizer_id = $1`

const newRecoverySQL = `INSERT INTO recovery_code (organizer_id, hash) SELECT $1, unnest($2::bytea[])`

// newRecoveryCodes makes recovery codes of 120 random bits each, in place of those there are.
func newRecoveryCodes(ctx context.Context, tx pgx.Tx, organizer int64) (list []string, err error) {
	hashes := make([][]byte, recoveryCodes)
	for i := range hashes {
		token, _ := newToken()
		token = token[:24]
		hashes[i] = tokenHash(token)
		list = append(list, strings.Join([]string{token[:6], token[6:12], token[12:18], token[18:]}, "-"))
	}
	if _, err := tx.Exec(ctx, forgetRecoverySQL, organizer); err != nil {
		return nil, fmt.Errorf("organizers: make recovery codes: %w", err)
	}
	if _, err := tx.Exec(ctx, newRecoverySQL, organizer, hashes); err != nil {
		return nil, fmt.Errorf("organizers: make recovery codes: %w", err)
	}
	return list, nil
}

// NewRecoveryCodes makes other recovery codes; those of before open nothing any more. ErrNotYours without a second factor.
func (d *Desk) NewRecoveryCodes(ctx context.Context, m Member) (list []string, err error) {
	if !m.HasSecond() {
		return nil, ErrNotYours
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if list, err = newRecoveryCodes(ctx, tx, m.Organizer); err != nil {
			return err
		}
		return d.accountChanged(ctx, tx, m, text.Mark("made recovery codes"), text.Mark("New recovery codes were made for your account. The old ones no longer work."))
	})
	if err == nil {
		d.changed(m, "recovery codes made")
	}
	return list, err
}

const recoveryLeftSQL = `SELECT count(*) FROM recovery_code WHERE organizer_id = $1 AND used_at IS NULL`

// RecoveryLeft returns how many recovery codes a member has left.
func (d *Desk) RecoveryLeft(ctx context.Context, m Member) (n int, err error) {
	if err := d.db.QueryRow(ctx, recoveryLeftSQL, m.Organizer).Scan(&n); err != nil {
		return 0, fmt.Errorf("organizers: count recovery codes: %w", err)
	}
	return n, nil
}

const needsSecondSQL = `
SELECT EXISTS (SELECT FROM totp WHERE organizer_id = $1 AND confirmed_at IS NOT NULL)
    OR EXISTS (SELECT FROM passkey WHERE organizer_id = $1) AND EXISTS (SELECT FROM member m JOIN team t ON t.id = m.team_id WHERE m.organizer_id = $1 AND t.second_factor),
       EXISTS (SELECT FROM passkey WHERE organizer_id = $1)`

// NeedsSecond reports whether an organizer needs a second factor before Enter, and whether a passkey of theirs is one.
func (d *Desk) NeedsSecond(ctx context.Context, s Session) (needs, keyed bool, err error) {
	if err := d.db.QueryRow(ctx, needsSecondSQL, s.Organizer).Scan(&needs, &keyed); err != nil {
		return false, false, fmt.Errorf("organizers: look for a second factor: %w", err)
	}
	return needs, keyed, nil
}

const useRecoverySQL = `UPDATE recovery_code SET used_at = clock_timestamp() WHERE organizer_id = $1 AND hash = $2 AND used_at IS NULL`

const ownerOfSQL = `SELECT name, email FROM organizer WHERE id = $1`

// Second uses a code of an app, or a recovery code, after the password. Only organizers come here, so that
// failures are counted by organizer. Errors: ErrCode; ErrOften; the database's.
func (d *Desk) Second(ctx context.Context, organizer int64, code string, from Client) (by Proof, err error) {
	tries := counter{fmt.Sprintf("second %d", organizer), provePace}
	if err := d.countProof(ctx, tries, organizer, from); err != nil {
		return by, err
	}
	code = tidyCode(code)
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if len(code) == 6 {
			by = ByCode
			return d.takeCode(ctx, tx, organizer, code, true)
		}
		by = ByRecovery
		tag, err := tx.Exec(ctx, useRecoverySQL, organizer, tokenHash(code))
		if err != nil {
			return fmt.Errorf("organizers: use a recovery code: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrCode
		}
		m := Member{Organizer: organizer, From: from}
		if err := tx.QueryRow(ctx, ownerOfSQL, organizer).Scan(&m.Name, &m.Email); err != nil {
			return fmt.Errorf("organizers: use a recovery code: %w", err)
		}
		return d.accountChanged(ctx, tx, m, text.Mark("used a recovery code"), text.Mark("One of your recovery codes was used."))
	})
	if errors.Is(err, ErrCode) {
		d.Report(SecurityEvent{Kind: SecondFailed, Organizer: organizer, Network: from.network(), Agent: from.Agent})
	}
	if err != nil {
		return by, err
	}
	if by == ByRecovery {
		d.wake()
	}
	return by, d.succeeded(ctx, []counter{tries})
}

// ProveCode has a member show a code of their app, or a recovery code; their session keeps that they did.
func (d *Desk) ProveCode(ctx context.Context, m Member, code string) error {
	by, err := d.Second(ctx, m.Organizer, code, m.From)
	if err != nil {
		return err
	}
	return d.proved(ctx, m, by)
}

// ProvePasskey has a member show a passkey; state and answer as for SignInWith. ErrPasskey if it is not theirs.
func (d *Desk) ProvePasskey(ctx context.Context, m Member, origin, state string, answer []byte) error {
	s, err := d.SignInWith(ctx, origin, state, answer)
	if err == nil && s.Organizer != m.Organizer {
		err = ErrPasskey
	}
	if err != nil {
		d.Report(SecurityEvent{Kind: ProofFailed, Organizer: m.Organizer, Network: m.From.network(), Agent: m.From.Agent, Detail: "passkey"})
		return err
	}
	return d.proved(ctx, m, ByPasskey)
}

const removeFactorsSQL = `
WITH o AS (SELECT id FROM organizer WHERE email = $1),
     t AS (DELETE FROM totp WHERE organizer_id IN (SELECT id FROM o)),
     r AS (DELETE FROM recovery_code WHERE organizer_id IN (SELECT id FROM o)),
     p AS (DELETE FROM passkey WHERE organizer_id IN (SELECT id FROM o)),
     s AS (DELETE FROM desk_session WHERE organizer_id IN (SELECT id FROM o)),
     m AS (INSERT INTO mail (email, kind, about) SELECT $1, 'security', 'The operator of the box office removed every second factor of your account.' FROM o)
UPDATE organizer SET epoch = epoch + 1 WHERE id IN (SELECT id FROM o) RETURNING id`

// RemoveFactors takes every second factor of an organizer away and signs them out, for the command line: they lost them
// all. ErrNotYours if the address is unknown.
func (d *Desk) RemoveFactors(ctx context.Context, email string) error {
	return d.onOrganizer(ctx, removeFactorsSQL, email, "every second factor removed by the operator")
}

const signOutSQL = `
WITH s AS (DELETE FROM desk_session WHERE organizer_id IN (SELECT id FROM organizer WHERE email = $1))
UPDATE organizer SET epoch = epoch + 1 WHERE email = $1 RETURNING id`

// SignOut ends every session of an organizer, for the command line. ErrNotYours if the address is unknown.
func (d *Desk) SignOut(ctx context.Context, email string) error {
	return d.onOrganizer(ctx, signOutSQL, email, "signed out by the operator")
}

func (d *Desk) onOrganizer(ctx context.Context, sql, email, what string) error {
	return pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, sql, email).Scan(&id)
		if isNoRows(err) {
			return ErrNotYours
		}
		if err != nil {
			return fmt.Errorf("organizers: %s: %w", what, err)
		}
		_, err = tx.Exec(ctx, noteEverywhereSQL, id, what)
		return err
	})
}
