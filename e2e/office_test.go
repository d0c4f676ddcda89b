package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/seatstest"
)

// office is a running usher with a data folder of its own.
type office struct {
	data    string
	program string   // the program; empty: the one that all box offices run
	flags   []string // of usher serve, more than the usual ones
	command []string // in place of usher serve and its usual flags; nil: that
	url     string   // http://127.0.0.1:port, another one after each start
	front   *wire    // a proxy at an address that stays the same, or nil
	cmd     *exec.Cmd
	exits   chan error
	log     *record
}

func newOffice(data string) *office { return &office{data: data, log: &record{}} }

// ownOffice opens a box office for one test, which may do to it what it likes.
func ownOffice(t *testing.T, flags ...string) *office { return officeOf(t, "", flags...) }

// officeOf is ownOffice with a program of its own.
func officeOf(t *testing.T, program string, flags ...string) *office {
	t.Helper()
	dir, err := seatstest.Folder()
	check(t, err)
	o := newOffice(dir + "/data")
	o.program, o.flags = program, flags
	check(t, o.furnish())
	t.Cleanup(func() {
		o.close()
		if t.Failed() {
			t.Logf("the log of usher:\n%s", o.log)
		}
		_ = os.RemoveAll(dir)
	})
	check(t, o.open())
	return o
}

// unused is the data folder of a box office that was opened once: to copy it takes a tenth of the time of making one.
var unused string

func (o *office) furnish() error {
	if out, err := exec.Command("cp", "-a", unused, o.data).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the data folder: %w\n%s", err, out)
	}
	return nil
}

// lastingOffice opens a box office that its pages find again at the same address when it was started anew.
func lastingOffice(t *testing.T, flags ...string) *office {
	t.Helper()
	o := ownOffice(t, flags...)
	o.front = between(t, o)
	o.url = o.front.office.url
	return o
}

var opened = regexp.MustCompile(`http://[a-z0-9.]+:\d+`)

// open starts usher and waits until it says where it is.
func (o *office) open() error {
	flags, env := []string{"serve", "--addr", "127.0.0.1:0", "--data", o.data, "--demo=false"}, withoutSettings(os.Environ())
	if o.command != nil {
		flags = o.command
	}
	for _, f := range o.flags {
		if strings.HasPrefix(f, "USHER_") { // a secret, which has no flag
			env = append(env, f)
		} else {
			flags = append(flags, f)
		}
	}
	o.cmd = exec.Command(cmp.Or(o.program, binary), flags...)
	o.cmd.Env = env
	o.cmd.Stderr = o.log
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := o.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(io.TeeReader(out, o.log))
		for lines.Scan() {
			if url := opened.FindString(lines.Text()); url != "" && len(ready) == 0 {
				ready <- url
			}
		}
	}()
	o.exits = make(chan error, 1)
	go func() { <-read; o.exits <- o.cmd.Wait() }()
	return o.await(ready)
}

func (o *office) await(ready <-chan string) error {
	select {
	case url := <-ready:
		if o.front != nil {
			o.front.leadTo(url)
		} else {
			o.url = url
		}
		return nil
	case err := <-o.exits:
		o.exits <- err
		return fmt.Errorf("usher ended before it was open: %w\n%s", err, o.log)
	case <-time.After(3 * patience):
		o.kill()
		return fmt.Errorf("usher was not open after 90 s\n%s", o.log)
	}
}

// close is Ctrl-C. It returns how usher ended.
func (o *office) close() error {
	if o.exits == nil {
		return nil
	}
	_ = o.cmd.Process.Signal(os.Interrupt)
	select {
	case err := <-o.exits:
		o.exits = nil
		return err
	case <-time.After(patience):
		o.kill()
		return errors.New("usher did not end within 30 s of Ctrl-C")
	}
}

// kill ends usher as a power cut would.
func (o *office) kill() {
	_ = o.cmd.Process.Signal(syscall.SIGKILL)
	<-o.exits
	o.exits = nil
}

// usher runs one command beside the open box office and returns what it printed.
func (o *office) usher(t *testing.T, args ...string) string {
	t.Helper()
	out, err := o.try(t.Context(), args...)
	if err != nil {
		t.Fatalf("usher %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (o *office) try(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(withoutSettings(os.Environ()), "USHER_DATA="+o.data)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// event puts an event of this test on sale and returns its word in addresses.
func (o *office) event(t *testing.T, plan string, flags ...string) (slug string) {
	t.Helper()
	return o.named(t, "", plan, flags...)
}

// named is event for tests with more than one.
func (o *office) named(t *testing.T, name, plan string, flags ...string) (slug string) {
	t.Helper()
	slug = strings.ToLower(regexp.MustCompile("[^A-Za-z0-9]+").ReplaceAllString(t.Name(), "-"))
	if name != "" {
		slug = name + "-" + slug
	}
	o.usher(t, append([]string{"event", "create", "--plan", plan, "--name", "A night out", "--slug", slug, "--paid-ahead=false"}, flags...)...)
	return slug
}

// withoutSettings drops the USHER_ settings of the machine that runs the tests.
func withoutSettings(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "USHER_") && !strings.HasPrefix(e, "DATABASE_URL=") {
			kept = append(kept, e)
		}
	}
	return kept
}

// record keeps what usher printed.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
