package main

import (
	"strings"
	"testing"
)

func TestAWaitingRoomIsSteeredFromTheShellAndEveryActIsWrittenDown(t *testing.T) {
	t.Parallel()
	folder, db := privateHouse(t)
	for _, step := range []struct{ args, want string }{
		{"room|list", "no waiting rooms"},
		{"room|create|--name|The evening|--events|evening|--opens|2030-04-01T10:00:00Z|--slots|50", "The waiting room the-evening is there"},
		{"room|create|--name|Another|--events|evening", "has a waiting room already"},
		{"room|list", "the-evening  lobby"},
		{"room|open|the-evening|--at|2030-04-01T11:00:00Z", "opens 2030-04-01T11:00:00Z"},
		{"room|open|the-evening|--at|noon", `--at "noon"`},
		{"room|pause|the-evening", "Only an open room can be paused"},
		{"room|rate|the-evening|2.5", "at most 2.5 people per second"},
		{"room|slots|the-evening|many", `"many" is not a number of slots`},
		{"room|slots|the-evening|1200", "room for 1,200 people"},
		{"room|beacon|the-evening|1 2 3", "Only a draw that waits for a manual beacon"},
		{"room|end|the-evening|--reason|It rains.", "has ended"},
		{"room|show|the-evening", "It rains."},
		{"room|show|the-evening", "not called yet"},
		{"room|export|the-evening", `"who":"shell`},
		{"room|export|the-morning", `no waiting room "the-morning"`},
		{"room|show|the-morning", `no waiting room "the-morning"`},
	} {
		out, err := try(t, append(strings.Split(step.args, "|"), "--data", folder)...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, step.want) {
			t.Errorf("usher %s said %q, not %q", strings.ReplaceAll(step.args, "|", " "), out, step.want)
		}
	}
	var acts int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM control WHERE who LIKE 'shell%'`).Scan(&acts); err != nil || acts != 5 {
		t.Errorf("%d of 5 acts were written down, %v", acts, err)
	}
}
