package migrations

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

const traceSQL = `SELECT (SELECT count(*) FROM migration) * 1000 + (SELECT count(*) FROM pg_namespace WHERE nspname = 'usher_plan')`

func TestPlan_SaysWhatIsToComeAndChangesNothing(t *testing.T) {
	t.Parallel()
	conn := migrated(t, "0068_test_sales.sql", func(*pgx.Conn) {})
	planned, err := Plan(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if len(planned) < 2 || planned[0].Name != "0069_till_gift_card.sql" {
		t.Fatalf("planned: %+v", planned)
	}
	till := slices.IndexFunc(planned[0].Locks, func(l Lock) bool { return l.Table == "till_entry" })
	if till < 0 || planned[0].Locks[till].Blocks() != "reads and writes" || !planned[0].Locks[till].Reads || planned[0].Locks[till].Bytes == 0 {
		t.Errorf("a check and an index of till entries: %+v", planned[0].Locks)
	}
	for _, migration := range planned {
		for _, lock := range migration.Locks {
			if lock.Table == "customer" {
				t.Errorf("%s locks a table that this database does not have yet", migration.Name)
			}
		}
	}
	var trace int
	if err := conn.QueryRow(t.Context(), traceSQL).Scan(&trace); err != nil || trace != 68_000 {
		t.Error("it left a trace:", trace, err)
	}
	applied, err := Up(t.Context(), conn)
	if err != nil || applied != len(planned) {
		t.Errorf("%d were applied, %d planned: %v", applied, len(planned), err)
	}
	if planned, err := Plan(t.Context(), conn); err != nil || len(planned) > 0 {
		t.Error("after them there are more:", planned, err)
	}
}

func TestPlan_KnowsEachKindOfLock(t *testing.T) {
	t.Parallel()
	conn := migrated(t, "0068_test_sales.sql", func(*pgx.Conn) {})
	for sql, want := range map[string]Lock{
		`ALTER TABLE till_entry ADD COLUMN note text`:                                                           {Mode: "AccessExclusiveLock"},
		`ALTER TABLE till_entry ADD CONSTRAINT c CHECK (amount <> 7) NOT VALID`:                                 {Mode: "AccessExclusiveLock"},
		`ALTER TABLE till_entry ADD CONSTRAINT d CHECK (amount <> 7)`:                                           {Mode: "AccessExclusiveLock", Reads: true},
		`CREATE INDEX tried ON till_entry (id)`:                                                                 {Mode: "ShareLock", Reads: true},
		`ALTER TABLE till_entry ADD COLUMN mark uuid DEFAULT gen_random_uuid()`:                                 {Mode: "AccessExclusiveLock", Rewrites: true, Reads: true},
		`CREATE TRIGGER tried AFTER INSERT ON till_entry EXECUTE FUNCTION suppress_redundant_updates_trigger()`: {Mode: "ShareRowExclusiveLock"},
	} {
		locks, err := tryOne(t.Context(), conn, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		want.Table = "till_entry"
		if !slices.Contains(locks, want) {
			t.Errorf("%s: %+v, want %+v", sql, locks, want)
		}
	}
	if locks, err := tryOne(t.Context(), conn, `UPDATE event SET name = name`); err != nil || len(locks) > 0 {
		t.Error("writing rows blocks none:", locks, err)
	}
}
