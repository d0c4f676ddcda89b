package torture

import "fmt"

// MutantResult is what became of one planted bug.
type MutantResult struct {
	Bug     string    `json:"bug"`
	Caught  bool      `json:"caught"`
	By      Violation `json:"by"`
	Seconds float64   `json:"seconds"`
}

// String is a line of the report.
func (m MutantResult) String() string {
	if !m.Caught {
		return fmt.Sprintf("NOT CAUGHT: %s (%.1f s)", m.Bug, m.Seconds)
	}
	return fmt.Sprintf("caught after %.1f s: %s, by %s", m.Seconds, m.Bug, m.By.Judge)
}
