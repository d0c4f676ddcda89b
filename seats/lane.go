package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	batchCommands = 512              // the most commands one batch carries
	batchTime     = 10 * time.Second // the most time one batch may take
)

// command is one try to change seats. It is decided as a whole, under the lock, by decide.
type command struct {
	holder ID    // in whose name
	seats  []int // to lock, besides those the holder has
	decide func(*batch) (Hold, error)

	choice *choice // for claims that leave the choice of seats to us; see best.go
	key    string  // idempotency key, empty if none
	wish   []byte  // hash of what was asked for, kept beside the key

	again  bool        // the map was wrong about it once: ask the database
	answer chan answer // has room for the one answer
}

type answer struct {
	hold Hold
	err  error
}

// do puts a command into the event's lane and waits for its answer. If ctx ends first the command may still be done.
func (s *Sale) do(ctx context.Context, c *command) (Hold, error) {
	c.answer = make(chan answer, 1)
	s.mu.Lock()
	s.waiting = append(s.waiting, c)
	if !s.running {
		s.running = true
		s.office.lanes.Add(1)
		go s.run()
	}
	s.mu.Unlock()
	select {
	case a := <-c.answer:
		return a.hold, a.err
	case <-ctx.Done():
		return Hold{}, fmt.Errorf("seats: event %d: wait for an answer: %w", s.Event.ID, ctx.Err())
	}
}

// run writes batch after batch while commands wait. While one is being written the next one gathers: the busier the
// event, the larger its batches, and a lone command waits for nobody.
func (s *Sale) run() {
	defer s.office.lanes.Done()
	for {
		s.mu.Lock()
		n := min(len(s.waiting), batchCommands)
		if n == 0 {
			s.running, s.waiting = false, nil
			s.mu.Unlock()
			return
		}
		commands := s.waiting[:n:n]
		s.waiting = s.waiting[n:]
		s.mu.Unlock()
		if again := s.batch(commands); len(again) > 0 {
			s.mu.Lock()
			s.waiting = append(again, s.waiting...)
			s.mu.Unlock()
		}
	}
}

// batch decides and writes commands, answers them, and returns those that are to come again.
func (s *Sale) batch(commands []*command) (again []*command) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()
	b, err := s.write(ctx, commands)
	for tries := 1; retryable(err) && tries < 5; tries++ {
		b, err = s.write(ctx, commands)
	}
	for errors.Is(err, errNotBegun) && connectionLost(err) && pause(ctx) {
		b, err = s.write(ctx, commands)
	}
	if err != nil {
		err = fmt.Errorf("seats: event %d: batch of %d: %w", s.Event.ID, len(commands), err)
		s.office.log.Error("a batch failed; its commands were refused and nothing was changed", "error", err)
		for _, c := range commands {
			c.answer <- answer{err: err}
		}
		return nil
	}
	s.committed(ctx, b)
	for i, c := range commands {
		if errors.Is(b.answers[i].err, errChooseAgain) {
			again = append(again, c)
			continue
		}
		c.answer <- b.answers[i]
	}
	return again
}

// committed takes the map on and tells the world.
func (s *Sale) committed(ctx context.Context, b *batch) {
	if b.newHold {
		s.office.wakeLapse()
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
// nodes that made the same holder's first hold at once.
func retryable(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	return pg.Code == "40P01" || pg.ConstraintName == "hold_pkey" || pg.ConstraintName == "claim_pkey"
}

// errNotBegun marks a failure before anything was decided: the commands may simply be tried again.
var errNotBegun = errors.New("the batch was not begun")

// write takes one connection for one batch: lock, decide, write.
//
// The statement names cached on a connection survive a ROLLBACK, so a connection is given back in any case.
func (s *Sale) write(ctx context.Context, commands []*command) (*batch, error) {
	conn, err := s.office.db.Acquire(ctx)
	if err != nil {
		return nil, errors.Join(errNotBegun, err)
	}
	defer conn.Release()
	b := newBatch(s, commands)
	if err := b.lock(ctx, conn.Conn()); err != nil {
		return nil, errors.Join(errNotBegun, err, rollback(conn.Conn()))
	}
	b.decide()
	if err := b.save(ctx, conn.Conn()); err != nil {
		if found := b.findCommit(s.office.db, err); found {
			return b, nil
		}
		return nil, errors.Join(err, rollback(conn.Conn()))
	}
	return b, nil
}

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

// connectionLost tells whether an error leaves open what the server did.
func connectionLost(err error) bool {
	var pg *pgconn.PgError
	return err != nil && (!errors.As(err, &pg) || pg.Severity == "FATAL")
}
