package main

import (
	"strings"
	"testing"
)

func TestDeadlocks_AreToldWithBothStatements(t *testing.T) {
	t.Parallel()
	const log = `2026-11-22 21:50:00.001 UTC torture2 41 ERROR:  deadlock detected
2026-11-22 21:50:00.001 UTC torture2 41 DETAIL:  Process 41 waits for ShareLock on transaction 9; blocked by process 40.
	Process 40 waits for ShareLock on transaction 8; blocked by process 41.
	Process 41: UPDATE slot SET epoch = 1
	Process 40: SELECT FROM slot
2026-11-22 21:50:00.001 UTC torture1 42 ERROR:  deadlock detected
2026-11-22 21:50:00.001 UTC torture2 41 STATEMENT:  UPDATE slot SET epoch = 1
2026-11-22 21:50:00.002 UTC  12 LOG:  checkpoint starting
2026-11-22 21:50:00.003 UTC torture2 41 ERROR:  duplicate key value
2026-11-22 21:50:00.003 UTC torture2 41 DETAIL:  Key (id) exists.
`
	said := deadlocksIn(log, "torture2")
	if len(said) != 1 || !strings.Contains(said[0], "Process 40: SELECT FROM slot\n") || !strings.Contains(said[0], "STATEMENT") || strings.Contains(said[0], "duplicate") {
		t.Errorf("told as %q", said)
	}
	if said := deadlocksIn(log, "torture3"); len(said) > 0 {
		t.Errorf("where none was: %q", said)
	}
}
