package realtime

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

const (
	natsPing    = 2 * time.Second // between two questions whether the server is there; the second without an answer ends the connection
	natsAnswer  = time.Second     // the longest a server may take to confirm notifications
	natsRetry   = 500 * time.Millisecond
	natsSubject = "usher."
)

// NATS notifies the other nodes through a NATS server instead of PostgreSQL. It has what the server and the connection may lose found out:
// a notification that the server did not confirm goes by PostgreSQL, and a node that lost its connection, or got it back, reads all changes.
type NATS struct {
	address  NATSAddress
	dsn      string
	listener *Listener
	log      *slog.Logger

	conn    atomic.Pointer[nats.Conn]
	subject atomic.Pointer[string] // of the database

	failing, forbidden atomic.Bool // what the log has told already

	mu     sync.Mutex
	newest map[int64]int64 // event → newest version that was notified of and not read yet
	all    bool            // notifications may be lost: all events are to be read
	wake   chan struct{}
}

// NewNATS returns a publisher at a server, for the nodes of the database at dsn. What it receives, the listener reads.
func NewNATS(address NATSAddress, dsn string, listener *Listener, log *slog.Logger) *NATS {
	return &NATS{address: address, dsn: dsn, listener: listener, log: log, newest: map[int64]int64{}, wake: make(chan struct{}, 1)}
}

// NATSAddress is where NATS servers are, as ParseNATS read it.
type NATSAddress struct {
	servers []string
	secure  bool // in TLS or not at all
}

// ParseNATS reads an address such as tls://user:secret@nats.example.org:4222, or several servers of a cluster with a comma between. A server
// on another machine has to speak TLS, or it is not used, unless its address ends in ?tls=optional.
func ParseNATS(address string) (NATSAddress, error) {
	var a NATSAddress
	for text := range strings.SplitSeq(address, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" || u.Path != "" && u.Path != "/" {
			return a, errors.New("it is not an address such as tls://user:secret@nats.example.org:4222")
		}
		switch mode := u.Query().Get("tls"); {
		case mode != "" && mode != "optional":
			return a, errors.New("what follows tls= is not optional")
		case mode == "" && !loopback(u.Hostname()):
			a.secure = true
		}
		u.RawQuery, u.Path = "", ""
		a.servers = append(a.servers, u.String())
	}
	return a, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Run keeps the connection and reads what it is notified of, until ctx is done.
func (b *NATS) Run(ctx context.Context) error {
	subject, err := b.subjectOf(ctx)
	for err != nil {
		b.log.Warn("the notifier at NATS waits for the database", "error", err)
		if err := seats.Sleep(ctx, natsRetry); err != nil {
			return err
		}
		subject, err = b.subjectOf(ctx)
	}
	conn, err := b.connect(subject)
	if err != nil {
		return fmt.Errorf("realtime: connect to NATS: %w", err)
	}
	defer func() { b.conn.Store(nil); conn.Close() }()
	b.subject.Store(&subject)
	b.conn.Store(conn)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.wake:
		}
		if err := b.read(ctx); err != nil && ctx.Err() == nil {
			b.log.Warn("what the notifications name cannot be read, and is tried again", "error", err)
			b.missed()
			if err := seats.Sleep(ctx, natsRetry); err != nil {
				return err
			}
		}
	}
}

// Connected reports whether notifications go through NATS at this moment.
func (b *NATS) Connected() bool {
	conn := b.conn.Load()
	return conn != nil && conn.IsConnected()
}

// subjectOf is where nodes of this house notify: several box offices may share a server.
func (b *NATS) subjectOf(ctx context.Context) (subject string, err error) {
	conn, err := openConn(ctx, b.dsn, "")
	if err != nil {
		return "", err
	}
	defer closeConn(conn)
	var which string
	err = within(ctx, func(ctx context.Context) (err error) { which, err = database.Which(ctx, conn); return err })
	sum := sha256.Sum256([]byte(which))
	return natsSubject + hex.EncodeToString(sum[:8]) + ".", err
}

// connect subscribes before it says that there is a connection. A server that is down, or refuses us, is tried again and again.
func (b *NATS) connect(subject string) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("usher"), nats.NoEcho(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(natsRetry), nats.ReconnectJitter(natsRetry, natsRetry),
		nats.ReconnectBufSize(-1), nats.PingInterval(natsPing), nats.MaxPingsOutstanding(2), nats.Timeout(askWithin),
		nats.IgnoreAuthErrorAbort(), func(o *nats.Options) error { o.Servers = b.address.servers; return nil },
		nats.ConnectHandler(func(*nats.Conn) { b.failing.Store(false); b.missed() }),
		nats.ReconnectHandler(func(*nats.Conn) { b.log.Info("NATS is back"); b.failing.Store(false); b.missed() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if !b.failing.Swap(true) {
				b.log.Warn("NATS is not reached, and is tried again until it is", "error", err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) {
			if b.conn.Load() != nil { // else this node ends
				b.log.Error("the connection to NATS is closed for good: nodes notify each other by PostgreSQL")
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // else this node ends
				b.log.Warn("NATS is away: nodes notify each other by PostgreSQL until it is back", "error", err)
			}
			b.missed()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) { // nothing is lost: publish reports it
				if !b.forbidden.Swap(true) {
					b.log.Error("NATS forbids this user a subject, so nodes notify each other by PostgreSQL", "error", err)
				}
				return
			}
			b.log.Warn("NATS may have lost notifications, so all changes are read", "error", err)
			b.missed()
		}),
	}
	if b.address.secure {
		options = append(options, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	} else { // servers that the cluster tells of may be on other machines
		options = append(options, nats.IgnoreDiscoveredServers())
	}
	conn, err := nats.Connect("", options...)
	if errors.As(err, new(*url.Error)) { // its text has parts of the address, which may be of the password
		return nil, errors.New("an address of a server cannot be read")
	} else if err != nil {
		return nil, err
	}
	if _, err = conn.Subscribe(subject+VersionsChannel, func(m *nats.Msg) { b.heard(versions(string(m.Data))) }); err == nil {
		_, err = conn.Subscribe(subject+notesChannel, func(m *nats.Msg) { b.listener.hub.receiveNotes(string(m.Data)) })
	}
	if err != nil {
		conn.Close()
	}
	return conn, err
}

// publish sends a payload, and returns nil once the server has it. It may have arrived in spite of an error.
func (b *NATS) publish(ctx context.Context, channel, payload string) error {
	conn, subject := b.conn.Load(), b.subject.Load()
	if conn == nil || !conn.IsConnected() {
		return nats.ErrConnectionClosed
	}
	if err := conn.Publish(*subject+channel, []byte(payload)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, natsAnswer)
	defer cancel()
	if err := conn.FlushWithContext(ctx); err != nil {
		return err
	}
	if err := conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) { // the server confirms what it refused, too
		return err
	}
	return nil
}

// heard notes versions of notifications. It never waits, so that notifications are not lost for being many.
func (b *NATS) heard(versions map[int64]int64) {
	b.mu.Lock()
	for event, version := range versions {
		b.newest[event] = max(b.newest[event], version)
	}
	b.mu.Unlock()
	b.wakeUp()
}

// missed has all open events looked at, and read those that are behind: notifications may be lost.
func (b *NATS) missed() {
	b.mu.Lock()
	b.all = true
	b.mu.Unlock()
	b.wakeUp()
}

func (b *NATS) wakeUp() {
	select {
	case b.wake <- struct{}{}:
	default: // awake already
	}
}

func (b *NATS) read(ctx context.Context) error {
	b.mu.Lock()
	newest, all := b.newest, b.all
	b.newest, b.all = map[int64]int64{}, false
	b.mu.Unlock()
	if !all {
		return within(ctx, func(ctx context.Context) error { return b.listener.catchUp(ctx, newest) })
	}
	conn, err := openConn(ctx, b.dsn, "")
	if err != nil {
		return err
	}
	defer closeConn(conn) // it only reads
	return within(ctx, func(ctx context.Context) error { return b.listener.poll(ctx, conn) })
}
