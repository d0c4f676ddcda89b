package realtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/usherbox/usher/seats"
)

// never is how often nodes look at the versions by themselves where a publisher has to do without.
const never = time.Hour

// testPublisher is a publisher with what a test does to it.
type testPublisher struct {
	address string // of NATS; empty: PostgreSQL
	lose    func() // ends the server, or all connections of nodes to it
	back    func() // starts it again
}

// eachPublisher run a test with each publisher.
func eachPublisher(t *testing.T, test func(t *testing.T, db *pgxpool.Pool, b *testPublisher)) {
	t.Helper()
	for name, build := range map[string]func(*testing.T, *pgxpool.Pool) *testPublisher{"PostgreSQL": postgresTower, "NATS": natsTower} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := event(t, 1000)
			test(t, db, build(t, db))
		})
	}
}

const endPublishersSQL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'notifier'`

func postgresTower(t *testing.T, db *pgxpool.Pool) *testPublisher {
	t.Helper()
	return &testPublisher{lose: func() {
		if _, err := db.Exec(t.Context(), endPublishersSQL); err != nil {
			t.Error(err)
		}
	}, back: func() {}}
}

func natsTower(t *testing.T, _ *pgxpool.Pool) *testPublisher {
	t.Helper()
	s := serveNATS(t, -1)
	b := &testPublisher{address: s.ClientURL()}
	port := s.Addr().(*net.TCPAddr).Port
	b.lose = func() { s.Shutdown(); s.WaitForShutdown() }
	b.back = func() { s = serveNATS(t, port) }
	t.Cleanup(func() { b.lose() })
	return b
}

// serveNATS starts a server in this process.
func serveNATS(t testing.TB, port int, users ...*server.User) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, Users: users})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS does not start")
	}
	return s
}

// nodesAt starts nodes that notify each other by a publisher, and waits until each hears it.
func nodesAt(t testing.TB, db *pgxpool.Pool, b *testPublisher, n int, silent bool, every time.Duration) (nodes []*node) {
	t.Helper()
	for range n {
		nodes = append(nodes, startNodeAt(t, db, silent, every, b.address))
	}
	for _, n := range nodes {
		n.connected(t)
	}
	return nodes
}

// connected waits until a node is at its NATS server, if it uses one, and has read what it may have missed before.
func (n *node) connected(t testing.TB) {
	t.Helper()
	if n.nats != nil {
		eventually(t, "a node is at NATS", func() bool { return n.nats.Connected() && n.nats.idle() })
	}
}

func (b *NATS) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.all && len(b.newest) == 0
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("it does not happen that %s", what)
		}
		if err := seats.Sleep(t.Context(), 2*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// claimAll has each node claim some places, one after the other, all nodes at once.
func claimAll(t *testing.T, nodes []*node, each int) {
	t.Helper()
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for range each {
				take(t, n, seats.NewID(), 1)
			}
		})
	}
	all.Wait()
}

const versionSQL = `SELECT max(version) FROM counter`

// reach waits until all nodes are at the version of the database, with the same map.
func reach(t *testing.T, db *pgxpool.Pool, nodes []*node) {
	t.Helper()
	var version int64
	if err := db.QueryRow(t.Context(), versionSQL).Scan(&version); err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		eventually(t, fmt.Sprintf("node %d reaches version %d", i, version), func() bool { return n.sale.Version() == version })
	}
	for i, n := range nodes {
		if a, b := n.sale.Bitmap().Counts, nodes[0].sale.Bitmap().Counts; !slices.Equal(a.Free, b.Free) || !slices.Equal(a.Held, b.Held) {
			t.Errorf("node %d counts %v, node 0 %v", i, a, b)
		}
	}
}

func TestNotify_EightNodesReachTheSameVersionInOrder(t *testing.T) {
	t.Parallel()
	eachPublisher(t, func(t *testing.T, db *pgxpool.Pool, b *testPublisher) {
		nodes := nodesAt(t, db, b, 8, false, never)
		var mu sync.Mutex
		for _, n := range nodes {
			last, changed := int64(0), n.office.Changed
			n.office.Changed = func(s *seats.Sale) {
				changed(s)
				mu.Lock()
				defer mu.Unlock()
				if v := s.Version(); v < last {
					t.Errorf("the map goes back from %d to %d", last, v)
				} else {
					last = v
				}
			}
		}
		claimAll(t, nodes, 10)
		reach(t, db, nodes)
	})
}

func TestNotify_DoubledAndReversedNotificationsAreHarmless(t *testing.T) {
	t.Parallel()
	eachPublisher(t, func(t *testing.T, db *pgxpool.Pool, b *testPublisher) {
		nodes := nodesAt(t, db, b, 2, true, never)
		claimAll(t, nodes[:1], 3) // without a notification
		event, version := nodes[0].sale.Event.ID, nodes[0].sale.Version()
		for _, v := range []int64{version, version - 2, version, version - 1} {
			nodes[0].notifier.Notify(event, v)
			nodes[0].notifier.Notify(event, v)
		}
		reach(t, db, nodes)
		for v := range version + 1 {
			read := nodes[1].office.Open()[0].Behind(v)
			if read {
				t.Errorf("a notification of version %d has a node at %d read", v, version)
			}
		}
		nodes[1].notifier.Notify(event, version-1)
		claimAll(t, nodes[1:], 1)
		nodes[1].notifier.Notify(event, nodes[1].sale.Version())
		reach(t, db, nodes)
	})
}

func TestNotify_LostServerLosesNoChange(t *testing.T) {
	t.Parallel()
	eachPublisher(t, func(t *testing.T, db *pgxpool.Pool, b *testPublisher) {
		nodes := nodesAt(t, db, b, 8, false, never)
		claimAll(t, nodes, 3)
		var claims sync.WaitGroup
		claims.Go(func() { claimAll(t, nodes, 12) })
		b.lose()
		claims.Wait()
		claimAll(t, nodes[:1], 1)
		reach(t, db, nodes) // while it is away
		b.back()
		for _, n := range nodes {
			n.connected(t)
		}
		claimAll(t, nodes, 2)
		reach(t, db, nodes)
	})
}

func TestNotify_ChangeOfANodeThatDiedBeforeItNotifiedIsFound(t *testing.T) {
	t.Parallel()
	eachPublisher(t, func(t *testing.T, db *pgxpool.Pool, b *testPublisher) {
		dead := startNodeAt(t, db, true, never, b.address) // it commits and never notifies
		nodes := nodesAt(t, db, b, 2, false, never)
		take(t, dead, seats.NewID(), 1)
		take(t, nodes[0], seats.NewID(), 1)
		reach(t, db, nodes) // by the next change

		looks := nodesAt(t, db, b, 1, false, pollEvery)
		take(t, dead, seats.NewID(), 1)
		reach(t, db, looks) // by itself: the others never look
	})
}

// gate passes connections on, until it is shut.
type gate struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	shut     bool
	open     []net.Conn
	flow     sync.RWMutex // locked while it holds back what comes
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, to: to}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.pass(c)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); g.set(true) })
	return g
}

func (g *gate) pass(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	far, err := net.Dial("tcp", g.to)
	if g.shut || err != nil {
		_ = c.Close()
		return
	}
	g.open = append(g.open, c, far)
	go g.carry(far, c)
	go g.carry(c, far)
}

func (g *gate) carry(to, from net.Conn) {
	_, _ = io.Copy(through{to, &g.flow}, from)
	_ = to.Close()
}

type through struct {
	net.Conn
	flow *sync.RWMutex
}

// Write is part of io.Writer.
func (t through) Write(p []byte) (int, error) {
	t.flow.RLock()
	defer t.flow.RUnlock()
	return t.Conn.Write(p)
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	if shut {
		for _, c := range g.open {
			_ = c.Close()
		}
		g.open = nil
	}
}

func TestNATS_NodeThatWasCutOffCatchesUpOnceItIsBack(t *testing.T) {
	t.Parallel()
	db := event(t, 1000)
	b := natsTower(t, db)
	g := newGate(t, strings.TrimPrefix(b.address, "nats://"))
	nodes := append(nodesAt(t, db, b, 2, false, never), nodesAt(t, db, &testPublisher{address: "nats://" + g.listener.Addr().String()}, 1, false, never)...)
	cut := nodes[2]
	g.set(true)
	eventually(t, "the node is cut off", func() bool { return !cut.nats.Connected() && cut.nats.idle() })
	claimAll(t, nodes[:2], 5)
	reach(t, db, nodes[:2])
	take(t, cut, seats.NewID(), 1) // it notifies by PostgreSQL
	reach(t, db, nodes[:2])
	claimAll(t, nodes[:2], 2)
	reach(t, db, nodes[:2])
	g.set(false)
	reach(t, db, nodes)
}

func TestNATS_ServerThatHangsDelaysANotificationByASecond(t *testing.T) {
	t.Parallel()
	db := event(t, 1000)
	g := newGate(t, strings.TrimPrefix(natsTower(t, db).address, "nats://"))
	nodes := nodesAt(t, db, &testPublisher{address: "nats://" + g.listener.Addr().String()}, 3, false, never)
	g.flow.Lock()
	t.Cleanup(g.flow.Unlock)
	// Not by the clock, which a busy machine may hold up: its own limit of 1 s has to end the wait, not the loss of the connection after 6 s.
	if err := nodes[0].nats.publish(t.Context(), VersionsChannel, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait for a server that hangs ends with %v", err)
	}
	claimAll(t, nodes, 1)
	reach(t, db, nodes)
}

func TestNATS_PostgreSQLNotifiesOnlyWhileItIsAway(t *testing.T) {
	t.Parallel()
	db := event(t, 1000)
	b := natsTower(t, db)
	ear, err := openConn(t.Context(), db.Config().ConnString(), `LISTEN usher`)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeConn(ear) })
	nodes := nodesAt(t, db, b, 2, false, never)
	claimAll(t, nodes, 20)
	reach(t, db, nodes)
	if _, err := db.Exec(t.Context(), `SELECT pg_notify('usher', 'the end')`); err != nil {
		t.Fatal(err)
	}
	if first, err := ear.WaitForNotification(t.Context()); err != nil || first.Payload != "the end" {
		t.Fatalf("PostgreSQL notified %v (%v)", first, err)
	}
	b.lose()
	claimAll(t, nodes, 1)
	if first, err := ear.WaitForNotification(t.Context()); err != nil || !strings.HasPrefix(first.Payload, fmt.Sprint(nodes[0].sale.Event.ID, ":")) {
		t.Errorf("PostgreSQL notified %v (%v)", first, err)
	}
}

func TestNATS_OtherMachinesAreReachedInTLSAlone(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"nats://127.0.0.1:4222":                              "plain",
		"nats://localhost":                                   "plain",
		"nats://[::1]:4222":                                  "plain",
		"tls://user:secret@nats.example.org":                 "secure",
		"nats://user:secret@nats.example.org:4222":           "secure",
		"nats://127.0.0.1,nats://nats.example.org":           "secure",
		"nats://nats.example.org?tls=optional":               "plain",
		"nats://a.example.org?tls=optional,nats://b.example": "secure",
		"nats://nats.example.org?tls=never":                  "wrong",
		"http://nats.example.org":                            "wrong",
		"nats.example.org:4222":                              "wrong",
		"":                                                   "wrong",
	} {
		a, err := ParseNATS(address)
		got := map[bool]string{true: "secure", false: "plain"}[a.secure]
		if err != nil {
			got = "wrong"
		}
		if got != want {
			t.Errorf("%q is %s, want %s (%v)", address, got, want, err)
		}
	}
	s := serveNATS(t, -1) // without TLS
	defer s.Shutdown()
	for _, secure := range []bool{false, true} {
		b := NewNATS(NATSAddress{servers: []string{s.ClientURL()}, secure: secure}, "", NewListener("", nil, NewHub(), quiet()), quiet())
		conn, err := b.connect("test.")
		if err != nil {
			t.Fatal(err)
		}
		if conn.IsConnected() == secure {
			t.Errorf("TLS is demanded: %t; the server has none, and is spoken to: %t", secure, !secure)
		}
		if conn.Opts.IgnoreDiscoveredServers == secure {
			t.Errorf("TLS is demanded: %t; servers that the cluster tells of are used: %t", secure, secure)
		}
		conn.Close()
	}
}

func TestNATS_ServerThatRefusesANodeIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := serveNATS(t, -1, &server.User{Username: "usher", Password: "a,b"})
	t.Cleanup(s.Shutdown)
	g := newGate(t, s.Addr().String())
	for password, right := range map[string]bool{"a%2Cb": true, "wrong": false} {
		address, err := ParseNATS("nats://usher:" + password + "@" + g.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := NewNATS(address, "", NewListener("", nil, NewHub(), quiet()), quiet()).connect("test.")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		if conn.IsConnected() != right {
			t.Errorf("with the password %s a node is let in: %t", password, !right)
		}
	}
	eventually(t, "a node that was refused tries again and again", func() bool { // a client of NATS gives up by itself after the second time
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.open) >= 2*(1+4)
	})
}

func TestNATS_PostgreSQLNotifiesWhatTheServerForbids(t *testing.T) {
	t.Parallel()
	db := event(t, 1000)
	s := serveNATS(t, -1, &server.User{Username: "usher", Password: "secret", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{natsSubject + ">"}}}})
	t.Cleanup(s.Shutdown)
	nodes := nodesAt(t, db, &testPublisher{address: "nats://usher:secret@" + s.Addr().String()}, 2, false, never)
	claimAll(t, nodes, 2)
	reach(t, db, nodes)
}

func TestNotifier_SendsTheNewestVersionOfEachEvent(t *testing.T) {
	t.Parallel()
	n := NewNotifier("", quiet())
	for _, version := range []int64{5, 3, 7, 6} {
		n.Notify(12, version)
	}
	if got := n.versionsPayload(); got != "12:7" {
		t.Errorf("it sends %q", got)
	}
}
