package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Report is what came of a torture. Its fields in JSON are what programs may rely on.
type Report struct {
	Seed       uint64            `json:"seed"`
	Command    string            `json:"command"` // that does the same again
	Seconds    float64           `json:"seconds"` // from the first client to the last answer
	Nodes      int               `json:"nodes"`
	Clients    int               `json:"clients"`
	Operations int               `json:"operations"`
	ByKind     map[string]int    `json:"by_kind"`
	Granted    int               `json:"granted"`
	Refused    int               `json:"refused"`
	Retries    int64             `json:"retries"` // requests that were asked again because no answer came
	Unknown    int               `json:"unknown"` // operations that were never answered
	Ghosts     int               `json:"ghosts"`  // first claims that won, of people who never heard
	Faults     int               `json:"faults"`
	ByFault    map[string]int    `json:"by_fault"`
	LostCommit int64             `json:"lost_commits"` // answers to a COMMIT that never arrived
	Stopped    int64             `json:"stopped_writes"`
	Leaves     int64             `json:"leaves"`    // of public logs that were audited
	Roots      int               `json:"roots"`     // signed roots of them that were seen during the faults
	Snapshots  int64             `json:"snapshots"` // in which every promise was held against the database
	Frames     int64             `json:"frames"`    // that sockets saw
	Longest    float64           `json:"longest_ms"`
	Converged  float64           `json:"converged_ms"` // from healed to every map and socket right
	Scenes     map[string]int    `json:"by_scene"`     // operations beside the hall
	Door       int               `json:"door"`         // operations on tickets that the judge of the door could order
	Captured   int64             `json:"captured"`     // by the bank, in cents
	Refunded   int64             `json:"refunded"`
	News       int64             `json:"news"` // that the bank told
	Patroni    bool              `json:"patroni"`
	Confirmed  int               `json:"confirmed"`         // orders
	Lost       int               `json:"lost"`              // of them: they are not there
	Figures    []Figure          `json:"figures"`           // of recovery
	Missing    map[string]string `json:"missing,omitempty"` // faults that could not be done here, and why
	Undone     []string          `json:"undone,omitempty"`  // faults that were begun and could not be done, and why
	Violations []Violation       `json:"violations"`

	Rolling *Rolling       `json:"rolling,omitempty"`
	Mutants []MutantResult `json:"mutants,omitempty"`

	bars bool
}

func (r *run) report(took time.Duration) *Report {
	s := r.settings
	p := &Report{
		Seed: s.Seed, Seconds: round(took.Seconds()), Nodes: s.Nodes, Clients: s.Clients, ByKind: map[string]int{}, ByFault: r.did,
		Retries: r.history.retries, Ghosts: r.ghostly, Snapshots: r.snapshots.Load(), Violations: r.history.violations(),
		Converged: round(r.converged.Seconds() * 1000), Scenes: map[string]int{}, Door: r.judged, Captured: r.captured, Refunded: r.refunded, News: r.news.Load(),
		Leaves: r.leaves, Roots: r.rooted,
		bars: s.Bars, Figures: r.figures.list(), Missing: r.server.missing, Undone: r.undone, Confirmed: r.confirmed, Lost: r.lost,
		Command: fmt.Sprintf("bin/torture --for %s --nodes %d --clients %d --seed %d", s.For, s.Nodes, s.Clients, s.Seed),
	}
	if p.Patroni = r.server.cluster != nil; p.Patroni {
		p.Command = strings.Replace(p.Command, "torture", "torture --patroni", 1)
	}
	for _, o := range r.history.all() {
		p.Operations++
		p.ByKind[o.kind]++
		if o.scene != "" {
			p.Scenes[o.scene]++
		}
		switch {
		case o.unknown:
			p.Unknown++
		case o.granted():
			p.Granted++
		default:
			p.Refused++
		}
		p.Longest = max(p.Longest, round(float64(o.end-o.start)/1e6))
	}
	for _, n := range r.did {
		p.Faults += n
	}
	for _, n := range r.nodes {
		p.LostCommit += n.db.lost.Load()
		p.Stopped += n.db.stopped.Load()
	}
	for _, w := range r.watchers {
		p.Frames += w.frames
	}
	return p
}

// PerSecond is how many operations were done in a second.
func (p *Report) PerSecond() float64 { return round(float64(p.Operations) / max(p.Seconds, 1)) }

func (f *Figure) bar() string {
	if f.Bar == 0 {
		return ""
	}
	return fmt.Sprintf(", %.0f ms allowed", f.Bar)
}

func round(x float64) float64 { return math.Round(x*10) / 10 }

// Failed reports whether something was that must not be, or a planted bug was not caught.
func (p *Report) Failed() bool {
	return len(p.Violations) > 0 || p.Rolling != nil && p.Rolling.Failed(p.bars) || slices.ContainsFunc(p.Mutants, func(m MutantResult) bool { return !m.Caught })
}

// JSON writes the report for programs.
func (p *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// Text writes the report for people.
func (p *Report) Text(w io.Writer) error {
	t := &writer{w: w}
	t.line("%d clients at %d nodes for %.1f s, seed %d", p.Clients, p.Nodes, p.Seconds, p.Seed)
	t.line("")
	t.line("%9d operations: %d granted, %d refused, %d never answered", p.Operations, p.Granted, p.Refused, p.Unknown)
	t.line("%9s of them %d at the bank, %d in front of a waiting room, %d in a wait list, %d about tickets that change hands; %d looks at maps", "", p.Scenes[scenePaid], p.Scenes[sceneRoom], p.Scenes[sceneWait], p.Scenes[sceneDoor], p.ByKind[kindMap])
	t.line("%9d were judged by what one valid code for a seat allows", p.Door)
	t.line("%9.0f operations in a second", p.PerSecond())
	t.line("%9d times a client asked again because no answer came", p.Retries)
	t.line("%9d faults of %d kinds; %d answers to a COMMIT and %d writes were lost on the way", p.Faults, len(p.ByFault), p.LostCommit, p.Stopped)
	for _, name := range append(FaultNames(), ClusterFaultNames()...) {
		if n := p.ByFault[name]; n > 0 {
			t.line("%9s %4d × %s", "", n, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Missing)) {
		t.line("%9s not done here: %s, because %s", "", name, p.Missing[name])
	}
	for _, why := range p.Undone {
		t.line("%9s begun and could not be done: %s", "", why)
	}
	t.line("%9.2f was taken by the bank and %.2f given back, of which it told %d times: each cent is in an order or went back", float64(p.Captured)/100, float64(p.Refunded)/100, p.News)
	t.line("%9d orders were confirmed; %d of them are lost", p.Confirmed, p.Lost)
	t.line("%9d snapshots of the books held against every promise, during the faults and after", p.Snapshots)
	t.line("%9d leaves of public logs audited by two programs; %d signed roots seen during the faults are theirs", p.Leaves, p.Roots)
	t.line("%9d frames seen by sockets, counts and versions checked in each", p.Frames)
	t.line("%9.0f ms was the longest anybody waited; %.0f ms after everything was healed every map was right", p.Longest, p.Converged)
	for _, f := range p.Figures {
		t.line("%9.0f ms at worst, %.0f ms in the middle of %d%s: %s", f.Worst, f.Median, f.Times, f.bar(), f.Name)
	}
	t.line("%9d things that must not be", len(p.Violations))
	for _, v := range p.Violations {
		t.line("  ! %s: %s", v.Judge, v.What)
	}
	if p.Rolling != nil {
		t.line("  %s", p.Rolling)
	}
	for _, m := range p.Mutants {
		t.line("  %s", m)
	}
	t.line("")
	t.line("The same again:  %s", p.Command)
	return t.err
}

// writer writes lines until one fails.
type writer struct {
	w   io.Writer
	err error
}

func (t *writer) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}
