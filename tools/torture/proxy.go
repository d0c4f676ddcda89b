package main

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy stands between two sides and passes what they say, as long as no fault tells it otherwise.
type proxy struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	database bool // the other side speaks the protocol of PostgreSQL

	mu    sync.Mutex
	links map[*link]bool
	gone  bool

	stalled  atomic.Bool  // nothing passes and nothing is closed
	delay    atomic.Int64 // nanoseconds, for everything that passes
	loseNext atomic.Int64 // so many answers to a COMMIT will be lost
	stopNext atomic.Int64 // so many COMMITs will not arrive

	lost    atomic.Int64 // answers to a COMMIT that never arrived
	stopped atomic.Int64 // COMMITs that never arrived
}

// newProxy listens on a free port of this machine for what is to go where dial leads.
func newProxy(dial func() (net.Conn, error), database bool) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, dial: dial, database: database, links: map[*link]bool{}}
	go p.accept()
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // too many open files, for a moment
			continue
		}
		go p.join(conn)
	}
}

// join leads one connection to the other side.
func (p *proxy) join(near net.Conn) {
	far, err := p.dial()
	if err != nil {
		_ = near.Close() // as if the port were closed
		return
	}
	l := &link{proxy: p, near: near, far: far}
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		l.cut()
		return
	}
	p.links[l] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(l.up)
	both.Go(l.down)
	both.Wait()
	l.cut()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// each calls do for every connection there is.
func (p *proxy) each(do func(*link)) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		do(l)
		n++
	}
	return n
}

// cutAll closes every connection, both ways.
func (p *proxy) cutAll() int { return p.each((*link).cut) }

// cutNotifications closes the connections on which news come and go: LISTEN and NOTIFY.
func (p *proxy) cutNotifications() int {
	return p.each(func(l *link) {
		if l.notifies.Load() {
			l.cut()
		}
	})
}

// stallNotifications lets those connections live and carry nothing any more, as a dead router does.
func (p *proxy) stallNotifications() int {
	return p.each(func(l *link) {
		if l.notifies.Load() {
			l.die()
		}
	})
}

// halfClose tells the side that answers that no more will be asked, on every connection.
func (p *proxy) halfClose() int {
	return p.each(func(l *link) {
		if c, ok := l.far.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite() // it may be closed already
		}
	})
}

// heal lets everything pass again. Connections that were left for dead are closed: nothing else ends them.
func (p *proxy) heal() {
	p.stalled.Store(false)
	p.delay.Store(0)
	p.loseNext.Store(0)
	p.stopNext.Store(0)
	p.each(func(l *link) {
		if l.dead.Load() {
			l.cut()
		}
	})
}

func (p *proxy) close() {
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	_ = p.listener.Close() // no connection comes any more
	p.cutAll()
}
