package seats_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
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
	b := newBench(t, seats.NewEvent{}, hall(1, 4))
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
	if _, err := sale.Claim(t.Context(), who, "", seats.Wish{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if _, err := sale.Claim(t.Context(), who, "", seats.Wish{Seats: []string{"Stalls/A/2"}}); err != nil { // takes locks, for they are known
		t.Fatal(err)
	}
	if armed.Load() {
		t.Fatal("no answer was lost")
	}
	if state := sale.Snapshot().States[1]; state != seats.Held {
		t.Errorf("the claim was granted, and the map of its node shows the seat as %s", state)
	}
}
