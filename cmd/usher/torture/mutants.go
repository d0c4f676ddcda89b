package torture

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// Mutant is a bug that can be planted into a node built with the tag mutants (seats/planted_mutants.go), and the faults
// without which nobody would notice.
type Mutant struct {
	Bug    string
	About  string
	Faults []string
	hot    int  // how many seats most people want
	slow   bool // it takes some luck and more time to catch: not in the short version
}

// Mutants are the planted bugs. Each must be caught, or the judge is worth nothing.
var Mutants = []Mutant{
	{Bug: "check then update", About: "seats are looked at without a lock and written without a guard"},
	{Bug: "hold trusted", About: "an order and a release believe the hold, not the seat", slow: true},
	{Bug: "no idempotency key", About: "a repeat is done again", Faults: []string{"answer to COMMIT lost", "client connections cut"}, slow: true},
	{Bug: "synchronous_commit off", About: "an answer does not wait for the disk", Faults: []string{"database killed"}, slow: true},
	{Bug: "locks in no order", About: "seats are locked in another order on some connections", Faults: []string{"database slow"}, hot: 5, slow: true},
	{Bug: "counter left behind", About: "the counter forgets what is held", slow: true},
	{Bug: "versions with gaps", About: "a version is left out"},
	{Bug: "NOTIFY trusted", About: "what no bell rang for is never read", Faults: []string{"LISTEN lost"}, slow: true},
	{Bug: "feed by last id", About: "a later version is taken for the next one"},
	{Bug: "lapse by node clock", About: "a node whose clock is a second ahead decides that time is up", slow: true},
	{Bug: "epoch ignored", About: "every run of the database has the same name", slow: true},
	{Bug: "granted in part", About: "a claim gets those of its seats that are free"},
	{Bug: "time up means nothing", About: "a seat whose time is up is refused"},
	{Bug: "limit ignored", About: "somebody holds more seats than one may"},
	{Bug: "more seats reset the clock", About: "a seat more gives all of them the whole time again"},
	{Bug: "lost answer believed", About: "a batch whose answer was lost is taken for committed", Faults: []string{"COMMIT lost"}, slow: true},
	{Bug: "session forgotten", About: "a session is only in the memory of its node"},
	{Bug: "commit forgotten", About: "an answer is given and the transaction undone"},
}

// MutantResult is what became of one planted bug.
type MutantResult struct {
	Bug     string    `json:"bug"`
	About   string    `json:"about"`
	Caught  bool      `json:"caught"`
	By      Violation `json:"by"`
	Rounds  int       `json:"rounds"`
	Seconds float64   `json:"seconds"`
}

// String is a line of the report.
func (m MutantResult) String() string {
	if !m.Caught {
		return fmt.Sprintf("NOT CAUGHT in %d rounds, %.1f s: %s (%s)", m.Rounds, m.Seconds, m.Bug, m.About)
	}
	return fmt.Sprintf("caught by %-16s after %5.1f s: %s (%s)", m.By.Judge, m.Seconds, m.Bug, m.About)
}

// BuildMutant builds the program with its planted bugs from the source in module, which has to be on this machine.
func BuildMutant(ctx context.Context, module, dir string) (program string, err error) {
	program = filepath.Join(dir, "usher-mutant")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "mutants", "-o", program, "./cmd/usher")
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("torture: build the mutants: %w\n%s", err, out)
	}
	return program, nil
}

// mostRounds is after how many tries a bug counts as not caught.
const mostRounds = 12

// Plant tortures nodes that have a bug until somebody notices.
func Plant(ctx context.Context, server *Server, m Mutant, s Settings) (MutantResult, error) {
	result := MutantResult{Bug: m.Bug, About: m.About}
	began := time.Now()
	s.Env, s.Faults, s.none = append(s.Env, "USHER_MUTANT="+m.Bug), m.Faults, len(m.Faults) == 0
	s.Hot = m.hot
	s.patience = 15 * time.Second
	s.Until = func(v []Violation) bool { return len(v) > 0 }
	for ; !result.Caught && result.Rounds < mostRounds; result.Rounds++ {
		s.Seed++
		report, err := Run(ctx, server, s)
		if err != nil {
			return result, fmt.Errorf("with the bug %q: %w", m.Bug, err)
		}
		if report.Failed() {
			result.Caught, result.By = true, report.Violations[0]
		}
		s.For += s.For / 2
	}
	result.Seconds = round(time.Since(began).Seconds())
	return result, nil
}

// PlantAll plants one bug after the other.
func PlantAll(ctx context.Context, server *Server, s Settings, tell func(MutantResult)) (all []MutantResult, err error) {
	s.For, s.Nodes, s.Clients, s.Watchers, s.Rest, s.Look = 1500*time.Millisecond, 2, 8, 2, 200*time.Millisecond, 100*time.Millisecond
	for _, m := range Mutants {
		result, err := Plant(ctx, server, m, s)
		if err != nil {
			return all, err
		}
		tell(result)
		all = append(all, result)
	}
	return all, nil
}
