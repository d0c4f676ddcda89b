package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Mutant is a bug of package planted, and what brings it to light: a crowd, or a provocation.
type Mutant struct {
	Bug   string
	About string
	nodes int    // how many are needed; 0: two
	scene string // where it shows, if not in the hall

	provoke func(context.Context, *run) error
	hold    time.Duration // how long seats are held; 0: two seconds
	logs    bool          // it shows in the public log
	alone   bool          // it takes the server away from others
}

// Mutants are the planted bugs. Each must be caught, or the judge is worth nothing.
var Mutants = []Mutant{
	{Bug: "check then update", About: "seats are looked at without a lock and written without a guard", provoke: claimTogether, hold: time.Minute},
	{Bug: "hold trusted", About: "an order and a release believe the hold, not the seat", nodes: 1, provoke: orderLate, hold: time.Second},
	{Bug: "no idempotency key", About: "a repeat is done again", provoke: askTwice, hold: time.Minute},
	{Bug: "synchronous_commit off", About: "an answer does not wait for the disk", provoke: killAfterOrders, nodes: 1, alone: true},
	{Bug: "locks in no order", About: "seats are locked in another order on some connections", provoke: crossLocks, hold: time.Minute},
	{Bug: "counter after commit", About: "the counter is brought up to date after the commit", nodes: 1},
	{Bug: "versions with gaps", About: "a version is left out", nodes: 1, provoke: claimOne},
	{Bug: "NOTIFY trusted", About: "a change without a notification is never read", provoke: missNotification, hold: time.Minute},
	{Bug: "feed by last id", About: "a later version is taken for the next one"},
	{Bug: "lapse by node clock", About: "a node with a clock that is a second ahead decides that time is up", nodes: 1, provoke: claimAtOnce, hold: time.Second},
	{Bug: "epoch ignored", About: "every run of the database has the same name", nodes: 1, provoke: lookAtOnce},
	{Bug: "granted in part", About: "a claim gets those of its seats that are free", nodes: 1},
	{Bug: "time up means nothing", About: "an expired seat is refused", nodes: 1, provoke: claimExpired, hold: time.Second},
	{Bug: "limit ignored", About: "a visitor holds more seats than the limit", nodes: 1},
	{Bug: "more seats reset the clock", About: "a seat more gives all of them the whole time again", nodes: 1},
	{Bug: "lost answer believed", About: "a batch without an answer is taken for committed", provoke: stopWrites, nodes: 1, hold: time.Minute},
	{Bug: "session forgotten", About: "a session is only in the memory of its node"},
	{Bug: "commit forgotten", About: "an answer is given and the transaction undone", nodes: 1},
	{Bug: "captured before the guard", About: "money is taken before the seats are sold", scene: scenePaid, provoke: payLate, nodes: 1, hold: time.Second},
	{Bug: "no inbox", About: "news of the bank are only in the memory of their node", scene: scenePaid, provoke: killWhenTold, nodes: 1},
	{Bug: "old code lives", About: "a door lets the code of a ticket in that was sent on or sold again", scene: sceneDoor, nodes: 1, provoke: sendOn, hold: time.Minute},
	{Bug: "repaid before it is sold", About: "a ticket that is offered back ends at once", scene: sceneDoor, nodes: 1, provoke: offerBack, hold: time.Minute},
	{Bug: "offered ticket sent on", About: "a ticket that is offered back is sent to a friend", scene: sceneDoor, nodes: 1, provoke: sendOffered, hold: time.Minute},
	{Bug: "another leaf served", About: "the public log shows a leaf that it did not sign", nodes: 1, logs: true, provoke: claimOne},
	{Bug: "leaf left out", About: "a version is missing in the public log", nodes: 1, logs: true},
	{Bug: "two histories", About: "two readers of the public log are shown different roots of as many leaves", nodes: 1, logs: true},
	{Bug: "slot without expiry", About: "who walks away stays inside a waiting room for ever", scene: sceneRoom, provoke: walkAway, nodes: 1},
}

// Bugs are the mutants with these names; all, if none is named.
func Bugs(names []string) (list []Mutant, err error) {
	if len(names) == 0 {
		return Mutants, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(Mutants, func(m Mutant) bool { return m.Bug == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no planted bug %q", name)
		}
		list = append(list, Mutants[i])
	}
	return list, nil
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

// mostRounds is after how many tries a bug counts as not caught.
const mostRounds = 12

// Plant tortures nodes that have a bug until a judge notices.
func Plant(ctx context.Context, server *Server, m Mutant, s Settings) (MutantResult, error) {
	result := MutantResult{Bug: m.Bug, About: m.About}
	began := time.Now()
	s.Env, s.Faults, s.none = append(slices.Clone(s.Env), "USHER_MUTANT="+m.Bug), nil, true
	s.Scenes, s.provoke, s.Hold = nil, m.provoke, m.hold
	s.patience, s.right, s.tries = 30*time.Second, 15*time.Second, mostTries
	if m.provoke != nil {
		s.Look, s.right = time.Second, 4*time.Second
	}
	if m.nodes > 0 {
		s.Nodes, s.Watchers = m.nodes, m.nodes
	}
	if m.provoke == nil {
		s.tries = 40 // nothing is ever away
	}
	if !m.logs {
		s.Checker = ""
	}
	if m.scene != "" {
		s.Scenes = []string{m.scene}
	}
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

// atOnce is how many bugs are looked for at the same time.
const atOnce = 3

// PlantAll plants bugs, some at the same time: each in nodes and a database of its own. Those that take the server away
// come last, one after the other, so that they disturb no other.
func PlantAll(ctx context.Context, server *Server, s Settings, list []Mutant, tell func(MutantResult)) ([]MutantResult, error) {
	s.For, s.Nodes, s.Clients, s.Watchers, s.Rest, s.Look, s.Think = 1500*time.Millisecond, 2, 8, 2, 200*time.Millisecond, 100*time.Millisecond, 10*time.Millisecond
	all := make([]MutantResult, len(list))
	var mu sync.Mutex
	plant := func(ctx context.Context, i int) error {
		result, err := Plant(ctx, server, list[i], s)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		tell(result)
		all[i] = result
		return nil
	}
	together, within := errgroup.WithContext(ctx)
	together.SetLimit(atOnce)
	for i, m := range list {
		if !m.alone {
			together.Go(func() error { return plant(within, i) })
		}
	}
	err := together.Wait()
	for i, m := range list {
		if m.alone && err == nil {
			err = plant(ctx, i)
		}
	}
	return all, err
}
