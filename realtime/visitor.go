package realtime

import (
	"crypto/sha256"
	"encoding/binary"
	"net"
	"net/http"
	"syscall"
)

const (
	// SocketsPerAddress is how many pages one address may have open, unless a hub is told otherwise: a school behind
	// one router, not a flood.
	SocketsPerAddress = 100
	// socketsPerSession is how many pages one browser may have open.
	socketsPerSession = 20

	mostSockets    = 1 << 20 // of a node that may have any number of descriptors
	fewDescriptors = 64      // of a node that may have very few
)

// visitor is who opens a socket, as far as caps go.
type visitor struct {
	address string
	session uint64 // a hash of the session's token, which is not kept; 0 if there is none
	waits   bool   // it is a page of a waiting room
}

func visitorOf(r *http.Request, session string) (v visitor) {
	var err error
	if v.address, _, err = net.SplitHostPort(r.RemoteAddr); err != nil {
		v.address = r.RemoteAddr
	}
	v.session = sessionOf(session)
	return v
}

func sessionOf(token string) uint64 {
	if token == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(token))        // the same on every node
	return binary.BigEndian.Uint64(sum[:]) | 1 // 0 is nobody's
}

// socketLimit is how many sockets this process may have: three of four descriptors. The rest is for requests, the
// database and files; a node without descriptors could not even say that it is full.
func socketLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return mostSockets
	}
	return max(fewDescriptors, int(min(limit.Cur/4*3, mostSockets)))
}

// census counts sockets. The hub's mu guards it.
type census struct {
	all       int
	waiting   int // of them, pages of waiting rooms
	addresses map[string]int
	sessions  map[uint64]*watcher // the last page of a session that came, and by it the others
}

// admit counts a socket, unless there are too many.
func (c *census) admit(w *watcher, most, perAddress int) bool {
	v := w.visitor
	if c.all >= most || c.addresses[v.address] >= perAddress || c.pages(v.session) >= socketsPerSession {
		return false
	}
	c.all++
	if v.waits {
		c.waiting++
	}
	c.addresses[v.address]++
	if v.session != 0 {
		w.sibling, c.sessions[v.session] = c.sessions[v.session], w
	}
	return true
}

// pages is how many pages a session has open.
func (c *census) pages(session uint64) (n int) {
	for w := c.sessions[session]; w != nil; w = w.sibling {
		n++
	}
	return n
}

// rename puts the pages of a session under another name.
func (c *census) rename(was, is uint64) {
	first := c.sessions[was]
	if first == nil || is == 0 || is == was {
		return
	}
	delete(c.sessions, was)
	last := first
	for last.visitor.session = is; last.sibling != nil; last.visitor.session = is {
		last = last.sibling
	}
	last.sibling, c.sessions[is] = c.sessions[is], first
}

func (c *census) dismiss(w *watcher) {
	v := w.visitor
	c.all--
	if v.waits {
		c.waiting--
	}
	if c.addresses[v.address]--; c.addresses[v.address] == 0 {
		delete(c.addresses, v.address)
	}
	switch first := c.sessions[v.session]; {
	case v.session == 0:
	case first == w && w.sibling == nil:
		delete(c.sessions, v.session)
	case first == w:
		c.sessions[v.session] = w.sibling
	default:
		for first.sibling != w {
			first = first.sibling
		}
		first.sibling = w.sibling
	}
	w.sibling = nil
}
