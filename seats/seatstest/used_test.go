package seatstest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

const (
	leaveSQL = `
WITH t AS (INSERT INTO team (name) VALUES ('Left') RETURNING id)
INSERT INTO deed (team_id, who, what) SELECT id, 'left', 'left' FROM t`

	leftSQL = `
SELECT current_database(), (SELECT count(*) FROM team), (SELECT count(*) FROM deed), (SELECT last_value FROM team_id_seq),
       current_setting('work_mem'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
       (SELECT count(*) FROM pg_trigger WHERE tgenabled = 'A')`
)

// look says which database it is, and what is in it.
func look(t *testing.T, db *pgxpool.Pool) (name string, found [6]any) {
	t.Helper()
	if err := db.QueryRow(t.Context(), leftSQL).Scan(&name, &found[0], &found[1], &found[2], &found[3], &found[4], &found[5]); err != nil {
		t.Fatal(err)
	}
	return name, found
}

func TestDB_OfAPassedTestIsEmptiedForTheNext(t *testing.T) {
	var first string
	var began [6]any
	t.Run("leaves", func(t *testing.T) {
		db := seatstest.DB(t)
		first, began = look(t, db)
		if _, err := db.Exec(t.Context(), leaveSQL); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(), `SET work_mem = '1MB'; SELECT pg_advisory_lock(1)`); err != nil {
			t.Fatal(err)
		}
		if _, found := look(t, db); found == began {
			t.Fatalf("nothing was left: %v", found)
		}
	})
	t.Run("finds", func(t *testing.T) {
		if name, found := look(t, seatstest.DB(t)); name != first || found != began {
			t.Errorf("%s has %v, want %s with %v", name, found, first, began)
		}
	})
}

// stays is a connection that is not garbage, which would be closed.
var stays *pgx.Conn

func TestDB_IsNotUsedAgainAfterMoreThanRows(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, db *pgxpool.Pool){
		"a trigger that is off": func(t *testing.T, db *pgxpool.Pool) {
			if _, err := db.Exec(t.Context(), `ALTER TABLE team DISABLE TRIGGER ALL`); err != nil {
				t.Fatal(err)
			}
		},
		"a function that is another": func(t *testing.T, db *pgxpool.Pool) {
			if _, err := db.Exec(t.Context(), `CREATE OR REPLACE FUNCTION deed_stands() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`); err != nil {
				t.Fatal(err)
			}
		},
		"a setting of the database": func(t *testing.T, db *pgxpool.Pool) {
			if _, err := db.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`); err != nil {
				t.Fatal(err)
			}
		},
		"a connection": func(t *testing.T, db *pgxpool.Pool) {
			conn, err := db.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stays = conn.Hijack() // until the database is dropped
		},
		"a closed pool": func(_ *testing.T, db *pgxpool.Pool) { db.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			var first string
			t.Run("leaves", func(t *testing.T) {
				db := seatstest.DB(t)
				first, _ = look(t, db)
				leave(t, db)
			})
			t.Run("finds", func(t *testing.T) {
				if again, _ := look(t, seatstest.DB(t)); again == first {
					t.Error("the next test has the same database")
				}
			})
		})
	}
}
