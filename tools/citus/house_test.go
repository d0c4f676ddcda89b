//go:build citus

package citus_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/usherbox/usher/migrations"
)

func TestHouse_InASchemaThatIsNotDistributedRunsAsOnPlainPostgreSQL(t *testing.T) {
	conn := house(t, "beside")
	asked, no := census(t, conn)
	if asked < 1000 || len(no) > 0 {
		t.Errorf("of %d statements, %d are refused: %v", asked, len(no), no)
	}
}

func TestHouse_InADistributedSchemaCannotBeMigrated(t *testing.T) {
	conn := enter(t, servers[0], "plainly", "citus.enable_schema_based_sharding = on")
	if err := migrations.MakeHouse(t.Context(), conn, "plainly"); err != nil {
		t.Fatal(err)
	}
	_, err := migrations.Up(t.Context(), conn)
	if err == nil {
		t.Error("all migrations ran in a distributed schema")
	}
	t.Log(err)
	for sql, words := range map[string]string{
		`CREATE TRIGGER "touched" AFTER INSERT ON seen FOR EACH ROW EXECUTE FUNCTION touch()`:            "triggers are not supported on distributed tables",
		`ALTER TABLE seen ADD CONSTRAINT "first" CHECK (id > 0), ADD CONSTRAINT "second" CHECK (id > 1)`: "cannot execute ADD CONSTRAINT command with other subcommands",
		`CREATE POLICY "some" ON seen USING (id IN (SELECT id FROM other))`:                              "unexpected non-SELECT command in SubLink",
		`GRANT UPDATE (id) ON seen TO usher_desk`:                                                        "grant/revoke on column list is currently unsupported",
	} {
		small := enter(t, servers[0], "small", "citus.enable_schema_based_sharding = on")
		run(t, small, `DROP SCHEMA IF EXISTS small CASCADE; `)
		run(t, small, `CREATE SCHEMA small`)
		run(t, small, `CREATE TABLE seen (id bigint PRIMARY KEY)`)
		run(t, small, `CREATE TABLE other (id bigint PRIMARY KEY)`)
		run(t, small, `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
		run(t, small, `ALTER TABLE seen ENABLE ROW LEVEL SECURITY`)
		run(t, small, `DO $$ BEGIN CREATE ROLE usher_desk NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
		refused(t, small, sql, words)
	}
}

// What distributing needs, beside the settings that Citus calls unsafe.
const (
	subqueryPoliciesSQL = `
SELECT format('DROP POLICY %I ON %I', policyname, tablename) FROM pg_policies WHERE schemaname = current_schema() AND concat(qual, with_check) ~* 'select'`
	triggersSQL = `
SELECT format('ALTER FUNCTION %s SET search_path = %I, pg_temp', oid::regprocedure, current_schema()) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'`
)

// distributed makes a house in a schema, and has Citus distribute it in spite of all: its policies with a subquery are dropped (the desk sees
// nothing behind them), and its triggers run as Citus warns.
func distributed(t *testing.T, name string) (worker *pgx.Conn) {
	t.Helper()
	conn := house(t, name)
	distribute := `SELECT citus_schema_distribute(current_schema()::regnamespace)`
	refused(t, conn, distribute, "Subqueries are not supported in policies on distributed tables")
	t.Logf("%d policies have a subquery", each(t, conn, subqueryPoliciesSQL))
	refused(t, conn, distribute, "because it has triggers")
	run(t, conn, `SET citus.enable_unsafe_triggers = on`)
	each(t, conn, triggersSQL)
	run(t, conn, distribute)
	var host string
	if err := conn.QueryRow(t.Context(), `SELECT DISTINCT nodename FROM citus_shards WHERE table_name::text = 'event' OR table_name::text LIKE '%.event'`).Scan(&host); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers[1:] {
		if hostOf(s) == host {
			return enter(t, s, name)
		}
	}
	t.Fatalf("the house is at %s", host)
	return nil
}

func TestHouse_InADistributedSchemaCannotSell(t *testing.T) {
	worker := distributed(t, "spread")
	// On its own node, where nothing goes over the network.
	refused(t, worker, `UPDATE seat_state SET holder = NULL WHERE event_id = 1 AND idx = 1 AND expires_at <= clock_timestamp()`,
		"functions used in the WHERE/ON/WHEN clause of modification queries on distributed tables must not be VOLATILE")
	refused(t, worker, `CREATE TABLE later (number integer)`, "cannot create tables in a distributed schema from a worker node")
	for mode, most := range map[string]int{"force_generic_plan": 1000, "force_custom_plan": 1100} {
		run(t, worker, `SET plan_cache_mode = `+mode)
		asked, no := census(t, worker)
		t.Logf("%s: of %d statements, %d are refused\n%s", mode, asked, len(no), kinds(no))
		if asked-len(no) > most {
			t.Errorf("%s: %d statements are taken: docs/citus.md says fewer", mode, asked-len(no))
		}
		for _, kernel := range []string{"seats.fastPathSQL", "seats.fastPathOneSQL", "seats.changeSQL"} {
			if no[kernel] == "" {
				t.Errorf("%s: %s is taken: look at docs/citus.md again", mode, kernel)
			}
		}
	}
}

// census asks for the plan of every statement, and returns the reasons of those that are refused.
func census(t *testing.T, conn *pgx.Conn) (asked int, no map[string]string) {
	t.Helper()
	list, err := statements("../..")
	if err != nil {
		t.Fatal(err)
	}
	no = map[string]string{}
	for _, s := range list {
		word, _, _ := strings.Cut(strings.TrimSpace(s.sql), " ")
		if slices.Contains([]string{"", "BEGIN", "COMMIT", "SET", "DO"}, word) {
			continue
		}
		asked++
		if err := explain(t.Context(), conn, s.sql); err != nil {
			no[strings.ReplaceAll(s.folder, "/", ".")+"."+s.name] = err.Error()
		}
	}
	return asked, no
}

func explain(ctx context.Context, conn *pgx.Conn, sql string) error {
	statement, err := conn.PgConn().Prepare(ctx, "statement", sql, nil)
	if err != nil {
		return err
	}
	var values []string
	for _, kind := range statement.ParamOIDs {
		value, ok := map[uint32]string{pgtype.Int2OID: "1", pgtype.Int4OID: "1", pgtype.Int8OID: "1", pgtype.Int8ArrayOID: "'{1}'", pgtype.BoolOID: "true"}[kind]
		if !ok {
			value = "NULL"
		}
		values = append(values, value)
	}
	execute := "EXPLAIN EXECUTE statement"
	if len(values) > 0 {
		execute += "(" + strings.Join(values, ", ") + ")"
	}
	_, err = conn.Exec(ctx, execute, pgx.QueryExecModeSimpleProtocol)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && said.Code == "22023" { // of a value that is null, and not of the statement
		err = nil
	}
	return errors.Join(err, conn.PgConn().Deallocate(ctx, "statement"))
}

// kinds counts reasons.
func kinds(no map[string]string) string {
	count := map[string]int{}
	for _, why := range no {
		count[why]++
	}
	var text strings.Builder
	for _, why := range slices.SortedFunc(maps.Keys(count), func(a, b string) int { return count[b] - count[a] }) {
		fmt.Fprintf(&text, "%5d  %s\n", count[why], why)
	}
	return text.String()
}

func TestRows_ByEventAreRefusedTableByTable(t *testing.T) {
	conn := house(t, "rows")
	const policies, triggers = "Subqueries are not supported in policies on distributed tables", "because it has triggers"
	for table, words := range map[string]string{
		"hold": policies, "change": policies, "seat": triggers, "orders": triggers, "ticket": triggers, "scan": triggers,
		"counter": `referenced table "event" must be a distributed table or a reference table`, "seat_state": `referenced table "seat" must be a distributed table or a reference table`,
	} {
		refused(t, conn, `SELECT create_distributed_table('`+table+`', 'event_id')`, words)
	}
	each(t, conn, subqueryPoliciesSQL)
	for _, table := range []string{"counter", "seat_state", "seat", "hold", "change"} {
		_, err := conn.Exec(t.Context(), `SELECT create_distributed_table('`+table+`', 'event_id')`)
		t.Logf("without policies, %s: %v", table, err)
	}
	each(t, conn, `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint
  WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND (conrelid = ANY ($$`+kernel+`$$::regclass[]) OR confrelid = ANY ($$`+kernel+`$$::regclass[]))`)
	each(t, conn, `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = ANY ($$`+kernel+`$$::regclass[])`)
	for _, table := range []string{"counter", "seat_state", "seat", "hold", "change"} {
		_, err := conn.Exec(t.Context(), `SELECT create_distributed_table('`+table+`', 'event_id')`)
		t.Logf("without policies, references and triggers, %s: %v", table, err)
	}
	for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
		run(t, conn, `SET plan_cache_mode = `+mode)
		asked, no := census(t, conn)
		t.Logf("%s: of %d statements, %d are refused\n%s", mode, asked, len(no), kinds(no))
		if no["seats.fastPathSQL"] == "" || no["seats.changeSQL"] == "" {
			t.Errorf("%s: a claim is taken: look at docs/citus.md again", mode)
		}
		for _, name := range slices.Sorted(maps.Keys(no)) {
			if strings.HasPrefix(name, "seats.") && strings.Count(name, ".") == 1 { // of the kernel
				t.Logf("%s: %s", name, no[name])
			}
		}
	}
}

const kernel = `{seat_state,seat,counter,change,hold}`
