// Command arena shows that the referees of "usher arena" see bugs: it builds the program with planted ones (package planted), runs a short
// sale with each, and writes which referee caught it and when. The program without a bug must have no finding.
//
// The JSON file is for "usher arena --twin FILE", the table for docs/arena.md.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/tools/planted"
)

// bug is a planted bug, and how the table says it.
type bug struct{ name, about string }

var bugs = []bug{
	{"seat sold again", "a seat is sold twice"},
	{"limit ignored", "one person holds more seats than the limit"},
	{"more seats reset the clock", "a further seat gives all of them the whole time again"},
	{"hold without end", "holds last an hour longer than their sale allows"},
	{"doors ignored", "seats are given before the doors open"},
	{"a cent too much", "an order costs a cent more than its tickets"},
	{"counter after commit", "the counts are brought up to date after the commit"},
	{"versions with gaps", "the change log leaves versions out"},
	{"change removed", "a row is removed from the change log"},
	{"leaf left out", "a change is missing in the public log"},
	{"another leaf served", "the public log shows a leaf that it did not sign"},
	{"log made anew", "the past is altered, and the public log signed anew"},
}

func main() {
	source := flag.String("source", "..", "folder with the source of Usher")
	out := flag.String("out", "", "file for the JSON; empty: none")
	only := flag.String("only", "", "only the bugs with these names, with a comma between")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *source, *out, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "arena:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, source, out, only string) error {
	dir, err := os.MkdirTemp("", "usher-arena-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the user of PostgreSQL passes through
		return err
	}
	program := filepath.Join(dir, "usher")
	if err := planted.Build(ctx, source, program); err != nil {
		return err
	}
	list := []arena.Caught{}
	missed := 0
	for _, b := range append([]bug{{"", "no bug"}}, bugs...) {
		if only != "" && b.name != "" && !slices.Contains(strings.Split(only, ","), b.name) {
			continue
		}
		c, err := try(ctx, program, filepath.Join(dir, "house"), b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.about, err)
		}
		switch {
		case (c.Referee == "") == (b.name == ""):
			fmt.Printf("| %s | %s |\n", b.about, told(c))
		default:
			missed++
			fmt.Printf("| %s | WRONG: %s |\n", b.about, told(c))
		}
		if b.name != "" {
			list = append(list, c)
		}
	}
	if out != "" {
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d sales were not judged as they ought to be", missed, len(list)+1)
	}
	return nil
}

func told(c arena.Caught) string {
	if c.Referee == "" {
		return "no finding | |"
	}
	return fmt.Sprintf("`%s` | %.1f s | %s", c.Referee, c.Seconds, c.Words)
}

// try runs one sale with a bug, and an attacker at it.
func try(ctx context.Context, program, folder string, b bug) (c arena.Caught, err error) {
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "arena", "--data", folder, "--address", "127.0.0.1:0", "--sales", "1", "--people", "200", "--seats", "300", "--for", "20s", "--every", "30s")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append(os.Environ(), "USHER_MUTANT="+b.name, "DATABASE_URL=")
	var said bytes.Buffer
	cmd.Stderr = &said
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return c, err
	}
	if err := cmd.Start(); err != nil {
		return c, err
	}
	url, err := address(stdout)
	if err == nil {
		attack(ctx, url)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	ended := cmd.Wait()
	if code, is := errors.AsType[*exec.ExitError](ended); err != nil || ended != nil && (!is || code.ExitCode() != 1) {
		return c, fmt.Errorf("%w\n%s", errors.Join(err, ended), said.String())
	}
	return caught(filepath.Join(folder, "arena.json"), b)
}

var opened = regexp.MustCompile(`http://[0-9.]+:\d+`)

// address reads where an arena is.
func address(r io.Reader) (string, error) {
	var all []byte
	for b := make([]byte, 512); ; {
		n, err := r.Read(b)
		all = append(all, b[:n]...)
		if at := opened.Find(all); at != nil && bytes.HasSuffix(all, []byte("\n")) {
			return string(at), nil
		}
		if err != nil {
			return "", fmt.Errorf("the arena did not open: %w", err)
		}
	}
}

// caught reads the first finding of a sale.
func caught(file string, b bug) (c arena.Caught, err error) {
	c.Bug = b.about
	text, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	var state struct {
		Past     []arena.Sale
		Findings []arena.Finding
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return c, err
	}
	if len(state.Past) != 1 {
		return c, fmt.Errorf("there were %d sales", len(state.Past))
	}
	if n := len(state.Findings); n > 0 {
		first := state.Findings[n-1]
		c.Referee, c.Seconds, c.Words = first.Referee, first.At.Sub(state.Past[0].Opens).Seconds(), strings.TrimSpace(first.Promise+" "+first.Words)
	}
	return c, nil
}

// attack does what an honest crowd does not: it claims before the doors, and more seats each time until it has more than its limit.
func attack(ctx context.Context, url string) {
	a := newAttacker(url)
	for n := 0; n < 40 && ctx.Err() == nil; n++ {
		if free, err := a.free(ctx); err == nil && len(free) > 0 {
			a.claim(ctx, free[:min(3, len(free))])
		}
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func newAttacker(url string) *attacker {
	jar, _ := cookiejar.New(nil) // never fails without options
	return &attacker{client: &http.Client{Jar: jar, Timeout: 5 * time.Second}, url: url}
}

type attacker struct {
	client *http.Client
	url    string
}

func (a *attacker) ask(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+"/events/sale-1/"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	got, err := a.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(got.Body)
	return got.StatusCode, answer, errors.Join(err, got.Body.Close())
}

// free lists the labels of available seats, the last ones first.
func (a *attacker) free(ctx context.Context) (labels []string, err error) {
	_, text, err := a.ask(ctx, http.MethodGet, "seats", nil)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var s struct{ Seat, State string }
		if json.Unmarshal(line, &s) == nil && s.State == "free" {
			labels = append(labels, s.Seat)
		}
	}
	slices.Reverse(labels)
	return labels, nil
}

// claim asks for seats. What comes of it, the referees see.
func (a *attacker) claim(ctx context.Context, labels []string) {
	body, err := json.Marshal(map[string][]string{"seats": labels})
	if err == nil {
		_, _, _ = a.ask(ctx, http.MethodPost, "claims", body)
	}
}
