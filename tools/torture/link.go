package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"
)

// link is one connection through a proxy. near asks, far answers.
type link struct {
	proxy     *proxy
	near, far net.Conn
	notifies  atomic.Bool // it carries LISTEN or NOTIFY
	dead      atomic.Bool // it carries nothing any more
	closed    atomic.Bool
}

const (
	stallStep = 5 * time.Millisecond
	linger    = 10 * time.Second // how long one way of a connection stays open after the other has ended
	forgotten = 20 * time.Second // after which a dead router forgets a connection
)

func (l *link) cut() {
	l.closed.Store(true)
	_ = l.near.Close() // one of them may be closed already
	_ = l.far.Close()
}

// die lets a connection live and carry nothing any more. Nothing but we ourselves would ever end it.
func (l *link) die() {
	if !l.dead.Swap(true) {
		time.AfterFunc(forgotten, l.cut)
	}
}

// wait holds what is about to pass back as long as a fault says so.
func (l *link) wait() {
	if d := l.proxy.delay.Load(); d > 0 {
		time.Sleep(time.Duration(d))
	}
	for (l.proxy.stalled.Load() || l.dead.Load()) && !l.closed.Load() {
		time.Sleep(stallStep)
	}
}

const chunk = 32 << 10

// up passes what is asked.
func (l *link) up() {
	buf := make([]byte, chunk)
	for {
		n, err := l.near.Read(buf)
		if n > 0 {
			if l.proxy.database {
				l.recognize(buf[:n])
			}
			l.wait()
			if l.proxy.database && l.proxy.stopNext.Load() > 0 && l.commits(buf[:n]) && l.proxy.stopNext.Add(-1) >= 0 {
				l.proxy.stopped.Add(1)
				l.cut()
				return
			}
			if _, err := l.far.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	ended(l.far) // the answers under way still come
}

// ended tells a side that the other one says no more. It may finish, but not stay for ever: a side that neither reads nor
// ends would keep both connections open.
func ended(c net.Conn) {
	if c, ok := c.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // it may be closed already
	}
	_ = c.SetDeadline(time.Now().Add(linger)) // the same
}

// recognize finds out what a connection to the database is for.
func (l *link) recognize(b []byte) {
	if !l.notifies.Load() && (bytes.Contains(b, []byte(`LISTEN "usher`)) || bytes.Contains(b, []byte("pg_notify"))) {
		l.notifies.Store(true)
	}
}

// commits reports whether seats are written here: the statements of batches begin to be sent by name once they are
// known, so it is the shape of the message that tells, not its words.
func (l *link) commits(b []byte) bool {
	return !l.notifies.Load() && len(b) > 300
}

// down passes the answers. Where a COMMIT's answer is to be lost they go message by message.
func (l *link) down() {
	buf := make([]byte, chunk)
	var kept []byte // of an answer that is not complete
	done := false   // it says that something was written
	for {
		n, err := l.far.Read(buf)
		if n > 0 {
			l.wait()
			out := buf[:n]
			if l.proxy.database {
				if kept, done = l.follow(append(kept, out...), done); l.closed.Load() {
					return
				}
			}
			if _, err := l.near.Write(out); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	ended(l.near) // as the other side did
}

// follow reads the messages of PostgreSQL in b. When something was written and the server is ready for the next
// statement, it stands in the log: then the answer is lost, if one is to be. It returns what is not a whole message yet.
func (l *link) follow(b []byte, done bool) (rest []byte, still bool) {
	for len(b) >= 5 {
		size := 1 + int(binary.BigEndian.Uint32(b[1:]))
		if len(b) < size {
			break
		}
		switch body := b[5:size]; b[0] {
		case 'C': // CommandComplete
			done = done || bytes.HasPrefix(body, []byte("COMMIT")) || bytes.HasPrefix(body, []byte("INSERT 0 1"))
		case 'Z': // ReadyForQuery
			if done && !l.notifies.Load() && l.proxy.loseNext.Load() > 0 && l.proxy.loseNext.Add(-1) >= 0 {
				l.proxy.lost.Add(1)
				l.cut()
				return nil, false
			}
			done = false
		}
		b = b[size:]
	}
	return bytes.Clone(b), done
}
