package seats_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
)

// street leads to a database, unless it is shut, and counts who comes.
type street struct {
	net.Listener
	to   string // a socket
	shut atomic.Bool
	came atomic.Int64
}

func newStreet(t *testing.T, to string) *street {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &street{Listener: l, to: to}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			s.came.Add(1)
			go s.lead(near)
		}
	}()
	return s
}

func (s *street) lead(near net.Conn) {
	defer near.Close()
	if s.shut.Load() {
		return
	}
	far, err := net.Dial("unix", s.to)
	if err != nil {
		return
	}
	defer far.Close()
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
}

func TestADatabaseThatIsAwayIsAskedSeldomAndClaimsWaitForIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 4))
	cfg := b.db.Config().ConnConfig
	street := newStreet(t, cfg.Host+"/.s.PGSQL.5432")
	db, err := database.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=%s sslmode=disable", street.Addr().(*net.TCPAddr).Port, cfg.Database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	_, sale := node(t, db)
	who := seats.NewID()
	if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}

	street.shut.Store(true)
	db.Reset()
	if err := db.Ping(t.Context()); err == nil {
		t.Fatal("the database is there still")
	}
	const knocks = 50
	before, began := street.came.Load(), time.Now()
	var all sync.WaitGroup
	for holder, request := range map[seats.ID]string{who: "Stalls/A/2", seats.NewID(): "Stalls/A/5"} {
		all.Go(func() {
			if _, err := sale.Claim(t.Context(), holder, "", seats.ClaimRequest{Seats: []string{request}}); err != nil {
				t.Errorf("a claim that came while the database was away: %v", err)
			}
		})
	}
	for range 8 {
		all.Go(func() {
			for db.Ping(t.Context()) != nil && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
		})
	}
	for street.came.Load() < before+knocks {
		time.Sleep(time.Millisecond)
	}
	if took, least := time.Since(began), knocks*4*time.Millisecond; took < least { // a busy machine only takes longer
		t.Errorf("ten callers knocked %d times within %v, want %v at least", knocks, took, least)
	}
	street.shut.Store(false)
	all.Wait()
}
