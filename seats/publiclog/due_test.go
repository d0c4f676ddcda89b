package publiclog_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/seatstest"
)

// manyEvents adds events with a log that has nothing to add.
func (h *fixture) manyEvents(t *testing.T, n int) {
	t.Helper()
	h.exec(t, `ALTER TABLE event DISABLE TRIGGER USER`)
	h.exec(t, fmt.Sprintf(`
WITH e AS (INSERT INTO event (plan_id, slug, name, starts_at, seats) SELECT plan_id, 'evening-' || n, 'Evening', starts_at, 1 FROM event, generate_series(1, %d) n RETURNING id),
     c AS (INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{1}', '{0}', '{0}', '{0}' FROM e)
INSERT INTO public_log (event_id, version) SELECT id, 0 FROM e`, n))
	h.exec(t, `ALTER TABLE event ENABLE TRIGGER USER`)
	h.exec(t, `ANALYZE event, counter, public_log`)
}

// plan is what PostgreSQL does for a statement.
func (h *fixture) plan(t *testing.T, sql string, args ...any) string {
	t.Helper()
	rows, err := h.db.Query(t.Context(), `EXPLAIN (ANALYZE, COSTS false, TIMING false) `+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// readsMany is a plan in which a thousand rows or more were read.
var readsMany = regexp.MustCompile(`(rows=|Removed by Filter: )\d{4}`)

func TestFollow_ReadsTheEventsThatChangedAndNoOther(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.manyEvents(t, 10_000)
	h.claim(t, 1)
	keys := []string{fmt.Sprint(h.sale.Event.ID), "77", "78"}
	of := `SELECT key FROM (` + h.Job().DueOf + `) due(key, at)`
	if found := h.count(t, `SELECT count(*) FROM (`+of+`) x`, keys); found != 1 {
		t.Errorf("%d of the events that changed have something to add", found)
	}
	for range 8 { // from the sixth time on the plan may be one for all keys
		if plan := h.plan(t, of, keys); readsMany.MatchString(plan) {
			t.Fatalf("it reads more than three events:\n%s", plan)
		}
	}
	if plan := h.plan(t, `SELECT key FROM (`+h.Job().Due+`) due(key, at)`); !readsMany.MatchString(plan) {
		t.Errorf("a test that looks for rows finds none in the plan for all events:\n%s", plan)
	}
}

func TestFollow_ChangeIsInTheLogAboutASecondLater(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre")
	h.extend(t)
	seatstest.Run(t, h.db, h.Job())
	for range 3 {
		h.claim(t, 1)
		want := h.count(t, `SELECT version FROM counter`)
		began := time.Now()
		h.Follow(h.sale.Event.ID)
		for h.count(t, `SELECT version FROM public_log`) < want {
			if time.Since(began) > 20*time.Second { // a look at all events comes after 30 seconds
				t.Fatal("the change is not in the log")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
