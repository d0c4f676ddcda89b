package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// host is a machine of the cluster: a network namespace with processes of the user postgres.
type host struct {
	name, address string
	space         string // the namespace, and its cable to the bridge
	dir           string
	running       map[string]*exec.Cmd
}

func newHost(name, address, dir string) *host {
	return &host{name: name, address: address, space: "usher-" + name, dir: filepath.Join(dir, name), running: map[string]*exec.Cmd{}}
}

// command runs a program to its end.
func command(ctx context.Context, name string, args ...string) error {
	if said, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("torture: %s %s: %w: %s", name, strings.Join(args, " "), err, said)
	}
	return nil
}

// join makes the namespace, with a cable to the bridge.
func (h *host) join(ctx context.Context) error {
	owner, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(owner.Uid) // it is a number on every system with namespaces
	gid, _ := strconv.Atoi(owner.Gid)
	for _, args := range [][]string{
		{"netns", "add", h.space},
		{"link", "add", h.space, "type", "veth", "peer", "name", "eth0", "netns", h.space},
		{"link", "set", h.space, "master", bridge, "up"},
		{"-n", h.space, "addr", "add", h.address + "/24", "dev", "eth0"},
		{"-n", h.space, "link", "set", "eth0", "up"},
		{"-n", h.space, "link", "set", "lo", "up"},
	} {
		if err := command(ctx, "ip", args...); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(h.dir, 0o755), os.Chown(h.dir, uid, gid))
}

// leave ends every process of the namespace, and the namespace.
func (h *host) leave() error {
	if _, err := os.Stat("/run/netns/" + h.space); err != nil {
		return nil
	}
	err := h.kill()
	_ = command(context.Background(), "ip", "link", "del", h.space) // with the namespace it would end a moment later
	return errors.Join(err, command(context.Background(), "ip", "netns", "del", h.space))
}

// run starts a program in the namespace, if it does not run, and adds what it says to a log.
func (h *host) run(name string, args ...string) error {
	if cmd := h.running[name]; cmd != nil && syscall.Kill(cmd.Process.Pid, 0) == nil {
		return nil
	}
	log, err := os.OpenFile(filepath.Join(h.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("ip", append([]string{"netns", "exec", h.space, "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = h.dir, log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + h.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the torture, which then ends them
	if err := cmd.Start(); err != nil {
		return err
	}
	h.running[name] = cmd
	go func() { _ = cmd.Wait() }() // its log says how it ended
	return nil
}

// end kills one program.
func (h *host) end(name string) error {
	cmd := h.running[name]
	delete(h.running, name)
	if cmd == nil {
		return nil
	}
	return gone(cmd.Process.Kill())
}

// gone is an error of ending a process, unless it had ended.
func gone(err error) error {
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// kill ends all processes of the host at once, as a loss of power does, and returns when they are gone.
func (h *host) kill() error {
	clear(h.running)
	for range 200 {
		said, err := exec.Command("ip", "netns", "pids", h.space).Output()
		if err != nil {
			return fmt.Errorf("torture: list the processes of %s: %w", h.name, err)
		}
		pids := strings.Fields(string(said))
		if len(pids) == 0 {
			return nil
		}
		for _, text := range pids {
			if pid, err := strconv.Atoi(text); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended just now
			}
		}
		time.Sleep(moments)
	}
	return fmt.Errorf("torture: processes of %s do not end", h.name)
}

// killServer kills PostgreSQL alone.
func (h *host) killServer() error {
	text, err := os.ReadFile(filepath.Join(h.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.Split(string(text), "\n")[lineProcess])
	if err != nil {
		return err
	}
	return gone(syscall.Kill(pid, syscall.SIGKILL))
}

// drop lets packets that match get lost, on their way in and out.
func (h *host) drop(ctx context.Context, in, out []string) error {
	ip := []string{"netns", "exec", h.space, "iptables", "-A"}
	return errors.Join(command(ctx, "ip", append(append(ip[:len(ip):len(ip)], "INPUT"), append(in, "-j", "DROP")...)...),
		command(ctx, "ip", append(append(ip[:len(ip):len(ip)], "OUTPUT"), append(out, "-j", "DROP")...)...))
}

// cutOff loses all packets, but for those within the host.
func (h *host) cutOff(ctx context.Context) error {
	return h.drop(ctx, []string{"-i", "eth0"}, []string{"-o", "eth0"})
}

// cutFrom loses all packets between the host and another one.
func (h *host) cutFrom(ctx context.Context, other *host) error {
	return h.drop(ctx, []string{"-s", other.address}, []string{"-d", other.address})
}

// stopSending loses what PostgreSQL on the host sends to another one and hears from there: replication.
func (h *host) stopSending(ctx context.Context, other *host) error {
	return h.drop(ctx, []string{"-s", other.address, "-p", "tcp", "--dport", "5432"}, []string{"-d", other.address, "-p", "tcp", "--sport", "5432"})
}

// mend lets all packets pass.
func (h *host) mend(ctx context.Context) error {
	return command(ctx, "ip", "netns", "exec", h.space, "iptables", "-F")
}
