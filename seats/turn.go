package seats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	batchTime  = 10 * time.Second // the most time either half of a turn may take
	batchTries = 5                // how often a command travels in batches that fail before it is refused
)

// turn is one batch on its way: begin locks and decides, end writes and answers. It keeps one connection between.
type turn struct {
	batch   *batch
	swift   bool          // it takes no locks beforehand: see swift.go
	beside  *turn         // the swift turn that was under way when this one was sent; it ends first
	unsure  bool          // the batch before failed: what was refused because of it may be had after all
	conn    *pgxpool.Conn // nil if it could not begin
	err     error         // why
	version atomic.Int64  // what it was committed as; 0 until then, and if it changed nothing
	ended   chan struct{} // closed when it was written and answered, or undone
}

// begin locks what the commands need and decides them. Nothing was decided when it fails, so it tries again by itself.
func (s *Sale) begin(commands []*command, before *turn) *turn {
	ctx, cancel := context.WithTimeout(forBatch(context.Background()), batchTime)
	defer cancel()
	if before != nil && (before.batch.sharesHolder(commands) || before.batch.sharesPerson(commands)) {
		<-before.ended // a holder's first hold cannot be locked, and a person's new count cannot be read, before it is there
	}
	t := &turn{ended: make(chan struct{})}
	t.err = s.lock(ctx, t, commands, before)
	for tries := 1; retryable(t.err) && tries < batchTries || connectionLost(t.err) && Sleep(ctx, retryPause) == nil; tries++ {
		t.err = s.lock(ctx, t, commands, before)
	}
	if t.err == nil {
		t.batch.decide()
	}
	return t
}

// lock takes a connection and, on it, the locks of a batch.
//
// The statement names cached on a connection survive a ROLLBACK, so a connection is given back in any case.
func (s *Sale) lock(ctx context.Context, t *turn, commands []*command, before *turn) (err error) {
	t.batch = newBatch(s, commands, before)
	if t.conn, err = s.office.db.Acquire(ctx); err != nil {
		return err
	}
	if err = t.batch.lock(ctx, t.conn.Conn()); err != nil {
		s.office.count(err)
		err = errors.Join(err, rollback(t.conn.Conn()))
		t.conn.Release()
		t.conn = nil
	}
	return err
}

// end writes a batch and answers its commands. If it failed and may well succeed another time, they come again.
func (s *Sale) end(t *turn) {
	defer close(t.ended)
	defer func() { t.batch.before = nil }() // nobody holds on to the batch before
	ctx, cancel := context.WithTimeout(forBatch(context.Background()), batchTime)
	defer cancel()
	if t.err == nil {
		t.err = s.write(ctx, t)
		s.office.count(t.err)
	}
	t.release()
	if t.beside != nil {
		<-t.beside.ended
		t.beside = nil
	}
	if t.err != nil {
		s.failed(t)
		return
	}
	t.batch.rememberVisits()
	t.version.Store(t.batch.change.Version)
	s.committed(ctx, t.batch)
	s.answer(ctx, t)
}

// answer tells each command what became of it; those that are to choose other seats come again.
func (s *Sale) answer(ctx context.Context, t *turn) {
	var again []*command
	for i, c := range t.batch.commands {
		a := t.batch.answers[i]
		var refusal *Refusal
		if errors.Is(a.err, errChooseAgain) || t.unsure && c.choice != nil && errors.As(a.err, &refusal) {
			again = append(again, c)
			continue
		}
		c.answer <- a
	}
	if t.batch.behind {
		if err := s.CatchUp(ctx); err != nil {
			s.office.log.Warn("the map is behind until the next poll", "event", s.Event.ID, "error", err)
		}
	}
	s.comeAgain(again)
}

func (s *Sale) write(ctx context.Context, t *turn) error {
	if t.swift {
		return s.send(ctx, t)
	}
	err := t.batch.save(ctx, t.conn.Conn())
	if err == nil {
		return nil
	}
	if !connectionLost(err) {
		return errors.Join(err, rollback(t.conn.Conn()))
	}
	t.release() // it ended; the question needs another one
	committed, unknown := t.batch.findCommit(s.office.db)
	if committed {
		return nil
	}
	return errors.Join(err, unknown)
}

// release gives the turn's connection back. What comes after a batch is written reads on connections of the pool: turns of
// many events that each kept one and waited for one more would wait for each other.
func (t *turn) release() {
	if t.conn != nil {
		t.conn.Release()
		t.conn = nil
	}
}

// failed sends the commands of a batch that was undone through the lane again, or refuses them.
func (s *Sale) failed(t *turn) {
	var again []*command
	err := fmt.Errorf("seats: event %d: batch of %d: %w", s.Event.ID, len(t.batch.commands), t.err)
	for _, c := range t.batch.commands {
		if c.tries++; retryable(t.err) && c.tries < batchTries {
			again = append(again, c)
			continue
		}
		c.answer <- answer{err: err}
	}
	if len(again) == 0 {
		s.office.log.Error("a batch failed; its commands were refused and nothing was changed", "error", err)
	}
	s.comeAgain(again)
}

// committed takes the map on and tells the world.
func (s *Sale) committed(ctx context.Context, b *batch) {
	if b.newEnd != nil {
		s.office.wakeLapse(*b.newEnd)
	}
	if b.change.Version == 0 {
		return
	}
	if s.seats.apply(b.change) {
		s.office.changed(s)
	} else if err := s.CatchUp(ctx); err != nil {
		s.office.log.Warn("the map is behind until the next poll", "event", s.Event.ID, "error", err)
	}
	s.office.Committed(s.Event.ID, b.change.Version)
}

// retryable tells whether another try of the same batch may well succeed: a deadlock (there should be none), or two
// nodes that made the same holder's first hold at once, or claims that need locks after all, or an event whose
// waiting room this node did not know, or whose wait list, or whose status changed meanwhile.
func retryable(err error) bool {
	return deadlock(err) || isConstraint(err, "hold_pkey") || errors.Is(err, errNotSwift) || errors.Is(err, errRoom) || errors.Is(err, errListed) || shutMeanwhile(err) || overLimitMeanwhile(err)
}

func deadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}

func (o *Office) count(err error) {
	if deadlock(err) {
		o.deadlocks.Add(1)
		o.log.Error("two batches waited for each other; one is tried again", "error", err)
	}
}

// retryPause is between tries on connections that are dead already; how often a database that is away is asked is for
// the door.
const retryPause = 10 * time.Millisecond

// rollback ends a transaction whose error is already known; a connection that is gone has ended it itself.
func rollback(conn *pgx.Conn) error {
	if conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}
