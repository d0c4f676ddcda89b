package rush

import (
	"context"
	"sync"
	"time"
)

// Standstill stops the clock of a crowd: people do nothing meanwhile, and go on where they were. What was asked before is still answered.
// The zero value lets the crowd go. Its methods may be called at any time.
type Standstill struct {
	mu    sync.Mutex
	since time.Time     // zero: the crowd goes
	total time.Duration // of the times that are over
	over  chan struct{} // closed when the crowd goes on
}

// Stop stops the crowd.
func (s *Standstill) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since, s.over = time.Now(), make(chan struct{})
	}
}

// GoOn lets the crowd go on.
func (s *Standstill) GoOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() {
		s.total += time.Since(s.since)
		s.since = time.Time{}
		close(s.over)
	}
}

// Total is for how long the crowd stood still so far, and whether it does now.
func (s *Standstill) Total() (total time.Duration, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.total, false
	}
	return s.total + time.Since(s.since), true
}

// Wait returns once the crowd goes, or ctx is done.
func (s *Standstill) Wait(ctx context.Context) error {
	s.mu.Lock()
	now, over := !s.since.IsZero(), s.over
	s.mu.Unlock()
	if !now {
		return ctx.Err()
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
