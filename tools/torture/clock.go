package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// skew is how far the database's clock is from ours, and was. Everybody in the judge who compares what the database said
// with when it was asked goes by it.
type skew struct {
	mu    sync.Mutex
	jumps []jump
}

// jump is one change of the clock: by the end of it every process of the database goes by the new time.
type jump struct {
	began, ended int64 // by our clock
	after        time.Duration
}

// to notes a jump that do makes.
func (s *skew) to(now func() int64, after time.Duration, do func() error) error {
	s.mu.Lock()
	s.jumps = append(s.jumps, jump{began: now(), ended: 1<<63 - 1, after: after})
	s.mu.Unlock()
	err := do()
	s.mu.Lock()
	s.jumps[len(s.jumps)-1].ended = now()
	s.mu.Unlock()
	return err
}

// between is the least and the most that the database's clock was ahead at any moment from one time to another.
func (s *skew) between(from, to int64) (least, most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := true
	count := func(d time.Duration) {
		if first || int64(d) < least {
			least = int64(d)
		}
		if first || int64(d) > most {
			most = int64(d)
		}
		first = false
	}
	if len(s.jumps) == 0 || from < s.jumps[0].ended {
		count(0)
	}
	for i, j := range s.jumps {
		end := int64(1<<63 - 1)
		if i+1 < len(s.jumps) {
			end = s.jumps[i+1].ended
		}
		if j.began <= to && from < end {
			count(j.after)
		}
	}
	return least, most
}

// now is how far the clock is ahead now.
func (s *skew) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.jumps) == 0 {
		return 0
	}
	return s.jumps[len(s.jumps)-1].after
}

// fakeClock finds libfaketime, with which the clock of the database can be set without that of the machine.
func fakeClock() string {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// clockEnv has a server go by a clock that the file sets. Each process reads it when a second of ours begins, and not whenever
// it asks for the time: it may ask in the middle of anything, and reading a file there breaks it.
func clockEnv(library, file string) []string {
	return []string{
		"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_CACHE_DURATION=0", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1",
	}
}

// setClock writes how far the clock is ahead, in one piece.
func setClock(file string, ahead time.Duration) error {
	next := file + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.3f\n", ahead.Seconds()), 0o644); err != nil { // the server's user reads it
		return err
	}
	return os.Rename(next, file)
}
