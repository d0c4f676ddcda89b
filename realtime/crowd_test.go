package realtime

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The benchmarks' pages live in a process of their own, so that their memory and time are not counted as the node's.
const (
	crowdAddress = "USHER_TEST_CROWD"      // of the node; set only in that process
	crowdSize    = "USHER_TEST_CROWD_SIZE" // pages
)

// people is the other process as the benchmark sees it.
type people struct {
	in   io.WriteCloser
	out  *bufio.Reader
	wait func() error
}

// receipt is a DELTA that a page received: when, and what it was about.
type receipt struct {
	At       int64 // Unix nanoseconds
	From, To int64
	Dead     bool // the page belongs to those who stop reading now and then
}

// inviteCrowd opens many pages of the node; the first tenth stops reading when told "dead".
func inviteCrowd(b *testing.B, n *node, size int) *people {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdAddress+"="+strings.TrimPrefix(n.url, "ws://"), crowdSize+"="+strconv.Itoa(size))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &people{in: in, out: bufio.NewReader(out), wait: cmd.Wait}
	b.Cleanup(func() {
		_ = in.Close()
		if err := p.wait(); err != nil {
			b.Errorf("the crowd: %v", err)
		}
	})
	p.expect(b, "ready")
	return p
}

func (p *people) expect(b *testing.B, word string) {
	b.Helper()
	if line, err := p.out.ReadString('\n'); err != nil || strings.TrimSpace(line) != word {
		b.Fatalf("the crowd says %q (%v), want %q", line, err, word)
	}
}

func (p *people) do(b *testing.B, word string) {
	b.Helper()
	if _, err := fmt.Fprintln(p.in, word); err != nil {
		b.Fatal(err)
	}
	p.expect(b, word)
}

// receipts ends the crowd and returns what it received.
func (p *people) receipts(b *testing.B) []receipt {
	b.Helper()
	p.do(b, "end")
	rest, err := io.ReadAll(p.out)
	if err != nil {
		b.Fatal(err)
	}
	all := make([]receipt, len(rest)/binary.Size(receipt{}))
	if err := binary.Read(bytes.NewReader(rest), le, all); err != nil {
		b.Fatal(err)
	}
	return all
}

// crowd is the other process from the inside.
type crowd struct {
	conns  []net.Conn
	asleep atomic.Bool   // the dead do not read
	turn   chan struct{} // closed when they read again; guarded by mu

	mu       sync.Mutex
	received []receipt
}

func beCrowd() {
	size, err := strconv.Atoi(os.Getenv(crowdSize))
	if err != nil {
		panic(err)
	}
	c := &crowd{conns: make([]net.Conn, size), turn: make(chan struct{})}
	for i := range c.conns {
		if c.conns[i], err = c.enter(i < size/10); err != nil {
			panic(fmt.Errorf("page %d: %w", i, err))
		}
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "dead":
			c.die()
		case "alive":
			c.live()
		case "end":
			fmt.Println("end")
			c.mu.Lock()
			_ = binary.Write(os.Stdout, le, c.received) // the benchmark is gone then
			return
		}
		fmt.Println(in.Text())
	}
}

const knock = "GET /live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"

// enter opens a page. One that is to be dead for a while has little room in its kernel.
func (c *crowd) enter(dead bool) (net.Conn, error) {
	conn, err := net.Dial("tcp", os.Getenv(crowdAddress))
	if err != nil {
		return nil, err
	}
	if dead {
		_ = conn.(*net.TCPConn).SetReadBuffer(32 << 10)
	}
	if _, err := io.WriteString(conn, knock); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, 512)
	answer, err := http.ReadResponse(r, nil) // the body is the socket
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("%v, %w", answer, err)
	}
	go c.read(r, dead)
	return conn, nil
}

func (c *crowd) read(r *bufio.Reader, dead bool) {
	frame := make([]byte, 0, 64)
	for {
		for dead && c.asleep.Load() {
			<-c.turned()
		}
		var err error
		if frame, err = readFrame(r, frame); err != nil {
			return
		}
		if len(frame) == 0 || frame[0] != TypeDelta {
			continue
		}
		n := Reader{Rest: frame[5:]}
		got := receipt{time.Now().UnixNano(), *n.version(), *n.version(), dead}
		c.mu.Lock()
		c.received = append(c.received, got)
		c.mu.Unlock()
	}
}

func (c *crowd) turned() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn
}

// die has the dead ask for more than their kernels take, and read nothing of it.
func (c *crowd) die() {
	c.asleep.Store(true)
	ask := append([]byte{opBinary, 0x80 | 11, 0, 0, 0, 0}, append(begin(TypeResync, 0), reasonGap, 0, 0, 0, 0, 0)...)
	for range 24 { // as often as they may
		for _, conn := range c.conns[:len(c.conns)/10] {
			_, _ = conn.Write(ask) // one that is gone is dead too
		}
	}
}

func (c *crowd) live() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep.Store(false)
	close(c.turn)
	c.turn = make(chan struct{})
}

// readFrame reads one frame of a server.
func readFrame(r *bufio.Reader, frame []byte) ([]byte, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, err
	}
	n, skip := int(head[1]), 2
	if n == 126 {
		if head, err = r.Peek(4); err != nil {
			return nil, err
		}
		n, skip = int(binary.BigEndian.Uint16(head[2:])), 4
	}
	if _, err := r.Discard(skip); err != nil {
		return nil, err
	}
	if n > 1024 { // a map, which is not checked
		_, err := r.Discard(n)
		return frame[:0], err
	}
	if cap(frame) < n {
		frame = make([]byte, n)
	}
	_, err = io.ReadFull(r, frame[:n])
	return frame[:n], err
}
