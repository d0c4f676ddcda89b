package seats_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
