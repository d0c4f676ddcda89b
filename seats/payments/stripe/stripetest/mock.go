package stripetest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mock starts the real stripe-mock, which holds each request against Stripe's own description of its interface, and returns
// its address. modfile is the go.mod it is built with.
func Mock(t testing.TB, modfile string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile="+modfile, "-o", program, "github.com/stripe/stripe-mock")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("this test needs stripe-mock: %v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, program, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0") // else it wants its one port for HTTPS, too
	run.Stderr = os.Stderr
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = run.Wait() }) // it was told to end
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "Listening for HTTP at address: "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }() // a line for each request
			return "http://" + addr
		}
	}
	t.Fatal("stripe-mock ended before it listened")
	return ""
}

// JudgedBy has every request that comes here held against the description at a stripe-mock as well; one that it refuses
// fails the test.
func (f *Fake) JudgedBy(t testing.TB, mock string) {
	next := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Header.Get("Authorization") != "" { // a program's, not a browser's
			f.judge(t, mock, r, body)
		}
		next.ServeHTTP(w, r)
	})
}

func (f *Fake) judge(t testing.TB, mock string, r *http.Request, body []byte) {
	same, err := http.NewRequestWithContext(r.Context(), r.Method, mock+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	same.Header = r.Header.Clone()
	answer, err := http.DefaultClient.Do(same)
	if err != nil {
		return // the sender is gone
	}
	said, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // it was read
	if answer.StatusCode >= http.StatusBadRequest {
		t.Errorf("stripe-mock refuses %s %s: %d %s", r.Method, r.URL, answer.StatusCode, said)
	}
	f.judged.Add(1)
}

// Judged is how many requests a stripe-mock took.
func (f *Fake) Judged() int { return int(f.judged.Load()) }
