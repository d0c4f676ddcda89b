package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

// redis starts a server that syncs its log before it answers, and returns a pool of so many connections.
func redis(b *testing.B, connections int) chan *resp {
	b.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		b.Fatal("the comparison needs Redis: apt-get install redis-server")
	}
	dir := b.TempDir()
	socket := filepath.Join(dir, "redis.sock")
	cmd := exec.Command(binary, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // ended by our signal
	})
	free := make(chan *resp, connections)
	for range connections {
		free <- dial(b, socket)
	}
	return free
}

func dial(b *testing.B, socket string) *resp {
	b.Helper()
	var err error
	for range 100 {
		var c net.Conn
		if c, err = net.Dial("unix", socket); err == nil {
			b.Cleanup(func() { _ = c.Close() })
			return &resp{c, bufio.NewReader(c)}
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatal(err)
	return nil
}

// resp is one connection that speaks just enough of the Redis protocol.
type resp struct {
	conn  net.Conn
	reply *bufio.Reader
}

func (r *resp) do(args ...string) (string, error) {
	line := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		line = fmt.Appendf(line, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := r.conn.Write(line); err != nil {
		return "", err
	}
	return r.reply.ReadString('\n')
}

// allOrNone claims several keys like SET NX EX does one.
const allOrNone = `for _, k in ipairs(KEYS) do if redis.call('EXISTS', k) == 1 then return 0 end end
for _, k in ipairs(KEYS) do redis.call('SET', k, ARGV[1], 'EX', 480) end return 1`

// redisClaims is SET NX EX for a seat, and the same as a script for several.
func redisClaims(free chan *resp) contender {
	round := 0
	return contender{"(d) Redis SET NX EX, fsync always", func(context.Context, int, int) (claim, error) {
		round++
		return func(_ context.Context, event, first, n int) error {
			key := func(i int) string { return fmt.Sprintf("%d:%d:%d", round, event, first+i) }
			args, want := []string{"SET", key(0), seats.NewID().String(), "NX", "EX", "480"}, "+OK\r\n"
			if n > 1 {
				args, want = []string{"EVAL", allOrNone, fmt.Sprint(n)}, ":1\r\n"
				for i := range n {
					args = append(args, key(i))
				}
				args = append(args, seats.NewID().String())
			}
			conn := <-free
			defer func() { free <- conn }()
			got, err := conn.do(args...)
			if err == nil && got != want {
				err = fmt.Errorf("redis says %q", got)
			}
			return err
		}, nil
	}}
}
