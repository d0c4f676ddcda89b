package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/postgres"
)

// node is a box office of our own, with a private PostgreSQL, in a folder that goes with it.
type node struct {
	program, dir, url, setup string
	slug, password           string
	cmd                      *exec.Cmd
	log                      *logged
	peak                     atomic.Int64 // of resident memory, in KB
	stop                     chan struct{}
}

// logged is what a node said, which grows while it runs.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var isSetup = regexp.MustCompile(`/desk/setup/\w+`)

// start opens a box office on a free port, with an unused set-up link and an event.
func start(ctx context.Context, program string, env []string, args ...string) (*node, error) {
	dir, err := os.MkdirTemp("", "usher-attack-")
	if err != nil {
		return nil, err
	}
	n := &node{program: program, dir: dir, log: &logged{}, stop: make(chan struct{})}
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL may run as another user
		return nil, err
	}
	n.cmd = exec.Command(program, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--demo=false"}, args...)...)
	n.cmd.Env = append(os.Environ(), env...)
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in := io.Pipe()
	n.cmd.Stdout, n.cmd.Stderr = in, in
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			n.log.add(lines.Text())
		}
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		n.url = n.listening()
		if answer, err := http.Get(n.url + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("it did not open: %s", n.log), n.end())
		}
	}
	go n.sample()
	said, err := n.run(ctx, "organizer", "link")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no link for the owner: %w: %s", err, said), n.end())
	}
	n.setup = isSetup.FindString(said)
	return n, n.event("night", "club", "--price", "A=0") // free, so that no order needs a mail
}

// event puts an event on sale.
func (n *node) event(slug, plan string, flags ...string) error {
	out, err := n.run(context.Background(), append([]string{"event", "create", "--plan", plan, "--name", slug, "--slug", slug, "--limit", "6", "--paid-ahead=false"}, flags...)...)
	n.slug = slug
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// run is another command of the program beside the node.
func (n *node) run(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, n.program, append(args, "--data", filepath.Join(n.dir, "data"))...).CombinedOutput()
	return string(out), err
}

// sql changes the database of the node behind its back.
func (n *node) sql(statements ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := postgres.Start(ctx, filepath.Join(n.dir, "data"), slog.New(slog.DiscardHandler)) // the node's own, which stays
	if err != nil {
		return err
	}
	defer func() { _ = p.Stop(ctx) }()
	conn, err := pgx.Connect(ctx, p.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range append([]string{`SET default_transaction_read_only = off`}, statements...) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// listening is the address that the node listens on, as the kernel knows it: what it prints may be another one.
func (n *node) listening() string {
	mine := map[string]bool{}
	fds := fmt.Sprintf("/proc/%d/fd/", n.cmd.Process.Pid)
	list, _ := os.ReadDir(fds)
	for _, fd := range list {
		if to, err := os.Readlink(fds + fd.Name()); err == nil && strings.HasPrefix(to, "socket:[") {
			mine[strings.Trim(to, "socket:[]")] = true
		}
	}
	text, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == "0A" && mine[f[9]] {
			_, hex, _ := strings.Cut(f[1], ":")
			port, _ := strconv.ParseInt(hex, 16, 32)
			return fmt.Sprintf("http://127.0.0.1:%d", port)
		}
	}
	return "http://127.0.0.1:1" // no address yet
}

// memory is the resident memory of the node, in KB.
func (n *node) memory() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb
		}
	}
	return 0
}

func (n *node) sample() {
	for {
		select {
		case <-n.stop:
			return
		case <-time.After(10 * time.Millisecond):
			if kb := n.memory(); kb > n.peak.Load() {
				n.peak.Store(kb)
			}
		}
	}
}

// during returns the most memory the node had while do ran, in MB.
func (n *node) during(do func()) int64 {
	n.peak.Store(0)
	do()
	time.Sleep(30 * time.Millisecond)
	return max(n.peak.Load(), n.memory()) >> 10
}

func (n *node) end() error {
	close(n.stop)
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- n.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = n.cmd.Process.Kill()
		<-done
	}
	return os.RemoveAll(n.dir)
}

// browser is a client with a cookie jar of its own and the network address it claims to have.
type browser struct {
	http.Client
	n    *node
	from string
	last http.Header
	set  map[string]string // cookies by name
}

func (n *node) browser(from string) *browser {
	jar, _ := cookiejar.New(nil) // never fails
	return &browser{n: n, from: from, set: map[string]string{}, Client: http.Client{Jar: jar, Timeout: 60 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send makes a request and returns its answer; status 0 if there is none.
func (b *browser) send(method, path string, body io.Reader, header ...string) (status int, text string) {
	r, err := http.NewRequest(method, b.n.url+path, body)
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if b.from != "" {
		r.Header.Set("X-Forwarded-For", b.from)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := b.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(answer.Body)
	b.last = answer.Header
	for _, c := range answer.Cookies() {
		b.set[c.Name] = c.Value
	}
	return answer.StatusCode, string(said)
}

func (b *browser) post(path, body string, header ...string) (int, string) {
	return b.send(http.MethodPost, path, strings.NewReader(body), header...)
}

func (b *browser) get(path string, header ...string) (int, string) {
	return b.send(http.MethodGet, path, nil, header...)
}
