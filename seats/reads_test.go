package seats_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// wholeEvent are the statements that are to read all seats of an event, or all holds: a change of prices, holds that ended long ago,
// once an hour.
var wholeEvent = map[string]bool{"mapSQL": true, "statesSQL": true, "purgeHoldsSQL": true, "leftHoldersSQL": true, "setQuotaSQL": true}

// TestNoStatementReadsAWholeEventForSomeOfItsSeats looks at the plans for an event of which the planner knows
// nothing yet: it was put on sale a minute ago, and the people are there.
func TestNoStatementReadsAWholeEventForSomeOfItsSeats(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening"}, hall(2, 5000)); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	seen := 0
	statements := constants(t, ".")
	maps.Copy(statements, constants(t, "sessions"))
	for name, sql := range statements {
		if !strings.Contains(sql, "seat_state") && !strings.Contains(sql, "hold") || strings.HasPrefix(sql, "INSERT INTO seat_state") || wholeEvent[name] {
			continue
		}
		seen++
		plan := planOf(t, conn.Conn(), name, sql)
		if broad := broadScans(plan); len(broad) > 0 {
			t.Errorf("%s reads more than its seats or holds:\n%s\n\n%s", name, strings.Join(broad, "\n"), plan)
		}
	}
	if seen < 10 {
		t.Errorf("only %d statements were looked at", seen)
	}
	for name, sql := range map[string]string{
		"planted seats": `UPDATE seat_state SET state = state FROM unnest($2::integer[]) AS n(idx) WHERE event_id = $1 AND abs(seat_state.idx) = n.idx`,
		"planted holds": `SELECT seats FROM hold WHERE event_id = $1 AND NOT lapsed AND expires_at <= statement_timestamp()`,
	} {
		if plan := planOf(t, conn.Conn(), name, sql); len(broadScans(plan)) == 0 {
			t.Errorf("a statement that reads the whole event was not noticed:\n%s", plan)
		}
	}
}

// planOf is how a statement will be carried out, whatever its parameters are.
func planOf(t *testing.T, conn *pgx.Conn, name, sql string) string {
	t.Helper()
	described, err := conn.Prepare(t.Context(), name, sql)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	nulls := ""
	if n := len(described.ParamOIDs); n > 0 {
		nulls = "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) EXECUTE "`+name+`" `+nulls, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.Join(lines, "\n")
}

// narrow is what a scan of a table knows that reads no more than it needs: which seat, which holder, the place of a
// row, or the holds that end first.
var narrow = map[string][]string{
	" on seat_state": {"idx", "TID Cond"},
	" on hold":       {"holder", "TID Cond", "expires_at"},
}

// broadScans are the scans of seats and holds that know none of it.
func broadScans(plan string) (broad []string) {
	lines := strings.Split(plan, "\n")
	for i, line := range lines {
		for table, knows := range narrow {
			if !strings.Contains(line, table) || !strings.Contains(line, "Scan") {
				continue
			}
			next := lines[min(i+1, len(lines)-1)]
			cond := strings.Contains(next, "Cond:") && slices.ContainsFunc(knows, func(k string) bool { return strings.Contains(next, k) })
			if !cond {
				broad = append(broad, strings.TrimSpace(line)+" / "+strings.TrimSpace(next))
			}
		}
	}
	return broad
}
