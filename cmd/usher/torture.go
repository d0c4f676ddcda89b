package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/usherbox/usher/cmd/usher/torture"
)

// tortureNodes breaks a box office of its own and says whether it kept its promises.
func tortureNodes(ctx context.Context, c *call) (err error) {
	s := torture.Settings{Scenes: torture.Scenes()}
	var asJSON bool
	var page, source string
	var bugs []string
	fs := c.flags()
	fs.DurationVar(&s.For, "for", time.Minute, "for how `long` clients come while things break")
	fs.IntVar(&s.Nodes, "nodes", 4, "how many `nodes` there are")
	fs.IntVar(&s.Clients, "clients", 64, "how many `clients` come at once")
	fs.Uint64Var(&s.Seed, "seed", uint64(time.Now().Unix()), "`number` from which every fault is drawn; the time if left out")
	fs.BoolVar(&asJSON, "json", false, "report in JSON")
	fs.StringVar(&page, "html", "", "write the report as a page into this `file`, too")
	fs.StringVar(&source, "source", "", "`folder` with the source of usher: build nodes with planted bugs from it, too, and demand that each is caught")
	fs.Func("fault", "do only this `fault`, once for each: "+torture.Known(), func(name string) error {
		s.Faults = append(s.Faults, name)
		return nil
	})
	fs.Func("bug", "with --source: plant only this `bug`, once for each, and do nothing else", func(name string) error {
		bugs = append(bugs, name)
		return nil
	})
	fs.BoolVar(&s.Bars, "bars", true, "recovery that takes longer than it may is a broken promise; false: only tell, on a machine that has other things to do")
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	if s.Nodes < 1 || s.Clients < 1 || s.For <= 0 {
		return c.misuse(errors.New("a torture needs a node, a client and some time"))
	}
	report, err := torturing(ctx, c, s, source, bugs)
	if err != nil {
		return err
	}
	write := report.Text
	if asJSON {
		write = report.JSON
	}
	if err := write(c.stdout); err != nil {
		return err
	}
	if page != "" {
		if err := writePage(page, report); err != nil {
			return err
		}
	}
	if report.Failed() {
		return errors.New("the box office did not keep its promises")
	}
	return nil
}

// torturing tortures this program, and then every planted bug if there is the source to build it from.
func torturing(ctx context.Context, c *call, s torture.Settings, source string, bugs []string) (_ *torture.Report, err error) {
	if s.Program, err = os.Executable(); err != nil {
		return nil, err
	}
	list, err := torture.Bugs(bugs)
	if err != nil {
		return nil, c.misuse(err)
	}
	server, err := torture.StartFragileServer(ctx)
	if err != nil {
		return nil, err
	}
	defer closing(&err, server.Stop)
	report := &torture.Report{}
	if len(bugs) == 0 {
		if report, err = torture.Run(ctx, server, s); err != nil || source == "" {
			return report, err
		}
	}
	dir, err := os.MkdirTemp("", "usher-mutant-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if s.Program, err = torture.BuildMutant(ctx, source, dir); err != nil {
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
