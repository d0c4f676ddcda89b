//go:build figures

package e2e

// timed says that the times of this run are held against budgets: it is `make figures`, on a machine with nothing else to do.
const timed = true
