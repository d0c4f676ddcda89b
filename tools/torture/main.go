package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/usherbox/usher/tools/planted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := torture(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		stop()
		os.Exit(1)
	}
}

// call is the flags of the command.
type call struct {
	Settings

	asJSON         bool
	source, record string // files and folders
	mutants        bool
	patroni        bool
	bugs           []string
}

func (o *call) bind(fs *flag.FlagSet) {
	fs.DurationVar(&o.For, "for", time.Minute, "for how `long` clients come while things break")
	fs.IntVar(&o.Nodes, "nodes", 4, "how many `nodes` there are")
	fs.IntVar(&o.Clients, "clients", 64, "how many `clients` come at once")
	fs.Uint64Var(&o.Seed, "seed", uint64(time.Now().Unix()), "`number` from which every fault is drawn; default: the time")
	fs.BoolVar(&o.asJSON, "json", false, "report in JSON")
	fs.StringVar(&o.record, "record", "", "add a line about the run to the table in this `file`, such as docs/torture-record.md")
	fs.BoolVar(&o.Bars, "bars", true, "recovery that takes longer than it may is a broken promise; false: only tell, on a machine that has other things to do")
	fs.StringVar(&o.source, "source", ".", "`folder` with the source of usher, from which the nodes are built")
	fs.BoolVar(&o.mutants, "mutants", false, "plant every bug afterwards, and demand that each is caught")
	fs.BoolVar(&o.patroni, "patroni", false, "break three PostgreSQL servers with Patroni behind HAProxy and PgBouncer instead; the time is for whole rounds of their faults (root on Debian)")
	fs.Func("bug", "plant only this `bug`, once for each, and do nothing else", func(name string) error {
		o.bugs = append(o.bugs, name)
		return nil
	})
	fs.Func("fault", "do only this `fault`, once for each: "+strings.Join(FaultNames(), ", ")+"; with --patroni: "+strings.Join(ClusterFaultNames(), ", "), func(name string) error {
		o.Faults = append(o.Faults, name)
		return nil
	})
}

// torture breaks a box office of its own and returns an error if it broke a promise.
func torture(ctx context.Context, args []string) error {
	o := &call{Settings: Settings{Scenes: Scenes()}}
	fs := flag.NewFlagSet("torture", flag.ContinueOnError)
	o.bind(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if o.Nodes < 1 || o.Clients < 1 || o.For <= 0 || fs.NArg() > 0 {
		return errors.New("a torture needs a node, a client and some time, and nothing but flags")
	}
	report, err := o.tortured(ctx)
	if err != nil {
		return err
	}
	write := report.Text
	if o.asJSON {
		write = report.JSON
	}
	if err := write(os.Stdout); err != nil {
		return err
	}
	switch {
	case o.record != "" && o.patroni:
		err = report.RecordCluster(o.record, time.Now())
	case o.record != "":
		err = report.Record(o.record, time.Now())
	}
	if report.Failed() {
		err = errors.Join(err, errors.New("the box office did not keep its promises"))
	}
	return err
}

// tortured breaks the program, and then every planted bug if asked to.
func (o *call) tortured(ctx context.Context) (_ *Report, err error) {
	if o.patroni {
		return o.clusterTortured(ctx)
	}
	s := o.Settings
	list, err := Bugs(o.bugs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "usher-torture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	server, err := StartFragileServer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	report := &Report{}
	s.Checker = filepath.Join(dir, "checker")
	if err := build(ctx, o.source, s.Checker, "tools/checker/main.go"); err != nil {
		return nil, err
	}
	if len(o.bugs) == 0 {
		s.Program = filepath.Join(dir, "usher")
		if err := build(ctx, o.source, s.Program, "./cmd/usher"); err != nil {
			return nil, err
		}
		if report, err = Run(ctx, server, s); err != nil {
			return report, err
		}
		if report.Rolling, err = Roll(ctx, server, s); err != nil || !o.mutants {
			return report, err
		}
	}
	s.Program = filepath.Join(dir, "usher-planted")
	if err := planted.Build(ctx, o.source, s.Program); err != nil {
		return nil, err
	}
	report.Mutants, err = PlantAll(ctx, server, s, list, func(m MutantResult) { fmt.Fprintln(os.Stderr, m) })
	return report, err
}

// build builds a program as it is.
func build(ctx context.Context, source, out, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, program)
	cmd.Dir = source
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", program, err, said)
	}
	return nil
}
