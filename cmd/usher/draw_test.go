package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/waitingroom"
)

// keepRecord writes a record to a file.
func keepRecord(t *testing.T, r waitingroom.Record) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "record.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDrawVerifyTellsADrawThatHoldsFromOneThatDoesNot(t *testing.T) {
	t.Parallel()
	d := waitingroom.Draw{Room: 3, Epoch: 1, People: 1000, Beacon: []byte("3 17 21")}
	r := waitingroom.RecordOf(d)
	good := keepRecord(t, r)
	code, out := status(t, "draw", "verify", good, "--commitment", strings.ToUpper(r.Commitment.String()), "--people", "1000", "--index", "7")
	if number := thousands(int(d.Numbers()[6])); code != 0 || !strings.Contains(out, "Place 7 in the lobby has number "+number+".") || !strings.Contains(out, `"3 17 21"`) {
		t.Errorf("exit status %d: %s", code, out)
	}
	r.People++
	for name, args := range map[string][]string{
		"one person more":    {keepRecord(t, r)},
		"another commitment": {good, "--commitment", strings.Repeat("0", 64)},
		"other people":       {good, "--people", "999"},
		"a place too far":    {good, "--index", "1001"},
	} {
		if code, out := status(t, append([]string{"draw", "verify"}, args...)...); code != 1 {
			t.Errorf("%s: exit status %d: %s", name, code, out)
		}
	}
	for _, name := range []string{"/no/such/file", "draw_test.go"} {
		if code, _ := status(t, "draw", "verify", name); code != 2 {
			t.Errorf("%s: exit status %d", name, code)
		}
	}
}
