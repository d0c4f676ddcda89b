//go:build !linux

package e2e

import "time"

// threadTime would be the processor's time that this thread has had; here it is the time of day, and nobody else is there.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
