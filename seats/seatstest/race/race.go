// Package race keeps tests of what one goroutine computes short with the race detector, which makes that up to ten times
// slower and finds nothing in it.
package race

import "flag"

// Rounds returns how often a test repeats something: n times, and a tenth as often with the race detector.
func Rounds(n int) int {
	if On {
		return max(n/10, 1)
	}
	return n
}

// FewerChecks has each property of pgregory.net/rapid tried 40 times instead of 100 with the race detector, unless -rapid.checks says how often.
func FewerChecks() {
	if f := flag.Lookup("rapid.checks"); On && f != nil {
		_ = f.Value.Set("40") // a number
	}
}
