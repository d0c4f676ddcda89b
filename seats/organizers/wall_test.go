package organizers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/organizers"
)

// tables is every table of the schema, and what the catalogue says of its wall.
type table struct {
	Name     string
	Closed   bool // row-level security is on
	Policies int
	Scoped   bool // it has a column for its team
	Readable bool // the desk may read some of it
}

func tables(t *testing.T, db *pgxpool.Pool) []table {
	t.Helper()
	rows, err := db.Query(t.Context(), `
		SELECT c.relname, c.relrowsecurity, (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid),
		       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('event_id', 'team_id', 'room_id') AND NOT a.attisdropped),
		       has_any_column_privilege('usher_desk', c.oid, 'SELECT')
		  FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm') AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil || len(list) < 30 {
		t.Fatalf("%d tables, %v", len(list), err)
	}
	return list
}

// gaps lists the tables that the second wall does not stand before.
func gaps(list []table) (found []string) {
	for _, t := range list {
		switch {
		case t.Readable && !t.Closed:
			found = append(found, t.Name+" can be read and has no row-level security")
		case !t.Closed && t.Name != "credit_entry": // a view that the desk may not read
			found = append(found, t.Name+" has no row-level security: CALL desk_wall, or ALTER TABLE … ENABLE ROW LEVEL SECURITY if the desk does not need it")
		case t.Scoped && t.Policies == 0:
			found = append(found, t.Name+" belongs to an event, a room or a team and has no policy: CALL desk_wall")
		}
	}
	return found
}

// A policy that reads all events of the team reads them once for each table of each statement.
func TestWall_APolicyAsksForTheEventOfARowOnly(t *testing.T) {
	t.Parallel()
	db := newFixture(t).db
	const slowSQL = `SELECT tablename FROM pg_policies WHERE schemaname = 'public' AND qual ~ 'IN \( SELECT (event|orders)\.id\s+FROM'`
	rows, _ := db.Query(t.Context(), slowSQL) // CollectRows returns its error
	if slow, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(slow) > 0 {
		t.Errorf("the policies of %q read all rows of the team: write EXISTS (SELECT FROM event e WHERE e.id = event_id); %v", slow, err)
	}
	if _, err := db.Exec(t.Context(), `ALTER POLICY "what the team may see" ON ticket USING (event_id IN (SELECT id FROM event))`); err != nil {
		t.Fatal(err)
	}
	var found string
	if err := db.QueryRow(t.Context(), slowSQL).Scan(&found); err != nil || found != "ticket" {
		t.Errorf("a slow policy was not found: %q, %v", found, err)
	}
}

func TestEveryTableStandsBehindTheSecondWall(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, gap := range gaps(tables(t, h.db)) {
		t.Error(gap)
	}
	h.exec(t, `CREATE TABLE planted_open (id bigint); CREATE TABLE planted_figure (event_id bigint); ALTER TABLE planted_figure ENABLE ROW LEVEL SECURITY; DROP POLICY "what the team may see" ON orders`)
	found := strings.Join(gaps(tables(t, h.db)), "\n")
	for _, planted := range []string{"planted_open has no row-level security", "planted_figure belongs to", "orders belongs to"} {
		if !strings.Contains(found, planted) {
			t.Errorf("%q is not noticed:\n%s", planted, found)
		}
	}
}

// seen counts the rows of a table as the desk sees them; -1 if it may not look.
func seen(ctx context.Context, tx pgx.Tx, name string) (n int, err error) {
	nested, err := tx.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = nested.Rollback(ctx) }() // nothing was changed
	err = nested.QueryRow(ctx, fmt.Sprintf(`SELECT count(*) FROM %q`, name)).Scan(&n)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42501" {
		return -1, nil
	}
	return n, err
}

func TestWithoutATeamNothingIsSeenAndNothingIsChanged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }() // nothing was changed
	if _, err := tx.Exec(t.Context(), `SET LOCAL ROLE usher_desk`); err != nil {
		t.Fatal(err)
	}
	for _, one := range tables(t, h.db) {
		if n, err := seen(t.Context(), tx, one.Name); err != nil || n > 0 {
			t.Errorf("without a team %d rows of %s are seen, %v", n, one.Name, err)
		}
	}
	for _, sql := range []string{
		`UPDATE event SET name = 'x'`, `UPDATE team SET name = 'x'`, `DELETE FROM member`, `UPDATE invitation SET role = 'owner'`, `DELETE FROM question`, `UPDATE category SET price = 0`,
	} {
		tag, err := tx.Exec(t.Context(), sql)
		if err != nil || tag.RowsAffected() != 0 {
			t.Errorf("without a team %q changes %d rows, %v", sql, tag.RowsAffected(), err)
		}
	}
	if _, err := tx.Exec(t.Context(), `INSERT INTO deed (team_id, who, what) VALUES (1, 'x', 'x')`); err == nil {
		t.Error("without a team an audit entry is written")
	}
}

// secret are what no query of the desk may read, whosever it is.
var secret = []string{
	"account_passkey", "attempt", "confirmation", "credit_account", "credit_entry", "credit_hold", "credit_transfer", "credit_voucher", "demo_charge", "demo_news", "desk_device", "desk_session", "erasure_key", "gift_card", "inbox", "link", "mandate", "migration",
	"openid", "passkey", "password_link", "picture_file", "place_key", "purchase_key", "push_key", "ready", "recovery_code", "session", "setup", "ticket_key", "totp", "public_log_statement", "public_log_seat", "public_log_tile", "typed", "wallet_device",
}

func TestTheDeskSeesItsTeamOnlyAndNoSecrets(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, m := range []organizers.Member{h.ann, h.bob} {
		err := h.desk.As(t.Context(), m, func(tx pgx.Tx) error {
			for _, one := range tables(t, h.db) {
				n, err := seen(t.Context(), tx, one.Name)
				if err != nil {
					return err
				}
				if (n == -1) != slices.Contains(secret, one.Name) && one.Name != "organizer" && one.Name != "room" {
					t.Errorf("%s sees %d rows of %s", m.Name, n, one.Name)
				}
			}
			for _, sql := range []string{`SELECT password FROM organizer`, `SELECT secret FROM hook_secret`, `SELECT secret FROM room`, `SELECT sealed FROM room`} {
				nested, err := tx.Begin(t.Context())
				if err != nil {
					return err
				}
				if _, err := nested.Exec(t.Context(), sql); err == nil {
					t.Errorf("%s may %s", m.Name, sql)
				}
				if err := nested.Rollback(t.Context()); err != nil {
					return err
				}
			}
			for sql, want := range map[string]int{
				`SELECT count(*) FROM event`: 1, `SELECT count(DISTINCT event_id) FROM seat`: 1, `SELECT count(*) FROM counter`: 1, `SELECT count(*) FROM team`: 1,
				`SELECT count(id) FROM organizer`: 1, `SELECT count(*) FROM member`: 1, `SELECT count(*) FROM plan`: 1,
			} {
				var n int
				if err := tx.QueryRow(t.Context(), sql).Scan(&n); err != nil || n != want {
					t.Errorf("%s: %q is %d, want %d, %v", m.Name, sql, n, want, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheRoleOfTheDeskEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	conn, err := h.db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), organizers.AsSQL, h.ann.Team, true); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var role, team string
	if err := conn.QueryRow(t.Context(), `SELECT current_user, concat(current_setting('usher.team', true), current_setting('usher.test', true))`).Scan(&role, &team); err != nil || role == "usher_desk" || team != "" {
		t.Errorf("afterwards the connection is %q of team %q, %v", role, team, err)
	}
}

func TestAuditEntry_IsNeverChangedOrDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, sql := range []string{`UPDATE deed SET what = 'x'`, `DELETE FROM deed`, `TRUNCATE deed`, `SET session_replication_role = replica; DELETE FROM deed`} {
		if _, err := h.db.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "never changed") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var n int
	if h.scan(t, &n, `SELECT count(*) FROM deed WHERE what = 'set the desk up' AND who = 'Ann'`); n != 1 {
		t.Errorf("%d audit entries are left", n)
	}
}

func TestTeam_KeepsAnOwnerUnderConcurrentRemovals(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	eve := h.add(t, "eve", organizers.Owner, h.ann.Team)
	done := make(chan error, 2)
	for _, who := range []int64{h.ann.Organizer, eve.Organizer} {
		go func() {
			_, err := h.db.Exec(t.Context(), `DELETE FROM member WHERE team_id = $1 AND organizer_id = $2`, h.ann.Team, who)
			done <- err
		}()
	}
	first, second := <-done, <-done
	if (first == nil) == (second == nil) {
		t.Errorf("two owners removed at once: %v, %v", first, second)
	}
}
