package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/seatstest"
)

// told is what a command said so far.
type told struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *told) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

var arenaAt = regexp.MustCompile(`http://\S+/arena`)

// screen asks a running arena; false without an answer.
func screen(t *testing.T, out *told) (s arena.Screen, is bool) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, arenaAt.FindString(out.String()), nil)
	if err != nil {
		return s, false
	}
	r.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, false
	}
	defer answer.Body.Close()
	return s, answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&s) == nil
}

func TestArena_SaleGoesOnAfterARestartAndHasNoFinding(t *testing.T) {
	t.Parallel()
	folder, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	data := filepath.Join(folder, "arena")
	start := func(ctx context.Context, out *told) <-chan error {
		ended, log := make(chan error, 1), &told{}
		go func() {
			ended <- run(ctx, []string{"arena", "--data", data, "--address", "127.0.0.1:0", "--for", "6s", "--every", "1m", "--seats", "60", "--people", "25", "--sales", "1"}, func(string) string { return "" }, out, log)
		}()
		return ended
	}
	first, stop := context.WithCancel(t.Context())
	defer stop()
	out := &told{}
	ended := start(first, out)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if s, is := screen(t, out); is && s.Sale != nil && s.Sale.Holds > 0 && len(s.Referees) == 2 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("no seat was held: %s", out)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatalf("it ended with %v", err)
	}
	stored, err := arena.Open(filepath.Join(data, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	was, under := stored.Sale()
	if !under {
		t.Fatal("the sale is not under way after the program ended in the middle of it")
	}
	if err := stored.Looked(arena.Look{Referee: arena.Verify, At: time.Now()}, []arena.Finding{{Promise: "P0", Words: "Planted by the test."}}, ""); err != nil {
		t.Fatal(err)
	}
	out = &told{}
	if err := <-start(t.Context(), out); err == nil || err.Error() != "1 finding in 1 sale" {
		t.Errorf("with a finding from before the restart it ended with %v", err)
	}
	stored, err = arena.Open(filepath.Join(data, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	s := stored.Screen(time.Now())
	if len(s.Past) != 1 || s.Past[0].Number != 1 || s.Past[0].Claims < was.Claims || s.Past[0].Sold == 0 || s.Past[0].Orders == 0 || s.Past[0].Looks < 4 || !s.Past[0].Ends.Equal(was.Ends) {
		t.Errorf("after %+v there is %+v", was, s.Past)
	}
	if s.Found != 1 || s.Findings[0].Words != "Planted by the test." {
		t.Errorf("the findings are %+v", s.Findings)
	}
	if s.Past[0].Failed > 0 {
		t.Errorf("%d answers failed", s.Past[0].Failed)
	}
	if left, err := filepath.Glob(filepath.Join(data, "house-*", "mail", "*")); err != nil || len(left) > 0 {
		t.Errorf("an arena has mail: %v, %v", left, err)
	}
}

func TestArena_RefusesAHouseThatIsReal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"a database":             {map[string]string{"DATABASE_URL": "postgres://db/usher"}, []string{"--data", t.TempDir(), "--address", "127.0.0.1:0", "--sales", "1", "--for", "1s", "--every", "2s"}, "DATABASE_URL is set"},
		"its folder":             {nil, []string{"--data", folder}, "is the data folder of a box office"},
		"sales that overlap":     {nil, []string{"--data", t.TempDir(), "--every", "20m", "--for", "20m"}, "opens after its end"},
		"no seats":               {nil, []string{"--data", t.TempDir(), "--seats", "0"}, "--seats is 0"},
		"a twin that is no file": {nil, []string{"--data", t.TempDir(), "--twin", "nowhere.json"}, "nowhere.json"},
	} {
		_, err := tryWith(t, c.env, append([]string{"arena"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err, new(bytes.Buffer)) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
