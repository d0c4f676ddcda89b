// Package scale is for tests of how the time of something grows with its size. It is a package of its own: seats tests itself with it, and
// seatstest imports seats.
package scale

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Linear fails a test if work for four times as many takes more than ten times as long: then it grows with the square. It works for a fifth
// of most and for a quarter of that, in turns, three times each, and compares the shortest times. What counts is the time of the processor, so
// it says the same on a slow machine, and beside other work.
func Linear(t testing.TB, most int, work func(n int)) {
	t.Helper()
	few, many := time.Duration(1<<62), time.Duration(1<<62)
	for range 3 {
		few, many = min(few, timed(t, work, most/20)), min(many, timed(t, work, most/5))
	}
	if many > 10*few {
		t.Errorf("%d take %s, and %d take %s", most/20, few, most/5, many)
	}
}

// timed is how long a processor works.
func timed(t testing.TB, work func(n int), n int) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := spent(t)
	work(n)
	return spent(t) - began
}

// spent is how long processors have worked for this thread; on a system that does not count that, how long they have for the program.
func spent(t testing.TB) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD of Linux
	var used syscall.Rusage
	if syscall.Getrusage(thread, &used) != nil {
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			t.Fatal(err)
		}
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
