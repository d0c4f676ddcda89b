//go:build !linux

package realtime

import "time"

// worked calls do and returns how long it took.
func worked(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
