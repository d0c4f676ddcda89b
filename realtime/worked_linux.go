package realtime

import (
	"runtime"
	"syscall"
	"time"
)

// ofThread is RUSAGE_THREAD, which package syscall has no name for.
const ofThread = 1

// worked calls do and returns the processor time of it. Other work on the machine does not count: next to a busy neighbor a
// node must not slow down its broadcasts.
func worked(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	do()
	return threadTime() - before
}

func threadTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(ofThread, &u) // it knows its own thread
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
