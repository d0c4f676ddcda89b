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
		{"room|create|--name|The other|--slug|A B|--events|evening", `"A B" is no word of an address`},
		{"room|create|--name|The other|--rate|NaN|--events|evening", "NaN is not a number of people a second"},
		{"room|list", "the-evening  lobby"},
		{"room|open|the-evening|--at|2030-04-01T11:00:00Z", "opens 2030-04-01T11:00:00Z"},
		{"room|open|the-evening|--at|noon", `--at "noon"`},
		{"room|pause|the-evening", "Only an open room can be paused"},
		{"room|rate|the-evening|2.5", "at most 2.5 people per second"},
		{"room|rate|the-evening|nan", "NaN is not a number of people a second"},
		{"room|rate|the-evening|1e-60", "1e-60 is not a number of people a second"},
		{"room|slots|the-evening|many", `"many" is not a number of slots`},
		{"room|slots|the-evening|1200", "room for 1,200 people"},
		{"room|beacon|the-evening|1 2 3", "Only a draw that waits for a manual beacon"},
		{"room|key", "Those that are out are good."},
		{"room|key|--revoke", "Those that are out are good no more"},
		{"room|key|the-evening", `"the-evening" is one word too many`},
		{"room|end|the-evening|--reason|" + strings.Repeat("é", 501), "500 letters at most"},
		{"room|end|the-evening|--reason|It rains." + strings.Repeat("é", 400), "has ended"},
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
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM control WHERE who LIKE 'shell%'`).Scan(&acts); err != nil || acts != 7 {
		t.Errorf("%d of 7 acts were written down, %v", acts, err)
	}
}
