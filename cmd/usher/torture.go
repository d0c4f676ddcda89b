package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/usherbox/usher/cmd/usher/torture"
)

// tortureCall is what somebody asked of a torture.
type tortureCall struct {
	torture.Settings

	asJSON               bool
	page, source, record string // files
	bugs                 []string
}

func (t *tortureCall) bind(fs *flag.FlagSet) {
	fs.DurationVar(&t.For, "for", time.Minute, "for how `long` clients come while things break")
	fs.IntVar(&t.Nodes, "nodes", 4, "how many `nodes` there are")
	fs.IntVar(&t.Clients, "clients", 64, "how many `clients` come at once")
	fs.Uint64Var(&t.Seed, "seed", uint64(time.Now().Unix()), "`number` from which every fault is drawn; the time if left out")
	fs.BoolVar(&t.asJSON, "json", false, "report in JSON")
	fs.StringVar(&t.page, "html", "", "write the report as a page into this `file`, too")
	fs.StringVar(&t.record, "record", "", "add a line about the run to the table in this `file`, such as docs/torture-record.md")
	fs.BoolVar(&t.Bars, "bars", true, "recovery that takes longer than it may is a broken promise; false: only tell, on a machine that has other things to do")
	fs.StringVar(&t.source, "source", "", "`folder` with the source of usher: build nodes with planted bugs from it, too, and demand that each is caught")
	fs.Func("bug", "with --source: plant only this `bug`, once for each, and do nothing else", func(name string) error {
		t.bugs = append(t.bugs, name)
		return nil
	})
	fs.Func("fault", "do only this `fault`, once for each: "+torture.Known(), func(name string) error {
		t.Faults = append(t.Faults, name)
		return nil
	})
}

// tortureNodes breaks a box office of its own and says whether it kept its promises.
func tortureNodes(ctx context.Context, c *call) (err error) {
	t := &tortureCall{Settings: torture.Settings{Scenes: torture.Scenes()}}
	fs := c.flags()
	t.bind(fs)
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	switch {
	case t.Nodes < 1 || t.Clients < 1 || t.For <= 0:
		return c.misuse(errors.New("a torture needs a node, a client and some time"))
	case len(t.bugs) > 0 && t.source == "":
		return c.misuse(errors.New("bugs are planted into programs built from --source"))
	}
	report, err := torturing(ctx, c, t)
	if err != nil {
		return err
	}
	write := report.Text
	if t.asJSON {
		write = report.JSON
	}
	if err := write(c.stdout); err != nil {
		return err
	}
	if t.page != "" {
		err = writePage(t.page, report)
	}
	if t.record != "" {
		err = errors.Join(err, report.Record(t.record, time.Now()))
	}
	if report.Failed() {
		err = errors.Join(err, errors.New("the box office did not keep its promises"))
	}
	return err
}

// torturing tortures this program, and then every planted bug if there is the source to build it from.
func torturing(ctx context.Context, c *call, t *tortureCall) (_ *torture.Report, err error) {
	s := t.Settings
	if s.Program, err = os.Executable(); err != nil {
		return nil, err
	}
	list, err := torture.Bugs(t.bugs)
	if err != nil {
		return nil, c.misuse(err)
	}
	server, err := torture.StartFragileServer(ctx)
	if err != nil {
		return nil, err
	}
	defer closing(&err, server.Stop)
	report := &torture.Report{}
	if len(t.bugs) == 0 {
		if report, err = torture.Run(ctx, server, s); err != nil {
			return report, err
		}
		if report.Rolling, err = torture.Roll(ctx, server, s); err != nil || t.source == "" {
			return report, err
		}
	}
	dir, err := os.MkdirTemp("", "usher-mutant-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if s.Program, err = torture.BuildMutant(ctx, t.source, dir); err != nil {
		return nil, err
	}
	report.Mutants, err = torture.PlantAll(ctx, server, s, list, func(m torture.MutantResult) { fmt.Fprintln(c.stderr, m) })
	return report, err
}

func writePage(file string, r *torture.Report) error {
	f, err := os.Create(file) //nolint:gosec // G304: the file is the operator's choice
	if err != nil {
		return err
	}
	return errors.Join(r.HTML(f), f.Close())
}
