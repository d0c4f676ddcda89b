//go:build mutants

package orders

import (
	"os"
	"syscall"
)

// A program of the tests: it dies without a last word at the point that USHER_CRASH_AT names.
func init() {
	at := Point(os.Getenv("USHER_CRASH_AT"))
	hasBug = func(bug string) bool { return bug == os.Getenv("USHER_BUG") }
	atPoint = func(p Point) {
		if p == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it came
		}
	}
}
