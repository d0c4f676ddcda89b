package e2e

import (
	"syscall"
	"time"
)

// threadTime is the processor's time that this thread has had.
func threadTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD, which package syscall has no name for
	var u syscall.Rusage
	_ = syscall.Getrusage(ofThread, &u) // it knows its own thread
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
