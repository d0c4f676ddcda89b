package credit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const exportCreditSQL = `
SELECT coalesce(json_agg(json_build_object('email', a.email, 'currency', a.currency, 'balance_in_minor_units', a.balance,
       'transfers', (SELECT json_agg(json_build_object('at', t.at, 'kind', t.kind, 'amount_in_minor_units', CASE WHEN t.from_id = a.id THEN -t.amount ELSE t.amount END) ORDER BY t.id)
                       FROM credit_transfer t WHERE a.id IN (t.from_id, t.to_id)))), '[]')
  FROM credit_account a WHERE a.kind = 'attendee' AND a.email = $1`

// Export returns a person's credit with all transfers.
func Export(ctx context.Context, tx pgx.Tx, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportCreditSQL, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("credit: export: %w", err)
	}
	return list, nil
}

const eraseAccountsSQL = `
UPDATE credit_account a SET email = 'erased-' || id
 WHERE kind = 'attendee' AND email = $1 AND balance = 0 AND NOT EXISTS (SELECT FROM credit_hold WHERE account_id = a.id AND state = 'open')`

const eraseSignInSQL = `DELETE FROM link WHERE email = $1 AND NOT EXISTS (SELECT FROM credit_account WHERE kind = 'attendee' AND email = $1)`

const erasePasskeysSQL = `DELETE FROM account_passkey WHERE email = $1`

const creditLeftSQL = `SELECT count(*) FROM credit_account WHERE kind = 'attendee' AND email = $1`

// Erase takes the address off accounts without a balance, and removes its passkeys. It returns how many accounts still have it: their money is the
// person's.
func Erase(ctx context.Context, tx pgx.Tx, email string) (left int, err error) {
	for _, sql := range []string{eraseAccountsSQL, eraseSignInSQL, erasePasskeysSQL} {
		if _, err := tx.Exec(ctx, sql, email); err != nil {
			return 0, fmt.Errorf("credit: erase: %w", err)
		}
	}
	if err := tx.QueryRow(ctx, creditLeftSQL, email).Scan(&left); err != nil {
		return 0, fmt.Errorf("credit: erase: %w", err)
	}
	return left, nil
}

// A retention time is that of a team, and credit is of the house: its time is the longest of its teams, if each of them has one.
const eraseOldAccountsSQL = `
UPDATE credit_account a SET email = 'erased-' || id
  FROM (SELECT max(r.months) AS months FROM team t LEFT JOIN retention r ON r.team_id = t.id HAVING bool_and(r.months IS NOT NULL)) keep
 WHERE a.kind = 'attendee' AND a.email NOT LIKE 'erased-%' AND a.balance = 0
   AND NOT EXISTS (SELECT FROM credit_hold WHERE account_id = a.id AND state = 'open')
   AND coalesce((SELECT max(at) FROM credit_transfer WHERE a.id IN (from_id, to_id)), '-infinity') < clock_timestamp() - make_interval(months => keep.months)`

// EraseOld takes the address off accounts without a balance that nothing moved for the retention time, and removes passkeys
// that were not used for it.
func EraseOld(ctx context.Context, db seats.DB) error {
	if _, err := db.Exec(ctx, eraseOldAccountsSQL); err != nil {
		return fmt.Errorf("credit: erase old accounts: %w", err)
	}
	return removeOldPasskeys(ctx, db)
}
