package handlers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// caller sends bad requests, one after another, on one connection as long as that is possible.
type caller struct {
	torment *torment
	random  *rand.Rand
	conn    net.Conn
	in      *bufio.Reader
}

func (c *caller) hangUp() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (c *caller) call(bad badRequest) {
	for again := c.conn != nil; ; again = false {
		if c.conn == nil {
			conn, err := net.DialTimeout("tcp", c.torment.address, tormentWait)
			if err != nil {
				c.torment.finds("the server does not listen any more: %v", err)
				return
			}
			c.conn, c.in = conn, bufio.NewReader(conn)
		}
		status, err := c.ask(bad)
		if status == 0 && err != nil && again { // an old connection may be closed at any time
			c.hangUp()
			continue
		}
		c.torment.note(bad, status, err)
		if err != nil || bad.last {
			c.hangUp()
		}
		return
	}
}

// ask sends what there is to send and reads the answer. status 0: the connection was ended instead.
func (c *caller) ask(bad badRequest) (status int, err error) {
	_ = c.conn.SetDeadline(time.Now().Add(tormentWait))
	_, _ = c.conn.Write(bad.bytes) // a server may have heard enough before the end
	if half, ok := c.conn.(*net.TCPConn); ok && bad.last {
		_ = half.CloseWrite()
	}
	answer, err := http.ReadResponse(c.in, &http.Request{Method: bad.method})
	for err == nil && answer.StatusCode == http.StatusContinue {
		answer, err = http.ReadResponse(c.in, &http.Request{Method: bad.method})
	}
	if err != nil {
		if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
			return 0, fmt.Errorf("no answer within %s", tormentWait)
		}
		return 0, errEndedInstead
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		c.torment.mu.Lock()
		c.torment.sockets++
		c.torment.mu.Unlock()
		_, _ = c.conn.Write(bad.frames)
		_ = c.conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c.in)
		return answer.StatusCode, errEndedInstead
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if answer.Close || err != nil {
		return answer.StatusCode, errEndedInstead
	}
	return answer.StatusCode, nil
}

var errEndedInstead = errors.New("the connection was ended")
