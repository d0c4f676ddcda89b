package realtime

import (
	"hash/maphash"
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

var seed = maphash.MakeSeed()

func visitorOf(r *http.Request, session string) (v visitor) {
	var err error
	if v.address, _, err = net.SplitHostPort(r.RemoteAddr); err != nil {
		v.address = r.RemoteAddr
	}
	if session != "" {
		v.session = maphash.String(seed, session)
	}
	return v
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
	sessions  map[uint64]int
}

// admit counts a socket, unless there are too many.
func (c *census) admit(v visitor, most, perAddress int) bool {
	if c.all >= most || c.addresses[v.address] >= perAddress || v.session != 0 && c.sessions[v.session] >= socketsPerSession {
		return false
	}
	c.all++
	if v.waits {
		c.waiting++
	}
	c.addresses[v.address]++
	if v.session != 0 {
		c.sessions[v.session]++
	}
	return true
}

func (c *census) dismiss(v visitor) {
	c.all--
	if v.waits {
		c.waiting--
	}
	if c.addresses[v.address]--; c.addresses[v.address] == 0 {
		delete(c.addresses, v.address)
	}
	if v.session == 0 {
		return
	}
	if c.sessions[v.session]--; c.sessions[v.session] == 0 {
		delete(c.sessions, v.session)
	}
}
