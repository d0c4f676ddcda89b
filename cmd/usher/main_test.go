package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// try runs one command without any environment and returns what it printed.
func try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return tryWith(t, nil, args...)
}

func tryWith(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out, log bytes.Buffer
	err := run(t.Context(), args, func(name string) string { return env[name] }, &out, &log)
	return out.String(), err
}

// parserOf is that of a program without an environment.
func parserOf(grammar *commands) *kong.Kong {
	return newParser(grammar, &shell{env: func(string) string { return "" }, stdout: io.Discard, stderr: io.Discard})
}

// commandNames are the names of all commands, such as "event create".
func commandNames() (names []string) {
	for _, node := range parserOf(&commands{}).Model.Leaves(false) {
		names = append(names, node.Path())
	}
	return names
}

// settingsOf are the flags of a command that the environment sets, too.
func settingsOf(name string) (settings []*kong.Flag) {
	for _, node := range parserOf(&commands{}).Model.Leaves(false) {
		for _, flag := range node.Flags {
			if node.Path() == name && flag.Tag.Get("setting") != "" {
				settings = append(settings, flag)
			}
		}
	}
	return settings
}

func TestCommands_AreFew(t *testing.T) {
	t.Parallel()
	if names := commandNames(); len(names) > 26 {
		t.Errorf("%d commands: the desk and the API do what needs no shell", len(names))
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"help"}, {"--help"}, {"-h"}} {
		out, err := try(t, args...)
		if err != nil {
			t.Fatalf("usher %v: %v", args, err)
		}
		for _, name := range commandNames() {
			if !strings.Contains(out, "\n  "+name+" ") {
				t.Errorf("usher %v does not name %q:\n%s", args, name, out)
			}
		}
	}
}

func TestServeHelpShowsEverySettingWithItsDefaultAndItsVariable(t *testing.T) {
	t.Parallel()
	out, err := tryWith(t, map[string]string{"DATABASE_URL": "postgres://usher:secret@db/usher-prod"}, "serve", "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--addr", "USHER_ADDR", ":8080", "--data", "USHER_DATA", "./data", "DATABASE_URL", "DATABASE_URL_FILE", "--url", "USHER_URL"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "usher-prod") {
		t.Errorf("the help shows what the environment holds, which may be a secret:\n%s", out)
	}
}

func TestAFlagWinsOverTheEnvironmentAndTheEnvironmentOverTheDefault(t *testing.T) {
	t.Parallel()
	env := map[string]string{"USHER_ADDR": "127.0.0.1:1", "USHER_DATA": "/env"}
	var all commands
	if _, err := newParser(&all, &shell{env: func(name string) string { return env[name] }}).Parse([]string{"serve", "--addr", "127.0.0.1:2"}); err != nil {
		t.Fatal(err)
	}
	cfg := all.Serve.Config
	if cfg.Addr != "127.0.0.1:2" || cfg.Data != "/env" || cfg.Log != "text" {
		t.Errorf("got %+v", cfg)
	}
}

func TestCall_InvalidCallIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		want string
	}{
		{"sevre", `unexpected argument sevre, did you mean "serve"?`},
		{"event", `expected one of "create", "list"`},
		{"event create", "missing flags: --name=NAME, --plan=FILE"},
		{"event create --plan theatre", "missing flags: --name=NAME"},
		{"event create --plan theatre --name X --hold 1ms", "too short"},
		{"event create --plan theatre --name X --limit 0", "--limit 0"},
		{"event create --plan theatre --name X --slug A_Night", `--slug "A_Night" is no word`},
		{"event create --plan theatre --name X --starts soon", `--starts "soon"`},
		{"event create --plan theatre --name X --time-zone Vienna", "Europe/Vienna"},
		{"serve --addr 8080", "host:port"},
		{"serve --url tickets", "https://tickets.example.org"},
		{"serve --metrics 9090", "host:port"},
		{"verify now", "now"},
		{"serve --log xml", "text or json"},
		{"serve --sockets-per-address 0", "one is the least"},
		{"serve --nonsense", "nonsense"},
		{"serve now", "now"},
		{"rush --scenario panic", "first-free, places, stadium, replay"},
		{"rush --expire most", "expire"},
		{"rush --url http://localhost:8080", "--event is missing"},
		{"rush --url http://localhost:8080 --event x --seats 5", "one that is there"},
		{"rush --gentle", "--url"},
		{"organizer", `expected one of "link", "list", "password", "signout"`},
		{"organizer link ann@example.org --role king", "owner, manager, viewer, door"},
		{"organizer link --role owner", "EMAIL"},
		{"organizer password", `expected "<email>"`},
		{"plan import", `"usher plan import --help" lists`},
		{"migrate 2", "unexpected argument 2"},
		{"room set tour", "no flag says what to change"},
		{"room set tour --opens noon", `--opens "noon"`},
		{"room set tour --pause --end", "can't be used together"},
		{"keys --new doors", "tickets"},
		{"restore", "the file of a backup, or a time with --to"},
		{"restore house.dump --to latest --archive here", "name one of them"},
		{"restore --to latest", "--to needs --archive"},
		{"restore --to noon --archive here", "a time with its zone"},
		{"restore --to 2026-02-28T20:15:03 --archive here", "a time with its zone"},
		{"restore --to 2999-01-01T00:00:00Z --archive here", "has not come yet"},
		{"restore --to latest --archive here --timeline=-1", "it is 1 or more"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			_, err := try(t, strings.Fields(test.args)...)
			if _, ok := errors.AsType[usageError](err); !ok {
				t.Fatalf("got %v, want a usage error", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
		})
	}
}

func TestASettingOfTheWrongKindInTheEnvironmentIsNamed(t *testing.T) {
	t.Parallel()
	_, err := tryWith(t, map[string]string{"USHER_DEMO": "perhaps"}, "serve")
	if err == nil || !strings.Contains(err.Error(), "USHER_DEMO") {
		t.Errorf("got %v", err)
	}
}

func TestAnImportedPlanIsCountedAndCanBeReadBack(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "hall.json")
	if err := os.WriteFile(own, []byte(hall), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "again.json")
	first, err := try(t, "plan", "import", own, "--out", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Hall (usher-plan/1): 5 seats in 2 sections", "Floor", "area", "Standing", "0 repairs"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in:\n%s", want, first)
		}
	}
	again, err := try(t, "plan", "import", out)
	if err != nil {
		t.Fatal(err)
	}
	if report, _, _ := strings.Cut(first, "\nWritten to"); report != again {
		t.Errorf("the plan that was written reads differently:\n%s\nfirst it was:\n%s", again, report)
	}
	if ours, err := try(t, "plan", "import", "conference"); err != nil || !strings.Contains(ours, "200 seats") {
		t.Errorf("a plan that comes with usher reads %s (%v)", ours, err)
	}
}

const hall = `{"format": "usher-plan/1", "name": "Hall", "width": 200, "height": 100,
 "categories": [{"key": "A", "name": "Seats", "price": 1000}, {"key": "S", "name": "Standing", "price": 500}],
 "sections": [
  {"name": "Stalls", "category": "A", "rows": [{"row": "A", "seats": [
   {"id": "a1", "number": "1", "x": 20, "y": 20}, {"id": "a2", "number": "2", "x": 40, "y": 20}]}]},
  {"name": "Floor", "category": "S", "area": {"capacity": 3}, "outline": [[0, 50], [100, 50], [100, 100]]}
 ]}
`

func TestAPlanThatCannotBeReadIsRefusedWithLineAndReason(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(file, []byte(strings.Replace(hall, `"capacity": 3`, `"capacity": -3`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := try(t, "plan", "import", file)
	if err == nil || !strings.Contains(err.Error(), "line 6") || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v", err)
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within three minutes", what)
		}
	}
}
