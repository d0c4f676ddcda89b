package seats_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

// deaf is a connection that ends when the answer to a COMMIT comes, before anybody read it.
type deaf struct {
	net.Conn
	armed *atomic.Bool
}

var errDeaf = errors.New("the connection is gone")

func (d deaf) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	if bytes.Contains(b[:n], []byte("COMMIT\x00")) && d.armed.CompareAndSwap(true, false) {
		return 0, errors.Join(errDeaf, d.Conn.Close())
	}
	return n, err
}

func TestALostAnswerToCommitLeavesTheMapAsTheRowsAre(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	cfg, err := pgxpool.ParseConfig(b.db.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	var armed atomic.Bool
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return deaf{conn, &armed}, err
	}
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	_, sale := node(t, db)
	who := seats.NewID()
	if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/2"}}); err != nil { // takes locks, for they are known
		t.Fatal(err)
	}
	if armed.Load() {
		t.Fatal("no answer was lost")
	}
	if state := sale.Snapshot().States[1]; state != seats.Held {
		t.Errorf("the claim was granted, and the map of its node shows the seat as %s", state)
	}
}

// slow is a connection that loses its first claim on the way: this side is told that the connection broke, and the server
// gets the claim later, when a batch with the next try has its locks.
type slow struct {
	net.Conn
	of   *slowly
	dead atomic.Bool // for this side
}

// slowly is what connections of one pool have in common.
type slowly struct {
	mu     sync.Mutex
	marked []byte // is in every claim that is meant
	first  *slow
	late   []byte            // what it was about to send
	second func(first *slow) // before the second one is sent
}

func (s *slow) Write(b []byte) (int, error) {
	if s.dead.Load() { // the end of the connection is lost as well
		return len(b), nil
	}
	if !bytes.Contains(b, s.of.marked) {
		return s.Conn.Write(b)
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	switch {
	case s.of.first == nil:
		s.of.first, s.of.late = s, bytes.Clone(b)
		s.dead.Store(true)
		return 0, errDeaf
	case s.of.second != nil:
		s.of.second(s.of.first)
		s.of.second = nil
	}
	return s.Conn.Write(b)
}

func (s *slow) Close() error {
	if s.dead.Load() {
		return nil
	}
	return s.Conn.Close()
}

func TestFastPath_ALostTryAndTheNextOneDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	cfg := b.db.Config()
	of := &slowly{marked: []byte("the key of a claim")}
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &slow{Conn: conn, of: of}, err
	}
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	_, sale := node(t, db)
	until := func(what string, so func() bool) {
		for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("it never came to be: %s", what)
				return
			}
		}
	}
	pid := 0 // of the backend with the lost claim
	of.second = func(first *slow) {
		if _, err := first.Conn.Write(of.late); err != nil {
			t.Error(err)
		}
		until("the lost claim waits for the batch with the next try", func() bool {
			err := b.db.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&pid)
			return err == nil
		})
	}
	store := sessions.New(db, nil)
	ctx := store.Act(t.Context())
	store.Newcomer(ctx, func() (string, []byte, time.Time) { return "then.secret", []byte("data"), time.Unix(4e9, 0) })
	if _, err := sale.Claim(ctx, seats.NewID(), string(of.marked), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Error(err)
	}
	if of.first == nil || of.second != nil {
		t.Fatal("no claim was lost, or none came again")
	}
	_ = of.first.Conn.Close()
	n := 0
	until("the backend with the lost claim ends, and has counted", func() bool {
		err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, pid).Scan(&n)
		return err == nil && n == 0
	})
	if err := b.db.QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n); err != nil || n > 0 {
		t.Errorf("%d of two batches were undone because they waited for each other, %v", n, err)
	}
}

// through is a node of which each connection is what of makes of it.
func (b *bench) through(t *testing.T, log io.Writer, of func(net.Conn) net.Conn) *seats.Sale {
	t.Helper()
	cfg := b.db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return of(conn), nil
	}
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	sale, err := seats.NewInventory(db, slog.New(slog.NewTextHandler(log, nil))).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return sale
}

// late is a connection on which the answer to a marked statement comes only when the caller has stopped waiting for it.
type late struct {
	net.Conn
	mark  []byte
	waits atomic.Bool
	ended chan struct{}
	end   func()
}

func (l *late) Write(b []byte) (int, error) {
	if bytes.Contains(b, l.mark) {
		l.waits.Store(true)
	}
	return l.Conn.Write(b)
}

func (l *late) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if l.waits.Load() {
		<-l.ended
		return 0, os.ErrDeadlineExceeded
	}
	return n, err
}

func (l *late) SetDeadline(at time.Time) error {
	if l.waits.Load() && !at.IsZero() {
		l.end()
	}
	return l.Conn.SetDeadline(at)
}

func (l *late) Close() error {
	l.end()
	return l.Conn.Close()
}

// It takes as long as a half of a batch may: ten seconds.
func TestFastPath_ClaimWithALateAnswerIsGranted(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	mark := []byte("the key of a claim")
	sale := b.through(t, io.Discard, func(conn net.Conn) net.Conn {
		ended := make(chan struct{})
		return &late{Conn: conn, mark: mark, ended: ended, end: sync.OnceFunc(func() { close(ended) })}
	})
	hold, err := sale.Claim(t.Context(), seats.NewID(), string(mark), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if err != nil || hold.ExpiresAt.IsZero() {
		t.Fatalf("the claim was committed and got %+v, %v", hold, err)
	}
	if state := sale.Snapshot().States[0]; state != seats.Held {
		t.Errorf("the claim was granted, and the map of its node shows the seat as %s", state)
	}
}

// journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func TestExtend_LostAnswerIsSaidToBeOpen(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	var armed atomic.Bool
	var log journal
	sale := b.through(t, &log, func(conn net.Conn) net.Conn { return deaf{conn, &armed} })
	who := seats.NewID()
	if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if _, err := sale.Extend(t.Context(), who, ""); err == nil || armed.Load() {
		t.Fatalf("the extension got %v; no answer was lost: %v", err, armed.Load())
	}
	comesToBe(t, "it is logged", func() bool { return log.String() != "" })
	if said := log.String(); !strings.Contains(said, "may have been committed") || strings.Contains(said, "nothing was changed") {
		t.Errorf("of an extension that was committed the log says %s", said)
	}
}

// cut is a connection that ends for this side only: the server goes on.
type cut struct {
	net.Conn
	of *cuts
}

type cuts struct {
	at     chan struct{} // closed when the connections end
	marked []byte        // is in what is sent on those that end
	ends   atomic.Pointer[cut]
}

// cancels begins a request to end a statement: 16 bytes, and this number.
var cancels = []byte{0, 0, 0, 16, 4, 210, 22, 46}

func (c *cut) Write(b []byte) (int, error) {
	switch {
	case bytes.HasPrefix(b, cancels): // it does not arrive
		return len(b), nil
	case bytes.Contains(b, c.of.marked):
		c.of.ends.CompareAndSwap(nil, c)
	}
	return c.Conn.Write(b)
}

func (c *cut) Read(b []byte) (int, error) {
	if c.of.ends.Load() != c {
		return c.Conn.Read(b)
	}
	<-c.of.at
	return 0, errDeaf
}

func (c *cut) Close() error {
	if c.of.ends.Load() == c {
		return nil
	}
	return c.Conn.Close()
}

func TestSell_LostBatchThatTheServerStillWritesIsAwaited(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	of := &cuts{at: make(chan struct{}), marked: []byte("the note of an order")}
	sale := b.through(t, io.Discard, func(conn net.Conn) net.Conn { return &cut{conn, of} })
	who, person, order := seats.NewID(), seats.NewID(), seats.NewID()
	hold, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(t.Context()) }()
	if err := seats.LockPurchases(t.Context(), other, sale.Event.ID, person); err != nil {
		t.Fatal(err)
	}
	p := seats.Purchase{Holder: who, Order: order, Hold: hold.ID, Seats: hold.Seats, Keys: []seats.ID{person}}
	p.Write = func(q *pgx.Batch, _ []seats.Line) { q.Queue(`SELECT $1::text`, string(of.marked)) }
	answer := make(chan error, 1)
	go func() { _, err := sale.Sell(t.Context(), p); answer <- err }()
	comesToBe(t, "the batch waits for a person", func() bool { return b.waiting(t) == 1 })
	close(of.at)
	comesToBe(t, "the lost batch is awaited", func() bool { return b.waiting(t) == 2 || len(answer) > 0 })
	if err := other.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("the order was committed and got %v", err)
	}
	if state := sale.Snapshot().States[0]; state != seats.Sold {
		t.Errorf("the seat is sold, and the map of its node shows it as %s", state)
	}
}
