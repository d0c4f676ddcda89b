package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

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

// arenaProcess is a process of an arena, which a test starts again and again in one folder.
type arenaProcess struct {
	data  string
	out   *told
	stop  func()
	ended chan error
}

func (p *arenaProcess) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	out, ended := &told{}, make(chan error, 1)
	p.out, p.stop, p.ended = out, stop, ended
	go func() {
		ended <- run(ctx, []string{"arena", "--data", p.data, "--address", "127.0.0.1:0", "--for", "10m", "--every", "20m", "--seats", "300", "--people", "300", "--sales", "1"}, func(string) string { return "" }, out, &told{})
	}()
	t.Cleanup(stop)
}

// until waits for a screen with the first sale under way, of which enough is true.
func (p *arenaProcess) until(t *testing.T, what string, enough func(arena.Screen) bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 3*time.Minute; time.Sleep(50 * time.Millisecond) {
		s, is := screen(t, p.out)
		if is && s.Sale != nil && s.Sale.Number != 1 {
			t.Fatalf("sale %d is under way", s.Sale.Number)
		}
		if is && s.Sale != nil && enough(s) {
			return
		}
	}
	t.Fatalf("%s does not come: %s", what, p.out)
}

// left ends the process, and returns the state that it left with the sale under way.
func (p *arenaProcess) left(t *testing.T) (*arena.Arena, arena.Sale) {
	t.Helper()
	p.stop()
	if err := <-p.ended; err != nil {
		t.Fatalf("it ended with %v", err)
	}
	stored, err := arena.Open(filepath.Join(p.data, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	was, under := stored.Sale()
	if !under {
		t.Fatal("the sale is not under way after the program ended in the middle of it")
	}
	return stored, was
}

// endNow moves the end of the sale under way to now.
func endNow(t *testing.T, file string) {
	t.Helper()
	var state map[string]any
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err == nil {
		state["sale"].(map[string]any)["ends"] = time.Now()
		text, err = json.Marshal(state)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestArena_SaleGoesOnAfterARestartAndHasNoFinding(t *testing.T) {
	t.Parallel()
	folder, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &arenaProcess{data: filepath.Join(folder, "arena")}
	p.start(t)
	p.until(t, "an order", func(s arena.Screen) bool { return s.Sale.Orders > 0 && len(s.Referees) == 2 })
	if _, err := tryWith(t, nil, "arena", "--data", p.data, "--twin", "nowhere.json"); err == nil || !strings.Contains(err.Error(), "another usher arena uses") {
		t.Errorf("a second one in its folder ended with %v", err)
	}
	stored, was := p.left(t)
	if err := stored.Looked(arena.Look{Referee: arena.Verify, At: time.Now()}, []arena.Finding{{Promise: "P0", Words: "Planted by the test."}}, ""); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	p.until(t, "a further look and claim", func(s arena.Screen) bool { return len(s.Referees) == 2 && s.Sale.Claims > was.Claims })
	if _, now := p.left(t); !now.Ends.Equal(was.Ends) || now.Orders < was.Orders {
		t.Errorf("after %+v there is %+v", was, now)
	}
	endNow(t, filepath.Join(p.data, stateFile))
	p.start(t)
	if err := <-p.ended; err == nil || err.Error() != "1 finding in 1 sale" {
		t.Errorf("with a finding from before the restart it ended with %v", err)
	}
	if stored, err = arena.Open(filepath.Join(p.data, stateFile)); err != nil {
		t.Fatal(err)
	}
	s := stored.Screen(time.Now())
	if len(s.Past) != 1 || s.Past[0].Number != 1 || s.Past[0].Claims <= was.Claims || s.Past[0].Sold == 0 || s.Past[0].Orders < was.Orders || s.Past[0].Looks <= was.Looks {
		t.Errorf("after %+v there is %+v", was, s.Past)
	}
	if s.Found != 1 || s.Findings[0].Words != "Planted by the test." {
		t.Errorf("the findings are %+v", s.Findings)
	}
	if left, err := filepath.Glob(filepath.Join(p.data, "house-*", "mail", "*")); err != nil || len(left) > 0 {
		t.Errorf("an arena has mail: %v, %v", left, err)
	}
}

func TestArena_HouseWithAFindingIsLeftAndOldOnesAreRemoved(t *testing.T) {
	t.Parallel()
	c := &arenaCommand{Data: t.TempDir()}
	a, err := arena.Open(filepath.Join(c.Data, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	r := &arenaRun{arenaCommand: c, arena: a}
	enter := func(want int, names ...string) {
		t.Helper()
		if house, err := r.enter(); err != nil || house != want {
			t.Fatalf("house %d is entered, not %d: %v", house, want, err)
		}
		if err := os.MkdirAll(filepath.Join(r.folderOf(want), "postgres"), 0o700); err != nil {
			t.Fatal(err)
		}
		there, err := filepath.Glob(filepath.Join(c.Data, "house-*"))
		for i := range there {
			there[i] = filepath.Base(there[i])
		}
		if err != nil || !slices.Equal(there, names) {
			t.Errorf("in house %d there are %q, not %q: %v", want, there, names, err)
		}
	}
	sell := func(found ...arena.Finding) {
		t.Helper()
		err := a.Begin("sale", time.Now(), time.Now(), 1)
		if err == nil {
			err = a.Looked(arena.Look{Referee: arena.Verify, At: time.Now()}, found, "")
		}
		if err == nil {
			_, err = a.End(true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	enter(1, "house-1")
	sell()
	enter(1, "house-1")
	sell(arena.Finding{Promise: "P1", Words: "Broken."})
	enter(2, "house-1", "house-2")
	sell()
	for _, old := range []string{"house-0", "house-x"} { // a crash left the first one; the second one is no house
		if err := os.MkdirAll(filepath.Join(c.Data, old, "postgres"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	enter(2, "house-1", "house-2", "house-x")
}

func TestArena_EndOfASaleCutsOffALook(t *testing.T) {
	t.Parallel()
	a, err := arena.Open(filepath.Join(t.TempDir(), stateFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Begin("sale", time.Now(), time.Now(), 1); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a house that answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pool, err := pgxpool.New(t.Context(), "postgres://usher@"+l.Addr().String()+"/usher?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	log := &told{}
	r := &arenaRun{arenaCommand: &arenaCommand{}, arena: a, log: newLog(log, "text"), node: &node{db: &database{pool: pool}}, own: "http://" + l.Addr().String()}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	now := time.Now()
	if err := r.watch(ctx, arena.Sale{Slug: "sale", Opens: now, Ends: now.Add(300 * time.Millisecond)}); err != nil {
		t.Errorf("the end of the sale is the error %v", err)
	}
	if s := a.Screen(time.Now()); len(s.Referees) > 0 || log.String() != "" {
		t.Errorf("a look that was cut off is shown as %+v, and logged as %s", s.Referees, log)
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
