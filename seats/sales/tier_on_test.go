//go:build figures

package sales

// timed says whether the times of this run are held against budgets, as in `make figures`.
const timed = true
