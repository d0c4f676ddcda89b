package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/tools/planted"
)

// clusterPlanted are what a cluster must show to be wrong.
var clusterPlanted = []struct {
	bug, about, fault string
	asynchronous      bool
}{
	{"asynchronous replication", "a commit waits for no standby", "leader cut off from the others", true},
	{"warning ignored", "a commit that a standby may not have is taken for committed", commitsCancelled, false},
}

// clusterTortured breaks a cluster of Patroni, and then what is planted in it if asked to.
func (o *call) clusterTortured(ctx context.Context) (_ *Report, err error) {
	s := o.Settings
	s.Think, s.Hold = 20*time.Millisecond, 4*time.Second
	dir, err := os.MkdirTemp("", "usher-torture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s.Program = filepath.Join(dir, "usher")
	if err := build(ctx, o.source, s.Program, "./cmd/usher"); err != nil {
		return nil, err
	}
	server, err := StartCluster(ctx, filepath.Join(o.source, "contrib"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	report := &Report{Patroni: true}
	if len(o.bugs) == 0 {
		if report, err = Run(ctx, server, s); err != nil || !o.mutants {
			return report, err
		}
	}
	program := filepath.Join(dir, "usher-planted")
	if err := planted.Build(ctx, o.source, program); err != nil {
		return nil, err
	}
	for _, p := range clusterPlanted {
		if len(o.bugs) > 0 && !slices.Contains(o.bugs, p.bug) {
			continue
		}
		m := MutantResult{Bug: p.bug, About: p.about}
		s := s
		s.once, s.Faults = true, []string{p.fault}
		if !p.asynchronous {
			s.Program, s.Env = program, append(slices.Clone(s.Env), "USHER_MUTANT="+p.bug)
		}
		if err := server.plantIn(ctx, s, p.asynchronous, &m); err != nil {
			return report, fmt.Errorf("%s: %w", p.bug, err)
		}
		fmt.Fprintln(os.Stderr, m)
		report.Mutants = append(report.Mutants, m)
	}
	return report, nil
}

// plantIn tortures until the bug is caught by an order that is lost, some times at most.
func (s *Server) plantIn(ctx context.Context, settings Settings, asynchronous bool, m *MutantResult) (err error) {
	began := time.Now()
	if asynchronous {
		if err := s.cluster.synchronous(ctx, false); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.cluster.synchronous(ctx, true)) }()
	}
	for m.Rounds < clusterRounds && !m.Caught {
		m.Rounds++
		report, err := Run(ctx, s, settings)
		if err != nil {
			return err
		}
		for _, v := range report.Violations {
			if v.Judge == "orders" && !m.Caught {
				m.Caught, m.By = true, v
			}
		}
	}
	m.Seconds = round(time.Since(began).Seconds())
	return nil
}

const clusterRounds = 3

// synchronous has commits wait for a standby, or not.
func (c *cluster) synchronous(ctx context.Context, on bool) error {
	leader, _, err := c.roles(ctx)
	if err != nil {
		return err
	}
	c.asynchronous = !on
	if err := c.tell(ctx, leader, http.MethodPatch, "/config", map[string]bool{"synchronous_mode": on}); err != nil {
		return err
	}
	for range int(patience / moments) {
		if _, standby, err := c.roles(ctx); err == nil && (standby != nil) == on {
			return c.becomesHealthy(ctx)
		}
		time.Sleep(moments)
	}
	return errors.New("torture: Patroni does not change whether commits wait")
}

// Where a record of a cluster stands in a file.
const (
	clusterBegin = "<!-- make failover writes what follows -->\n"
	clusterEnd   = "<!-- until here -->\n"
)

// RecordCluster writes the run into its place in a file such as docs/torture-record.md, instead of the run before.
func (p *Report) RecordCluster(file string, day time.Time) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), clusterBegin)
	_, after, ends := strings.Cut(rest, clusterEnd)
	if !begins || !ends {
		return fmt.Errorf("torture: there is no place in %s between %q and %q", file, clusterBegin, clusterEnd)
	}
	t := &strings.Builder{}
	fmt.Fprintf(t, "%s, `%s`: %d operations, %d orders confirmed, %d lost; %d snapshots of the books; %d violations.\n\n",
		day.Format(time.DateOnly), p.Command, p.Operations, p.Confirmed, p.Lost, p.Snapshots, len(p.Violations))
	t.WriteString("| fault | times | RTO, median | RTO, worst |\n|---|---|---|---|\n")
	for _, f := range p.Figures {
		fmt.Fprintf(t, "| %s | %d | %.1f s | %.1f s |\n", f.Name, f.Times, f.Median/1000, f.Worst/1000)
	}
	for _, m := range p.Mutants {
		fmt.Fprintf(t, "\nPlanted: %s\n", m)
	}
	return os.WriteFile(file, []byte(before+clusterBegin+"\n"+t.String()+"\n"+clusterEnd+after), 0o644) // everybody may read it
}
