package main

import (
	"strings"
	"testing"
)

func TestEventLimits_ChangesWhatIsNamedAndIsAudited(t *testing.T) {
	t.Parallel()
	folder, db := privateHouse(t)
	usher := func(args ...string) (string, error) {
		return try(t, append([]string{"event", "limits", "evening", "--data", folder}, args...)...)
	}
	if out, err := usher(); err != nil || !strings.Contains(out, "automatic") || strings.Count(out, "(usual)") != 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := usher("--seats-per-network", "400", "--challenge", "always"); err != nil || !strings.Contains(out, "always") || !strings.Contains(out, "400\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := usher("--unpaid-per-email", "3"); err != nil || !strings.Contains(out, "always") || !strings.Contains(out, "400\n") || !strings.Contains(out, " 3\n") {
		t.Errorf("what was not named changed: %v\n%s", err, out)
	}
	if out, err := usher("--seats-per-network", "0"); err != nil || strings.Count(out, "(usual)") != 2 {
		t.Errorf("back to the usual: %v\n%s", err, out)
	}
	if _, err := usher("--challenge", "sometimes"); !misused(err) {
		t.Errorf("a challenge that there is not: %v", err)
	}
	var deeds int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM deed WHERE subject = 'events/evening' AND who LIKE 'shell%'`).Scan(&deeds); err != nil || deeds != 3 {
		t.Errorf("%d of 3 changes are in the log, %v", deeds, err)
	}
}
