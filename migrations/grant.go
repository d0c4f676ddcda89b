package migrations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A user of the database may serve without owning its tables, as a member of the role usher_serve. That role reads every
// table and changes rows as the statements of the program do. It creates, alters and drops nothing, and rows that are
// written once (audit entries, transfers, versions of seats, scans) it neither changes nor deletes.

// rights are what usher_serve may do to tables besides reading them.
var rights = map[string]string{
	"INSERT":                 "added called cancellation change confirmation consent control credit_transfer deed erasure errand_order exchange invoice legal_text letter_run message payment_share payout_line plan_version price receipt scan section seen subscriber subscriber_order terms till_entry public_log_statement wait_step",
	"INSERT, UPDATE":         "admission alert_choice alert_look allowance api_key block book_accounts book_day booking carried category code counter credit_account credit_hold credit_voucher demo_charge deposit deposit_payment demo_news door email_change entrant entry erasure_key errand event event_limit event_page event_share gift_card gift_card_offer history hook hook_secret inbox intention invitation invoice_sender invoice_series mandate membership membership_kind offer order_change orders organizer password_link payment payout payout_reading performance phase place_key plan presence purchase_key push_key ready refund rehearsal refusal renewal resale resale_offer room seat seat_state series share slot statement statement_entry tally team team_plan ticket ticket_key ticket_transfer ticket_type till_session till_setting wait_list team_change public_log public_log_seat public_log_tile",
	"INSERT, UPDATE, DELETE": "account_passkey alert attempt bank_account book_schedule customer customer_address customer_note desk_device desk_session event_picture event_text guest hold idempotency_key link mail member notice openid passkey picture_file plan_picture recovery_code seat_code security_event session setup totp turn_request typed wallet_device",
	"INSERT, DELETE":         "api_request book_order book_touch invoice_due order_touch plan_import question renewal_seat team_touch unsubscribed",
	"":                       "migration book_month credit_entry",
}

// Errors of Grant.
var (
	ErrNoRole = errors.New("there is no such role")
	ErrOwner  = errors.New("this role owns the tables, or may act as their owner")
)

const insufficientPrivilege = "42501"

const ownsSQL = `SELECT coalesce(pg_has_role(relowner, 'USAGE'), true) FROM (SELECT to_regclass('migration') AS id) t LEFT JOIN pg_class c ON c.oid = t.id`

// owns reports whether the user of a connection owns the tables, or may create them.
func owns(ctx context.Context, conn *pgx.Conn) (owner bool, err error) {
	if err := conn.QueryRow(ctx, ownsSQL).Scan(&owner); err != nil {
		return false, fmt.Errorf("migrations: ask who owns the tables: %w", err)
	}
	return owner, nil
}

const isRoleSQL = `
SELECT pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'migration'::regclass), 'MEMBER')
  FROM pg_roles r WHERE rolname = $1`

const serveRoleSQL = `
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'usher_serve') THEN
        CREATE ROLE usher_serve NOLOGIN;
    END IF;
    IF NOT pg_has_role('usher_serve', 'usher_desk', 'MEMBER') THEN
        GRANT usher_desk TO usher_serve;
    END IF;
END $$`

const memberSQL = `SELECT pg_has_role($1::name, 'usher_serve', 'MEMBER')`

// Grant lets a role run "usher serve", with the rights that this needs and no others. The owner of the tables calls it.
// Errors: ErrNoRole; ErrOwner; the database's.
func Grant(ctx context.Context, conn *pgx.Conn, role string) error {
	var owner bool
	err := conn.QueryRow(ctx, isRoleSQL, role).Scan(&owner)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoRole
	case err != nil:
		return fmt.Errorf("migrations: look for role %s: %w", role, err)
	case owner:
		return ErrOwner
	}
	err = patiently(ctx, conn, giveUpAfter, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, serveRoleSQL); err != nil {
			return err
		}
		if err := grantTables(ctx, tx); err != nil {
			return err
		}
		var member bool
		if err := tx.QueryRow(ctx, memberSQL, role).Scan(&member); err != nil || member {
			return err
		}
		_, err := tx.Exec(ctx, `GRANT usher_serve TO `+pgx.Identifier{role}.Sanitize())
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == insufficientPrivilege {
		return fmt.Errorf("migrations: grant to %[1]s: %[2]w. Nothing was changed. Have an administrator of this PostgreSQL run: CREATE ROLE usher_serve NOLOGIN; GRANT usher_desk TO usher_serve; GRANT usher_serve TO %[3]s; then grant again", role, err, pgx.Identifier{role}.Sanitize())
	}
	if err != nil {
		return fmt.Errorf("migrations: grant to %s: %w", role, err)
	}
	return nil
}

const servesSQL = `SELECT coalesce((SELECT has_table_privilege(oid, 'migration', 'SELECT') FROM pg_roles WHERE rolname = 'usher_serve'), false)`

// grantAgain gives usher_serve what it needs of new tables, if it has rights in this database.
func grantAgain(ctx context.Context, conn *pgx.Conn) error {
	var serves bool
	if err := conn.QueryRow(ctx, servesSQL).Scan(&serves); err != nil {
		return fmt.Errorf("migrations: look for rights: %w", err)
	}
	if !serves {
		return nil
	}
	if err := patiently(ctx, conn, giveUpAfter, func(tx pgx.Tx) error { return grantTables(ctx, tx) }); err != nil {
		return fmt.Errorf("migrations: grant again: %w", err)
	}
	return nil
}

// Rows are seen by policies alone, so each table needs one for the role; usher_desk keeps its own.
const openTablesSQL = `
DO $$ DECLARE one record; BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO usher_serve', current_schema());
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM usher_serve', current_schema());
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO usher_serve', current_schema());
    EXECUTE format('GRANT USAGE ON SEQUENCE %s, %s TO usher_serve', pg_get_serial_sequence('ticket_key', 'id'), pg_get_serial_sequence('place_key', 'id'));
    FOR one IN SELECT c.oid::regclass AS name FROM pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
                  AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'serve sees every row') ORDER BY c.relname LOOP
        EXECUTE format('CREATE POLICY "serve sees every row" ON %s TO usher_serve USING (true)', one.name);
    END LOOP;
END $$`

func grantTables(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, openTablesSQL); err != nil {
		return err
	}
	for what, tables := range rights {
		if what == "" {
			continue
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf(`GRANT %s ON %s TO usher_serve`, what, strings.Join(strings.Fields(tables), ", "))); err != nil {
			return err
		}
	}
	return nil
}
