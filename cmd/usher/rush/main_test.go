package rush

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// What the tests share: the program and one server, on which each test has an event of its own.
var (
	program string
	server  *Server
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rush:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	dir, err := seatstest.Folder()
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "usher")
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build usher: %w\n%s", err, out)
	}
	if server, err = StartServer(context.Background(), program, 200); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, server.Stop()
}

// hall puts a hall of n seats, or an area of n places, on sale for one test and returns its word in addresses.
func hall(t *testing.T, n int, area bool, hold time.Duration) (slug string) {
	t.Helper()
	return hallWith(t, n, area, "--hold", hold.String(), "--price", "A=0")
}

// hallFor is an area of n places with other flags.
func hallFor(t *testing.T, n int, flags ...string) (slug string) {
	t.Helper()
	return hallWith(t, n, true, flags...)
}

func hallWith(t *testing.T, n int, area bool, flags ...string) (slug string) {
	t.Helper()
	p, err := Hall(n, area)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hall.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(f, p); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	slug = strings.ReplaceAll(strings.ToLower(t.Name()), "_", "-")
	if err := server.CreateEvent(t.Context(), append([]string{"--plan", file, "--name", t.Name(), "--slug", slug}, flags...)...); err != nil {
		t.Fatal(err)
	}
	return slug
}

// send lets a crowd come to an event of the shared server and fails the test if it was told anything untrue.
func send(t *testing.T, own bool, c *Crowd) *Report {
	t.Helper()
	c.URL, c.Own, c.Connections, c.Seed = server.URL, own, max(c.Connections, 32), 1
	report, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if report.Failed() {
		t.Errorf("untrue %d, oversold %d, errors %d: %s\n%s", report.Untrue, report.Oversold, report.Errors, strings.Join(report.Lies(), "\n"), server.log)
	}
	return report
}
