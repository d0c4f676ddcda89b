package main

import (
	"strings"
	"testing"
)

func TestRoom_IsChangedFromTheShellAndEachChangeIsWrittenDown(t *testing.T) {
	t.Parallel()
	folder, db := privateServer(t)
	for _, step := range []struct{ args, want string }{
		{"room|create|--name|The evening|--events|evening|--opens|2030-04-01T10:00:00Z|--slots|50", "The waiting room the-evening is there"},
		{"room|create|--name|Another|--events|evening", "has a waiting room already"},
		{"room|create|--name|The other|--slug|A B|--events|evening", "“A B” is no word of an address"},
		{"room|create|--name|The other|--rate|NaN|--events|evening", "NaN is not a number of people a second"},
		{"room|set|the-evening|--opens|2030-04-01T11:00:00Z", "opens 2030-04-01T11:00:00Z"},
		{"room|set|the-evening|--pause", "Only an open room can be paused"},
		{"room|set|the-evening|--rate|2.5", "at most 2.5 people per second"},
		{"room|set|the-evening|--rate|nan", "NaN is not a number of people a second"},
		{"room|set|the-evening|--rate|1e-60", "1e-60 is not a number of people a second"},
		{"room|set|the-evening|--slots|many", "--slots"},
		{"room|set|the-evening|--slots|1200|--work|300", "room for 1,200 people"},
		{"room|set|the-evening|--beacon|1 2 3", "Only a draw that waits for a manual beacon"},
		{"keys|--new|rooms", "Earlier ones stay valid."},
		{"room|set|the-evening|--end|--reason|" + strings.Repeat("é", 501), "500 letters at most"},
		{"room|set|the-evening|--end|--reason|It rains." + strings.Repeat("é", 400), "has ended"},
		{"room|export|the-evening", "It rains."},
		{"room|export|the-evening", `"who":"shell`},
		{"room|export|the-morning", `no waiting room "the-morning"`},
		{"room|set|the-morning|--resume", `no waiting room "the-morning"`},
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
