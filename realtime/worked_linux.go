package realtime

import (
	"runtime"
	"syscall"
	"time"
)

// ofThread is RUSAGE_THREAD, which package syscall has no name for.
const ofThread = 1

// worked does something and returns the processor's time it took. What others did on the machine meanwhile is not
// counted: a node beside a busy neighbour must not take the neighbour's work for its own and tell news late.
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
