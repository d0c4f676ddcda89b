package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
)

// planImport reads a plan and reports on it. With --out it writes it in the open format, whole or not at all.
type planImport struct {
	File   string            `arg:"" help:"A plan of Usher, pretix or seats.io, a table (CSV), a drawing (SVG) or other JSON, or the name of a plan that comes with Usher: theatre, club, conference, stadium…"`
	Out    string            `placeholder:"FILE" help:"File to write the plan to, in Usher's open format."`
	Column map[string]string `placeholder:"WHAT=COLUMN" help:"What a column of a table, a drawing or other JSON is: section, row, number, category, price, x, y, id, flags, capacity of an area, or only=COLUMN=VALUE for what is a seat (* stands for any characters)."`
}

// Run is the command.
func (c *planImport) Run(sh *shell) error {
	result, err := readPlan(c.File, c.Column)
	if err != nil {
		return err
	}
	if err := report(sh.stdout, result); err != nil || c.Out == "" {
		return err
	}
	if err := writePlan(c.Out, result.Plan); err != nil {
		return err
	}
	_, err = fmt.Fprintf(sh.stdout, "\nWritten to %s.\n", c.Out)
	return err
}

// findPlan returns the plan that comes with usher under this name, or the one in this file.
func findPlan(nameOrFile string) (*plan.Result, error) {
	if p, ok := plan.Named(nameOrFile); ok {
		return &plan.Result{Plan: p, Format: plan.FormatOwn}, nil
	}
	if _, err := os.Stat(nameOrFile); os.IsNotExist(err) {
		return nil, fmt.Errorf("there is no file %q, and no plan of this name comes with usher (there are %s)",
			nameOrFile, strings.Join(plan.Names(), ", "))
	}
	return readPlan(nameOrFile, nil)
}

func readPlan(file string, columns map[string]string) (*plan.Result, error) {
	f, err := os.Open(file)
	if ours, ok := plan.Named(file); ok && os.IsNotExist(err) {
		return &plan.Result{Plan: ours, Format: plan.FormatOwn}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the plan cannot be opened: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, plan.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the plan cannot be read: %w", err)
	}
	result, err := plan.Take(content, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), columns)
	if err != nil {
		return nil, fmt.Errorf("%s was not read, and nothing was changed: %w", file, err)
	}
	return result, nil
}

// report writes the contents of a plan: counts per section and category, then every repair and warning.
func report(w io.Writer, result *plan.Result) error {
	p := result.Plan
	var lines []string
	for _, r := range result.Repairs {
		lines = append(lines, "- "+r.String())
	}
	for _, warning := range result.Warnings {
		lines = append(lines, "- note: "+warning.String())
	}
	_, err := fmt.Fprintf(w, "%s (%s): %s in %s\n\n%s\n%s\n%s\n", p.Name, result.Format,
		counted(len(p.Seats), "seat"), counted(len(p.Sections), "section"), sectionTable(p), categoryTable(p),
		strings.Join(append([]string{counted(len(result.Repairs), "repair")}, lines...), "\n"))
	return err
}

func sectionTable(p *seats.Plan) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SECTION\tSEATS\tROWS")
	for i, s := range p.Sections {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.Name, thousands(s.Count), rowsOf(p, i))
	}
	_ = t.Flush() // to memory
	return b.String()
}

func categoryTable(p *seats.Plan) string {
	seatsIn := make([]int, len(p.Categories))
	for i := range p.Seats {
		seatsIn[p.Seats[i].Category]++
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CATEGORY\tSEATS\tPRICE\tNAME")
	for i, cat := range p.Categories {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", cat.Key, thousands(seatsIn[i]), pricing.Amount(cat.Price, ""), cat.Name)
	}
	_ = t.Flush() // to memory
	return b.String()
}

// rowsOf writes the number of rows of a section, or that it is an area.
func rowsOf(p *seats.Plan, section int) string {
	s := p.Sections[section]
	if s.Area {
		return "area"
	}
	rows := 1
	for i := s.First + 1; i < s.First+s.Count; i++ {
		if p.Seats[i].Row != p.Seats[i-1].Row {
			rows++
		}
	}
	return thousands(rows)
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// writePlan writes beside the file first, so that the file never holds half a plan.
func writePlan(file string, p *seats.Plan) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".plan-*")
	if err != nil {
		return fmt.Errorf("the plan cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := plan.Write(f, p); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("the plan cannot be written: %w", err)
	}
	return os.Rename(f.Name(), file)
}
