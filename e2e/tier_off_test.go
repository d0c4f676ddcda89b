//go:build !figures

package e2e

// timed says that the times of this run are held against budgets. `make check` runs on any machine, beside anything: it logs them.
const timed = false
