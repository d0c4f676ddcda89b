package rush

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	openTime  = 3 * time.Minute  // in which a server must be open; one that lets others go before it may need it
	closeTime = 10 * time.Second // in which it must have ended
)

// Server is a box office of the crowd's own: a process with a private PostgreSQL in a temporary folder.
type Server struct {
	URL string

	program string
	shadow  bool
	dir     string
	cmd     *exec.Cmd
	input   *os.File // the server ends when this is closed, also by a SIGKILL of this process
	exit    chan error
	log     *tail
}

// What the environment says to a program that belongs to another one.
const (
	EndsWithInput = "USHER_ENDS_WITH_INPUT" // it ends when its standard input does
	Shadow        = "USHER_SHADOW"          // nothing depends on its database, which need not survive a crash of the machine
)

// StartServer opens a box office on a free port of this machine. program is the file of usher. Stop ends it.
func StartServer(ctx context.Context, program string, watchers int) (*Server, error) {
	return startServer(ctx, &Server{program: program}, watchers)
}

// StartShadow is StartServer for a box office that takes less of the disk: its PostgreSQL does not wait until data are on it.
func StartShadow(ctx context.Context, program string, watchers int) (*Server, error) {
	return startServer(ctx, &Server{program: program, shadow: true}, watchers)
}

func startServer(ctx context.Context, s *Server, watchers int) (_ *Server, err error) {
	sweep(os.TempDir())
	if s.dir, err = os.MkdirTemp("", folders); err != nil {
		return nil, err
	}
	s.exit, s.log = make(chan error, 1), &tail{}
	if err := errors.Join(os.Chmod(s.dir, 0o755), s.start(ctx, watchers)); err != nil { // the server's user has to pass through
		ended := s.Stop()
		if ctx.Err() != nil { // it was stopped in the middle of its start, which it may call a failure
			return nil, ctx.Err()
		}
		return nil, errors.Join(err, ended)
	}
	return s, nil
}

var opened = regexp.MustCompile(`http://[0-9.]+:\d+`)

func (s *Server) start(ctx context.Context, watchers int) error {
	s.cmd = exec.Command(s.program, "serve", "--addr", "127.0.0.1:0", "--address-header", addressHeader, "--data", s.Data(), "--demo=false",
		"--sockets-per-address", fmt.Sprint(watchers+100), "--joins-per-network", "0")
	s.cmd.Env = append(s.environment(), EndsWithInput+"=1")
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the crowd, which then ends its server
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	input, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	s.cmd.Stdin, s.input = input, ours
	err = s.cmd.Start()
	_ = input.Close() // the server has it
	if err != nil {
		s.cmd = nil
		return fmt.Errorf("rush: start %s: %w", s.program, err)
	}
	ready, read := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(io.TeeReader(out, s.log))
		for lines.Scan() {
			if url := opened.FindString(lines.Text()); url != "" && len(ready) == 0 {
				ready <- url
			}
		}
	}()
	go func() { <-read; s.exit <- s.cmd.Wait() }()
	return s.await(ctx, ready)
}

func (s *Server) await(ctx context.Context, ready <-chan string) error {
	select {
	case s.URL = <-ready:
		return nil
	case err := <-s.exit:
		s.exit <- err
		return fmt.Errorf("rush: the server ended before it was open: %w\n%s", err, s.log)
	case <-time.After(openTime):
		return fmt.Errorf("rush: the server was not open after %s\n%s", openTime, s.log)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Data is the folder of its private PostgreSQL.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// CreateEvent puts an event on sale there, with the flags of "usher event create".
func (s *Server) CreateEvent(ctx context.Context, flags ...string) error {
	return s.do(ctx, append([]string{"event", "create"}, flags...)...)
}

// CreateRoom gives an event there a waiting room with an open lobby, with the flags of "usher room create".
func (s *Server) CreateRoom(ctx context.Context, flags ...string) error {
	opens := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	return s.do(ctx, append([]string{"room", "create", "--opens", opens}, flags...)...)
}

// CreateOpenRoom gives an event there a waiting room without a lobby, with the flags of "usher room create".
func (s *Server) CreateOpenRoom(ctx context.Context, flags ...string) error {
	return s.do(ctx, append([]string{"room", "create"}, flags...)...)
}

// CloseLobby has the numbers of a waiting room drawn now.
func (s *Server) CloseLobby(ctx context.Context, room string) error {
	return s.do(ctx, "room", "set", room, "--opens", "now")
}

// do runs another command of the program on the server's database.
func (s *Server) do(ctx context.Context, args ...string) error {
	_, err := s.ask(ctx, args...)
	return err
}

// ask is do, and returns what the command printed.
func (s *Server) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, append(args, "--data", s.Data())...)
	cmd.Env = s.environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("rush: usher %s %s: %w\n%s", args[0], args[1], err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// Log is the last that the server said.
func (s *Server) Log() string { return s.log.String() }

// Stop ends the server, this one process only, and removes its folder.
func (s *Server) Stop() error {
	err := s.end()
	if s.input != nil {
		_ = s.input.Close() // nothing was written to it
	}
	return errors.Join(err, s.clear())
}

func (s *Server) end() error {
	if s.cmd == nil {
		return nil
	}
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended already
	select {
	case err := <-s.exit:
		if err != nil {
			return fmt.Errorf("rush: the server ended badly: %w\n%s", err, s.log)
		}
		return nil
	case <-time.After(closeTime):
		_ = s.cmd.Process.Kill() // the same
		<-s.exit
		return fmt.Errorf("rush: the server did not end within %s\n%s", closeTime, s.log)
	}
}

// clear removes the folder, and the data where they were put elsewhere because that folder was closed to the server.
func (s *Server) clear() error { return clearFolder(s.dir) }

func clearFolder(dir string) error {
	var errs []error
	if elsewhere, err := os.Readlink(filepath.Join(dir, "data", "postgres")); err == nil {
		errs = append(errs, os.RemoveAll(elsewhere))
	}
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}

// folders begins the names of folders of servers.
const folders = "usher-rush-"

// sweep removes folders of servers that ended without Stop: their programs were killed. A server locks its folder while it runs, within
// openTime of its start. What cannot be removed stays for the next one.
func sweep(in string) {
	dirs, _ := filepath.Glob(filepath.Join(in, folders+"*")) // the pattern is well formed
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ours(info) || time.Since(info.ModTime()) < 2*openTime {
			continue
		}
		owner, err := os.Open(filepath.Join(dir, "data", "owner"))
		if err == nil {
			err = syscall.Flock(int(owner.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			_ = owner.Close() // nothing was written to it
		}
		if err == nil || errors.Is(err, os.ErrNotExist) {
			_ = clearFolder(dir) // the next one tries again
		}
	}
}

// ours reports whether a folder is of the user of this program. In a folder such as /tmp anybody may make one, with links to what is not theirs.
func ours(info os.FileInfo) bool {
	owner, known := info.Sys().(*syscall.Stat_t)
	return known && int(owner.Uid) == os.Geteuid()
}

// environment is that of the server and of commands on its database.
func (s *Server) environment() []string {
	env := withoutSettings(os.Environ())
	if s.shadow {
		env = append(env, Shadow+"=1")
	}
	return env
}

// withoutSettings keeps the settings and the database of the operator out of it.
func withoutSettings(env []string) (kept []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, "USHER_") && !strings.HasPrefix(e, "OTEL_") && !strings.HasPrefix(e, "DATABASE_URL=") && !strings.HasPrefix(e, "PG") {
			kept = append(kept, e)
		}
	}
	return kept
}

// tail keeps the last that a server said.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// Used is what a process has used of the machine.
type Used struct {
	MemoryMB float64 // the most it had at once
	CPU      float64 // seconds its processor worked
}

// ticksPerSecond is what Linux tells processor times in, on every machine Go runs on.
const ticksPerSecond = 100

// Used tells what the server used until now, as far as this system says it (Linux does); PostgreSQL is not counted.
func (s *Server) Used() Used {
	var u Used
	pid := strconv.Itoa(s.cmd.Process.Pid)
	if text, err := os.ReadFile("/proc/" + pid + "/status"); err == nil {
		for line := range bytes.Lines(text) {
			var kb float64
			if n, _ := fmt.Sscanf(string(line), "VmHWM: %f kB", &kb); n == 1 {
				u.MemoryMB = kb / 1024
			}
		}
	}
	if text, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil {
		after := text[bytes.LastIndexByte(text, ')')+1:] // the name may have spaces
		const user, system = 11, 12                      // fields after the name
		if fields := bytes.Fields(after); len(fields) > system {
			u.CPU = ofTicks(fields[user : system+1])
		}
	}
	return u
}

// ofTicks sums processor times that Linux tells.
func ofTicks(fields [][]byte) (sum float64) {
	for _, field := range fields {
		if ticks, err := strconv.ParseFloat(string(field), 64); err == nil {
			sum += ticks / ticksPerSecond
		}
	}
	return sum
}

// UsedByAll tells what the server, its PostgreSQL and all their processes use: the memory now, the time until now.
func (s *Server) UsedByAll() (u Used) {
	parents, worked := map[string]string{}, map[string]float64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // none elsewhere
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		const parent, user, last, pages = 1, 11, 14, 21 // fields after the name; children that ended are between
		if len(fields) <= pages {
			continue
		}
		pid := filepath.Base(filepath.Dir(file))
		parents[pid], worked[pid] = string(fields[parent]), ofTicks(fields[user:last+1])
	}
	root := strconv.Itoa(s.cmd.Process.Pid)
	for pid, cpu := range worked {
		at := pid
		for range 10 { // PostgreSQL's processes are two below
			if at == root {
				u.CPU, u.MemoryMB = u.CPU+cpu, u.MemoryMB+memoryOf(pid) // of no other process: it locks the memory that it reads
				break
			}
			at = parents[at]
		}
	}
	return u
}

// memoryOf is the memory of a process, of which it counts a part of what it shares. 0 if this system does not say it.
func memoryOf(pid string) (mb float64) {
	text, err := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		var kb float64
		if n, _ := fmt.Sscanf(string(line), "Pss: %f kB", &kb); n == 1 {
			mb += kb / 1024
		}
	}
	return mb
}

// processorTime is what this process has had of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it knows itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
