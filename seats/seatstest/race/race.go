// Package race keeps tests of what one goroutine computes short with the race detector, which makes that up to ten times
// slower and finds nothing in it.
package race

// Rounds returns how often a test repeats something: n times, and a tenth as often with the race detector.
func Rounds(n int) int {
	if On {
		return max(n/10, 1)
	}
	return n
}
