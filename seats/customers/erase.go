package customers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const notedSQL = `SELECT coalesce(json_agg(json_build_object('note', note, 'tags', tags, 'changed_at', changed_at)), '[]') FROM customer_note WHERE team_id = $1 AND email = $2`

// Export returns what a team noted about a person.
func Export(ctx context.Context, tx pgx.Tx, team int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, notedSQL, team, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("customers: export: %w", err)
	}
	return list, nil
}

const importedSQL = `
SELECT coalesce(json_agg(json_build_object('name', name, 'email', email, 'phone', phone, 'language', language, 'agreed_on', agreed_on, 'agreed_by', agreed_by,
       'imported_at', imported_at, 'listed_at', listed_at)), '[]') FROM customer WHERE team_id = $1 AND email = $2`

// ExportImported returns a person as imported lists of a team had them.
func ExportImported(ctx context.Context, tx pgx.Tx, team int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, importedSQL, team, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("customers: export what was imported: %w", err)
	}
	return list, nil
}

const emailsSQL = `SELECT customer_emails($1, $2)`

// Emails returns the addresses of a person in a team: that address first, then those that the team merged with it.
func Emails(ctx context.Context, tx pgx.Tx, team int64, email string) (emails []string, err error) {
	if err := tx.QueryRow(ctx, emailsSQL, team, email).Scan(&emails); err != nil {
		return nil, fmt.Errorf("customers: read the addresses of a person: %w", err)
	}
	return emails, nil
}

// Lock has changes of the team's customers wait for the transaction. A transaction that changes other rows takes it before them.
func Lock(ctx context.Context, tx pgx.Tx, team int64) error {
	if _, err := tx.Exec(ctx, lockSQL, team); err != nil {
		return fmt.Errorf("customers: lock: %w", err)
	}
	return nil
}

const (
	eraseImportedSQL = `DELETE FROM customer WHERE team_id = $1 AND email = $2`

	eraseAddressSQL = `DELETE FROM customer_address WHERE team_id = $1 AND email = $2`

	eraseNoteSQL = `DELETE FROM customer_note WHERE team_id = $1 AND email = $2`
)

// ErasePerson deletes what is stored under an address: as lists had it, what it was merged with, and the note. The caller has the Lock,
// and calls Erase once after all addresses.
func ErasePerson(ctx context.Context, tx pgx.Tx, team int64, email string) error {
	for _, sql := range []string{eraseImportedSQL, eraseAddressSQL, eraseNoteSQL} {
		if _, err := tx.Exec(ctx, sql, team, email); err != nil {
			return fmt.Errorf("customers: erase a person: %w", err)
		}
	}
	return nil
}

const (
	// Notes about persons without an order of any address, who were not imported either.
	sweepNotesSQL = `
DELETE FROM customer_note o
 WHERE o.team_id = $1
   AND NOT EXISTS (SELECT FROM orders n WHERE lower(n.email) = ANY(customer_emails($1, o.email)) AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1)
   AND NOT EXISTS (SELECT FROM customer c WHERE c.team_id = $1 AND c.email = ANY(customer_emails($1, o.email)))`

	// Merged addresses under which nothing is left.
	sweepAddressesSQL = `
DELETE FROM customer_address o
 WHERE o.team_id = $1
   AND NOT EXISTS (SELECT FROM orders n WHERE lower(n.email) = o.email AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = $1)
   AND NOT EXISTS (SELECT FROM customer c WHERE c.team_id = $1 AND c.email = o.email)
   AND NOT EXISTS (SELECT FROM customer_note t WHERE t.team_id = $1 AND t.email = o.email)
   AND NOT EXISTS (SELECT FROM membership m WHERE m.team_id = $1 AND m.email = o.email)`

	// An address that is merged with no other one.
	sweepSinglesSQL = `
DELETE FROM customer_address o
 WHERE o.team_id = $1 AND NOT EXISTS (SELECT FROM customer_address a WHERE a.team_id = $1 AND a.person = o.person AND a.email <> o.email)`
)

// Erase deletes what a team noted about persons whose orders were all erased before, and what it merged of them. The caller has the Lock.
func Erase(ctx context.Context, tx pgx.Tx, team int64) error {
	for _, sql := range []string{sweepNotesSQL, sweepAddressesSQL, sweepSinglesSQL} {
		if _, err := tx.Exec(ctx, sql, team); err != nil {
			return fmt.Errorf("customers: erase: %w", err)
		}
	}
	return nil
}

const old = `o.listed_at < clock_timestamp() - make_interval(months => r.months)
   AND NOT EXISTS (SELECT FROM orders n WHERE lower(n.email) = o.email AND n.email <> '' AND (SELECT team_id FROM event WHERE id = n.event_id AND test_of IS NULL) = o.team_id)`

const (
	oldTeamsSQL = `SELECT DISTINCT o.team_id FROM customer o JOIN retention r ON r.team_id = o.team_id WHERE ` + old

	eraseOldSQL = `DELETE FROM customer o USING retention r WHERE r.team_id = o.team_id AND o.team_id = $1 AND ` + old
)

// EraseOld deletes imported customers who have no order, when the retention time of their team is over since the last list that had them.
func EraseOld(ctx context.Context, db *pgxpool.Pool) error {
	rows, _ := db.Query(ctx, oldTeamsSQL) // CollectRows returns its error
	teams, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("customers: find old ones: %w", err)
	}
	for _, team := range teams {
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if err := Lock(ctx, tx, team); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, eraseOldSQL, team); err != nil {
				return err
			}
			return Erase(ctx, tx, team)
		})
		if err != nil {
			return fmt.Errorf("customers: erase old ones: %w", err)
		}
	}
	return nil
}
