package credit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/seal"
)

// Why a voucher loads nothing.
var (
	ErrNoVoucher = errors.New("there is no such voucher")
	ErrExpired   = errors.New("this voucher has expired")
	ErrRedeemed  = errors.New("this voucher was redeemed already")
	ErrPaidBack  = errors.New("this voucher was paid back")
)

// letters has none that look like digits: Crockford's. typed puts right what people take for each other.
var (
	Letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
	typed   = strings.NewReplacer("O", "0", "I", "1", "L", "1", "-", "", " ", "", "\t", "")
)

// newVoucher makes a code: 80 random bits, in fours, to be typed from paper.
func newVoucher() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	text := seal.Letters.EncodeToString(b[:])
	return strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:]}, "-")
}

// voucherHash is what the table knows of a code, however it was typed; nil if it cannot be one.
func voucherHash(code string) []byte {
	if len(code) > 100 {
		return nil
	}
	text := typed.Replace(strings.ToUpper(code))
	if b, err := seal.Letters.DecodeString(text); err != nil || len(b) != 10 {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

const printVouchersSQL = `
INSERT INTO credit_voucher (code, currency, amount, expires_at)
SELECT code, $2, $3, $4 FROM unnest($1::bytea[]) AS code`

// MostVouchers is how many can be made at once.
const MostVouchers = 10_000

// Vouchers makes so many vouchers of an amount and returns their codes, which cannot be read again: the table has
// only their hashes. expires may be nil.
func (l *Ledger) Vouchers(ctx context.Context, count int, a Amount, expires *time.Time) ([]string, error) {
	if count < 1 || count > MostVouchers {
		return nil, ErrTooMuch
	}
	if err := l.ready(ctx, a); err != nil {
		return nil, err
	}
	codes, hashes := make([]string, count), make([][]byte, count)
	for i := range codes {
		codes[i] = newVoucher()
		hashes[i] = voucherHash(codes[i])
	}
	if _, err := l.db.Exec(ctx, printVouchersSQL, hashes, a.Currency, a.Minor, expires); err != nil {
		return nil, fmt.Errorf("credit: make vouchers: %w", err)
	}
	return codes, nil
}

const sellVoucherSQL = `INSERT INTO credit_voucher (code, currency, amount, expires_at) VALUES ($1, $2, $3, $4) RETURNING id`

// SellVoucher makes a voucher in the transaction of its sale, and returns its code. Call Ready before the transaction.
func SellVoucher(ctx context.Context, tx pgx.Tx, a Amount, expires *time.Time) (id int64, code string, err error) {
	code = newVoucher()
	if err := tx.QueryRow(ctx, sellVoucherSQL, voucherHash(code), a.Currency, a.Minor, expires).Scan(&id); err != nil {
		return 0, "", fmt.Errorf("credit: sell a voucher: %w", err)
	}
	return id, code, nil
}

// CardUnused says that the account a of the voucher v of a card has all of its credit, and never paid: what sales at the box office set aside
// went back to it, as they were refused.
const CardUnused = `(a.balance = v.amount AND NOT EXISTS (SELECT FROM credit_hold h WHERE h.account_id = a.id AND (h.captured > 0 OR h.state = 'open')))`

const voidVoucherSQL = `
WITH unused AS (
    UPDATE credit_account a SET balance = 0 FROM credit_voucher v
     WHERE v.id = $1 AND v.voided_at IS NULL AND a.kind = 'card' AND a.email = 'card-' || v.id AND a.currency = v.currency AND ` + CardUnused + `
    RETURNING a.id, a.currency, v.amount
), unloaded AS (
    INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount)
    SELECT 'unload', unused.id, issued.id, unused.currency, unused.amount
      FROM unused, credit_account issued WHERE issued.kind = 'issued' AND issued.email IS NULL AND issued.currency = unused.currency
)
UPDATE credit_voucher SET voided_at = clock_timestamp(), redeemed_at = NULL WHERE id = $1 AND voided_at IS NULL AND (redeemed_at IS NULL OR EXISTS (SELECT FROM unused))`

// VoidVoucher takes a voucher back before it is paid back. ErrRedeemed if it loaded credit that was used; a repeat gets ErrPaidBack.
func VoidVoucher(ctx context.Context, tx pgx.Tx, id int64) error {
	done, err := tx.Exec(ctx, voidVoucherSQL, id)
	if err != nil {
		return fmt.Errorf("credit: void a voucher: %w", err)
	}
	if done.RowsAffected() > 0 {
		return nil
	}
	var redeemed bool
	if err := tx.QueryRow(ctx, redeemedSQL, id).Scan(&redeemed); err != nil {
		return fmt.Errorf("credit: void a voucher: %w", err)
	}
	if redeemed {
		return ErrRedeemed
	}
	return ErrPaidBack
}

const redeemedSQL = `SELECT redeemed_at IS NOT NULL FROM credit_voucher WHERE id = $1`

const redeemSQL = `
WITH used AS (
    UPDATE credit_voucher SET redeemed_at = clock_timestamp()
     WHERE code = $1 AND redeemed_at IS NULL AND voided_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
    RETURNING id, currency, amount
), account AS (
    INSERT INTO credit_account (kind, email, currency, balance) SELECT 'attendee', $2, currency, amount FROM used
        ON CONFLICT (kind, email, currency) DO UPDATE SET balance = credit_account.balance + excluded.balance
    RETURNING id
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, voucher_id)
SELECT 'load', issued.id, account.id, used.currency, used.amount, used.id
  FROM used, account, credit_account issued
 WHERE issued.kind = 'issued' AND issued.email IS NULL AND issued.currency = used.currency
RETURNING amount, currency`

// Redeem loads the credit of a voucher into the account of an address and returns how much it was. A repeat by the same
// address gets the same answer and no more credit. ErrNoVoucher, ErrExpired, ErrPaidBack, ErrRedeemed if it was by another one.
func (l *Ledger) Redeem(ctx context.Context, email, code string) (a Amount, err error) {
	email, err = Address(email)
	if err != nil {
		return a, err
	}
	hash := voucherHash(code)
	if hash == nil {
		return a, ErrNoVoucher
	}
	for _, sql := range []string{redeemSQL, moveSQL} {
		err = l.db.QueryRow(ctx, sql, hash, email).Scan(&a.Minor, &a.Currency)
		switch {
		case err == nil:
			return a, nil
		case !errors.Is(err, pgx.ErrNoRows):
			return a, fmt.Errorf("credit: redeem: %w", err)
		}
	}
	return l.spent(ctx, email, hash)
}

// What the box office left on a card goes to the person. The account of the card is locked first.
const moveSQL = `
WITH card AS (
    SELECT a.id, a.balance, a.currency FROM credit_voucher v JOIN credit_account a ON a.kind = 'card' AND a.email = 'card-' || v.id AND a.currency = v.currency
     WHERE v.code = $1 AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp()) AND a.balance > 0
       FOR NO KEY UPDATE OF a
), emptied AS (
    UPDATE credit_account a SET balance = a.balance - card.balance FROM card WHERE a.id = card.id
    RETURNING card.id, card.balance, card.currency
), account AS (
    INSERT INTO credit_account (kind, email, currency, balance) SELECT 'attendee', $2, currency, balance FROM emptied
        ON CONFLICT (kind, email, currency) DO UPDATE SET balance = credit_account.balance + excluded.balance
    RETURNING id
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount)
SELECT 'move', emptied.id, account.id, emptied.currency, emptied.balance FROM emptied, account
RETURNING amount, currency`

const spentSQL = `
SELECT coalesce(m.amount, v.amount), v.currency, v.redeemed_at IS NOT NULL AND (a.kind <> 'card' OR a.balance = 0), v.voided_at IS NOT NULL, coalesce(a.email = $2, false) OR m.amount IS NOT NULL
  FROM credit_voucher v
       LEFT JOIN credit_transfer t ON t.voucher_id = v.id
       LEFT JOIN credit_account a ON a.id = t.to_id
       LEFT JOIN LATERAL (
           SELECT amount FROM credit_transfer JOIN credit_account p ON p.id = to_id
            WHERE a.kind = 'card' AND from_id = a.id AND credit_transfer.kind = 'move' AND p.email = $2 ORDER BY credit_transfer.id DESC LIMIT 1) m ON true
 WHERE v.code = $1`

// spent says why a voucher loaded nothing.
func (l *Ledger) spent(ctx context.Context, email string, hash []byte) (a Amount, err error) {
	var redeemed, voided, mine bool
	err = l.db.QueryRow(ctx, spentSQL, hash, email).Scan(&a.Minor, &a.Currency, &redeemed, &voided, &mine)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Amount{}, ErrNoVoucher
	case err != nil:
		return Amount{}, fmt.Errorf("credit: look at a voucher: %w", err)
	case mine:
		return a, nil
	case redeemed:
		return Amount{}, ErrRedeemed
	case voided:
		return Amount{}, ErrPaidBack
	}
	return Amount{}, ErrExpired
}
