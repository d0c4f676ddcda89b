package seats

import (
	"testing"
	"time"
)

// answered is a batch of so many commands that has ended.
func answered(commands int) *inFlight {
	t := &inFlight{batch: &batch{commands: make([]*command, commands)}, ended: make(chan struct{})}
	close(t.ended)
	return t
}

func TestGather_WaitsUntilAllCallersAreBack(t *testing.T) {
	t.Parallel()
	s := &Sale{eventState: &eventState{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.waiting = make([]*command, 2)
	for range 3 {
		go func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.queue.waiting = append(s.queue.waiting, &command{})
		}()
	}
	began := time.Now()
	s.gather(answered(3), 10*time.Minute)
	if n := len(s.queue.waiting); n != 5 || time.Since(began) > 5*time.Minute {
		t.Errorf("after %v %d wait", time.Since(began), n)
	}
	if s.queue.skip != 0 {
		t.Errorf("callers came back, and %d batches go without a wait", s.queue.skip)
	}
}

func TestGather_IsSkippedWhereCallersDoNotComeBack(t *testing.T) {
	t.Parallel()
	s := &Sale{eventState: &eventState{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range 70 {
		skips := 2 << min(i, 5)
		s.gather(answered(2), time.Nanosecond)
		if s.queue.skip != skips {
			t.Fatalf("%d batches go without a wait, want %d", s.queue.skip, skips)
		}
		for range skips {
			s.gather(answered(2), time.Hour) // or the test takes as long
		}
	}
	under := &inFlight{batch: &batch{commands: make([]*command, 2)}, ended: make(chan struct{})}
	s.gather(under, time.Hour) // it has not ended, so there is no answer
	if s.queue.skip != 0 {
		t.Errorf("a batch under way was waited for: %d", s.queue.skip)
	}
}
