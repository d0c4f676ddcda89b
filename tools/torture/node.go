package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// node is one usher process, between two proxies of its own.
type node struct {
	number  int
	program string
	dir     string
	env     []string
	clients *proxy // before it; its address stays the same
	db      *proxy // between it and the database
	direct  *proxy // past a pooler; nil: there is none
	log     *tail

	mu     sync.Mutex
	addr   string // where the process listens; empty until it says so
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	starts int
	meant  bool  // it was told to end
	opened bool  // it answered since it was started: from then on nothing but a signal may end it
	badly  error // how it ended without being told to
}

// newNode sets the proxies up. start starts the process.
func newNode(number int, program, dir string, postgres func() (net.Conn, error), env []string) (*node, error) {
	n := &node{number: number, program: program, dir: filepath.Join(dir, fmt.Sprint("node", number)), env: env, log: &tail{lines: map[string]int{}}}
	err := os.MkdirAll(n.dir, 0o755) // nothing secret is in it
	if err != nil {
		return nil, err
	}
	if n.db, err = newProxy(postgres, true); err != nil {
		return nil, err
	}
	n.clients, err = newProxy(n.reach, false)
	return n, err
}

// url is where clients find it: its proxy.
func (n *node) url() string { return "http://" + n.clients.addr() }

func (n *node) dsn(database string) string {
	if n.direct != nil {
		return fmt.Sprintf("postgres://usher:%s@%s/%s?sslmode=disable&connect_timeout=5&default_query_exec_mode=cache_describe", password, n.db.addr(), database)
	}
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable&connect_timeout=5", n.db.addr(), database)
}

// start starts the process, if it does not run.
func (n *node) start(database string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running() {
		return nil
	}
	cmd := exec.Command(n.program, "serve", "--addr", "127.0.0.1:0", "--address-header", addressHeader, "--claims-per-visitor", "0", "--data", n.dir, "--demo=false",
		"--sockets-per-address", "100000", "--joins-per-network", "0")
	cmd.Env = append(append(withoutSettings(os.Environ()), n.env...), "DATABASE_URL="+n.dsn(database))
	if n.direct != nil {
		cmd.Env = append(cmd.Env, fmt.Sprintf("DATABASE_DIRECT_URL=postgres://usher:%s@%s/%s?sslmode=disable&connect_timeout=5", password, n.direct.addr(), database))
	}
	cmd.Stderr = n.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the torture, which then ends its nodes
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("torture: start node %d: %w", n.number, err)
	}
	ended := make(chan struct{})
	n.cmd, n.ended, n.meant, n.opened, n.addr = cmd, ended, false, false, ""
	n.starts++
	go func() {
		n.listens(cmd, out)
		err := cmd.Wait()
		n.mu.Lock()
		if n.cmd == cmd {
			n.addr = ""
		}
		if !n.meant && n.opened && n.cmd == cmd {
			n.badly = fmt.Errorf("node %d ended by itself: %w\n%s", n.number, errors.Join(err, errEnded), n.log)
		}
		n.mu.Unlock()
		close(ended)
	}()
	return nil
}

var listening = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)

// listens reads what a process prints until it ends, and with it the address it listens on.
func (n *node) listens(cmd *exec.Cmd, out io.Reader) {
	lines := bufio.NewScanner(io.TeeReader(out, n.log))
	for found := false; lines.Scan(); {
		said := listening.FindStringSubmatch(lines.Text())
		if found || said == nil {
			continue
		}
		found = true
		n.mu.Lock()
		if n.cmd == cmd {
			n.addr = said[1]
		}
		n.mu.Unlock()
	}
}

// reach connects to the process.
func (n *node) reach() (net.Conn, error) {
	n.mu.Lock()
	addr := n.addr
	n.mu.Unlock()
	if addr == "" {
		return nil, errClosed
	}
	return net.DialTimeout("tcp", addr, time.Second)
}

var errClosed = errors.New("the node does not listen")

var errEnded = errors.New("it was not told to")

// running reports whether there is a process. The caller holds n.mu.
func (n *node) running() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal to the process, if there is one.
func (n *node) signal(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.running() {
		return
	}
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		n.meant = true
	}
	_ = n.cmd.Process.Signal(s) // it may have ended just now
}

// kill ends the process without a word and waits until it is gone.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	n.await(time.Minute)
}

// await waits until the process has ended.
func (n *node) await(most time.Duration) bool {
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	if ended == nil {
		return true
	}
	select {
	case <-ended:
		return true
	case <-time.After(most):
		return false
	}
}

// restart ends the process as an operator does who brings a new version, and starts it again.
func (n *node) restart(database string) error {
	n.signal(syscall.SIGCONT)
	n.signal(syscall.SIGTERM)
	if !n.await(lastWords) {
		n.kill()
		return fmt.Errorf("node %d did not end within %s of SIGTERM\n%s", n.number, lastWords, n.log)
	}
	return n.start(database)
}

// lastWords is how long a node may take to end when told to. It has 10 s for its batches, and machines are slow.
const lastWords = 45 * time.Second

// answered notes that the process is open.
func (n *node) answered() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened = true
}

func (n *node) fault() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.badly
}

func (n *node) close() {
	n.signal(syscall.SIGCONT)
	n.kill()
	n.clients.close()
	for _, p := range n.databases() {
		p.close()
	}
}

// databases are the proxies between the node and the database.
func (n *node) databases() []*proxy {
	if n.direct == nil {
		return []*proxy{n.db}
	}
	return []*proxy{n.db, n.direct}
}

// withoutSettings keeps the settings and the database of the operator out of it.
func withoutSettings(env []string) (kept []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, "USHER_") && !strings.HasPrefix(e, "DATABASE_") && !strings.HasPrefix(e, "PG") {
			kept = append(kept, e)
		}
	}
	return kept
}

// tail keeps the last that a process said, and counts the words that must not fall.
type tail struct {
	mu    sync.Mutex
	text  []byte
	lines map[string]int // how many have one of the words that must not fall
}

// Words that must not fall.
const (
	panicWords    = "panic"
	deadlockWords = "two batches waited for each other"
)

const tailBytes = 8 << 10

// Write is part of io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bufio.NewScanner(bytes.NewReader(p))
	for lines.Scan() {
		for _, words := range []string{panicWords, deadlockWords} {
			if bytes.Contains(lines.Bytes(), []byte(words)) {
				t.lines[words]++
			}
		}
	}
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// String is the last that was said.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// said is how many lines had some words.
func (t *tail) said(words string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines[words]
}

var _ io.Writer = (*tail)(nil)
